// Callbacks that do not fit, and effects where there must be none.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
using namespace cotan;

namespace {
const Array x = np::ones({3});
Array same(const Array& v) { return v; }
}  // namespace

TEST(CallbackErrors, Results) {
  EXPECT_ERROR(
      ShapeError, pure_callback(same, shape_dtype({2}), x),
      "[pure_callback] the function returned f32[3] as result 0, but f32[2] was announced; return that shape.");
  EXPECT_ERROR(ShapeError, jit([](Array v) { return pure_callback(same, shape_dtype({2}), v); })(x), "[pure_callback]");
  EXPECT_ERROR(
      TypeError, pure_callback(same, shape_dtype({3}, i32), x),
      "[pure_callback] the function returned f32[3] as result 0, but i32[3] was announced; cast it with astype.");
  EXPECT_ERROR(ValueError, pure_callback([](Array) { return Array(); }, shape_dtype({3}), x),
               "[pure_callback] the function returned an Array without elements as result 0; return one with values.");
  EXPECT_ERROR(TreeError,
               pure_callback([](Array v) { return std::vector<Array>{v}; },
                             std::vector<Array>{shape_dtype({3}), shape_dtype({3})}, x),
               "[pure_callback] the function returned", "return that structure.");
  EXPECT_ERROR(ValueError, pure_callback(same, Array(), x),
               "[pure_callback] result 0 is announced by an empty Array; ");
}
TEST(CallbackErrors, Transforms) {
  const auto pure = [](Array v) { return np::sum(pure_callback(same, shape_dtype({3}), v)); };
  EXPECT_ERROR(TransformError, grad(pure)(x),
               "[grad] pure_callback has no derivative rule; wrap it in custom_jvp or custom_vjp");
  EXPECT_ERROR(TransformError, vmap([](Array v) { return pure_callback(same, shape_dtype({}), v); })(x),
               "[vmap] pure_callback does not say how it is called for a batch; give it a vmap_method");
  EXPECT_ERROR(ValueError, pure_callback(same, shape_dtype({3}), {.vmap_method = "all"}, x),
               "[pure_callback] vmap_method is \"all\"; give \"sequential\"");
  const auto io = [](Array v) { return np::sum(experimental::io_callback(same, shape_dtype({3}), v)); };
  EXPECT_ERROR(TransformError, grad(io)(x), "[grad] io_callback has no derivative rule; ");
  EXPECT_ERROR(TransformError,
               vmap([](Array v) { return experimental::io_callback(same, shape_dtype({}), {.ordered = true}, v); })(x),
               "[vmap] io_callback is ordered, and lanes have no order; leave out .ordered");
}
TEST(CallbackErrors, NoOrder) {
  EXPECT_ERROR(
      TransformError,
      lax::associative_scan(
          [](Array a, Array b) {
            debug::print("{}", a);
            return a + b;
          },
          x),
      "[debug::print] it has an effect, and inside of associative_scan there is no order that it could be part "
      "of; call it outside, or use pure_callback.");
  EXPECT_ERROR(TransformError,
               grad(custom_jvp([](Array v) { return v * 2.0; },
                               [](auto v, auto t) {
                                 debug::print("{}", std::get<0>(t));
                                 return std::pair{std::get<0>(v) * 2.0, std::get<0>(t) * 2.0};
                               }))(x[0]),
               "[debug::print] an operand is a tangent, which reverse mode does not compute; use jvp");
}
TEST(CallbackErrors, Formats) {
  EXPECT_ERROR(ValueError, debug::print("{} {}", x), "[debug::print] the text is \"{} {}\", and there is no argument");
  EXPECT_ERROR(ValueError, debug::print("none", x), "and it has no field for argument 0; write {} or {name}");
  EXPECT_ERROR(ValueError, debug::print("{y}", debug::arg("x", x)), "there is no argument for {y}; ");
  EXPECT_ERROR(ValueError, debug::print("{", x), "it has a { without a }; ");
  EXPECT_ERROR(ValueError, debug::print("}", x), "it has a } without a {; ");
  EXPECT_ERROR(ValueError, debug::print("{:.2f}", x), "{:.2f} has a format, which is for scalars, but gets f32[3]; ");
  EXPECT_ERROR(ValueError, debug::print("{:q}", x[0]), "[debug::print] the format q does not fit a field");
}
TEST(CallbackErrors, Checks) {
  namespace checkify = experimental::checkify;
  EXPECT_ERROR(
      TypeError, checkify::check(x > 0, "all"),
      "[check] the predicate is bool[3]; it must be one bool, as np::all(…) or a comparison of scalars gives.");
  EXPECT_ERROR(TypeError, checkify::check(x[0], "one"), "[check] the predicate is f32[]; it must be one bool");
  EXPECT_ERROR(ValueError, checkify::check(Array(), "none"), "[check] the predicate is an empty Array; ");
  EXPECT_ERROR(ValueError, checkify::check(x[0] > 0, "{} {}", x),
               "[check] the text is \"{} {}\", and there is no argument");
  EXPECT_ERROR(TypeError, checkify::check(x[0] > 0, "{}", lax::complex(x, x)),
               "[check] an argument is c64[3]; show its np::real and np::imag.");
  EXPECT_ERROR(TransformError,
               lax::associative_scan(
                   [](Array a, Array b) {
                     checkify::check(np::all(a > 0), "positive");
                     return a + b;
                   },
                   x),
               "[check] it has an effect, and inside of associative_scan there is no order");
}
