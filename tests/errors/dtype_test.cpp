// Dtypes that an operation does not take.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

TEST(DtypeErrors, BitwiseOnFloats) {
  const Array x = np::ones({2});
  EXPECT_ERROR(TypeError, x & x, "[and] needs", "integer", "got f32; cast with astype.");
  EXPECT_ERROR(TypeError, ~x, "[not] needs", "got f32");
  EXPECT_ERROR(TypeError, x << 1, "[shift_left] needs integer operands, got f32");
  EXPECT_ERROR(TypeError, np::bitwise_count(x), "needs integer operands, got f32");
  EXPECT_ERROR(TypeError, lax::clz(x), "[clz] needs integer operands, got f32");
}
TEST(DtypeErrors, ShiftsOfBools) {
  const Array b = np::ones({2}, bool_);
  EXPECT_ERROR(TypeError, lax::shift_right_logical(b, b), "[shift_right_logical] needs integer operands, got bool");
}
TEST(DtypeErrors, IntegersOnly) {
  EXPECT_ERROR(TypeError, np::gcd(4.0, 2), "[gcd] needs integer operands, got f32[] and i32[]; cast with astype.");
  EXPECT_ERROR(TypeError, np::ldexp(1.0, 0.5),
               "[ldexp] the exponent is f32[]; it must be an integer, cast it with astype(i32).");
}
TEST(DtypeErrors, IntegerPower) {
  EXPECT_ERROR(TypeError, lax::integer_pow(np::arange(3), -1),
               "[integer_pow] i32[3] to the negative power -1 is not an integer; cast the base with astype(f32).");
}
TEST(DtypeErrors, SelectNeedsAPredicate) {
  EXPECT_ERROR(TypeError, lax::select(np::ones({2}), 1.0, 2.0),
               "[select] the predicate is f32[2]; it must be bool, use x != 0.");
}
TEST(DtypeErrors, Bitcast) {
  EXPECT_ERROR(TypeError, lax::bitcast_convert_type(np::ones({2}), bool_),
               "[bitcast_convert_type] cannot reinterpret f32[2] as bool; compare with 0 instead.");
  EXPECT_ERROR(ShapeError, lax::bitcast_convert_type(np::ones({3}), f64),
               "[bitcast_convert_type] f32[3] to f64 needs a last axis of size 2");
  EXPECT_ERROR(ShapeError, lax::bitcast_convert_type(Array(1.f), f64),
               "[bitcast_convert_type] f32[] to f64 needs a last axis of size 2");
}
TEST(DtypeErrors, IndexDtypes) {
  EXPECT_ERROR(TypeError, lax::argmax(np::ones({2}), 0, f32), "[argmax] indices cannot be f32; give an integer dtype.");
  EXPECT_ERROR(TypeError, np::ones({2})[np::array({0.5})],
               "an index array is f32[1]; index arrays hold integers or bools, cast with astype(i32).");
  EXPECT_ERROR(TypeError, np::take(np::ones({2}), np::array({0.5})),
               "[take] the indices are f32[1]; they must be integers");
  EXPECT_ERROR(TypeError, np::take_along_axis(np::ones({2}), np::array({0.5}), 0),
               "[take_along_axis] the indices are f32[1]");
}
TEST(DtypeErrors, UpdatesThatLoseTheirFraction) {
  const Array a = np::arange(3);
  EXPECT_ERROR(TypeError, a.at(0).set(0.5), "f32", "would lose its fraction in i32");
  EXPECT_ERROR(TypeError, a.at(0).divide(2), "[at.divide] i32[3] holds no fractions; cast it with astype(f32) first.");
}
TEST(DtypeErrors, PrimitivesDoNotPromote) {
  EXPECT_ERROR(TypeError, lax::dynamic_update_slice(np::arange(3), np::ones({1}), {Array(0)}), "[dynamic_update_slice]",
               "i32[3]", "f32[1]");
}
