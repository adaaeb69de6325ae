#include "dlm/first_state.hpp"

#include <cmath>

#include "dlm/diffuse_steps.hpp"
#include "dlm/errors.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// The first k elements in reverse, and zeros.
Array reversed(const Array& a, const Array& k) {
  const std::int64_t p = a.shape(0);
  const Array at = k - 1 - np::arange(p);
  return np::where(at >= 0, np::take(a, np::maximum(at, 0)), 0.0);
}

}  // namespace

// Durbin's and Levinson's recursion and its inverse, as loops: programs of long processes stay small.
Array coefficients_of(const Array& partial) {
  const std::int64_t p = partial.shape(0);
  if (p == 1) return partial;
  return lax::fori_loop(
      0, p,
      [&](const Array& k, const Array& phi) {
        const Array last = np::take(partial, k);
        return np::where(np::arange(p) == k, last, phi - last * reversed(phi, k));
      },
      np::zeros_like(partial));
}
Array partial_of(const Array& coefficients) {
  const std::int64_t p = coefficients.shape(0);
  if (p == 1) return coefficients;
  return lax::fori_loop(
      0, p,
      [&](const Array& i, const Array& phi) {
        // One shorter with every step; elements that are cut off stay in place.
        const Array k = p - 1 - i, last = np::take(phi, k);
        return np::where(np::arange(p) < k, (phi + last * reversed(phi, k)) / (1.0 - last * last), phi);
      },
      coefficients);
}

/// Of as many lags as there are partial autocorrelations, from 0 on, where `variance` is that of the noise.
Array autocovariances(const Array& partial, const Array& variance) {
  const std::int64_t p = partial.shape(0);
  struct Known {
    Array phi, gamma, error;  ///< of order k: coefficients, autocovariances up to lag k, and the variance of the noise
  };
  const Array all_of_it = variance / np::prod(1.0 - np::square(partial)), lags = np::arange(p);
  const Known known = lax::fori_loop(
      1, p,
      [&](const Array& k, const Known& now) {
        const Array last = np::take(partial, k - 1);
        const Array next = np::sum(now.phi * reversed(now.gamma, k)) + last * now.error;
        return Known{np::where(lags == k - 1, last, now.phi - last * reversed(now.phi, k - 1)),
                     np::where(lags == k, next, now.gamma), now.error * (1.0 - last * last)};
      },
      Known{np::zeros_like(partial), np::where(lags == 0, all_of_it, 0.0), all_of_it});
  return known.gamma;
}

Array stationary_covariance(const Array& G, const Array& W, const std::string& name) {
  const std::int64_t m = G.shape(0);
  const Array phi = G(all, 0), partial = partial_of(phi), stationary = np::all(np::abs(partial) < 1);
  if (is_concrete(stationary) && !stationary.item<bool>())
    raise<ValueError>(
        "[dlm] the coefficients '{}' = {} are not those of a stationary process, which has no distribution to start "
        "from; give smaller ones, or "
        "a first state by Model::x0 and C0.",
        name, fmt::join(phi.to_vector<double>(), ", "));
  if (m == 1) return np::where(stationary, W / (1.0 - G * G), NAN);
  // A state is a sum of past values, weighted by the coefficients that still apply to them.
  const Array lag = np::arange(m), at = np::expand_dims(lag, -1) + lag - 1;
  const Array later = (np::expand_dims(lag, -1) > 0) & (lag > 0) & (at < m);
  const Array sums = np::where(later, np::take(phi, np::clip(at, 0, m - 1)), (at == -1).astype(phi.dtype()));
  const Array covariances = np::take(autocovariances(partial, W(0, 0)), np::abs(np::expand_dims(lag, -1) - lag));
  return np::where(stationary, symmetric(sandwich(sums, covariances)), NAN);
}

void take_toolbox_first_state(StateSpace& s, const Model& model, const Array& y) {
  // The mean of the first season; its standard deviation is half of that.
  const int m = model.states();
  const std::int64_t first = std::min<std::int64_t>(model.season(), y.shape()[0]);
  const Array start = y.astype(f64)(range(0, first)), seen = ~np::isnan(start);
  const Array mean = np::sum(np::where(seen, start, 0.0)) / np::maximum(np::sum(seen.astype(f64)), 1.0);
  const Array variance = np::where(mean == 0, 1e7, np::square(0.5 * mean));
  s.x0 = model.x0.defined() ? model.x0.astype(f64) : mean * (np::arange(m) == 0).astype(f64);
  s.C0 = model.C0.defined() ? model.C0.astype(f64) : variance * np::eye(m, {}, 0, f64);
}

void take_diffuse_states(StateSpace& s, const std::vector<double>& diffuse, const Array& y) {
  const auto m = static_cast<std::int64_t>(diffuse.size()),
             d = static_cast<std::int64_t>(std::count(diffuse.begin(), diffuse.end(), 1.0));
  if (d == 0) return;
  std::vector<double> D0(static_cast<std::size_t>(m * d), 0.0);
  for (std::int64_t i = 0, k = 0; i < m; ++i)
    if (diffuse[static_cast<std::size_t>(i)] == 1) D0[static_cast<std::size_t>(i * d + k++)] = 1;
  s.D0 = Array::from_host(D0, {m, d});
  if (is_concrete(y) && is_concrete(s.G) && is_concrete(s.F)) s.diffuse_steps = find_diffuse(s, y).steps;
}

}  // namespace cotan::dlm
