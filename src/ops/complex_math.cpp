// Complex arithmetic, comparison, powers and roots on real and imaginary parts.
#include <cmath>
#include <cotan/numpy.hpp>
#include <limits>

#include "ops/parts.hpp"

namespace cotan::ops::parts {

namespace np = numpy;
using C = ComplexParts;

C add(const C& a, const C& b) { return {a.re + b.re, a.im + b.im}; }
C sub(const C& a, const C& b) { return {a.re - b.re, a.im - b.im}; }
C mul(const C& a, const C& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
C scaled(const C& a, double by) { return {a.re * by, a.im * by}; }
C where(const Array& predicate, const C& a, const C& b) {
  return {select(predicate, a.re, b.re), select(predicate, a.im, b.im)};
}
C like(const C& a, double re, double im) {
  return {full(a.re.shape(), scalar(a.re.dtype(), re)), full(a.re.shape(), scalar(a.re.dtype(), im))};
}

namespace {

Array value(const C& a, double v) { return scalar(a.re.dtype(), v); }
/// 0-d operands in the shape of the other.
std::pair<C, C> of_one_shape(const C& a, const C& b) {
  const Shape& shape = a.re.ndim() == 0 ? b.re.shape() : a.re.shape();
  const auto spread = [&](const C& c) { return C{broadcast_to(c.re, shape), broadcast_to(c.im, shape)}; };
  return {spread(a), spread(b)};
}
/// ±1 where a part is infinite, else ±0.
C directions(const C& a) {
  const auto of = [&](const Array& x) { return np::copysign(select(np::isinf(x), value(a, 1), value(a, 0)), x); };
  const auto spread = [&](const Array& x) { return broadcast_to(of(x), x.shape()); };
  return {spread(a.re), spread(a.im)};
}

}  // namespace

/// Smith's method, which does not overflow where the quotient does not. Infinite numbers and division by zero give the
/// infinities and zeros of C's Annex G.
C div(const C& x, const C& y) {
  const auto [a, b] = of_one_shape(x, y);
  const Array wide = np::abs(b.re) >= np::abs(b.im);
  const Array large = select(wide, b.re, b.im), small = select(wide, b.im, b.re), ratio = small / large,
              denominator = large + small * ratio;
  const C plain{select(wide, a.re + a.im * ratio, a.re * ratio + a.im) / denominator,
                select(wide, a.im - a.re * ratio, a.im * ratio - a.re) / denominator};
  const Array infinity = np::copysign(full(b.re.shape(), value(b, np::inf)), b.re);
  const auto times_conjugate = [](const C& p, const C& q) {
    return C{p.re * q.re + p.im * q.im, p.im * q.re - p.re * q.im};
  };
  const auto infinite = [](const C& c) { return np::isinf(c.re) | np::isinf(c.im); };
  const auto finite = [](const C& c) { return np::isfinite(c.re) & np::isfinite(c.im); };
  const C far = times_conjugate(directions(a), b), none = times_conjugate(a, directions(b));
  C out = where(infinite(a) & finite(b), scaled(far, np::inf), plain);
  out = where(finite(a) & infinite(b), scaled(none, 0), out);
  const Array by_zero = (b.re == 0) & (b.im == 0);
  return where(by_zero, {infinity * a.re, infinity * a.im}, out);
}
C reciprocal(const C& a) { return div(like(a, 1), a); }

Array less(const C& a, const C& b) { return (a.re < b.re) | ((a.re == b.re) & (a.im < b.im)); }
Array equal(const C& a, const C& b) { return (a.re == b.re) & (a.im == b.im); }

/// By the difference of squares in factors, which does not cancel, and is no NaN where one part is infinite. Of sizes,
/// so that it is +0 wherever they are equal.
C square(const C& a) {
  const Array x = np::abs(a.re), y = np::abs(a.im);
  return {(x - y) * (x + y), 2.0 * (a.re * a.im)};
}
C integer_pow(const C& a, std::int64_t n) {
  if (n == 0) return like(a, 1);
  if (n < 0) return reciprocal(integer_pow(a, -n));
  C power = a;
  std::optional<C> out;
  for (auto e = static_cast<std::uint64_t>(n); e; e >>= 1) {
    if (e & 1u) out = out ? mul(*out, power) : power;
    if (e > 1) power = mul(power, power);
  }
  return *out;
}
/// exp(b log a); 0 to the power 0 is 1, and to others 0.
C pow(const C& x, const C& y) {
  const auto [a, b] = of_one_shape(x, y);
  const Array zero = (a.re == 0) & (a.im == 0), none = (b.re == 0) & (b.im == 0);
  const C base = where(zero, like(a, 1), a);
  return where(none, like(a, 1), where(zero, like(a, 0), exp(mul(b, log(base)))));
}
C sign(const C& a) {
  const Array size = np::hypot(a.re, a.im), zero = size == 0, safe = select(zero, value(a, 1), size);
  return {a.re / safe, a.im / safe};
}

namespace {

/// The root whose real part is not negative; its imaginary part is negative where `below` says so.
C root(const C& a, const Array& below) {
  const Array size = np::hypot(a.re, a.im), zero = size == 0, right = a.re >= 0;
  const Array larger = np::sqrt(size * 0.5 + np::abs(a.re) * 0.5);
  const Array smaller = np::abs(a.im) / (select(zero, value(a, 1), larger) * 2.0);
  const Array height = select(right, smaller, larger);
  const C out{select(right, larger, smaller), select(below, -height, height)};
  return where(np::isinf(a.im), {np::abs(a.im), a.im}, out);
}

}  // namespace

/// On the negative axis, whatever the sign of the zero, i times a positive number, as JAX has it.
C sqrt(const C& a) { return root(a, a.im < 0); }
C signed_sqrt(const C& a) { return root(a, np::signbit(a.im)); }
C rsqrt(const C& a) {
  const C out = reciprocal(signed_sqrt(a));
  return {np::abs(out.re), np::copysign(out.im, -a.im)};
}

}  // namespace cotan::ops::parts
