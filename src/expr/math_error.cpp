// The error function, its complement and its inverse. Polynomials as in math_exp_log.cpp, rational functions
// by Remez' algorithm likewise.
#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

namespace {

/// erf(a)/a - 1 for |a| <= 1 (f32: 1.2).
Expr erf_slope(Expr a) {
  // In a^2, weighted for erf: f32 2^-26.1, f64 2^-56.3.
  return horner(
      a * a, {0.128379151, -0.376125365, 0.112826794, -0.0268200301, 0.00513111521, -0.00075613329, 6.52559829e-05},
      {0.12837916709551259, -0.37612638903183876, 0.11283791670958743, -0.02686617064561956, 0.0052239776290960854,
       -0.00085483271896427497, 0.00012055337779481584, -1.492573855129636e-05, 1.6463087940631198e-06,
       -1.6370648030683061e-07, 1.4786618108652206e-08, -1.1830872770783118e-09, 6.6853257597663849e-11});
}

/// erfc(a) = e^(-a^2) erfcx(a) for a >= 0.
Expr erfc_of_large(Expr a) {
  a = at_most(a, pick(a, {10.1, 27.3}));  // where results are 0
  // erfcx(a) (a + c) as a polynomial in t = (a - c)/(a + c): f32 2^-26.9 with c = 3, f64 2^-54.1 with c = 4.
  const double c = pick(a, {3, 4});
  const Expr sum = a + c, inverse = 1.0 / sum;
  // x/sum: what the rounded product misses, added.
  const auto over_sum = [&](Expr x, Expr low) {
    const Expr quotient = x * inverse, missing = fma(-quotient, sum, x);
    return fma(low ? missing + low : missing, inverse, quotient);
  };
  const Expr t = over_sum(a - c, {});
  const Expr slope =
      horner(t,
             {-0.88339448, 0.590228081, -0.310466111, 0.119530708, -0.0268389732, -0.00123083522, 0.00307738036,
              -0.000479536218, -0.000322475826},
             {-0.97654872908088208,    0.77320870226524374,     -0.54085383131322418,   0.33085158787778152,
              -0.17401093724034736,    0.076381514913034215,    -0.02637005333311887,   0.0061120556223615407,
              -0.00028095893459451592, -0.00045505250560346763, 0.00017681321631328752, -3.6357573014430092e-06,
              -1.8862320014981152e-05, 4.6955768799330704e-06,  1.4274447276293595e-06, -8.4748024847149206e-07,
              -8.0026739854880018e-08, 1.2471158208049085e-07,  4.3220710173336145e-09, -1.5284025071074125e-08,
              -9.8968722158577962e-10, 8.0430724876726735e-10});
  const Pair p = fast_two_sum(like(a, Real{1.07400692, 1.0959956610004911}), t * slope);
  const Pair square = two_product(a, -a);
  return exponential(square.high, square.low).times(over_sum(p.high, p.low));
}

}  // namespace

Expr erf(Expr x) {
  const Expr a = abs(x);
  Expr tail;
  if (x->dtype == DType::f32) {
    // erfc(a)^(-1/8) up to the bound, where the result rounds to 1: 2^-27.5
    const Expr root = horner(at_most(a, 3.93), {0.98925525, 0.189939618, -0.00579914404, 0.128088087, -0.0646640584,
                                                0.0286296792, -0.00604807632, 0.000705894374});
    const Expr second = root * root, fourth = second * second;
    tail = 1.0 / (fourth * fourth);
  } else {
    tail = erfc_of_large(a);
  }
  return with_sign_of(x, select(lt(pick(x, {1.2, 1}), a), 1.0 - tail, fma(a, erf_slope(a), a)));
}

Expr erfc(Expr x) {
  const Expr a = abs(x), large = erfc_of_large(a);
  const Expr small = fma(-x, erf_slope(x), 1.0 - x);  // the difference is exact where the terms cancel
  return select(le(a, 1), small, select(lt(x, 0), 2.0 - large, large));
}

Expr erf_inv(Expr x) {
  const Expr a = abs(x), central = lt(a, pick(x, {0.75, 0.85}));
  // erf_inv(a)/a - 1 as a rational function of u: f32 2^-28.7, f64 2^-57.1.
  const Expr u = fma(-a, a, pick(x, {0.5625, 0.7225}));
  const Expr central_numerator =
      horner(u, {0.0845597943, -0.301178054, -0.858864137, -0.293943431},
             {0.19753231156709133, 1.3252472821549646, 1.2985786324334516, -8.5689855131557131, -24.725784126274952,
              -23.925226000333652, -8.7903207525343241, -0.93352858707597663, -0.003112447337605444});
  const Expr central_denominator =
      horner(u, {1, 3.09171287, 2.47006438, 0.413118506},
             {1, 11.263830295435442, 49.520812056418052, 107.76726456441342, 121.69405351692784, 68.386921015276172,
              16.645874195819321, 1.2240368446750907});
  // erf_inv(a) - r as a rational function of r = sqrt(-log(1 - a)): f32 2^-29.2, f64 2^-55.8.
  const Expr r = sqrt(-log_of_normal(1.0 - a));
  const Expr tail_numerator = horner(
      r, {-0.021127968, -0.848724878, -0.716727384, -0.0175491107, 0.000382540706},
      {-0.00063666210008860643, -0.99212493183401806, -1.4832044828677593, -2.26763178860074, -1.6192312916372242,
       -0.41215504127729108, -0.036055920928847532, -0.00079669060814658113, -7.8284669069793133e-07});
  const Expr tail_denominator =
      horner(r, {1, 1.12996439, 1.82816898, 0.456450832},
             {1, 2.32520240100841, 4.4765710786771029, 4.8193686964330977, 4.1147923845928718, 1.7028180990958037,
              0.2934677679348156, 0.018232769991331502, 0.00027671741333961194});
  const Expr correction =
      select(central, a * central_numerator, tail_numerator) / select(central, central_denominator, tail_denominator);
  const Expr value = select(central, a, r) + correction;
  return with_sign_of(x, select(lt(a, 1), value, select(eq(a, 1), infinity, like(x, nan))));
}

}  // namespace cotan::expr::math
