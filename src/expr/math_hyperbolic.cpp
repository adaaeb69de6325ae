// Hyperbolic functions and their inverses. Polynomials as in math_exp_log.cpp.
#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

namespace {

/// With a = |x| = n ln 2 + r and the terms of the addition theorem, each halved so that no factor overflows:
/// sinh a = 2 (difference cosh r + sum sinh r), cosh a = 2 (sum cosh r + difference sinh r),
/// sum and difference = 2^(n-2) ± 2^(-n-2).
struct Halves {
  Expr sum, difference, sinh, cosh_minus_one;
  /// a cosh r + b sinh r; a is exact where the second term cancels much of it.
  Expr combine(Expr a, Expr b) const { return a + fma(b, sinh, a * cosh_minus_one); }
};
Halves halves(Expr a) {
  a = at_most(a, pick(a, {89.5, 710.6}));  // where results are infinite
  const Nearest n = nearest_integer(a, log2_e.high.f64, -2);
  const Nearest minus_n = nearest_integer(at_most(n.value, pick(a, {60, 500})), -1, -2);  // 0 beside 2^(n-2)
  const Expr r = fma(n.value, -pick(a, ln2.low), fma(n.value, -pick(a, ln2.high), a)), z = r * r;
  // (sinh(r)/r - 1)/r^2 in r^2 for |r| <= ln 2/2: f32 2^-26.2, f64 2^-60.4.
  const Expr sinh = horner(z, {0.166665435, 0.00836655311},
                           {0.16666666666666677, 0.0083333333333213758, 0.0001984126988680237, 2.7557243524190043e-06,
                            2.5109295777991359e-08});
  // (cosh(r) - 1)/r^2: f32 2^-33.2, f64 2^-57.3.
  const Expr cosh =
      horner(z, {0.5, 0.0416664593, 0.00139354379},
             {0.5, 0.041666666666602382, 0.0013888888927452757, 2.4801507839601848e-05, 2.7625527760680035e-07});
  const Expr up = power_of_two(n), down = power_of_two(minus_n);
  return {up + down, up - down, fma(r * z, sinh, r), z * cosh};
}

}  // namespace

Expr sinh(Expr x) {
  const Halves h = halves(abs(x));
  const Expr half = h.combine(h.difference, h.sum);
  const Expr value = with_sign_of(x, half + half);
  return select(lt(abs(x), pick(x, {0x1p-12, 0x1p-27})), x, value);  // as in expm1
}
Expr cosh(Expr x) {
  const Halves h = halves(abs(x));
  const Expr half = h.combine(h.sum, h.difference);
  return half + half;
}
Expr tanh(Expr x) {
  // h/(1 + h) with h = (e^2a - 1)/2: of an error in h, little is left in the quotient. 1 beyond the bound.
  const Expr a = abs(x);
  const ScaledExpm1 e = scaled_expm1(at_most(a + a, pick(x, {20, 42})));
  const Expr half = fma(e.half_scale, e.value, e.half_scale - 0.5);
  return with_sign_of(x, half / (1.0 + half));
}

Expr asinh(Expr x) {
  // log(a + sqrt(a^2 + 1)) without cancellation; log(2a) where the square might overflow.
  const Expr a = abs(x), large = lt(pick(x, {0x1p30, 0x1p60}), a), square = a * a;
  const Expr above_one = a + square / (1.0 + sqrt(square + 1.0));
  const Expr value = log_of_one_plus(select(large, a, above_one));
  return with_sign_of(x, select(large, value + pick(x, ln2.high), value));
}
Expr acosh(Expr x) {
  const Expr t = x - 1.0, large = lt(pick(x, {0x1p30, 0x1p60}), x);
  const Expr value = log_of_one_plus(select(large, x, t + sqrt(fma(t, t, t + t))));
  return select(lt(x, 1), nan, select(large, value + pick(x, ln2.high), value));
}
Expr atanh(Expr x) {
  const Expr a = abs(x);
  return with_sign_of(x, 0.5 * log_of_one_plus((a + a) / (1.0 - a)));
}

}  // namespace cotan::expr::math
