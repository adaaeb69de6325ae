// Each function is computed in a wider type and rounded once: float in double, double in long double
// (80 bits on x86-64) wherever the double function of glibc exceeds about 1 ulp. Platforms whose long
// double is a double still compile, with the accuracy of their own <cmath>.
#include "ops/scalar_math.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

namespace cotan::scalar_math {
namespace {

// 113 bits for sums that cancel. long double already has them on AArch64 Linux; where neither does,
// digamma loses relative (not absolute) accuracy next to its roots.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;
#endif

template <class R>
constexpr R pi = R(3.14159265358979323846264338327950288L);
template <class R>
constexpr R ln2 = R(0.693147180559945309417232121458176568L);
#ifdef __SIZEOF_FLOAT128__
// As head + tail: standard C++ has no literal of this type.
template <>
constexpr Quad pi<Quad> = Quad(0x3.243f6a8885a308dp0L) + Quad(0x3.13198a2e0370734p-64L);
template <>
constexpr Quad ln2<Quad> = Quad(0xb.17217f7d1cf79abp-4L) + Quad(0xc.9e3b39803f2f6afp-68L);
#endif

}  // namespace

#define COTAN_INSTANTIATE_UNARY(name) \
  template float name(float);         \
  template double name(double);
#define COTAN_INSTANTIATE_BINARY(name) \
  template float name(float, float);   \
  template double name(double, double);

// std::name of the argument converted to W<T>, rounded back to T.
#define COTAN_UNARY(name, W)                   \
  template <class T>                           \
  T name(T x) {                                \
    return static_cast<T>(std::name(W<T>(x))); \
  }                                            \
  COTAN_INSTANTIATE_UNARY(name)
#define COTAN_BINARY(name, W)                           \
  template <class T>                                    \
  T name(T x, T y) {                                    \
    return static_cast<T>(std::name(W<T>(x), W<T>(y))); \
  }                                                     \
  COTAN_INSTANTIATE_BINARY(name)

// glibc's double reduction by pi/2 is exact enough only for moderate arguments: next to a multiple of
// pi/2, beyond 1e8, its sin, cos and tan are off by up to 1e5 ulp.
#define COTAN_TRIGONOMETRIC(name)                                                                                 \
  template <class T>                                                                                              \
  T name(T x) {                                                                                                   \
    const double wide = x;                                                                                        \
    return static_cast<T>(std::abs(wide) < 0x1p26 ? std::name(wide) : std::name(static_cast<long double>(wide))); \
  }                                                                                                               \
  COTAN_INSTANTIATE_UNARY(name)

template <class T>
using Double = double;  // glibc's double function is within 1 ulp everywhere
template <class T>
using Self = T;  // exact or correctly rounded in T itself

COTAN_UNARY(exp, Double)
COTAN_UNARY(exp2, Double)
COTAN_UNARY(expm1, Double)
COTAN_UNARY(log, Double)
COTAN_UNARY(log2, Double)
COTAN_UNARY(log10, Wider)
COTAN_UNARY(log1p, Double)
COTAN_UNARY(sqrt, Self)
COTAN_UNARY(cbrt, Wider)
COTAN_BINARY(pow, Double)
COTAN_BINARY(hypot, Wider)
COTAN_TRIGONOMETRIC(sin)
COTAN_TRIGONOMETRIC(cos)
COTAN_TRIGONOMETRIC(tan)
COTAN_UNARY(asin, Double)
COTAN_UNARY(acos, Double)
COTAN_UNARY(atan, Double)
COTAN_BINARY(atan2, Double)
COTAN_UNARY(sinh, Wider)
COTAN_UNARY(cosh, Wider)
COTAN_UNARY(tanh, Wider)
COTAN_UNARY(asinh, Wider)
COTAN_UNARY(acosh, Wider)
COTAN_UNARY(atanh, Wider)
#undef COTAN_UNARY
COTAN_BINARY(nextafter, Self)

template <class T>
T rsqrt(T x) {
  return static_cast<T>(1 / std::sqrt(Wider<T>(x)));
}
COTAN_INSTANTIATE_UNARY(rsqrt)

template <class T>
T logistic(T x) {
  // e^-|x| never overflows, so neither tail is lost.
  const Wider<T> e = std::exp(-std::abs(Wider<T>(x)));
  return static_cast<T>((x < 0 ? e : 1) / (1 + e));
}
COTAN_INSTANTIATE_UNARY(logistic)

template <class T>
T lgamma(T x) {
#ifdef __GLIBC__
  int sign;  // std::lgamma writes the global signgam, a data race
  return static_cast<T>(lgammal_r(static_cast<long double>(x), &sign));
#else
  return static_cast<T>(std::lgamma(static_cast<long double>(x)));
#endif
}
COTAN_INSTANTIATE_UNARY(lgamma)

template <class T>
T erf_inv(T x) {
  using R = long double;
  const R a = std::abs(R(x));
  if (!(a <= 1)) return std::numeric_limits<T>::quiet_NaN();
  if (a == 1) return std::copysign(std::numeric_limits<T>::infinity(), x);
  const R half_sqrt_pi = std::sqrt(pi<R>) / 2;
  if (a < 0x1p-33L) return static_cast<T>(half_sqrt_pi * R(x));  // the next term is x^3 pi/12

  // Start (3 digits): solve erf(y)^2 = 1 - exp(-y^2 (4/pi + c y^2)/(1 + c y^2)), Winitzki's formula.
  const R c = 0.147L, l = std::log1p(-a * a), h = 2 / (pi<R> * c) + l / 2;
  R y = std::sqrt(-l / c / (h + std::sqrt(h * h - l / c)));
  // Halley: cubic, so 3 -> 9 -> 27 digits; one step to spare for the tail.
  for (int step = 0; step < 3; ++step) {
    const R residual = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);  // 1 - a is exact
    const R newton = residual * half_sqrt_pi * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return static_cast<T>(std::copysign(y, R(x)));
}
COTAN_INSTANTIATE_UNARY(erf_inv)

namespace {

long double log_of(long double x) { return std::log(x); }
long double tan_of(long double x) { return std::tan(x); }

#ifdef __SIZEOF_FLOAT128__
Quad log_of(Quad x) {  // e ln2 + 2 atanh((m-1)/(m+1)), m in [1/sqrt2, sqrt2]
  const int e = std::ilogb(static_cast<long double>(x) * 0x1.6a09e6p-1L) + 1;
  const Quad m = x / Quad(std::ldexp(1.0L, e)), s = (m - 1) / (m + 1);
  Quad sum = 0;
  for (int k = 45; k > 0; k -= 2) sum = sum * s * s + Quad(1) / k;
  return e * ln2<Quad> + 2 * s * sum;
}

Quad tan_of(Quad x) {  // |x| <= pi/2: Taylor series of sin and cos
  Quad sine = 1, cosine = 1;
  for (int k = 34; k > 0; k -= 2) {
    cosine = 1 - x * x / (k * (k - 1)) * cosine;
    sine = 1 - x * x / (k * (k + 1)) * sine;
  }
  return x * sine / cosine;
}
#endif

// Upwards by psi(x) = psi(x+1) - 1/x, then log x - 1/2x - sum B_2k/(2k x^2k). x > 0.
template <class R>
R positive_digamma(R x) {
  // B_2k/2k as numerator, denominator.
  // clang-format off
  static constexpr double bernoulli[][2] = {
      {1, 12}, {-1, 120}, {1, 252}, {-1, 240}, {1, 132}, {-691, 32760}, {1, 12}, {-3617, 8160},
      {43867, 14364}, {-174611, 6600}, {77683, 276}, {-236364091, 65520}, {657931, 12},
      {-3392780147, 3480}, {1723168255201, 85932}};
  // clang-format on
  // Where 15 terms reach the precision of R.
  const R series_from = sizeof(R) == sizeof(double) ? 8 : std::is_same_v<R, Quad> ? 30 : 12;
  R shift = 0;
  for (; x < series_from; x += 1) shift += 1 / x;
  const R inverse_square = 1 / x / x;
  R sum = 0;
  for (auto k = std::size(bernoulli); k-- > 0;) sum = (sum + R(bernoulli[k][0]) / R(bernoulli[k][1])) * inverse_square;
  return log_of(x) - 1 / (2 * x) - sum - shift;
}

template <class R>
struct WithScale {
  R value, scale;  // scale: size of the terms that were added, to see cancellation
};

template <class R>
WithScale<R> digamma_of(R x) {
  if (x > 0) return {positive_digamma(x), 1};
  // Reflection: psi(x) = psi(1-x) - pi/tan(pi x); the fraction is exact, x is a double.
  const R reflected = positive_digamma(1 - x);
  const R fraction = x - R(std::nearbyint(static_cast<long double>(x)));
  return {reflected - pi<R> / tan_of(pi<R> * fraction), 1 + (reflected < 0 ? -reflected : reflected)};
}

}  // namespace

template <class T>
T digamma(T x) {
  if (x <= 0 && x == std::floor(x)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(x)) return x;
  const auto [value, scale] = digamma_of<long double>(x);
  // Near a root (1.4616…, and one between each two poles) the terms cancel, and 64 bits become too few.
  if (std::abs(value) < scale / 256) return static_cast<T>(digamma_of<Quad>(x).value);
  return static_cast<T>(value);
}
COTAN_INSTANTIATE_UNARY(digamma)

namespace {

/// The n-th derivative of digamma, n >= 1: shifted up to where the asymptotic series is exact to the last
/// bit.
long double polygamma_of(std::int64_t n, long double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0 ? 0.0L : std::numeric_limits<long double>::quiet_NaN();
  constexpr long double far_below = -1e5L;  // the recurrence would take too long, and lose too much
  if (x <= far_below) return std::numeric_limits<long double>::quiet_NaN();
  const long double sign = n % 2 ? 1.0L : -1.0L, order = static_cast<long double>(n);
  const long double factorial = std::tgamma(order + 1.0L);
  long double sum = 0;
  const long double threshold = 20.0L + order;
  for (; x < threshold; x += 1.0L) {
    if (x == 0.0L)
      return n % 2 ? std::numeric_limits<long double>::infinity() : std::numeric_limits<long double>::quiet_NaN();
    const long double term = factorial / std::pow(x, order + 1.0L);
    sum += term;
    // What is left is less than term * (1 + x / n): of a high order only a few terms count.
    if (x > 0 && term * (1.0L + x / order) < 1e-21L * std::abs(sum)) return sign * sum;
  }
  // (n-1)!/x^n + n!/(2 x^(n+1)) + sum of B_2k (2k+n-1)! / ((2k)! x^(2k+n))
  static constexpr long double bernoulli[] = {1.0L / 6,       -1.0L / 30,      1.0L / 42, -1.0L / 30,
                                              5.0L / 66,      -691.0L / 2730,  7.0L / 6,  -3617.0L / 510,
                                              43867.0L / 798, -174611.0L / 330};
  long double tail = factorial / order / std::pow(x, order) + factorial / (2.0L * std::pow(x, order + 1.0L));
  long double ratio = factorial;  // (2k+n-1)! / (2k)! / x^(2k+n), built up from k to k+1
  ratio = std::tgamma(order + 2.0L) / 2.0L / std::pow(x, order + 2.0L);
  for (int k = 1; k <= 10; ++k) {
    tail += bernoulli[k - 1] * ratio;
    const long double m = 2.0L * k;
    ratio *= (m + order) * (m + order + 1.0L) / ((m + 1.0L) * (m + 2.0L)) / (x * x);
  }
  return sign * (sum + tail);
}

}  // namespace

template <class T>
T polygamma(T n, T x) {
  return static_cast<T>(polygamma_of(static_cast<std::int64_t>(n), x));
}
COTAN_INSTANTIATE_BINARY(polygamma)

}  // namespace cotan::scalar_math
