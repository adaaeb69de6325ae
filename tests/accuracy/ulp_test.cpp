// Accuracy of the elementary and special functions against MPFR, in ulps of the exact result.
// One table of functions (oracle, where to sample, bound) drives every implementation of them.
#include <cotan/cotan.hpp>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/scalar_math.hpp"

namespace {

namespace scalar_math = cotan::scalar_math;
constexpr mpfr_prec_t oracle_bits = 200;

struct Real {  // an owned mpfr_t
  mpfr_t v;
  explicit Real(double x = 0) {
    mpfr_init2(v, oracle_bits);
    mpfr_set_d(v, x, MPFR_RNDN);
  }
  Real(const Real&) = delete;
  ~Real() { mpfr_clear(v); }
};

using Oracle = std::function<void(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y)>;
// An implementation under test, applied elementwise; unary functions ignore y.
template <class T>
using VectorFunction = std::function<std::vector<T>(const std::vector<T>& x, const std::vector<T>& y)>;

struct Function {
  std::string name;
  Oracle oracle;
  double low, high;             // where the function is interesting: sampled uniformly
  std::vector<double> centres;  // sampled at distances from 1 ulp to half the centre, both sides
  bool binary = false;
};

// ---- oracles ----

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
  mpfr_init2(step, oracle_bits);
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

// ---- the table ----

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
constexpr double inf = std::numeric_limits<double>::infinity();
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

// No function needs a looser bound than these on any range.
template <class T>
constexpr double bound = sizeof(T) == 8 ? 2 : 1;

// What users call: the array functions, on the reference device.
template <class T>
VectorFunction<T> on_arrays(cotan::Array (*f)(const cotan::ArrayLike&)) {
  return [f](const std::vector<T>& x, const std::vector<T>&) { return f(cotan::Array::from_host(x)).template to_vector<T>(); };
}
template <class T>
VectorFunction<T> on_arrays(cotan::Array (*f)(const cotan::ArrayLike&, const cotan::ArrayLike&)) {
  return [f](const std::vector<T>& x, const std::vector<T>& y) {
    return f(cotan::Array::from_host(x), cotan::Array::from_host(y)).template to_vector<T>();
  };
}

template <class T>
using Implementation = std::map<std::string, VectorFunction<T>>;

template <class T>
Implementation<T> array_functions() {
  namespace np = cotan::numpy;
  namespace lax = cotan::lax;
  return {
      {"exp", on_arrays<T>(np::exp)},          {"exp2", on_arrays<T>(np::exp2)},       {"expm1", on_arrays<T>(np::expm1)},
      {"log", on_arrays<T>(np::log)},          {"log2", on_arrays<T>(np::log2)},       {"log10", on_arrays<T>(np::log10)},
      {"log1p", on_arrays<T>(np::log1p)},      {"sqrt", on_arrays<T>(np::sqrt)},       {"rsqrt", on_arrays<T>(lax::rsqrt)},
      {"cbrt", on_arrays<T>(np::cbrt)},        {"sin", on_arrays<T>(np::sin)},         {"cos", on_arrays<T>(np::cos)},
      {"tan", on_arrays<T>(np::tan)},          {"asin", on_arrays<T>(np::arcsin)},     {"acos", on_arrays<T>(np::arccos)},
      {"atan", on_arrays<T>(np::arctan)},      {"sinh", on_arrays<T>(np::sinh)},       {"cosh", on_arrays<T>(np::cosh)},
      {"tanh", on_arrays<T>(np::tanh)},        {"asinh", on_arrays<T>(np::arcsinh)},   {"acosh", on_arrays<T>(np::arccosh)},
      {"atanh", on_arrays<T>(np::arctanh)},    {"logistic", on_arrays<T>(lax::logistic)}, {"erf", on_arrays<T>(lax::erf)},
      {"erfc", on_arrays<T>(lax::erfc)},       {"erf_inv", on_arrays<T>(lax::erf_inv)}, {"lgamma", on_arrays<T>(lax::lgamma)},
      {"digamma", on_arrays<T>(lax::digamma)}, {"atan2", on_arrays<T>(np::arctan2)},   {"pow", on_arrays<T>(np::power)},
      {"hypot", on_arrays<T>(np::hypot)},
  };
}

// ---- samples ----

template <class T>
class Sampler {
 public:
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Limits = std::numeric_limits<T>;
  explicit Sampler(std::uint64_t seed) : engine_(seed) {}

  T any_bits() { return std::bit_cast<T>(static_cast<Bits>(engine_())); }
  T uniform(double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(engine_));
  }
  T log_uniform(double low_exponent, double high_exponent) {
    const double magnitude = std::exp2(uniform(low_exponent, high_exponent));
    return static_cast<T>(engine_() & 1 ? magnitude : -magnitude) * uniform(1, 2);
  }
  T near(T centre) {  // 1 ulp to half the centre away; a zero centre gives subnormals
    const Bits distance = static_cast<Bits>(std::exp2(uniform(0, Limits::digits - 2)));
    const Bits bits = std::bit_cast<Bits>(centre);
    if (centre == 0) return std::bit_cast<T>(distance) * (engine_() & 1 ? 1 : -1);
    return std::bit_cast<T>(static_cast<Bits>(engine_() & 1 ? bits + distance : bits - distance));
  }
  T pick(const std::vector<T>& from) { return from[engine_() % from.size()]; }

  static std::vector<T> specials() {
    std::vector<T> values = {Limits::quiet_NaN()};
    for (T v : {T(0), Limits::infinity(), Limits::denorm_min(), 3 * Limits::denorm_min(),
                std::nextafter(Limits::min(), T(0)), Limits::min(), Limits::max(), Limits::epsilon(), T(0.25),
                T(0.5), T(1), T(1.5), T(2), T(3), T(10), T(11), std::nextafter(T(1), T(0)),
                std::nextafter(T(1), T(2))})
      values.insert(values.end(), {v, -v});
    return values;
  }

  std::vector<T> unary(const Function& f, int n) {
    std::vector<T> x = specials();
    std::vector<T> centres;
    for (double c : f.centres)
      if (std::abs(c) <= static_cast<double>(Limits::max()))
        for (T v : {static_cast<T>(c), std::nextafter(static_cast<T>(c), T(inf)),
                    std::nextafter(static_cast<T>(c), T(-inf))})
          centres.push_back(v);
    x.insert(x.end(), centres.begin(), centres.end());
    for (int i = 0; i < n / 4; ++i) {
      x.push_back(any_bits());
      x.push_back(log_uniform(-30, 12));
      x.push_back(uniform(f.low, f.high));
      x.push_back(i % 16 == 0 ? near(0) : near(pick(centres)));
    }
    return x;
  }

  std::pair<std::vector<T>, std::vector<T>> binary(const Function& f, int n) {
    std::pair<std::vector<T>, std::vector<T>> xy;
    const auto push = [&](T x, T y) { xy.first.push_back(x), xy.second.push_back(y); };
    for (T x : specials())
      for (T y : specials()) push(x, y);
    std::vector<T> centres(f.centres.begin(), f.centres.end());
    for (int i = 0; i < n / 5; ++i) {
      push(any_bits(), any_bits());
      push(log_uniform(-40, 40), log_uniform(-40, 40));
      push(uniform(f.low, f.high), i % 2 ? uniform(f.low, f.high) : std::trunc(uniform(-40, 40)));
      const T x = near(pick(centres));
      push(x, i % 2 ? near(pick(centres)) : near(x));
      // For pow: y log2(x) close to the exponent range's ends, where rounding is hardest.
      const double end = i % 2 ? Limits::max_exponent : Limits::min_exponent - Limits::digits;
      const T base = std::abs(log_uniform(-8, 8));
      push(base, static_cast<T>(end * uniform(0.95, 1.01) / std::log2(static_cast<double>(base))));
    }
    return xy;
  }

 private:
  std::mt19937_64 engine_;
};

// ---- measure ----

// |computed - exact| in units of the spacing of T at the exact value. Infinite where a NaN, an exact
// infinity or the sign of a zero is missed. A computed infinity stands for the first value beyond the
// largest finite one, and exact values beyond that are clamped to it.
template <class T>
double ulp_error(T computed, mpfr_srcptr exact, mpfr_ptr work) {
  using Limits = std::numeric_limits<T>;
  if (mpfr_nan_p(exact) || std::isnan(computed)) return mpfr_nan_p(exact) && std::isnan(computed) ? 0 : inf;
  const bool same_sign = std::signbit(computed) == (mpfr_signbit(exact) != 0);
  if (mpfr_inf_p(exact)) return std::isinf(computed) && same_sign ? 0 : inf;
  if (mpfr_zero_p(exact)) return computed == 0 && same_sign ? 0 : inf;
  if (computed == 0 && !same_sign) return inf;
  const mpfr_exp_t exponent = mpfr_get_exp(exact);  // |exact| in [2^(e-1), 2^e)
  const bool beyond = exponent > Limits::max_exponent;
  if (beyond && std::isinf(computed) && same_sign) return 0;
  if (std::isinf(computed))
    mpfr_set_si_2exp(work, computed > 0 ? 1 : -1, Limits::max_exponent, MPFR_RNDN);
  else
    mpfr_set_d(work, static_cast<double>(computed), MPFR_RNDN);
  if (beyond) {
    Real clamped;
    mpfr_set_si_2exp(clamped.v, mpfr_sgn(exact), Limits::max_exponent, MPFR_RNDN);
    mpfr_sub(work, work, clamped.v, MPFR_RNDN);
  } else {
    mpfr_sub(work, work, exact, MPFR_RNDN);
  }
  const mpfr_exp_t e = std::clamp<mpfr_exp_t>(exponent, Limits::min_exponent, Limits::max_exponent);
  mpfr_mul_2si(work, work, Limits::digits - e, MPFR_RNDN);
  return std::abs(mpfr_get_d(work, MPFR_RNDN));
}

template <class T>
void measure(const char* title, const Implementation<T>& implementation) {
  const char* dtype = sizeof(T) == 8 ? "f64" : "f32";
  std::printf("%s\n%-10s %-5s %8s %9s  %s\n", title, "function", "dtype", "samples", "max ulp",
              "worst argument");
  for (const Function& f : functions) {
    const auto tested = implementation.find(f.name);
    ASSERT_NE(tested, implementation.end()) << f.name << " is not measured";
    Sampler<T> sampler(1);
    std::vector<T> x, y;
    if (f.binary)
      std::tie(x, y) = sampler.binary(f, 24000);
    else
      x = sampler.unary(f, 24000), y = x;
    const std::vector<T> computed = tested->second(x, y);
    ASSERT_EQ(computed.size(), x.size()) << f.name;
    Real exact, work, mx, my;
    double worst = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mpfr_set_d(mx.v, x[i], MPFR_RNDN);
      mpfr_set_d(my.v, y[i], MPFR_RNDN);
      f.oracle(exact.v, mx.v, my.v);
      const double error = ulp_error(computed[i], exact.v, work.v);
      if (error > worst) worst = error, at = i;
    }
    std::printf("%-10s %-5s %8zu %9.4f  %.17g", f.name.c_str(), dtype, x.size(), worst, double(x[at]));
    if (f.binary) std::printf(", %.17g", double(y[at]));
    std::printf("\n");
    EXPECT_LE(worst, bound<T>) << f.name << "(" << x[at] << ", " << y[at] << ") = " << computed[at];
  }
}

TEST(Ulp, F64) { measure<double>("cotan::numpy", array_functions<double>()); }
TEST(Ulp, F32) { measure<float>("cotan::numpy", array_functions<float>()); }

// Values from jax.lax on CPU (jax_enable_x64) where C has no such function.
template <class T>
void special_values() {
  namespace s = cotan::scalar_math;
  const T i = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  struct Special {
    const char* name;
    T (*function)(T);
    T x, expected;
  };
  // clang-format off
  const Special table[] = {
      {"rsqrt", s::rsqrt, 0, i}, {"rsqrt", s::rsqrt, T(-0.), -i},
      {"rsqrt", s::rsqrt, -1, nan}, {"rsqrt", s::rsqrt, i, 0},
      {"logistic", s::logistic, -i, 0}, {"logistic", s::logistic, i, 1},
      {"erf_inv", s::erf_inv, 1, i}, {"erf_inv", s::erf_inv, -1, -i},
      {"erf_inv", s::erf_inv, 2, nan}, {"erf_inv", s::erf_inv, i, nan},
      {"erf_inv", s::erf_inv, T(-0.), T(-0.)},
      {"lgamma", s::lgamma, 0, i}, {"lgamma", s::lgamma, -1, i}, {"lgamma", s::lgamma, -i, i},
      {"lgamma", s::lgamma, i, i}, {"lgamma", s::lgamma, 1, 0}, {"lgamma", s::lgamma, 2, 0},
      {"digamma", s::digamma, 0, nan}, {"digamma", s::digamma, T(-0.), nan},
      {"digamma", s::digamma, -1, nan}, {"digamma", s::digamma, -i, nan},
      {"digamma", s::digamma, i, i}, {"digamma", s::digamma, nan, nan},
  };
  // clang-format on
  for (const Special& c : table) {
    const T r = c.function(c.x);
    const bool same = std::isnan(c.expected) ? std::isnan(r)
                                             : r == c.expected && std::signbit(r) == std::signbit(c.expected);
    EXPECT_TRUE(same) << c.name << "(" << c.x << ") = " << r << ", expected " << c.expected;
  }
}
TEST(Ulp, SpecialValuesF64) { special_values<double>(); }
TEST(Ulp, SpecialValuesF32) { special_values<float>(); }

// nextafter steps the bit pattern by one, in T and not in a wider type.
template <class T>
void neighbours() {
  using Bits = typename Sampler<T>::Bits;
  using Limits = std::numeric_limits<T>;
  Sampler<T> sampler(1);
  for (int n = 0; n < 10000; ++n) {
    const T x = std::abs(sampler.any_bits());
    if (!std::isfinite(x) || x == 0) continue;
    const Bits bits = std::bit_cast<Bits>(x);
    EXPECT_EQ(scalar_math::nextafter(x, Limits::infinity()), std::bit_cast<T>(static_cast<Bits>(bits + 1)));
    EXPECT_EQ(scalar_math::nextafter(x, T(0)), std::bit_cast<T>(static_cast<Bits>(bits - 1)));
    EXPECT_EQ(scalar_math::nextafter(-x, T(0)), -std::bit_cast<T>(static_cast<Bits>(bits - 1)));
  }
  EXPECT_EQ(scalar_math::nextafter(T(0), T(-1)), -Limits::denorm_min());
  EXPECT_EQ(scalar_math::nextafter(T(3), T(3)), T(3));
  EXPECT_TRUE(std::isnan(scalar_math::nextafter(T(3), Limits::quiet_NaN())));
}
TEST(Ulp, NextafterF64) { neighbours<double>(); }
TEST(Ulp, NextafterF32) { neighbours<float>(); }

}  // namespace
