// Special functions that are a few operations: what relates to gamma functions, Bessel functions of whole orders,
// entropies, softmax.
#include <cmath>
#include <cotan/control_flow.hpp>
#include <cotan/error.hpp>
#include <cotan/lax.hpp>
#include <cotan/nn.hpp>
#include <cotan/numpy.hpp>
#include <cotan/scipy/special.hpp>

#include "core/error.hpp"
#include "scipy/operands.hpp"
#include "special/stirling.hpp"

namespace cotan::scipy::special {

namespace np = numpy;
namespace own = cotan::special;

Array gammaln(const ArrayLike& x) { return lax::lgamma(x); }
Array digamma(const ArrayLike& x) { return lax::digamma(x); }
Array erf(const ArrayLike& x) { return lax::erf(x); }
Array erfc(const ArrayLike& x) { return lax::erfc(x); }
Array erfinv(const ArrayLike& x) { return lax::erf_inv(x); }
Array expit(const ArrayLike& x) { return lax::logistic(x); }
Array logsumexp(const ArrayLike& a, const Axes& axis, bool keepdims) { return np::logsumexp(a, axis, keepdims); }

Array loggamma(const ArrayLike& x) {
  const auto [y] = promoted(x.array());
  return np::where(y > 0.0, lax::lgamma(y), np::nan);
}
Array gammasgn(const ArrayLike& x) {
  const auto [y] = promoted(x.array());
  const Array down = np::floor(y), negative = y < 0.0;
  const Array is_minus = (negative & (np::mod(down, 2.0) != 0.0)) | ((y == 0.0) & np::signbit(y));
  const Array sign = np::where(is_minus, -1.0, np::ones_like(y));
  return np::where((negative & (y == down)) | np::isnan(y), np::nan, sign);
}
Array gamma(const ArrayLike& x) {
  const auto [y] = promoted(x.array());
  return gammasgn(y) * np::exp(lax::lgamma(y));
}

Array betaln(const ArrayLike& a, const ArrayLike& b) {
  const auto [x, y] = promoted(a.array(), b.array());
  const Array p = np::minimum(x, y), q = np::maximum(x, y);
  const Array large = q >= 10.0, safe = np::where(large, q, 10.0), small = np::where(large, 1.0, q);
  const Array near = lax::lgamma(p) + (lax::lgamma(small) - lax::lgamma(p + small));
  // log Γ(q) - log Γ(p + q), without the difference of large numbers.
  const Array ratio = p / safe, sum = p + safe;
  const Array difference = -((safe + (p - 0.5)) * np::log1p(ratio)) - p * (np::log(safe) - 1.0) +
                           own::stirling_rest(safe) - own::stirling_rest(sum);
  return np::where(large, lax::lgamma(p) + difference, near);
}
Array beta(const ArrayLike& a, const ArrayLike& b) {
  const auto [x, y] = promoted(a.array(), b.array());
  return gammasgn(x) * gammasgn(y) * gammasgn(x + y) * np::exp(betaln(x, y));
}
Array factorial(const ArrayLike& n) {
  const auto [x] = promoted(n.array());
  return np::where(x < 0.0, 0.0, np::exp(lax::lgamma(x + 1.0)));
}
Array comb(const ArrayLike& N, const ArrayLike& k, bool repetition) {
  const auto [n, m] = promoted(N.array(), k.array());
  if (repetition) return np::where((m == 0.0) & (n >= 0.0), 1.0, comb(n + m - 1.0, m));
  const Array some = (m <= n) & (n >= 0.0) & (m >= 0.0), p = np::where(some, n, 0.0), q = np::where(some, m, 0.0);
  return np::where(some, np::exp(lax::lgamma(p + 1.0) - lax::lgamma(q + 1.0) - lax::lgamma(p + 1.0 - q)), 0.0);
}
Array multigammaln(const ArrayLike& a, int d) {
  if (d < 0) raise<ValueError>("[multigammaln] the size {} of the matrices is negative; give their number of rows.", d);
  const auto [x] = promoted(a.array());
  Array sum = np::full_like(x, 0.25 * d * (d - 1) * std::log(np::pi));
  for (int i = 0; i < d; ++i) sum = sum + lax::lgamma(x - 0.5 * i);
  return sum;
}
Array bernoulli(int n, DType dtype, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  if (n < 0) raise<ValueError>("[bernoulli] the number {} is negative; B_0 is the first.", n);
  std::vector<double> out(static_cast<std::size_t>(n) + 1, 0.0);
  out[0] = 1;
  if (n > 0) out[1] = -0.5;
  if (n > 1) out[2] = 1.0 / 6;
  // 2 (-1)^(m/2 + 1) m!/(2 pi)^m zeta(m).
  const double turn = 2 * np::pi;
  double factor = 1 / (turn * turn) * 4;
  for (int m = 4; m <= n; m += 2) {
    factor *= -(m - 1.0) * m / (turn * turn);
    // The sum of 1/k^m, from N on by Euler and Maclaurin.
    constexpr double N = 60;
    const double term = std::pow(N, -m);
    double zeta = term * (N / (m - 1) + 0.5 + m / (12 * N) - m * (m + 1.0) * (m + 2) / (720 * N * N * N));
    for (int k = 59; k > 0; --k) zeta += std::pow(k, -m);
    out[static_cast<std::size_t>(m)] = factor * zeta;
  }
  return Array::from_host(out).astype(dtype);
}

Array i0(const ArrayLike& x) { return np::i0(x); }
Array i1(const ArrayLike& x) { return np::exp(np::abs(x)) * i1e(x); }

Array bessel_jn(const ArrayLike& x, int v, int n_iter) {
  if (v < 0 || n_iter < v)
    raise<ValueError>("[bessel_jn] orders go from 0 to {} in {} steps; there must be as many steps as orders.", v,
                      n_iter);
  const auto [z] = promoted(x.array());
  using Carry = std::tuple<Array, Array, Array>;
  // J_(k-1) = 2k/z J_k - J_(k+1), from where both are small; J_0 + 2 (J_2 + J_4 + ...) is 1.
  const auto step = [&z = z](const Carry& c, const Array& k) {
    const auto& [above, now, sum] = c;
    const Array below = 2.0 * (k + 1.0) * now / z - above;
    return std::pair{Carry{now, below, sum + np::where(np::mod(k, 2.0) == 0.0, 2.0 * below, 0.0)}, below};
  };
  const Array zero = np::zeros_like(z);
  const auto [end, values] =
      lax::scan(step, Carry{zero, np::full_like(z, 1e-16), zero}, np::arange(n_iter + 1, z.dtype()), {.reverse = true});
  return values(range(0, v + 1)) / (std::get<2>(end) - values[0]);
}

Array rel_entr(const ArrayLike& p, const ArrayLike& q) {
  const auto [x, y] = promoted(p.array(), q.array());
  const Array both = (x > 0.0) & (y > 0.0), none = (x == 0.0) & (y >= 0.0);
  const Array a = np::where(both, x, 1.0), b = np::where(both, y, 1.0);
  return np::where(both, -entr(a) - xlogy(a, b), np::where(none, 0.0, np::inf));
}
Array kl_div(const ArrayLike& p, const ArrayLike& q) {
  const auto [x, y] = promoted(p.array(), q.array());
  return rel_entr(x, y) - x + y;
}

namespace {

Array box_cox(const Array& log, const Array& power) {
  const Array flat = power == 0.0, safe = np::where(flat, 1.0, power);
  return np::where(flat, log, np::expm1(safe * log) / safe);
}

}  // namespace

Array boxcox(const ArrayLike& x, const ArrayLike& lmbda) {
  const auto [y, power] = promoted(x.array(), lmbda.array());
  return box_cox(np::log(y), power);
}
Array boxcox1p(const ArrayLike& x, const ArrayLike& lmbda) {
  const auto [y, power] = promoted(x.array(), lmbda.array());
  return box_cox(np::log1p(y), power);
}

Array softmax(const ArrayLike& x, const Axes& axis) { return nn::softmax(x, axis); }
Array log_softmax(const ArrayLike& x, const Axes& axis) { return nn::log_softmax(x, axis); }

}  // namespace cotan::scipy::special
