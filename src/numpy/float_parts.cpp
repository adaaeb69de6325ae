// Parts of numbers (quotient and remainder, fraction and whole part, mantissa and exponent), and the Bessel function
// i0.
#include <cmath>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {}  // namespace

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

}  // namespace

std::pair<Array, Array> frexp(const ArrayLike& a) {
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
  return {ops::cast(where(whole, x, mantissa), result), where(whole, 0, exponent)};
}

Array spacing(const ArrayLike& a) {
  const Array x = strong(to_inexact(a));
  const DType dtype = x.dtype();
  // As NumPy: for f16 it is the distance upwards.
  if (dtype == DType::f16) return nextafter(x, inf) - x;
  const Array away = nextafter(x, copysign(scalar(dtype, inf), x)) - x;
  return where(away == 0, copysign(scalar(dtype, finfo(dtype, {}).smallest_subnormal), x), away);
}

namespace {

/// Chebyshev coefficients of √x e^-x I₀(x) in 16 / x - 1, for x from 8 on.
constexpr double i0_large[] = {
    0.40224520550705445,    0.0033691164782557238,   6.889758346913938e-05,  2.89137052085775e-06,
    2.0489185891883757e-07, 2.266668996941945e-08,   3.3962319945929356e-09, 4.940601927572175e-10,
    1.1889117815244711e-11, -3.1499114427901985e-11, -1.3215695204849e-11,   -1.794120407794253e-12,
    7.181817640589117e-13,  3.851807761634518e-13,   1.5409201692406784e-14, -4.106159856576142e-14,
    -9.635348074965578e-15, 3.769207168602407e-15,   1.4203915821298098e-15};

}  // namespace

Array i0(const ArrayLike& a) {
  const Array given = to_inexact(a);
  const ResultType type = result_type(given);
  const Array x = abs(itemsize(type.dtype) == 2 ? ops::cast(given, f32) : given);
  // The power series in (x / 2)², whose terms are all positive: as many as the largest argument needs.
  const Array small = x < 8;
  const Array t = square(ops::select(small, given.dtype() == x.dtype() ? given : ops::cast(given, f32), x * 0) * 0.5);
  const int terms = x.dtype() == f64 ? 29 : 20;
  Array series = t * 0 + 1;
  for (int k = terms; k > 0; --k) series = 1 + series * t * (1.0 / (k * k));
  const Array far = where(small, 8.0, x), u = 16 / far - 1;
  Array later = u * 0, last = later;
  for (std::size_t k = std::size(i0_large) - 1; k > 0; --k) {
    const Array next = 2 * u * last - later + i0_large[k];
    later = last;
    last = next;
  }
  // e^x in two factors: it overflows before the product does.
  const Array root = exp(far * 0.5);
  const Array large = (u * last - later + i0_large[0]) / sqrt(far) * root * root;
  return cast_to(where(isnan(x), x, where(small, series, large)), type);
}

}  // namespace cotan::numpy
