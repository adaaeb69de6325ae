// Exponential integrals: E1 and Ei by series, and E_n by a series up to 1 and a continued fraction above it.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <numbers>

#include "special/chebyshev.hpp"
#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;
using std::numbers::egamma;

namespace {

/// log|x| + gamma + the sum of x^k/(k k!), x from -1 to 6 but for 0.
Array near_zero(const Array& x) {
  return (egamma + np::log(np::abs(x))) + x * chebyshev(tables::expint_near, (x + 1.0) * (2 / 7.0) - 1.0);
}
/// For x > 0; infinite at 0.
Array e1_of_positive(const Array& x) {
  const Array near = x <= 1.0, far = np::where(near, 1.0, np::minimum(x, 1e4));
  const Array large = np::exp(-far) / far * chebyshev(tables::e1_far, (far - 3.0) / (far + 1.0));
  return np::where(near, -near_zero(np::where(near, -x, -1.0)), np::where(x > 1e4, 0.0, large));
}
Array exp1(Operands in) {
  const Array& x = in[0];
  return np::where(x < 0.0, np::nan, np::where(np::isnan(x), x, e1_of_positive(np::where(x > 0.0, x, 0.0))));
}

/// For x > 0.
Array ei_of_positive(const Array& x) {
  const Array near = x <= 6.0, middle = x <= 14.0, large = x <= 42.0, safe = np::where(near, 6.0, np::minimum(x, 1e4));
  const Array inverse = 1.0 / safe;
  const Array of_large = chebyshev(tables::ei_large, (np::clip(inverse, 1.0 / 42, 1.0 / 14) - 1.0 / 42) * 42.0 - 1.0);
  const Array of_middle = chebyshev(tables::ei_middle, (np::minimum(safe, 14.0) - 6.0) * 0.25 - 1.0);
  const Array of_far = chebyshev(tables::ei_far, np::minimum(84.0 * inverse, 2.0) - 1.0);
  const Array factor = np::where(middle, of_middle, np::where(large, of_large, of_far));
  // exp(x) alone may overflow where the quotient does not.
  const Array half = np::exp(0.5 * safe);
  return np::where(near, near_zero(np::where(near, x, 1.0)), half * inverse * half * factor);
}
Array expi(Operands in) {
  const Array &x = in[0], positive = x > 0.0, negative = x < 0.0;
  const Array value =
      np::where(positive, ei_of_positive(np::where(positive, x, 1.0)), -e1_of_positive(np::where(negative, -x, 1.0)));
  return np::where(np::isnan(x), x, np::where(x == 0.0, -np::inf, value));
}

/// The sum over k but n - 1 of (-x)^k/((n - 1 - k) k!), and what stands in the place of the missing term; x <= 1.
Array expn_series(const Array& n, const Array& x, const Array& active) {
  const double epsilon = epsilon_of(x);
  using Carry = std::tuple<Array, Array, Array, Array, Array>;
  // Still summing; k; (-x)^k/k!; the sum; digamma(n) + gamma.
  const auto step = [&](const Carry& c) {
    const auto& [on, k0, power0, sum, harmonic] = c;
    const Array k = k0 + 1.0, power = -(power0 * x / k), gap = n - 1.0 - k,
                term = np::where(gap == 0.0, 0.0, power / np::where(gap == 0.0, 1.0, gap));
    const Array go = (np::abs(power) > epsilon * np::abs(sum)) | (k < n - 1.0);
    return Carry{on & go & (k < 200.0), k, power, np::where(on, sum + term, sum),
                 np::where(on & (k < n), harmonic + 1.0 / k, harmonic)};
  };
  const Array first = np::where(n == 1.0, 0.0, 1.0 / np::where(n == 1.0, 1.0, n - 1.0)), zero = np::zeros_like(x);
  const Carry end = lax::while_loop([](const Carry& c) { return np::any(std::get<0>(c)); }, step,
                                    Carry{active & (n < 100.0), zero, np::ones_like(x), first, zero});
  const Array sign = np::where(np::mod(n, 2.0) == 0.0, -1.0, 1.0), log = np::log(x);
  const Array power = sign * np::exp(np::where(n == 1.0, 0.0, (n - 1.0) * log) - lax::lgamma(n));
  return power * (std::get<4>(end) - egamma - log) + std::get<3>(end);
}

/// exp(x) E_n(x) by Lentz's method: 1/(x + n - 1 n/(x + n + 2 - 2 (n + 1)/(x + n + 4 - ...))).
Array expn_fraction(const Array& n, const Array& x, const Array& active) {
  const double epsilon = 2 * epsilon_of(x);
  using Carry = std::tuple<Array, Array, Array, Array, Array>;
  const auto step = [&](const Carry& s) {
    const auto& [on, k0, c0, d0, value] = s;
    const Array k = k0 + 1.0, b = x + n + 2.0 * k, a = -(k * (n + k - 1.0));
    const Array d = 1.0 / (a * d0 + b), c = b + a / c0, factor = c * d;
    return Carry{on & (np::abs(factor - 1.0) > epsilon) & (k < 10000.0), k, c, d, np::where(on, value * factor, value)};
  };
  const Array first = 1.0 / (x + n);
  const Carry end =
      lax::while_loop([](const Carry& s) { return np::any(std::get<0>(s)); }, step,
                      Carry{active, np::zeros_like(x), np::full_like(x, pick(x, 1e30, 1e300)), first, first});
  return std::get<4>(end);
}

Array expn(Operands in) {
  const Array &n = in[0], &x = in[1];
  const Array undefined = (x < 0.0) | np::isnan(n) | np::isnan(x), whole = n == np::floor(n);
  const Array elementary = (n == 0.0) | (x == 0.0) | (x == np::inf), regular = ~(undefined | elementary);
  // With many steps of the series it is no faster than the fraction, which is good everywhere then.
  const Array by_series = regular & (x <= 1.0) & (n > 0.0) & (n < 100.0) & whole, by_fraction = regular & ~by_series;
  const Array safe_n = np::where(regular, n, 1.0);
  const Array series = expn_series(np::where(by_series, n, 1.0), np::where(by_series, x, 0.5), by_series);
  const Array y = np::where(by_fraction, x, 2.0), fraction = np::exp(-y) * expn_fraction(safe_n, y, by_fraction);
  const Array at_0 = np::where(n > 1.0, 1.0 / (np::where(n > 1.0, n, 2.0) - 1.0), np::inf);
  const Array edges = np::where(x == 0.0, at_0, np::where(x == np::inf, 0.0, np::exp(-x) / x));
  return np::where(undefined, np::nan, np::where(regular, np::where(by_series, series, fraction), edges));
}

}  // namespace

const Primitive expi_p = composed<expi>("expi", {[](const Partial& p) { return p.t * (np::exp(p.x[0]) / p.x[0]); }});
const Primitive exp1_p =
    composed<exp1>("exp1", {[](const Partial& p) { return -(p.t * (np::exp(-p.x[0]) / p.x[0])); }});
const Primitive expn_p = composed<expn>(
    "expn", {not_known<&expn_p>, [](const Partial& p) { return -(p.t * bind1(expn_p, {p.x[0] - 1.0, p.x[1]})); }});

}  // namespace cotan::special
