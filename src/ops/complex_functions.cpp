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
Array filled(const C& a, double v) { return full(a.re.shape(), scalar(a.re.dtype(), v)); }
Array infinite(const C& a) { return np::isinf(a.re) | np::isinf(a.im); }
/// Of an infinite number: ±1 for infinite parts and zeros for others, but NaN stays NaN.
C direction(const C& a) {
  const auto of = [&](const Array& x) {
    return select(np::isinf(x), select(x < 0, filled(a, -1), filled(a, 1)), 0.0 * x);
  };
  return {of(a.re), of(a.im)};
}

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

/// Of a number on the real axis the imaginary part is a zero, also where cosh x is infinite or NaN: there its sign
/// counts.
C sinh(const C& a) { return {np::sinh(a.re) * np::cos(a.im), select(a.im == 0, a.im, np::cosh(a.re) * np::sin(a.im))}; }
C cosh(const C& a) {
  const Array sine = np::sin(a.im), left = select(a.re < 0, filled(a, -1), filled(a, 1));
  const Array slope = select((a.im == 0) & ~(np::abs(a.re) <= 1.0), left, np::sinh(a.re));
  return {np::cosh(a.re) * np::cos(a.im), slope * sine};
}
C sin(const C& a) { return over_i(sinh(times_i(a))); }
C cos(const C& a) { return cosh(times_i(a)); }
/// Far to the right or left ±1, and at infinity that is so whatever the imaginary part is.
C tanh(const C& a) {
  const double most = a.re.dtype() == DType::f64 ? 20 : 9;  // beyond, the real part is ±1
  const Array far = np::abs(a.re) > most, x = np::clip(a.re, -most, most);
  const Array t = np::tan(a.im), s = np::sinh(x), beta = 1.0 + t * t, denominator = 1.0 + beta * (s * s);
  const Array tail = select(np::isinf(a.re) & ~np::isfinite(a.im), np::copysign(filled(a, 0), a.im),
                            4.0 * np::sin(a.im) * np::cos(a.im) * np::exp(-2.0 * np::abs(a.re)));
  return {select(far, np::sign(a.re) + 0.0 * tail, beta * np::cosh(x) * s / denominator),
          select(a.im == 0, a.im, select(far, tail, t / denominator))};
}
C tan(const C& a) { return over_i(tanh(times_i(a))); }

// The inverse functions tell the two sides of a cut by the sign of the zero. Where a part is infinite they depend on
// the direction alone.
C asin(const C& a) {
  const C below = signed_sqrt(one_minus(a)), above = signed_sqrt(plus(a, 1.0)), to = direction(a);
  const Array far = infinite(a);
  return {np::arctan2(select(far, to.re, a.re), select(far, np::abs(to.im), mul(below, above).re)),
          np::arcsinh(select(far, np::copysign(filled(a, np::inf), a.im), mul(conj(below), above).im))};
}
C acos(const C& a) {
  const C below = signed_sqrt(one_minus(a)), above = signed_sqrt(plus(a, 1.0)), to = direction(a);
  const Array far = infinite(a);
  return {select(far, filled(a, 1), filled(a, 2)) *
              np::arctan2(select(far, np::abs(to.im), below.re), select(far, to.re, above.re)),
          np::arcsinh(select(far, -np::copysign(filled(a, np::inf), a.im), mul(conj(above), below).im))};
}
/// The real part is log1p(4 |x| / |1 - z|²) / 4, with the sign of x: of -x it would cancel. The square of the distance
/// does not underflow unless it is that of y alone, where log(2 / |y|) / 2 is as near. Far away, where it would
/// overflow, everything is scaled, and the imaginary part is ±pi/2.
C atanh(const C& a) {
  const bool wide = a.re.dtype() == DType::f64;
  const Array x = np::abs(a.re), height = np::abs(a.im), beyond = 1.0 - x;
  const Array far = (x > (wide ? 0x1p500 : 0x1p50)) | (height > (wide ? 0x1p500 : 0x1p50));
  const Array tiny = (beyond == 0) & (height < 1e-12);
  const Array scale = select(far, filled(a, wide ? 0x1p-600 : 0x1p-70), filled(a, 1));
  const Array across = beyond * scale, up = height * scale;
  const Array excess =
      select(tiny, 2.0 - height, (x * scale) * (4.0 * scale)) / select(tiny, height, across * across + up * up);
  const Array size =
      select(tiny, filled(a, 0.5), filled(a, 0.25)) * np::log1p(select(infinite(a), filled(a, 0), excess));
  const Array turn = np::arctan2(select(far, 0.0 * np::clip(a.im, -1.0, 1.0), 2.0 * a.im),
                                 select(far, filled(a, -1), beyond * (1.0 + x) - height * height));
  return {np::copysign(size, a.re), 0.5 * turn};
}
C asinh(const C& a) { return times_i(asin(over_i(a))); }
C acosh(const C& a) {
  const C below = signed_sqrt(plus(a, -1.0)), above = signed_sqrt(plus(a, 1.0)), to = direction(a);
  const Array far = infinite(a);
  return {np::arcsinh(select(far, filled(a, np::inf), mul(conj(below), above).re)),
          select(far, filled(a, 1), filled(a, 2)) *
              np::arctan2(select(far, to.im, below.im), select(far, to.re, above.re))};
}
C atan(const C& a) { return over_i(atanh(times_i(a))); }

}  // namespace cotan::ops::parts
