// Elementary functions of complex numbers by those of their parts, after W. Kahan, "Branch cuts for complex elementary
// functions" (1987).
#include <cotan/numpy.hpp>
#include <numbers>

#include "ops/parts.hpp"

namespace cotan::ops::parts {

namespace np = numpy;
using C = ComplexParts;

namespace {

C conj(const C& a) { return {a.re, -a.im}; }
C times_i(const C& a) { return {-a.im, a.re}; }
C over_i(const C& a) { return {a.im, -a.re}; }
C one_minus(const C& a) { return {1.0 - a.re, -a.im}; }
C plus(const C& a, double by) { return {a.re + by, a.im}; }

}  // namespace

C exp(const C& a) {
  const Array size = np::exp(a.re);
  return {size * np::cos(a.im), select(a.im == 0, a.im, size * np::sin(a.im))};
}
C exp2(const C& a) { return exp(scaled(a, std::numbers::ln2)); }
/// e^x cos y - 1 without cancellation: (e^x - 1) cos y - 2 sin²(y / 2).
C expm1(const C& a) {
  const Array sine = np::sin(a.im * 0.5);
  return {np::expm1(a.re) * np::cos(a.im) - 2.0 * (sine * sine),
          select(a.im == 0, a.im, np::exp(a.re) * np::sin(a.im))};
}
/// Near the unit circle by what |z|² is more than 1.
C log(const C& a) {
  const Array x = np::abs(a.re), y = np::abs(a.im), size = np::hypot(a.re, a.im);
  const Array larger = np::maximum(x, y), smaller = np::minimum(x, y);
  const Array near = (size > 0.5) & (size < 2.0), excess = (larger - 1.0) * (larger + 1.0) + smaller * smaller;
  return {select(near, 0.5 * np::log1p(select(near, excess, scalar(x.dtype(), 0))), np::log(size)),
          np::arctan2(a.im, a.re)};
}
C log2(const C& a) { return scaled(log(a), 1 / std::numbers::ln2); }
C log10(const C& a) { return scaled(log(a), 1 / std::numbers::ln10); }
C log1p(const C& a) {
  const Array near = (np::abs(a.re) < 0.5) & (np::abs(a.im) < 0.5);
  const Array excess = select(near, a.re * (2.0 + a.re) + a.im * a.im, scalar(a.re.dtype(), 0));
  const C far = log(plus(a, 1.0));
  return {select(near, 0.5 * np::log1p(excess), far.re), far.im};
}
C logistic(const C& a) { return reciprocal(plus(exp({-a.re, -a.im}), 1.0)); }

C sinh(const C& a) { return {np::sinh(a.re) * np::cos(a.im), np::cosh(a.re) * np::sin(a.im)}; }
C cosh(const C& a) { return {np::cosh(a.re) * np::cos(a.im), np::sinh(a.re) * np::sin(a.im)}; }
C sin(const C& a) { return {np::sin(a.re) * np::cosh(a.im), np::cos(a.re) * np::sinh(a.im)}; }
C cos(const C& a) { return {np::cos(a.re) * np::cosh(a.im), -(np::sin(a.re) * np::sinh(a.im))}; }
C tanh(const C& a) {
  const double most = a.re.dtype() == DType::f64 ? 20 : 9;  // beyond, the real part is ±1
  const Array far = np::abs(a.re) > most, x = np::clip(a.re, -most, most);
  const Array t = np::tan(a.im), s = np::sinh(x), beta = 1.0 + t * t, denominator = 1.0 + beta * (s * s);
  const Array tail = 4.0 * np::sin(a.im) * np::cos(a.im) * np::exp(-2.0 * np::abs(a.re));
  return {select(far, np::sign(a.re), beta * np::cosh(x) * s / denominator), select(far, tail, t / denominator)};
}
C tan(const C& a) { return over_i(tanh(times_i(a))); }

C asin(const C& a) {
  const C below = sqrt(one_minus(a)), above = sqrt(plus(a, 1.0));
  return {np::arctan2(a.re, mul(below, above).re), np::arcsinh(mul(conj(below), above).im)};
}
C acos(const C& a) {
  const C below = sqrt(one_minus(a)), above = sqrt(plus(a, 1.0));
  return {2.0 * np::arctan2(below.re, above.re), np::arcsinh(mul(conj(above), below).im)};
}
C atanh(const C& a) {
  const Array x = a.re, y = a.im, beyond = 1.0 - x;
  return {0.25 * np::log1p(4.0 * x / (beyond * beyond + y * y)),
          0.5 * np::arctan2(2.0 * y, beyond * (1.0 + x) - y * y)};
}
C asinh(const C& a) { return times_i(asin(over_i(a))); }
C acosh(const C& a) {
  const C below = sqrt(plus(a, -1.0)), above = sqrt(plus(a, 1.0));
  return {np::arcsinh(mul(conj(below), above).re), 2.0 * np::arctan2(below.im, above.re)};
}
C atan(const C& a) { return over_i(atanh(times_i(a))); }

}  // namespace cotan::ops::parts
