// Exponentials and logarithms.
//
// Polynomials here and in the other math_*.cpp are minimax approximations: Remez' algorithm in 240-bit
// arithmetic, weighted for the relative error of the function, then coefficients rounded to the dtype one by
// one from the lowest power up, the rest fitted again after each. Comments give what is fitted, where, and
// the error reached.
#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

Exponential exponential(Expr x, Expr low) {
  const Nearest n = nearest_integer(x, 0.5 * log2_e.high.f64);
  Expr r = fma(n.value, -2 * pick(x, ln2.high), x);
  r = low ? r + fma(n.value, -2 * pick(x, ln2.low), low) : fma(n.value, -2 * pick(x, ln2.low), r);
  // (e^r - 1)/r for |r| <= ln 2: f32 2^-26.0, f64 2^-56.5.
  const Expr p = horner(
      r, {1, 0.500000358, 0.166666165, 0.041661188, 0.00833594799, 0.00141056825, 0.000196339388},
      {0.99999999999999989, 0.49999999999999922, 0.16666666666667262, 0.041666666666704065, 0.0083333333332358504,
       0.0013888888883372861, 0.00019841269909740805, 2.4801590919307822e-05, 2.7557296300288443e-06,
       2.7556140491676528e-07, 2.505558736744905e-08, 2.1063606814678728e-09, 1.590794521154123e-10});
  return {p, r, power_of_two(n)};
}
Expr exp(Expr x) { return exponential(at_least(at_most(x, pick(x, {89, 710})), pick(x, {-104, -746}))).value(); }
Expr logistic(Expr x) {
  // Beyond the upper bound the result is 1; below it e^x/(1 + e^x) is as exact as e^x.
  const Expr e = exponential(at_least(at_most(x, pick(x, {40, 80})), pick(x, {-104, -746}))).value();
  return e / (1.0 + e);
}

Exponential binary_exponential(Expr x, Expr low) {
  const Nearest n = nearest_integer(x, 0.5);
  const Expr exact = fma(n.value, -2, x), r = low ? exact + low : exact;
  // (2^r - 1)/r for |r| <= 1: f32 2^-26.1, f64 2^-56.5.
  const Expr p = horner(
      r, {0.693147242, 0.240226686, 0.055503659, 0.00961684436, 0.00133417209, 0.000156452908, 1.49168409e-05},
      {0.69314718055994529, 0.24022650695910031, 0.055504108664822784, 0.0096181291076373361, 0.0013333558146315456,
       0.00015403530387239674, 1.5252733845496598e-05, 1.3215488711553853e-06, 1.0178079025521764e-07,
       7.0546111757582044e-09, 4.44605914238447e-10, 2.5907618149641647e-11, 1.3587111088960823e-12});
  return {p, r, power_of_two(n)};
}
Expr exp2(Expr x) {
  return binary_exponential(at_least(at_most(x, pick(x, {128, 1024})), pick(x, {-151, -1076}))).value();
}

ScaledExpm1 scaled_expm1(Expr x) {
  const Nearest n = nearest_integer(x, log2_e.high.f64, -1);
  const Expr r = fma(n.value, -pick(x, ln2.low), fma(n.value, -pick(x, ln2.high), x));
  // (e^r - 1 - r)/r^2 for |r| <= ln 2/2: f32 2^-26.1, f64 2^-55.5.
  const Expr p = horner(r, {0.49999997, 0.166665465, 0.0416674353, 0.00836627185, 0.00138706923},
                        {0.50000000000000056, 0.16666666666666674, 0.041666666666577028, 0.0083333333333483559,
                         0.0013888888931141343, 0.00019841269790096176, 2.480150586263895e-05, 2.7557355187454411e-06,
                         2.762580888758585e-07, 2.5067791997974628e-08});
  return {fma(r * r, p, r), power_of_two(n)};
}

Expr expm1(Expr x) {
  const ScaledExpm1 e = scaled_expm1(at_least(at_most(x, pick(x, {89, 710})), pick(x, {-18, -38})));
  const Expr half = fma(e.half_scale, e.value, e.half_scale - 0.5);
  // Tiny x for its sign where it is 0 and for the bits of subnormals, of which halving would lose one.
  return select(lt(abs(x), pick(x, {0x1p-24, 0x1p-53})), x, half + half);
}

Expr log1p_tail(Expr f) {
  if (f->dtype == DType::f32)  // (log(1+f) - f)/f^2: 2^-27.5
    return f * f *
           horner(f, {-0.499999881, 0.333333254, -0.250016361, 0.200017482, -0.166068286, 0.141874373, -0.132739693,
                      0.128734365, -0.0749134794});
  // With s = f/(2+f): log(1+f) = 2 atanh(s) = 2s + s z R(z), z = s^2. In f64 the division costs less than the
  // 14 more terms without. R: 2^-59.5
  const Expr s = f / (f + 2.0), z = s * s, half_square = 0.5 * f * f;
  const Expr r = z * horner(z, {0.6666666666666734, 0.39999999999416941, 0.28571428741932253, 0.222221986167463,
                                0.18183562174116297, 0.15314103498036508, 0.14795436934636694});
  return fma(s, half_square + r, -half_square);
}

namespace {

/// log(x) = exponent ln 2 + (f + tail)
struct Logarithm {
  Expr exponent, f, tail;
  Logarithm(Expr exponent, Expr f) : exponent(exponent), f(f), tail(log1p_tail(f)) {}
  explicit Logarithm(const Split& x) : Logarithm(x.exponent, x.mantissa - 1.0) {}
  Expr value() const { return fma(exponent, pick(f, ln2.high), f + fma(exponent, pick(f, ln2.low), tail)); }
};
/// What log, log2 and log10 give where x is not positive and finite.
Expr with_log_limits(Expr x, Expr value) {
  return select(lt(0, x), select(lt(x, infinity), value, x), select(eq(x, 0), -infinity, like(x, nan)));
}

}  // namespace

Expr log_of_normal(Expr x) { return Logarithm(split_normal(x)).value(); }
Pair log_parts(Expr x) {
  // The first part of ln 2 is short, so that its product with an exponent is exact.
  const Logarithm l(split(x));
  const Pair sum = fast_two_sum(l.exponent * pick(x, {0x1.62e4p-1, 0x1.62e42feep-1}), l.f);
  return {sum.high, sum.low + fma(l.exponent, pick(x, {1.42860677e-06, 0x1.a39ef35793c76p-33}), l.tail)};
}
Expr log(Expr x) { return with_log_limits(x, Logarithm(split(x)).value()); }
Expr log2(Expr x) {
  const Logarithm l(split(x));
  const Expr log2_mantissa =
      fma(l.f, pick(x, log2_e.high), fma(l.f, pick(x, log2_e.low), l.tail * pick(x, log2_e.high)));
  return with_log_limits(x, l.exponent + log2_mantissa);
}
Expr log10(Expr x) {
  constexpr Tailed log10_e = tailed(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
  constexpr Tailed log10_2 = tailed(0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59);
  const Logarithm l(split(x));
  const Expr low =
      fma(l.exponent, pick(x, log10_2.low), fma(l.f, pick(x, log10_e.low), l.tail * pick(x, log10_e.high)));
  return with_log_limits(x, fma(l.exponent, pick(x, log10_2.high), fma(l.f, pick(x, log10_e.high), low)));
}

Expr log_of_one_plus(Expr x) {
  // f = (1 + x) 2^-e - 1 with one rounding, none where e is 0. In a large x the 1 is lost, and 2^-e
  // underflows.
  const Expr sum = 1.0 + x;
  const Split s = split_normal(sum);
  const Expr scale = from_bits(bits_of(s.mantissa) - bits_of(sum) + bits_of(like(x, 1.0)));
  const Expr f = select(lt(pick(x, {0x1p30, 0x1p60}), x), s.mantissa - 1.0, fma(x, scale, scale - 1.0));
  return with_log_limits(sum, Logarithm(s.exponent, f).value());
}
Expr log1p(Expr x) { return with_sign_of(x, log_of_one_plus(x)); }

}  // namespace cotan::expr::math
