// The regularized incomplete beta function: a continued fraction, by Lentz's method, of the tail that is the smaller
// one. All elements take the steps of the slowest.
#include <cotan/control_flow.hpp>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>

#include "special/compose.hpp"
#include "special/special.hpp"
#include "special/stirling.hpp"

namespace cotan::special {

namespace np = numpy;

namespace {

/// For x below (a + 1)/(a + b + 2), where `active`. Each step is two terms.
Array continued_fraction(const Array& a, const Array& b, const Array& x, const Array& active) {
  constexpr double most_steps = 100000;
  const double epsilon = 2 * epsilon_of(x), tiny = pick(x, 1e-30, 1e-300);
  const auto nonzero = [&](const Array& v) { return np::where(np::abs(v) < tiny, tiny, v); };
  const Array sum = a + b, first = 1.0 / nonzero(1.0 - sum * x / (a + 1.0));
  // Still running; the step; C, D and the value.
  using Carry = std::tuple<Array, Array, Array, Array, Array>;
  const auto step = [&](const Carry& k) {
    const auto& [on, m0, c0, d0, value] = k;
    const Array m = m0 + 1.0, at = a + 2.0 * m;
    const Array even = m * (b - m) * x / ((at - 1.0) * at);
    const Array d1 = 1.0 / nonzero(1.0 + even * d0), c1 = nonzero(1.0 + even / c0);
    const Array odd = -((a + m) * (sum + m) * x / (at * (at + 1.0)));
    const Array d2 = 1.0 / nonzero(1.0 + odd * d1), c2 = nonzero(1.0 + odd / c1);
    const Array last = d2 * c2, next = value * (d1 * c1) * last;
    return Carry{on & (np::abs(last - 1.0) > epsilon) & (m < most_steps), m, c2, d2, np::where(on, next, value)};
  };
  const Carry end = lax::while_loop([](const Carry& k) { return np::any(std::get<0>(k)); }, step,
                                    Carry{active, np::zeros_like(x), np::ones_like(x), first, first});
  return std::get<4>(end);
}

/// y^p (1 - y)^q/B(p, q) for p and q from 10 on, around y = p/(p + q): no large numbers cancel.
Array around_mean(const Array& p, const Array& q, const Array& y, const Array& rest) {
  const Array sum = p + q, d = y * q - rest * p, u = d / p, v = -d / q;
  const auto log = [](const Array& shift, const Array& ratio) {
    return np::where(np::abs(shift) < 0.5, np::log1p(shift), np::log(ratio)) - shift;
  };
  const Array exponent = p * log(u, y * sum / p) + q * log(v, rest * sum / q);
  const Array stirling = stirling_rest(p) + stirling_rest(q) - stirling_rest(sum);
  return np::exp(exponent - stirling) * np::sqrt(p / sum * q * (0.5 / np::pi));
}

Array betainc(Operands in) {
  const Array &a = in[0], &b = in[1], &x = in[2];
  // Where the distribution is all at 0, or all at 1.
  const Array all_at_0 = (a == 0.0) | (b == np::inf), all_at_1 = (b == 0.0) | (a == np::inf);
  const Array undefined = (a < 0.0) | (b < 0.0) | (x < 0.0) | (x > 1.0) | (all_at_0 & all_at_1) | np::isnan(a) |
                          np::isnan(b) | np::isnan(x);
  const Array ends = (x == 0.0) | (x == 1.0), regular = ~(undefined | all_at_0 | all_at_1 | ends);
  const Array below = x < (a + 1.0) / (a + b + 2.0);
  const auto safe = [&](const Array& v) { return np::where(regular, v, 0.5); };
  const Array p = safe(np::where(below, a, b)), q = safe(np::where(below, b, a)),
              y = safe(np::where(below, x, 1.0 - x)), rest = safe(np::where(below, 1.0 - x, x));
  // Of the two logarithms one is of a number near 1.
  const Array log_y = np::where(y < 0.5, np::log(y), np::log1p(-rest)),
              log_rest = np::where(y < 0.5, np::log1p(-y), np::log(rest));
  // p B(p, q) where p may be tiny.
  const Array tiny = p < pick(x, 1e-30, 1e-290), log_beta = scipy::special::betaln(np::where(tiny, 1.0, p), q);
  const Array large = (p >= 10.0) & (q >= 10.0), power = np::exp(p * log_y + q * log_rest - log_beta);
  const Array of_large = around_mean(np::where(large, p, 10.0), np::where(large, q, 10.0), y, rest);
  const Array factor = np::where(tiny, np::exp(q * log_rest), np::where(large, of_large, power) / p);
  const Array tail = factor * continued_fraction(p, q, y, regular), inside = np::where(below, tail, 1.0 - tail);
  const Array is_0 = (all_at_1 & (x != 1.0)) | (x == 0.0), is_1 = (all_at_0 & (x != 0.0)) | (x == 1.0);
  return np::where(
      undefined, np::nan,
      np::where(all_at_0 | (is_1 & ~is_0), np::where(all_at_0 | is_1, 1.0, 0.0), np::where(is_0, 0.0, inside)));
}

/// The density, times the tangent.
Array by_x(const Partial& p) {
  const Array &a = p.x[0], &b = p.x[1], &x = p.x[2];
  namespace sp = scipy::special;
  return p.t * np::exp(sp::xlog1py(b - 1.0, -x) + sp::xlogy(a - 1.0, x) - sp::betaln(a, b));
}

}  // namespace

const Primitive betainc_p = composed<betainc>("betainc", {not_known<&betainc_p>, not_known<&betainc_p>, by_x});

}  // namespace cotan::special
