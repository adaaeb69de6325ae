// The public functions: one interface to the algorithms, and what is said about a fit.
#include "dlm/errors.hpp"
#include "dlm/observe.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

// In f32, subtracting covariances from each other loses too many digits: there all algorithms work on square roots.
bool by_roots(const StateSpace& model, Algorithm algorithm) {
  return algorithm == Algorithm::square_root || model.G.dtype() == f32;
}
/// Algorithms that combine steps in any order work on deviations from the path of the first state: numbers near zero
/// keep their digits.
struct AroundPath {
  Array path;
  StateSpace model;
  Observations o, before;  ///< of each step, and of the step before it

  AroundPath(const StateSpace& m, const Observations& all)
      : model(m), o(all), before{a_step_later(all.y), a_step_later(all.seen)} {
    const std::int64_t n = all.y.shape()[0];
    const Array path_before = path_a_step_later(m, n), first = (np::arange(n) == 0)(cotan::all, newaxis);
    path = np::where(first, m.x0, times(matrix_a_step_later(m.G), path_before));
    model.x0 = np::zeros_like(m.x0);
    o.y = o.y - o.seen * times(m.F, path);
    before.y = before.y - before.seen * times(matrix_a_step_later(m.F), path_before);
  }
};

Filtered both(const Filtered& a, const Filtered& b) {
  return tree::map([](const Array& x, const Array& y) { return np::concatenate({x, y}, 0); }, a, b);
}

Filtered filter_by(const StateSpace& model, const Observations& o, Algorithm algorithm) {
  if (model.D0) {
    Split split(model, o);
    const ExactPass first = filter_exact(split.first, split.first_o);
    const Filtered f = filtered_of(split.first, split.first_o, first.each);
    if (!split.has_rest) return f;
    split.go_on_from(first.end);
    return both(f, filter_by(split.rest, split.rest_o, algorithm));
  }
  if (algorithm == Algorithm::sequential) {
    if (by_roots(model, algorithm)) return filter_square_root(model, o);
    return filtered_of(model, o, filter_exact(model, o).each);
  }
  const AroundPath around(model, o);
  Filtered f = by_roots(model, algorithm) ? filter_square_root(around.model, around.o, &around.before)
                                          : filter_associative(around.model, around.o);
  f.x = f.x + around.path;
  return f;
}

/// -2 log L without constants.
Array likelihood_by(const StateSpace& model, const Observations& o, Algorithm algorithm) {
  if (model.D0) {
    Split split(model, o);
    const ExactPass first = filter_exact(split.first, split.first_o);
    if (!split.has_rest) return first.minus2_log;
    split.go_on_from(first.end);
    return first.minus2_log + likelihood_by(split.rest, split.rest_o, algorithm);
  }
  if (algorithm == Algorithm::sequential && !by_roots(model, algorithm)) return filter_exact(model, o).minus2_log;
  const Filtered f = filter_by(model, o, algorithm);
  return np::sum(minus2_log_terms(f.v, f.S, o.seen));
}
Array with_constants(const Array& minus2_log, const Observations& o) {
  return minus2_log + std::log(2 * M_PI) * np::sum(o.seen);
}

/// Both passes, the second one a step after the other.
Smoothed smooth_from(const StateSpace& model, const Observations& o, const Filtered& f) {
  const ExactSmoothed s = smooth_exact(model, o, {f.x, f.C}, nothing_after(model));
  return {s.each.x, s.each.C, f};
}
Smoothed smooth_diffuse(const StateSpace& model, const Observations& o, Algorithm algorithm) {
  Split split(model, o);
  const ExactPass first = filter_exact(split.first, split.first_o);
  Adjoint after = nothing_after(model);
  Smoothed rest;
  if (split.has_rest) {
    split.go_on_from(first.end);
    rest.predicted = filter_by(split.rest, split.rest_o, algorithm);
    const ExactSmoothed s = smooth_exact(split.rest, split.rest_o, {rest.predicted.x, rest.predicted.C}, after);
    rest.x = s.each.x;
    rest.C = s.each.C;
    after = s.start;
  }
  const ExactSmoothed s = smooth_exact(split.first, split.first_o, first.each, with_diffuse_terms(after));
  const Smoothed out{s.each.x, s.each.C, filtered_of(split.first, split.first_o, first.each)};
  if (!split.has_rest) return out;
  return tree::map([](const Array& x, const Array& y) { return np::concatenate({x, y}, 0); }, out, rest);
}
Smoothed smooth_by(const StateSpace& model, const Observations& o, Algorithm algorithm) {
  if (model.D0) return smooth_diffuse(model, o, algorithm);
  if (algorithm == Algorithm::sequential)
    return by_roots(model, algorithm) ? smooth_square_root(model, o)
                                      : smooth_from(model, o, filter_by(model, o, algorithm));
  const AroundPath around(model, o);
  Smoothed s = by_roots(model, algorithm) ? smooth_square_root(around.model, around.o, &around.before)
                                          : smooth_associative(around.model, around.o);
  s.x = s.x + around.path;
  s.predicted.x = s.predicted.x + around.path;
  return s;
}

/// Of the diagonals of covariances.
Array standard_deviations(const Array& C) { return np::sqrt(np::maximum(np::diagonal(C, 0, -2, -1), 0.0)); }

/// Of an observation, given the smoothed signal.
Array signal_deviations(const StateSpace& s, const Array& y) {
  const Array sd = decompose(s, y, np::ones({1, s.x0.shape(0)}, s.x0.dtype())).part_sd(all, 0);
  return np::sqrt(sd * sd + np::diagonal(s.V, 0, -2, -1));
}

}  // namespace

Filtered filter(const StateSpace& model, const Array& y, Algorithm algorithm) {
  const StateSpace s = checked(model, y);
  return filter_by(s, observations(s, y), algorithm);
}
Array minus2_log_likelihood(const StateSpace& model, const Array& y, Algorithm algorithm, bool constants) {
  const StateSpace s = checked(model, y);
  const Observations o = observations(s, y);
  const Array without = likelihood_by(s, o, algorithm);
  return constants ? with_constants(without, o) : without;
}
Criteria criteria(const StateSpace& model, const Array& y, std::int64_t estimated_parameters) {
  return criteria_of(model, y, minus2_log_likelihood(model, y, Algorithm::sequential, true), estimated_parameters);
}
Criteria criteria_of(const StateSpace& model, const Array& y, const Array& minus2_log,
                     std::int64_t estimated_parameters) {
  const auto free = static_cast<double>(estimated_parameters + (model.D0 ? model.D0->shape(1) : 0));
  return {-0.5 * minus2_log, minus2_log + 2 * free, minus2_log + std::log(static_cast<double>(y.shape(0))) * free};
}
Smoothed smooth(const StateSpace& model, const Array& y, Algorithm algorithm) {
  const StateSpace s = checked(model, y);
  return smooth_by(s, observations(s, y), algorithm);
}

Fit fit(const StateSpace& model, const Array& y, const FitOptions& options) {
  StateSpace s = checked(model, y);
  const Observations o = observations(s, y);
  Smoothed smoothed = smooth_by(s, o, options.algorithm);
  if (options.restart > 0 && !s.D0) {
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
  // Nothing is predicted with an infinite variance.
  const Array variance = np::diagonal(f.S, 0, -2, -1), predicted = np::isfinite(variance);
  out.yhat = np::where(predicted, times(s.F, f.x), NAN);
  out.level = times(s.F, smoothed.x);
  // The signal may have a finite variance though its states do not.
  out.ystd = s.D0 ? signal_deviations(s, y) : standard_deviations(sandwich(s.F, smoothed.C) + s.V);
  out.v = out.resid0 = observed - out.yhat;
  out.resid = out.resid0 / V;
  out.resid2 = out.v / standard_deviations(f.S);
  out.nobs = np::sum(o.seen);
  out.lik = s.D0 ? likelihood_by(s, o, options.algorithm) : np::sum(minus2_log_terms(f.v, f.S, o.seen));
  out.lik_full = with_constants(out.lik, o);
  const Array counted = (o.seen > 0) & predicted, count = s.D0 ? np::sum(counted.astype(o.y.dtype())) : out.nobs;
  const auto mean_seen = [&](const Array& a) { return np::sum(np::where(counted, a, 0.0)) / count; };
  out.ssy = mean_seen(out.resid0 * out.resid0) * count;
  out.s2 = mean_seen(out.resid * out.resid);
  out.mse = mean_seen(out.resid2 * out.resid2);
  out.mape = mean_seen(np::abs(out.resid2) / o.y);
  return out;
}

}  // namespace cotan::dlm
