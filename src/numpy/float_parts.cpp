// Parts of numbers (quotient and remainder, fraction and whole part, mantissa and exponent), and the Bessel function
// i0.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/transforms.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

std::pair<Array, Array> divmod(const ArrayLike& a, const ArrayLike& b) { return {floor_divide(a, b), remainder(a, b)}; }
Array float_power(const ArrayLike& a, const ArrayLike& b) {
  return bind1(ops::pow_p, promote_inexact("float_power", {a, b}));
}
std::pair<Array, Array> modf(const ArrayLike& a) {
  const Array x = to_inexact(a), whole = trunc(x);
  return {x - whole, whole};
}

namespace {

/// A constant of bits.
Array bits_of(DType dtype, std::int64_t value) { return scalar(dtype, value); }

/// The mantissa, given with its exponent: its bits know nothing of derivatives, which are those of x / 2^exponent.
Array mantissa_of(const Array& x, const Array& mantissa, const Array& exponent) {
  const auto function =
      custom_jvp([](const Array&, const Array& value, const Array&) { return value; },
                 [](const std::tuple<Array, Array, Array>& primals, const std::tuple<Array, Array, Array>& tangents) {
                   const auto& [at, value, power] = primals;
                   return std::pair<Array, Array>{value, std::get<0>(tangents) * ldexp(ones_like(at), -power)};
                 },
                 "frexp");
  return function(x, mantissa, exponent);
}

}  // namespace

std::pair<Array, Array> frexp(const ArrayLike& a) {
  check_real("frexp", a);
  const Array given = strong(to_inexact(a));
  const DType result = given.dtype();
  const Array x = itemsize(result) == 2 ? ops::cast(given, f32) : given;
  const finfo info(x.dtype(), {});
  const DType bits = x.dtype() == f64 ? i64 : i32;
  const auto number = [bits](std::int64_t v) { return bits_of(bits, v); };
  const auto as = [](const Array& y, DType dtype) {
    return bind1(ops::bitcast_convert_type_p, {y}, {{"new_dtype", dtype}});
  };
  // What is below the normal numbers is scaled up first, so that its leading bit stands where that of others does.
  const int up = info.nmant + 1;
  const Array tiny = abs(x) < info.smallest_normal;
  const Array scaled = as(ops::select(tiny, x * std::ldexp(1.0, up), x), bits);
  const std::int64_t mask = (std::int64_t{1} << info.nexp) - 1, half = 1 - info.minexp - 1;  // the field of [0.5, 1)
  const Array field = bitwise_and(right_shift(scaled, number(info.nmant)), number(mask));
  const Array exponent = ops::cast(field - number(half), i32) - ops::cast(tiny, i32) * up;
  const Array mantissa =
      as(bitwise_or(bitwise_and(scaled, number(~(mask << info.nmant))), number(half << info.nmant)), x.dtype());
  const Array whole = ~isfinite(x) | (x == 0);
  const Array power = where(whole, 0, exponent);
  return {ops::cast(mantissa_of(x, where(whole, x, mantissa), power), result), power};
}

Array spacing(const ArrayLike& a) {
  check_real("spacing", a);
  const Array x = strong(to_inexact(a));
  const DType dtype = x.dtype();
  // As NumPy: for f16 it is the distance upwards.
  if (dtype == DType::f16) return nextafter(x, inf) - x;
  const Array away = nextafter(x, copysign(scalar(dtype, inf), x)) - x;
  return where(away == 0, copysign(scalar(dtype, finfo(dtype, {}).smallest_subnormal), x), away);
}

Array i0(const ArrayLike& a) {
  check_real("i0", a);
  const Array given = to_inexact(a);
  const ResultType type = result_type(given);
  const Array x = abs(itemsize(type.dtype) == 2 ? ops::cast(given, f32) : given);
  // e^x in two factors: it overflows before the product does.
  const Array root = exp(x * 0.5);
  return cast_to(root * lax::bessel_i0e(x) * root, type);
}

}  // namespace cotan::numpy
