// The public functions: one interface to the algorithms, and what is said about a fit.
#include "core/error.hpp"
#include "dlm/steps.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

Array minus2_log(const Filtered& f, const Observations& o, bool constants) {
  const Array sum = np::sum(minus2_log_terms(f.v, f.S, o.seen));
  return constants ? sum + std::log(2 * M_PI) * np::sum(o.seen) : sum;
}

// In f32 covariances lose too much where they are subtracted from each other: there all algorithms work on roots.
bool by_roots(const StateSpace& model, Algorithm algorithm) {
  return algorithm == Algorithm::square_root || model.G.dtype() == f32;
}
/// Algorithms that put steps together in any order work on what differs from the path of the first state: numbers near
/// zero keep their digits.
struct AroundPath {
  Array path;
  StateSpace model;
  Observations o, before;  ///< of each step, and of the step before it

  AroundPath(const StateSpace& m, const Observations& all) : model(m), o(all), before{a_step_later(all.y), a_step_later(all.seen)} {
    const std::int64_t n = all.y.shape()[0];
    const Array path_before = path_a_step_later(m, n), first = (np::arange(n) == 0)(cotan::all, newaxis);
    path = np::where(first, m.x0, times(matrix_a_step_later(m.G), path_before));
    model.x0 = np::zeros_like(m.x0);
    o.y = o.y - o.seen * times(m.F, path);
    before.y = before.y - before.seen * times(matrix_a_step_later(m.F), path_before);
  }
};
Filtered filter_by(const StateSpace& model, const Observations& o, Algorithm algorithm) {
  if (algorithm == Algorithm::sequential)
    return by_roots(model, algorithm) ? filter_square_root(model, o) : filter_sequential(model, o);
  const AroundPath around(model, o);
  Filtered f = by_roots(model, algorithm) ? filter_square_root(around.model, around.o, &around.before)
                                          : filter_associative(around.model, around.o);
  f.x = f.x + around.path;
  return f;
}
Smoothed smooth_by(const StateSpace& model, const Observations& o, Algorithm algorithm) {
  if (algorithm == Algorithm::sequential)
    return by_roots(model, algorithm) ? smooth_square_root(model, o) : smooth_sequential(model, o);
  const AroundPath around(model, o);
  Smoothed s = by_roots(model, algorithm) ? smooth_square_root(around.model, around.o, &around.before)
                                          : smooth_associative(around.model, around.o);
  s.x = s.x + around.path;
  s.predicted.x = s.predicted.x + around.path;
  return s;
}

/// Of the diagonals of covariances.
Array standard_deviations(const Array& C) { return np::sqrt(np::maximum(np::diagonal(C, 0, -2, -1), 0.0)); }

}  // namespace

Filtered filter(const StateSpace& model, const Array& y, Algorithm algorithm) {
  const StateSpace s = checked(model, y);
  return filter_by(s, observations(s, y), algorithm);
}
Array minus2_log_likelihood(const StateSpace& model, const Array& y, Algorithm algorithm, bool constants) {
  const StateSpace s = checked(model, y);
  const Observations o = observations(s, y);
  return minus2_log(filter_by(s, o, algorithm), o, constants);
}
Smoothed smooth(const StateSpace& model, const Array& y, Algorithm algorithm) {
  const StateSpace s = checked(model, y);
  return smooth_by(s, observations(s, y), algorithm);
}

Fit fit(const StateSpace& model, const Array& y, const FitOptions& options) {
  StateSpace s = checked(model, y);
  const Observations o = observations(s, y);
  Smoothed smoothed = smooth_by(s, o, options.algorithm);
  if (options.restart > 0) {
    s.x0 = smoothed.x[0];
    s.C0 = smoothed.C[0] * options.restart;
    smoothed = smooth_by(s, o, options.algorithm);
  }
  const Filtered& f = smoothed.predicted;
  const Array observed = np::where(o.seen > 0, o.y, NAN);
  const Array V = np::broadcast_to(np::sqrt(np::diagonal(s.V, 0, -2, -1)), o.y.shape());
  Fit out;
  out.x0 = s.x0;
  out.C0 = s.C0;
  out.x = smoothed.x;
  out.C = smoothed.C;
  out.xstd = standard_deviations(smoothed.C);
  out.xf = f.x;
  out.Cf = f.C;
  out.Cp = f.S;
  out.yhat = times(s.F, f.x);
  out.level = times(s.F, smoothed.x);
  out.ystd = standard_deviations(sandwich(s.F, smoothed.C) + s.V);
  out.v = out.resid0 = observed - out.yhat;
  out.resid = out.resid0 / V;
  out.resid2 = out.v / standard_deviations(f.S);
  out.nobs = np::sum(o.seen);
  out.lik = minus2_log(f, o, false);
  out.lik_full = minus2_log(f, o, true);
  const auto mean_seen = [&](const Array& a) { return np::sum(np::where(o.seen > 0, a, 0.0)) / out.nobs; };
  out.ssy = mean_seen(out.resid0 * out.resid0) * out.nobs;
  out.s2 = mean_seen(out.resid * out.resid);
  out.mse = mean_seen(out.resid2 * out.resid2);
  out.mape = mean_seen(np::abs(out.resid2) / o.y);
  return out;
}

}  // namespace cotan::dlm
