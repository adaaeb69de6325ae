// Accuracy in ulps of the exact result, by MPFR: one table of functions (oracle, where to sample) measures
// every implementation of them.
#pragma once
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

#include "support/nightly.hpp"

namespace ulp {

struct Real {  // an owned mpfr_t
  mpfr_t v;
  explicit Real(double x = 0) {
    mpfr_init2(v, 200);
    mpfr_set_d(v, x, MPFR_RNDN);
  }
  Real(const Real&) = delete;
  ~Real() { mpfr_clear(v); }
};

using Oracle = std::function<void(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y)>;

struct Function {
  std::string name;
  Oracle oracle;
  double low, high;             // where the function is interesting: sampled uniformly
  std::vector<double> centres;  // sampled at distances from 1 ulp to half the centre, both sides
  bool binary = false;
};
extern const std::vector<Function> functions;

// An implementation under test, applied elementwise; unary functions ignore y.
template <class T>
using VectorFunction = std::function<std::vector<T>(const std::vector<T>& x, const std::vector<T>& y)>;
template <class T>
using Implementation = std::map<std::string, VectorFunction<T>>;

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
                std::nextafter(Limits::min(), T(0)), Limits::min(), Limits::max(), Limits::epsilon(), T(0.25), T(0.5),
                T(1), T(1.5), T(2), T(3), T(10), T(11), std::nextafter(T(1), T(0)), std::nextafter(T(1), T(2))})
      values.insert(values.end(), {v, -v});
    return values;
  }

  std::vector<T> unary(const Function& f, int n) {
    std::vector<T> x = specials();
    std::vector<T> centres;
    for (double c : f.centres)
      if (std::abs(c) <= static_cast<double>(Limits::max()))
        for (T v : {static_cast<T>(c), std::nextafter(static_cast<T>(c), Limits::infinity()),
                    std::nextafter(static_cast<T>(c), -Limits::infinity())})
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

// |computed - exact| in units of the spacing of T at the exact value. Infinite where a NaN, an exact
// infinity or the sign of a zero is missed. A computed infinity stands for the first value beyond the
// largest finite one, and exact values beyond that are clamped to it.
template <class T>
double ulp_error(T computed, mpfr_srcptr exact, mpfr_ptr work) {
  using Limits = std::numeric_limits<T>;
  constexpr double inf = std::numeric_limits<double>::infinity();
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

/// Prints the worst error of each function and expects it to be at most `bound`.
template <class T>
void measure(const char* title, const Implementation<T>& implementation, double bound) {
  const char* dtype = sizeof(T) == 8 ? "f64" : "f32";
  std::printf("%s\n%-10s %-5s %8s %9s  %s\n", title, "function", "dtype", "samples", "max ulp", "worst argument");
  const int samples = is_nightly() ? 96000 : 12000;
  for (const Function& f : functions) {
    const auto tested = implementation.find(f.name);
    ASSERT_NE(tested, implementation.end()) << f.name << " is not measured";
    Sampler<T> sampler(1);
    std::vector<T> x, y;
    if (f.binary)
      std::tie(x, y) = sampler.binary(f, samples);
    else
      x = sampler.unary(f, samples), y = x;
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
    EXPECT_LE(worst, bound) << f.name << "(" << x[at] << ", " << y[at] << ") = " << computed[at];
  }
}

}  // namespace ulp
