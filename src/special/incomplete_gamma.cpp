// The incomplete gamma functions P and Q, their derivative by a, and that of samples of the gamma distribution: a
// series below x = a, where all its terms are positive, and a continued fraction above. All elements take the steps of
// the slowest, and keep what they had when they converged.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>
#include <numbers>

#include "special/compose.hpp"
#include "special/special.hpp"
#include "special/stirling.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

constexpr std::int64_t most_steps = 100000;
/// From here on x^a/Gamma(a) is a normal density but for corrections of 1/a: series would take a multiple of sqrt(a)
/// steps, and where a + 1 is a they do not end.
double large_a(const Array& x) { return pick(x, 1e5, 1e8); }

/// A value and its derivative by a.
struct Dual {
  Array value, slope;
};

/// The sum of x^k/((a + 1) ... (a + k)), all k >= 0, where `active`.
Dual power_series(const Array& a, const Array& x, const Array& active, bool with_slope) {
  const double epsilon = epsilon_of(x);
  const Array zero = np::zeros_like(x), one = np::ones_like(x);
  // Still summing; a + k; the term; the sum of 1/(a + j); the sum; its slope.
  using Carry = std::tuple<Array, Array, Array, Array, Array, Array>;
  const auto step = [&](const Carry& c) {
    const auto& [on, r, term, inverses, sum, slope] = c;
    const Array next = r + 1.0, t = term * (x / next), more = sum + t;
    const Array s = with_slope ? Array(inverses + 1.0 / next) : inverses, change = t * s;
    Array go = t > epsilon * more;
    if (with_slope) go = go | (change > epsilon * np::abs(slope));
    return Carry{on & go & (next - a < static_cast<double>(most_steps)),   next, t, s, np::where(on, more, sum),
                 with_slope ? np::where(on, slope - change, slope) : slope};
  };
  const Carry end = lax::while_loop([](const Carry& c) { return np::any(std::get<0>(c)); }, step,
                                    Carry{active, a, one, zero, one, zero});
  return {std::get<4>(end), std::get<5>(end)};
}

/// 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - 2 (2 - a)/(x + 5 - a - ...))) where `active`, by Lentz's method.
Dual continued_fraction(const Array& a, const Array& x, const Array& active, bool with_slope) {
  const double epsilon = 2 * epsilon_of(x), huge = pick(x, 1e30, 1e300);
  const Array zero = np::zeros_like(x), first = 1.0 / (x + 1.0 - a);
  // Still running; the step; the denominator; C and D with their slopes; the value, the slope of its logarithm.
  using Carry = std::tuple<Array, Array, Array, Array, Array, Array, Array, Array, Array>;
  const auto step = [&](const Carry& k) {
    const auto& [on, i0, b0, c0, dc0, d0, dd0, value, slope] = k;
    const Array i = i0 + 1.0, n = i * (a - i), b = b0 + 2.0;
    const Array u = n * d0 + b, d = 1.0 / u, quotient = n / c0, c = b + quotient, factor = c * d;
    Array dc = dc0, dd = dd0, change = zero;
    Array go = np::abs(factor - 1.0) > epsilon;
    if (with_slope) {
      const Array du = i * d0 + n * dd0 - 1.0;
      dd = -(du * d * d);
      dc = i / c0 - quotient * (dc0 / c0) - 1.0;
      change = dc / c - du * d;
      go = go | (np::abs(change) > epsilon * np::abs(slope));
    }
    return Carry{on & go & (i < static_cast<double>(most_steps)),
                 i,
                 b,
                 c,
                 dc,
                 d,
                 dd,
                 np::where(on, value * factor, value),
                 np::where(on, slope + change, slope)};
  };
  const Array b = x + 1.0 - a;
  const Carry end =
      lax::while_loop([](const Carry& k) { return np::any(std::get<0>(k)); }, step,
                      Carry{active, zero, b, np::full_like(x, huge), zero, first, first * first, first, first});
  return {std::get<7>(end), std::get<7>(end) * std::get<8>(end)};
}

/// x^a exp(-x)/Gamma(a + 1).
Array leading_factor(const Array& a, const Array& x) {
  const Array large = a >= 10.0, safe = np::where(large, a, 10.0), mu = (x - safe) / safe;
  // Of what is far from 1 the quotient is exact enough, 1 + mu is not.
  const Array log = np::where(np::abs(mu) < 0.5, np::log1p(mu), np::log(x / safe));
  const Array of_large = safe * (log - mu) - 0.5 * np::log(2 * np::pi * safe) - stirling_rest(safe);
  const Array small = np::where(large, 1.0, a);
  // 0 log 0 is 0.
  const Array power = np::where(small == 0.0, 0.0, small * np::log(x));
  return np::exp(np::where(large, of_large, power - x - lax::lgamma(small + 1.0)));
}

/// For a large a, around x = a (N. M. Temme, The asymptotic expansion of the incomplete gamma functions, 1979).
struct NearNormal {
  Array density, deviations, gap, share;
  NearNormal(const Array& a, const Array& x) {
    const double near = pick(x, 0.1, 0.02);
    const Array mu = (x - a) / a, small = np::abs(mu) < near, m = np::where(small, mu, near);
    const Array log = np::where(np::abs(mu) < 0.5, np::log1p(mu), np::log(x / a));
    // eta^2/2 = mu - log(1 + mu), whose first terms cancel.
    Array sum = 0.0;
    for (int k = 10; k >= 2; --k) sum = (k % 2 == 0 ? 1.0 : -1.0) / k + m * sum;
    const Array size = np::where(small, np::abs(mu) * np::sqrt(2.0 * sum),
                                 np::sqrt(2.0 * np::maximum(np::where(small, 1.0, mu - log), 0.0)));
    const Array eta = np::copysign(size, mu);
    deviations = eta * np::sqrt(a);
    density = np::exp(-0.5 * deviations * deviations) / np::sqrt(2 * np::pi * a);
    const Array flat = np::abs(mu) < pick(x, 1e-2, 1e-4), safe_eta = np::where(eta == 0.0, 1.0, eta);
    gap = np::where(flat, eta * (1.0 / 12) - 1.0 / 3, 1.0 / np::where(flat, 1.0, mu) - 1.0 / safe_eta);
    share = np::where(eta == 0.0, 1.0, log / safe_eta) + gap * log - (0.5 * gap + 1.0 / 12) / a;
  }
  Array value(bool upper) const {
    const Array t = deviations * (std::numbers::sqrt2 / 2), rest = density * gap;
    return upper ? 0.5 * lax::erfc(t) + rest : 0.5 * lax::erfc(-t) - rest;
  }
  /// Of P by a.
  Array slope() const { return -(density * share); }
  /// That over minus the derivative by x.
  Array slope_over_density(const Array& a, const Array& x) const { return share * (x / a) * (1.0 + (1.0 / 12) / a); }
};

/// Operands, and where P and Q are elementary or not defined.
struct Gamma {
  Array a, x, undefined, at_zero, at_infinity, regular, above, large;
  explicit Gamma(Operands in)
      : a(in[0]),
        x(in[1]),
        undefined((x < 0.0) | (a < 0.0) | np::isnan(a) | np::isnan(x)),
        at_zero(x == 0.0),
        at_infinity(x == np::inf),
        regular(~(undefined | at_zero | at_infinity | np::isinf(a))),
        above((x > 1.0) & (x > a)),
        large(regular & (a >= large_a(x))) {}
  NearNormal normal() const { return {np::where(large, a, 1e9), np::where(large, x, 1e9)}; }
  /// P or Q.
  Array value(bool upper) const {
    const Array factor = leading_factor(a, x), series = power_series(a, x, regular & ~above & ~large, false).value,
                fraction = continued_fraction(a, x, regular & above & ~large, false).value;
    const Array p = factor * series, q = a * factor * fraction;
    const Array by_series = upper ? np::where(above, q, 1.0 - p) : np::where(above, 1.0 - q, p);
    const Array inside = np::where(large, normal().value(upper), by_series);
    const Array below = at_zero | np::isinf(a);
    const Array edges = np::where(at_infinity, upper ? 0.0 : 1.0, np::where(below, upper ? 1.0 : 0.0, inside));
    const Array both = (a == 0.0) & at_zero;
    return np::where(undefined | both | (np::isinf(a) & at_infinity), np::nan, edges);
  }
  /// Twice: what the derivative of P by a is over the factor, and that over minus the density.
  std::pair<Array, Array> slopes() const {
    const Array on = regular & (a > 0.0) & ~large;
    const Dual series = power_series(a, x, on & ~above, true), fraction = continued_fraction(a, x, on & above, true);
    const Array safe = np::where(on, a, 1.0), log = np::log(np::where(on, x, 1.0)), digamma = lax::digamma(safe);
    const Array lower = series.value * (log - digamma - 1.0 / safe) + series.slope;
    const Array upper = -(fraction.value * (log - digamma) + fraction.slope);
    return {np::where(above, safe * upper, lower), -(x * np::where(above, upper, lower / safe))};
  }
  /// A derivative where there is one.
  Array slope(const Array& inside) const {
    return np::where(undefined | (a <= 0.0), np::nan, np::where(at_zero | at_infinity | np::isinf(a), 0.0, inside));
  }
};

/// x^(a-1) exp(-x)/Gamma(a), times the tangent.
Array by_x(const Partial& p) {
  const Array &a = p.x[0], &x = p.x[1];
  const Array end = x == np::inf;
  return p.t *
         np::where(end, 0.0, np::exp(scipy::special::xlogy(a - 1.0, x) - np::where(end, 0.0, x) - lax::lgamma(a)));
}
Array by_a(const Partial& p) { return p.t * bind1(igamma_grad_a_p, {p.x[0], p.x[1]}); }

Array igamma(Operands in) { return Gamma(in).value(false); }
Array igammac(Operands in) { return Gamma(in).value(true); }
Array igamma_grad_a(Operands in) {
  const Gamma g(in);
  return g.slope(np::where(g.large, g.normal().slope(), leading_factor(g.a, g.x) * g.slopes().first));
}
Array random_gamma_grad(Operands in) {
  const Gamma g(in);
  return g.slope(np::where(g.large, g.normal().slope_over_density(g.a, g.x), g.slopes().second));
}

}  // namespace

const Primitive igamma_p = composed<igamma>("igamma", {by_a, by_x});
const Primitive igammac_p = composed<igammac>(
    "igammac", {[](const Partial& p) { return -by_a(p); }, [](const Partial& p) { return -by_x(p); }});
const Primitive igamma_grad_a_p =
    composed<igamma_grad_a>("igamma_grad_a", {not_known<&igamma_grad_a_p>, not_known<&igamma_grad_a_p>});
const Primitive random_gamma_grad_p = composed<random_gamma_grad>(
    "random_gamma_grad", {not_known<&random_gamma_grad_p>, not_known<&random_gamma_grad_p>});

}  // namespace cotan::special
