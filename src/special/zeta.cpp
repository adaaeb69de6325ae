// Hurwitz's zeta function by the formula of Euler and Maclaurin, its derivative by s, and polygamma of any order.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "special/compose.hpp"
#include "special/special.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

/// From where the series is good to all bits.
Array far_for(const Array& s) { return 12.0 + 0.5 * s; }
/// Below it there would be more terms to sum than anybody waits for: NaN.
constexpr double least_q = -1e6;
/// B_2k/(2k)!.
constexpr double coefficients[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0,
                                   -3617.0 / 10670622842880000.0,
                                   43867.0 / 5109094217170944000.0,
                                   -174611.0 / 802857662698291200000.0};

/// Sums from q up to where the series is good, and q there, or as long as terms count; without the logarithm only the
/// first.
struct Begun {
  Array value, slope, at, ended;
};
Begun begin(const Array& s, const Array& q, const Array& active, bool with_slope) {
  using Carry = std::tuple<Array, Array, Array, Array, Array>;
  const Array zero = np::zeros_like(q), far = far_for(s);
  const double epsilon = epsilon_of(q) / 16;
  // Still summing; q + k; the sum; its slope; whether all that is left is too small to count.
  const auto step = [&](const Carry& c) {
    const auto& [on, at, value, slope, ended] = c;
    const Array base = np::where(on, at, 1.0), term = np::power(base, -s), next = np::where(on, at + 1.0, at);
    const Array sum = np::where(on, value + term, value);
    // What has underflowed, overflowed or cancelled to a negative number does not change either: for a large s that is
    // so from the first terms on, and the series would begin s/2 terms later.
    const Array settled = (term * base <= epsilon * (s - 1.0) * np::abs(sum)) | ~np::isfinite(sum);
    const Array end = ended | (on & (base > 2.0) & settled);
    return Carry{on & (next < far) & ~end, next, sum,
                 with_slope ? np::where(on, slope - term * np::log(base), slope) : slope, end};
  };
  const Carry end = lax::while_loop([](const Carry& c) { return np::any(std::get<0>(c)); }, step,
                                    Carry{active & (q < far), q, zero, zero, ~active});
  return {std::get<2>(end), std::get<3>(end), std::get<1>(end), std::get<4>(end)};
}

/// What is left from `at` on, and its derivative by s.
std::pair<Array, Array> rest(const Array& s, const Array& at, bool with_slope) {
  const Array log = np::log(at), power = np::power(at, -s), over = 1.0 / (s - 1.0), inverse = 1.0 / at;
  const Array integral = at * power * over;
  Array value = integral + 0.5 * power, slope = -log * value - integral * over;
  // (s)_(2k-1)/at^(s+2k-1), and the derivative of its logarithm.
  Array term = power * inverse * s, by_s = with_slope ? Array(1.0 / s - log) : Array(0.0);
  for (std::size_t k = 0; k < std::size(coefficients); ++k) {
    const Array part = coefficients[k] * term;
    value = value + part;
    if (with_slope) slope = slope + part * by_s;
    const double j = 2.0 * static_cast<double>(k) + 1;
    const Array next = s + j, after = s + (j + 1);
    term = term * (next * inverse) * (after * inverse);
    if (with_slope) by_s = by_s + 1.0 / next + 1.0 / after;
  }
  return {value, slope};
}

Array zeta_or_slope(const Array& s, const Array& q, bool slope) {
  const Array pole = (q <= 0.0) & (q == np::floor(q)), whole = s == np::floor(s);
  const Array undefined = (s < 1.0) | np::isnan(s) | np::isnan(q) | ((q < 0.0) & ~pole & (~whole | (q < least_q)));
  const Array active = ~undefined & ~pole & (s > 1.0) & np::isfinite(s) & (q < np::inf);
  const Array safe_s = np::where(active, s, 2.0), safe_q = np::where(active, q, 1.0);
  const Begun sum = begin(safe_s, safe_q, active, slope);
  const auto [value, derivative] = rest(safe_s, np::where(sum.ended, far_for(safe_s), sum.at), slope);
  const Array begun = slope ? sum.slope : sum.value,
              inside = np::where(sum.ended, begun, begun + (slope ? derivative : value));
  // Next to negative whole numbers the terms of an even s are positive, those of an odd s of both signs; JAX treats 0
  // alike.
  const Array at_pole = np::where(whole & (np::mod(s, 2.0) == 0.0), np::inf, np::nan);
  const Array limit =
      np::where(pole, at_pole,
                np::where(s == 1.0, slope ? -np::inf : np::inf,
                          np::where((q == np::inf) | (q > 1.0), 0.0, np::where(q == 1.0, 1.0, np::inf))));
  return np::where(undefined, np::nan, np::where(active, inside, limit));
}
Array zeta(Operands x) { return zeta_or_slope(x[0], x[1], false); }
Array zeta_slope(Operands x) { return zeta_or_slope(x[0], x[1], true); }

Array polygamma_of(Operands x) {
  const Array &n = x[0], &at = x[1];
  const Array one = n + 1.0, sign = np::where(np::mod(n, 2.0) == 0.0, -1.0, 1.0);
  const Array value = sign * np::exp(lax::lgamma(one)) * bind1(zeta_p, {np::where(n == 0.0, 2.0, one), at});
  return np::where((n < 0.0) | (n != np::floor(n)), np::nan, np::where(n == 0.0, lax::digamma(at), value));
}

}  // namespace

const Primitive zeta_p =
    composed<zeta>("zeta", {[](const Partial& p) { return p.t * bind1(zeta_slope_p, p.x); },
                            [](const Partial& p) { return p.t * (-p.x[0] * bind1(zeta_p, {p.x[0] + 1.0, p.x[1]})); }});
const Primitive zeta_slope_p = composed<zeta_slope>("zeta_slope", {not_known<&zeta_slope_p>, not_known<&zeta_slope_p>});
const Primitive polygamma_of_p = composed<polygamma_of>(
    "polygamma_of",
    {not_known<&polygamma_of_p>, [](const Partial& p) { return p.t * bind1(polygamma_of_p, {p.x[0] + 1.0, p.x[1]}); }});

}  // namespace cotan::special
