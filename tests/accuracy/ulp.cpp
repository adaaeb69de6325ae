// The table of functions and their oracles.
#include "ulp.hpp"

namespace ulp {

namespace {

Oracle unary(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)) {
  return [f](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { f(r, x, MPFR_RNDN); };
}
Oracle binary(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)) {
  return [f](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) { f(r, x, y, MPFR_RNDN); };
}

void rsqrt(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {  // mpfr_rec_sqrt(-0) is +inf, JAX's -inf
  mpfr_sqrt(r, x, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

void logistic(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  mpfr_neg(r, x, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

void lgamma(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  int sign;
  mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}

void digamma(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_integer_p(x) && mpfr_sgn(x) <= 0) return mpfr_set_nan(r);  // as JAX; MPFR has inf at 0
  mpfr_digamma(r, x, MPFR_RNDN);
}

// Newton on erf(y) = x (on erfc(y) = 1 - x in the tail); each step doubles the digits of the start.
void erf_inv(mpfr_ptr y, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_cmpabs_ui(x, 1) >= 0 || mpfr_nan_p(x) || mpfr_zero_p(x)) {
    if (mpfr_zero_p(x))
      mpfr_set(y, x, MPFR_RNDN);
    else if (!mpfr_nan_p(x) && mpfr_cmpabs_ui(x, 1) == 0)
      mpfr_set_inf(y, mpfr_sgn(x));
    else
      mpfr_set_nan(y);
    return;
  }
  Real a, tail, residual, slope;
  mpfr_abs(a.v, x, MPFR_RNDN);
  mpfr_ui_sub(tail.v, 1, a.v, MPFR_RNDN);
  const double t = mpfr_get_d(tail.v, MPFR_RNDN);
  const bool in_tail = t < 0.5;
  // Start: bisection in double, 2^-40; tiny arguments start from the linear term.
  mpfr_const_pi(slope.v, MPFR_RNDN);
  mpfr_sqrt(slope.v, slope.v, MPFR_RNDN);
  mpfr_div_ui(slope.v, slope.v, 2, MPFR_RNDN);
  mpfr_mul(y, a.v, slope.v, MPFR_RNDN);
  if (mpfr_cmp_d(a.v, 1e-9) > 0) {
    double low = 0, high = 6;
    const double p = mpfr_get_d(a.v, MPFR_RNDN);
    for (int i = 0; i < 50; ++i) {
      const double mid = (low + high) / 2;
      ((in_tail ? std::erfc(mid) > t : std::erf(mid) < p) ? low : high) = mid;
    }
    mpfr_set_d(y, low, MPFR_RNDN);
  }
  mpfr_t step;
  mpfr_init2(step, mpfr_get_prec(y));
  for (int i = 0; i < 5; ++i) {
    if (in_tail) {
      mpfr_erfc(residual.v, y, MPFR_RNDN);
      mpfr_sub(residual.v, tail.v, residual.v, MPFR_RNDN);
    } else {
      mpfr_erf(residual.v, y, MPFR_RNDN);
      mpfr_sub(residual.v, residual.v, a.v, MPFR_RNDN);
    }
    mpfr_sqr(step, y, MPFR_RNDN);
    mpfr_exp(step, step, MPFR_RNDN);
    mpfr_mul(step, step, slope.v, MPFR_RNDN);
    mpfr_mul(step, step, residual.v, MPFR_RNDN);
    mpfr_sub(y, y, step, MPFR_RNDN);
    // The step just taken was below 2^-60 y: what remains is below 2^-110 y.
    if (mpfr_zero_p(step) || mpfr_get_exp(step) < mpfr_get_exp(y) - 60) break;
  }
  mpfr_clear(step);
  mpfr_copysign(y, y, x, MPFR_RNDN);
}

std::vector<double> multiples_of_half_pi() {
  std::vector<double> centres;
  for (double k : {1., 2., 3., 4., 5., 7., 10., 100., 1001., 1e5 + 1, 1e8 + 1, 1e12 + 1, 1e15 + 1})
    centres.insert(centres.end(), {k * 1.5707963267948966, k * -1.5707963267948966});
  // Doubles exceptionally close to a multiple of pi/2 (from the continued fraction of 2^e/pi).
  for (double x : {5.3193726483265414e255, 1.5986289000543612e74, 1.2853022199154463e174, 45.553093477052,
                   1.0465160644970564e265, 1.3620736337320517e119})
    centres.insert(centres.end(), {x, 2 * x});
  return centres;
}
// clang-format off
// Overflow and underflow thresholds of exp and kin, f64 and f32.
const std::vector<double> exp_edges = {
    709.782712893384, -708.3964185322641, -745.1332191019411, 88.72283905206835, -87.33654475055310,
    -103.97207708399179, 1e-8, -1e-8};
const std::vector<double> exp2_edges = {1024, -1022, -1075, 128, -126, -150};
const std::vector<double> hyperbolic_edges = {
    710.4758600739439, -710.4758600739439, 89.41598629223294, -89.41598629223294, 22, 1e-4, 0.5, 1};
// Zeros of log|Gamma| and of digamma, and poles of both.
const std::vector<double> lgamma_edges = {
    1, 2, -1, -2, -3, -10, -20, -2.457024738220800, -2.747682646727413, -3.143580888349980,
    -3.955294284858598, -4.039361839740537, -4.991544640560048, -5.008218168225937,
    -10.000000275572914, 2.5563481638716906e305, 4.085003423e36, 171.62};
const std::vector<double> digamma_edges = {
    1.4616321449683622, 1, 2, -1, -2, -3, -10, -1e6, 12, 30, -0.5040830082644554,
    -1.5734984731623904, -2.6107208684441445, -3.6352933664369010, -4.6532377617431421,
    -5.6671624415568855, -9.7026725400018637, -1e-8};

}  // namespace

const std::vector<Function> functions = {
    {"exp", unary(mpfr_exp), -750, 712, exp_edges},
    {"exp2", unary(mpfr_exp2), -1080, 1030, exp2_edges},
    {"expm1", unary(mpfr_expm1), -40, 712, exp_edges},
    {"log", unary(mpfr_log), 0, 4, {1, 2, 0.5}},
    {"log2", unary(mpfr_log2), 0, 4, {1, 2, 0.5}},
    {"log10", unary(mpfr_log10), 0, 4, {1, 10, 0.1, 1000}},
    {"log1p", unary(mpfr_log1p), -1, 4, {-1, 1, 1e-8, -1e-8}},
    {"sqrt", unary(mpfr_sqrt), 0, 4, {1, 2, 4}},
    {"rsqrt", rsqrt, 0, 4, {1, 2, 4}},
    {"cbrt", unary(mpfr_cbrt), -8, 8, {1, -1, 8, 27}},
    {"sin", unary(mpfr_sin), -1e3, 1e3, multiples_of_half_pi()},
    {"cos", unary(mpfr_cos), -1e3, 1e3, multiples_of_half_pi()},
    {"tan", unary(mpfr_tan), -1e3, 1e3, multiples_of_half_pi()},
    {"asin", unary(mpfr_asin), -1, 1, {1, -1, 0.5, 1e-8}},
    {"acos", unary(mpfr_acos), -1, 1, {1, -1, 0.5, 1e-8}},
    {"atan", unary(mpfr_atan), -10, 10, {1, -1, 1e-8, 1e16}},
    {"sinh", unary(mpfr_sinh), -712, 712, hyperbolic_edges},
    {"cosh", unary(mpfr_cosh), -712, 712, hyperbolic_edges},
    {"tanh", unary(mpfr_tanh), -23, 23, hyperbolic_edges},
    {"asinh", unary(mpfr_asinh), -10, 10, {1, -1, 1e-8, 1e8}},
    {"acosh", unary(mpfr_acosh), 1, 10, {1, 2, 1e8}},
    {"atanh", unary(mpfr_atanh), -1, 1, {1, -1, 0.5, 1e-8}},
    {"logistic", logistic, -750, 40, exp_edges},
    {"erf", unary(mpfr_erf), -6, 6, {1, -1, 0.84375, 5.9215871957945, 3.8325069, 1e-8}},
    {"erfc", unary(mpfr_erfc), -6, 28, {1, -1, 0.84375, 26.543258430632, 27.226017111108362, 9.194549, 10.054}},
    {"erf_inv", erf_inv, -1, 1, {1, -1, 0.5, 1e-8, 1e-10}},
    {"lgamma", lgamma, -30, 30, lgamma_edges},
    {"digamma", digamma, -30, 30, digamma_edges},
    {"atan2", binary(mpfr_atan2), -10, 10, {1, -1, 1e-8}, true},
    {"pow", binary(mpfr_pow), 0, 40, {1, -1, 2, 1024, 0.5}, true},
    {"hypot", binary(mpfr_hypot), -10, 10, {1, -1, 1e-8}, true},
};
// clang-format on

}  // namespace ulp
