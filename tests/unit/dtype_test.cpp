// Element types: names, the promotion lattice against JAX's, and the 16-bit host types.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cotan/cotan.hpp>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace np = cotan::numpy;
using namespace cotan;

namespace {

const std::vector<DType> all_dtypes{bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128};

DType dtype_named(std::string_view wanted) {
  for (DType t : all_dtypes)
    if (name(t) == wanted) return t;
  throw std::runtime_error("no dtype " + std::string(wanted));
}
Array operand(const std::string& kind) {
  if (kind == "int") return Array(1);
  if (kind == "float") return Array(1.0);
  if (kind == "complex") return Array(std::complex<double>(1, 2));
  return np::ones({}, dtype_named(kind));
}

}  // namespace

TEST(DType, NamesSizesAndKinds) {
  EXPECT_EQ(name(bool_), "bool");
  EXPECT_EQ(name(bf16), "bf16");
  EXPECT_EQ(name(u64), "u64");
  std::ostringstream out;
  out << f64;
  EXPECT_EQ(out.str(), "f64");
  EXPECT_EQ(describe(f32, {2, 3}), "f32[2,3]");
  EXPECT_EQ(describe(i8, {}), "i8[]");
  for (DType t : all_dtypes) {
    EXPECT_EQ(is_floating(t) + is_complex(t) + is_signed_integer(t) + is_unsigned_integer(t) + (t == bool_), 1)
        << name(t);
    EXPECT_EQ(is_integer(t), is_signed_integer(t) || is_unsigned_integer(t)) << name(t);
  }
  EXPECT_EQ(itemsize(bool_), 1u);
  EXPECT_EQ(itemsize(f16), 2u);
  EXPECT_EQ(itemsize(u32), 4u);
  EXPECT_EQ(itemsize(i64), 8u);
}

TEST(DType, OfHostTypes) {
  EXPECT_EQ(dtype_of<bool>(), bool_);
  EXPECT_EQ(dtype_of<char>(), i8);
  EXPECT_EQ(dtype_of<unsigned char>(), u8);
  EXPECT_EQ(dtype_of<short>(), i16);
  EXPECT_EQ(dtype_of<int>(), i32);
  EXPECT_EQ(dtype_of<long>(), i64);
  EXPECT_EQ(dtype_of<long long>(), i64);
  EXPECT_EQ(dtype_of<std::size_t>(), u64);
  EXPECT_EQ(dtype_of<float>(), f32);
  EXPECT_EQ(dtype_of<long double>(), f64);
  EXPECT_EQ(dtype_of<float16>(), f16);
  EXPECT_EQ(dtype_of<bfloat16>(), bf16);
}

TEST(Promotion, EveryPairAsInJax) {
  std::ifstream file(COTAN_SOURCE_DIR "/tests/golden/promotion.json");
  ASSERT_TRUE(file) << "tools/golden/promotion.py writes it";
  int rows = 0;
  for (const auto& row : nlohmann::json::parse(file)) {
    const std::string a = row[0], b = row[1];
    const DType want = dtype_named(row[2].get<std::string>());
    const bool weak = row[3];
    const Array eager = np::maximum(operand(a), operand(b));
    EXPECT_EQ(eager.dtype(), want) << a << " and " << b;
    EXPECT_EQ(eager.weak_type(), weak) << a << " and " << b;
    const Array traced = jit([](Array x, Array y) { return np::maximum(x, y); })(operand(a), operand(b));
    EXPECT_EQ(traced.aval(), eager.aval()) << a << " and " << b << " under jit";
    const auto number = [](const std::string& kind) { return kind == "int" || kind == "float" || kind == "complex"; };
    if (!number(a) && !number(b)) {
      const DType strong = promote_types(dtype_named(a), dtype_named(b));
      if (!weak) {
        EXPECT_EQ(strong, want) << a << " and " << b;
      }
    }
    ++rows;
  }
  EXPECT_EQ(rows, 18 * 18);
}

TEST(Promotion, WeakScalarsKeepEveryBit) {
  EXPECT_EQ((np::zeros({1}, f64) + 0.1).to_vector<double>()[0], 0.1);
  EXPECT_EQ((0.1 * np::ones({1}, f64)).to_vector<double>()[0], 0.1);
  EXPECT_EQ(np::full({1}, 0.1, f64).to_vector<double>()[0], 0.1);
  EXPECT_EQ(jit([](Array x) { return x + 0.1; })(np::zeros({1}, f64)).to_vector<double>()[0], 0.1);
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ((np::zeros({1}, i64) + big).to_vector<std::int64_t>()[0], big);
  EXPECT_EQ((np::zeros({1}, u64) + std::uint64_t{18446744073709551615u}).to_vector<std::uint64_t>()[0],
            18446744073709551615u);
  EXPECT_EQ(Array(0.1).dtype(), f32);
  EXPECT_EQ(Array(1).dtype(), i32);
  EXPECT_EQ(Array(true).dtype(), bool_);
  EXPECT_FALSE(Array(true).weak_type());
}

TEST(Promotion, HalfArraysStayHalf) {
  EXPECT_EQ((np::ones({2}, bf16) * 2.5 + 1).dtype(), bf16);
  EXPECT_EQ(np::sin(np::ones({2}, f16)).dtype(), f16);
  EXPECT_EQ((np::arange(3) / 2).dtype(), f32);
  EXPECT_EQ(np::sum(np::ones({3}, bool_)).dtype(), i32);
  EXPECT_EQ(np::mean(np::arange(3)).dtype(), f32);
}

namespace {

/// The value of a 16-bit float with `e` exponent bits, from its definition.
double decode(std::uint16_t bits, int e) {
  const int m = 15 - e, bias = (1 << (e - 1)) - 1;
  const double sign = bits >> 15 ? -1 : 1;
  const int exponent = (bits >> m) & ((1 << e) - 1), mantissa = bits & ((1 << m) - 1);
  if (exponent == (1 << e) - 1) return mantissa ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - m);
  return sign * std::ldexp((1 << m) + mantissa, exponent - bias - m);
}

template <class Half>
void check_all_patterns(int exponent_bits) {
  for (int i = 0; i < 65536; ++i) {
    Half h;
    h.bits = static_cast<std::uint16_t>(i);
    const float f = h;
    const double want = decode(h.bits, exponent_bits);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(f)) << i;
      ASSERT_TRUE(std::isnan(static_cast<float>(Half(f)))) << i;
      continue;
    }
    ASSERT_EQ(static_cast<double>(f), want) << i;
    ASSERT_EQ(std::signbit(f), std::signbit(want)) << i;
    ASSERT_EQ(Half(f).bits, h.bits) << i;
  }
}

/// Midpoints between neighbours round to even, and anything beside a midpoint to the nearer.
template <class Half>
void check_rounding(int exponent_bits) {
  const std::uint16_t infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << (15 - exponent_bits));
  for (std::uint16_t low = 0; low + 1 < infinity; ++low) {
    Half a, b;
    a.bits = low;
    b.bits = static_cast<std::uint16_t>(low + 1);
    const float middle = static_cast<float>((static_cast<double>(float(a)) + static_cast<double>(float(b))) / 2);
    const std::uint16_t even = low % 2 == 0 ? a.bits : b.bits;
    ASSERT_EQ(Half(middle).bits, even) << low;
    ASSERT_EQ(Half(std::nextafter(middle, 0.f)).bits, a.bits) << low;
    ASSERT_EQ(Half(std::nextafter(middle, INFINITY)).bits, b.bits) << low;
    ASSERT_EQ(Half(-middle).bits, even | 0x8000) << low;
  }
}

}  // namespace

TEST(Float16, AllPatternsRoundTrip) { check_all_patterns<float16>(5); }
TEST(Float16, RoundsToNearestEven) { check_rounding<float16>(5); }
TEST(Float16, OverflowAndUnderflow) {
  EXPECT_EQ(float16(65519.f).bits, 0x7bff);
  EXPECT_EQ(float16(65520.f).bits, 0x7c00);
  EXPECT_EQ(float16(1e30f).bits, 0x7c00);
  EXPECT_EQ(float16(-INFINITY).bits, 0xfc00);
  EXPECT_EQ(float16(std::ldexp(1.f, -25)).bits, 0);  // half of the smallest: to even
  EXPECT_EQ(float16(std::nextafter(std::ldexp(1.f, -25), 1.f)).bits, 1);
  EXPECT_EQ(float16(-0.f).bits, 0x8000);
}
TEST(Bfloat16, AllPatternsRoundTrip) { check_all_patterns<bfloat16>(8); }
TEST(Bfloat16, RoundsToNearestEven) { check_rounding<bfloat16>(8); }
TEST(Bfloat16, Overflow) {
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(bfloat16(1.00390625f).bits, 0x3f80);  // a tie: to even
}
TEST(HalfCasts, DoublesRoundOnce) {
  // Just above the midpoint of 1 and the next half, by less than a float can hold.
  const double above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(np::full({1}, above, f64).astype(f16).to_vector<float>()[0], 1 + std::ldexp(1.f, -10));
  const double above_b = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_EQ(np::full({1}, above_b, f64).astype(bf16).to_vector<float>()[0], 1 + std::ldexp(1.f, -7));
}
