// Powers and roots. Polynomials as in math_exp_log.cpp.
#include <cstdlib>

#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

Expr rsqrt(Expr x) { return 1.0 / sqrt(x); }

Expr hypot(Expr x, Expr y) {
  const Expr a = abs(x), b = abs(y), swapped = lt(a, b);
  const Expr larger = select(swapped, b, a), smaller = select(swapped, a, b);
  // Powers of two keep the squares in range.
  const Real huge{0x1p60, 0x1p500}, shrink{0x1p-70, 0x1p-600}, tiny{0x1p-60, 0x1p-500}, grow{0x1p100, 0x1p700};
  const Expr is_huge = lt(pick(x, huge), larger), is_tiny = lt(larger, pick(x, tiny));
  const Expr one = like(x, 1);
  const Expr scale = select(is_huge, pick(x, shrink), select(is_tiny, pick(x, grow), one));
  const Expr unscale = select(is_huge, 1 / pick(x, shrink), select(is_tiny, 1 / pick(x, grow), one));
  const Expr u = larger * scale, v = smaller * scale;
  return select(eq(a, infinity) | eq(b, infinity), infinity, sqrt(fma(u, u, v * v)) * unscale);
}

Expr cbrt(Expr x) {
  // |x| = m 2^3q: the exponent's remainder by 3 goes into m and into the start.
  const Expr a = abs(x);
  const Split s = split(a);
  const Nearest q = nearest_integer(s.exponent, 1.0 / 3);
  const Expr k = fma(q.value, -3, s.exponent), above = lt(0, k), below = lt(k, 0), one = like(x, 1);
  const Expr m = s.mantissa * select(above, 2, select(below, 0.5, one));
  // mantissa^-1/3: f32 2^-14.7, f64 2^-17.4.
  Expr p = horner(s.mantissa, {1.87451971, -1.86183417, 1.56131113, -0.702390611, 0.128370523},
                  {1.9991678273700502, -2.4859065005716254, 2.7921862069758663, -1.8981103990863279,
                   0.70072924588774665, -0.10806253373469302});
  p = p * select(above, 0.79370052598409974, select(below, 1.2599210498948732, one));
  if (x->dtype == DType::f64) p = fma(p * (1.0 / 3), fma(-(m * p), p * p, 1.0), p);
  // One step of Newton's iteration for y^3 = m, with p^2 for 1/y^2.
  const Expr p2 = p * p, y = m * p2;
  const Expr root = fma(fma(-(y * y), y, m), p2 * (1.0 / 3), y);
  return select(lt(0, a) & lt(a, infinity), with_sign_of(x, root * power_of_two(q)), x);
}

namespace {

/// log2(x) for positive finite x, to about 1.5 times the bits of its dtype.
Pair log2_pair(Expr x) {
  // With q = (m-1)/(m+1): log2(m) = 2/ln 2 atanh(q) = q h(q^2), h(z) = h0 + h1 z + p(z) z^2.
  constexpr Tailed h0 = tailed(0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55);  // 2/ln 2
  constexpr Tailed h1 = tailed(0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55);  // h0/3
  const Split s = split(x);
  const Expr f = s.mantissa - 1.0, d = s.mantissa + 1.0, d_low = s.mantissa - (d - 1.0), inverse = 1.0 / d;
  const Expr q = f * inverse, q_low = fma(-q, d_low, fma(-q, d, f)) * inverse;
  const Expr z = q * q, z_low = fma(q + q, q_low, fma(q, q, -z));
  // f32 2^-36.8, f64 2^-66.3.
  const Expr p = horner(z, {0.57708019, 0.411849946, 0.337819815},
                        {0.57707801635561795, 0.41219858309193919, 0.32059890227383969, 0.26230770109527368,
                         0.22198399903040456, 0.19125514318472306, 0.19038541475281773});
  const Pair slope = fast_two_sum(like(x, h1.high), fma(z, p, like(x, h1.low)));
  const Pair term = two_product(z, slope.high);
  Pair h = fast_two_sum(like(x, h0.high), term.high);
  h.low = h.low + (term.low + fma(z, slope.low, fma(z_low, slope.high, like(x, h0.low))));
  const Pair product = two_product(q, h.high);
  const Pair sum = fast_two_sum(s.exponent, product.high);
  return {sum.high, sum.low + fma(q, h.low, fma(q_low, h.high, product.low))};
}

}  // namespace

Expr pow(Expr x, Expr y) {
  const Expr a = abs(x);
  const Pair log2_a = log2_pair(a);
  // So large an exponent gives 0, 1 or infinity like any larger one.
  const double limit = pick(x, {0x1p60, 0x1p100});
  const Expr exponent = at_least(at_most(y, limit), -limit);
  const Pair product = two_product(exponent, log2_a.high);
  const Expr bounded = at_least(at_most(product.high, pick(x, {129, 1025})), pick(x, {-152, -1078}));
  const Expr low = select(eq(bounded, product.high), fma(exponent, log2_a.low, product.low), 0);
  const Expr finite = binary_exponential(bounded, low).value();

  const Expr base_is_zero = eq(a, 0), base_is_infinite = eq(a, infinity), zero = like(x, 0);
  const Expr at_limit = select(base_is_zero ^ lt(y, 0), zero, infinity);
  const Expr magnitude = select(base_is_zero | base_is_infinite, at_limit, finite);
  const Expr is_integer = eq(trunc(y), y), half = 0.5 * y, is_odd = is_integer & ne(trunc(half), half);
  const Expr value = select(is_odd, with_sign_of(x, magnitude), magnitude);
  const Expr undefined = (lt(x, 0) & ~base_is_infinite & ~is_integer) | ne(x, x) | ne(y, y);
  return select(eq(y, 0) | eq(x, 1), 1, select(undefined, nan, value));
}

namespace {

/// x^n by squaring; `times` multiplies.
template <class T, class F>
T by_squaring(T x, std::uint64_t n, F times) {
  while (n % 2 == 0) x = times(x, x), n /= 2;
  T product = x;
  while (n /= 2) {
    x = times(x, x);
    if (n % 2) product = times(product, x);
  }
  return product;
}
Pair times(const Pair& a, const Pair& b) {
  const Pair p = two_product(a.high, b.high);
  return {p.high, fma(a.low, b.high, fma(a.high, b.low, p.low))};
}

}  // namespace

Expr integer_pow(Expr x, std::int64_t n) {
  const auto plain = [](Expr a, Expr b) { return a * b; };
  if (n == 0) return like(x, 1);
  if (!is_floating(x->dtype)) return by_squaring(x, static_cast<std::uint64_t>(n), plain);
  if (n < -1024 || n > 1024) return pow(x, like(x, static_cast<double>(n)));
  const Expr base = n < 0 ? 1.0 / x : x;
  const auto power = static_cast<std::uint64_t>(std::abs(n));
  if (-2 <= n && n <= 4) return by_squaring(base, power, plain);
  // Roundings add up: carry them along. They are not a number where the product is infinite.
  const Pair exact_base{base, n < 0 ? fma(-base, x, 1.0) * base : like(x, 0)};
  const Pair product = by_squaring(exact_base, power, times);
  const Expr error = abs(product.low);
  return select(lt(0, error) & lt(error, infinity), product.high + product.low, product.high);
}

}  // namespace cotan::expr::math
