// Maximum likelihood: a search over unconstrained parameters, compiled as one program, and standard errors from the
// exact Hessian at its end.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "dlm/chandrasekhar.hpp"
#include "dlm/errors.hpp"
#include "dlm/first_state.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

using Kind = ParameterInfo::Kind;

ParameterInfo info_of(const Model& model, const std::string& name) {
  const auto known = parameters_of(model);
  for (const ParameterInfo& p : known)
    if (p.name == name) return p;
  std::vector<std::string> names;
  for (const ParameterInfo& p : known) names.push_back(p.name);
  raise<ValueError>("[dlm] the model has no parameter '{}'; it has {}.", name, fmt::join(names, ", "));
}

/// A series, and what is known about it before parameters have values.
struct Data {
  Array y;
  std::optional<Opening> opening = {};
};

struct Problem {
  const Model& model;
  const EstimateOptions& options;
  std::vector<std::string> free;
  std::int64_t diffuse_steps = 0;

  StateSpace space(const Parameters& p, const Array& y) const {
    StateSpace s = state_space(model, p, y);
    if (s.D0 && s.diffuse_steps == 0) s.diffuse_steps = diffuse_steps;
    return s;
  }
  Array objective(const Parameters& fixed, const Array& theta, const Data& data) const {
    return objective(fixed, theta, data, options.algorithm);
  }
  Array objective(const Parameters& fixed, const Array& theta, const Data& data, Algorithm algorithm) const {
    const Parameters p = with_values(fixed, theta);
    const StateSpace s = space(p, data.y);
    const bool by_vectors = data.opening && algorithm == Algorithm::sequential;
    const Array lik =
        by_vectors ? minus2_log_likelihood(s, *data.opening) : minus2_log_likelihood(s, data.y, algorithm);
    return options.penalty ? lik + options.penalty(p) : lik;
  }
  /// Searches over many parameters use their information matrix: that of innovations and their variances, which takes
  /// first derivatives only.
  optim::MinimizeOptions search_options(const Parameters& fixed, const Data& data) const {
    optim::MinimizeOptions out = options.minimize;
    std::int64_t count = 0;
    for (const std::string& name : free) count += info_of(model, name).size;
    if (!data.opening || options.algorithm != Algorithm::sequential || count <= few_parameters) return out;
    out.curvature = [this, &fixed, &data](const Array& theta) {
      const auto scaled = [&](const Array& t) {
        const Innovations i = innovations(space(with_values(fixed, t), data.y), *data.opening);
        const Array S = lax::stop_gradient(i.S);
        return np::concatenate({std::sqrt(2.0) * i.v(all, 0) / np::sqrt(S), i.S / S}, 0);
      };
      const Array J = jacfwd(scaled)(theta);
      return np::matmul(transposed(J), J);
    };
    return out;
  }

 private:
  static constexpr std::int64_t few_parameters = 10;

  Parameters with_values(const Parameters& fixed, const Array& theta) const {
    Parameters p = fixed;
    for (const auto& [name, value] : constrained(model, theta, free)) p[name] = value;
    return p;
  }
};

/// Start values around the first ones: each start varies other standard deviations.
Array scattered(const Array& theta, int k) {
  if (k == 0) return theta;
  std::vector<double> shift;
  for (std::int64_t i = 0; i < theta.shape()[0]; ++i) {
    const double u =
        std::fmod((static_cast<double>(k) * 0.7548776662 + static_cast<double>(i) * 0.5698402910 * k) + 0.5, 1.0);
    shift.push_back(4 * u - 2);
  }
  return theta + Array::from_host(shift);
}

/// Standard errors of parameters from the covariance of theta: to first order.
Parameters standard_errors_of(const Problem& problem, const Array& theta, const Array& covariance) {
  const auto values = [&](const Array& t) {
    std::vector<Array> out;
    const Parameters p = constrained(problem.model, t, problem.free);
    for (const std::string& name : problem.free) out.push_back(np::reshape(p.at(name), {-1}));
    return np::concatenate(out, 0);
  };
  const Array jacobian = jacfwd(values)(theta);
  const Array variances = np::diagonal(sandwich(jacobian, covariance));
  const Array errors = np::where(variances > 0, np::sqrt(np::where(variances > 0, variances, 1.0)), NAN);
  Parameters out;
  std::int64_t at = 0;
  for (const std::string& name : problem.free) {
    const ParameterInfo info = info_of(problem.model, name);
    out[name] = info.kind == Kind::autoregression ? errors(range(at, at + info.size)) : errors[at];
    at += info.size;
  }
  return out;
}

Estimate finished(const Problem& problem, const Parameters& fixed, const optim::Search& search, const Data& data) {
  const Array& y = data.y;
  Estimate out;
  out.parameters = fixed;
  for (const auto& [name, value] : constrained(problem.model, search.x, problem.free)) out.parameters[name] = value;
  out.value = search.value;
  out.theta = search.x;
  out.iterations = search.iterations;
  out.evaluations = search.evaluations;
  out.converged = search.converged;
  const Array lik = problem.options.penalty ? search.value - problem.options.penalty(out.parameters) : search.value;
  const Array seen = np::sum((~np::isnan(y)).astype(f64));
  out.criteria = criteria_of(problem.space(out.parameters, y), y, lik + std::log(2 * M_PI) * seen, search.x.shape()[0]);
  out.covariance = np::full({search.x.shape()[0], search.x.shape()[0]}, NAN, search.x.dtype());
  if (!problem.options.standard_errors) return out;
  const auto objective = [&](const Array& t) { return problem.objective(fixed, t, data, Algorithm::sequential); };
  const Array H = optim::hessian_of(objective, search.x);
  out.covariance = 2.0 * linalg::inv(symmetric(H));
  out.standard_errors = standard_errors_of(problem, search.x, out.covariance);
  return out;
}

/// The best of several searches.
optim::Search best_of(const Problem& problem, const Parameters& fixed, const Array& start, const Data& data) {
  const EstimateOptions& o = problem.options;
  const optim::MinimizeOptions how = problem.search_options(fixed, data);
  const auto search = [&](const Array& first) {
    return optim::minimize([&](const Array& t) { return problem.objective(fixed, t, data); }, first, how);
  };
  if (o.starts <= 1) return search(start);
  std::vector<Array> firsts;
  for (int k = 0; k < o.starts; ++k) firsts.push_back(scattered(start, k));
  const optim::Search all_ends = lax::map(search, np::stack(firsts));
  const Array values = np::where(np::isfinite(all_ends.value), all_ends.value, INFINITY);
  const Array best = np::argmin(values);
  return tree::map([&](const Array& a) { return a[best]; }, all_ends);
}

/// The same search, a few evaluations at a time: as many as take half a second.
optim::Search with_progress(const Problem& problem, const Parameters& fixed, const Array& start, const Data& data) {
  const EstimateOptions& o = problem.options;
  const auto on = jit([&](const optim::Search& s, const Parameters& fixed, const Data& data, const Array& few) {
    const auto objective = [&](const Array& t) { return problem.objective(fixed, t, data); };
    return optim::advance(objective, s, problem.search_options(fixed, data), few);
  });
  int few = 1;
  optim::Search best;
  std::int64_t evaluations = 0;
  double lowest = INFINITY;
  for (int k = 0; k < std::max(o.starts, 1); ++k) {
    optim::Search s = optim::start(scattered(start, k), o.minimize);
    while (!s.finished.item<bool>()) {
      const std::int64_t before = s.evaluations.item<std::int64_t>();
      const auto began = std::chrono::steady_clock::now();
      s = on(s, fixed, data, np::full({}, few, i32));
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      few = took.count() < 0.25 ? std::min(2 * few, 64) : took.count() > 0.75 ? std::max(few / 2, 1) : few;
      evaluations += s.evaluations.item<std::int64_t>() - before;
      o.progress(evaluations, std::min(lowest, s.value.item<double>()));
    }
    const double value = s.value.item<double>();
    if (!best.x.defined() || value < lowest || std::isnan(lowest)) best = s;
    lowest = std::min(lowest, value);
  }
  return best;
}

}  // namespace

Array unconstrained(const Model& model, const Parameters& parameters, const std::vector<std::string>& names) {
  std::vector<Array> out;
  for (const std::string& name : names) {
    const ParameterInfo info = info_of(model, name);
    const auto at = parameters.find(name);
    if (at == parameters.end()) raise<ValueError>("[dlm] the parameter '{}' has no value; give it one.", name);
    const Array value = np::reshape(at->second, {-1}).astype(f64);
    if (value.shape()[0] != info.size)
      raise<ShapeError>("[dlm] '{}' is {}; it has {} numbers.", name, at->second.aval().str(), info.size);
    if (info.kind == Kind::autoregression)
      out.push_back(np::arctanh(np::clip(partial_of(value), -0.9999, 0.9999)));
    else
      out.push_back(np::log(np::maximum(np::abs(value), 1e-300)));
  }
  if (out.empty()) raise<ValueError>("[dlm] there is nothing to estimate; name at least one parameter.");
  return np::concatenate(out, 0);
}

Parameters constrained(const Model& model, const Array& theta, const std::vector<std::string>& names) {
  Parameters out;
  std::int64_t at = 0;
  for (const std::string& name : names) {
    const ParameterInfo info = info_of(model, name);
    const Array part = theta(range(at, at + info.size));
    at += info.size;
    out[name] = info.kind == Kind::autoregression ? coefficients_of(np::tanh(part)) : np::exp(part[0]);
  }
  if (theta.ndim() != 1 || theta.shape()[0] != at)
    raise<ShapeError>("[dlm] the parameters are {}; there are [{}] of them.", theta.aval().str(), at);
  return out;
}

Estimate estimate(const Model& model, const Array& y, const EstimateOptions& options) {
  Problem problem{model, options, options.free};
  if (problem.free.empty())
    for (const ParameterInfo& p : parameters_of(model)) problem.free.push_back(p.name);
  Parameters first = default_start(model, y);
  for (const auto& [name, value] : options.start) {
    info_of(model, name);
    first[name] = value.astype(f64);
  }
  Parameters fixed;
  for (const auto& [name, value] : first)
    if (std::find(problem.free.begin(), problem.free.end(), name) == problem.free.end()) fixed[name] = value;
  const Array start = unconstrained(model, first, problem.free);
  // Which steps find the first state does not depend on the parameters.
  if (is_concrete(y)) problem.diffuse_steps = state_space(model, first, y).diffuse_steps;
  const Data data{y, opening_of(model, first, y)};
  if (options.progress) {
    const optim::Search end = with_progress(problem, fixed, start, data);
    return jit([&](const optim::Search& s, const Parameters& fixed, const Data& data) {
      return finished(problem, fixed, s, data);
    })(end, fixed, data);
  }
  return jit([&](const Parameters& fixed, const Array& start, const Data& data) {
    return finished(problem, fixed, best_of(problem, fixed, start, data), data);
  })(fixed, start, data);
}

}  // namespace cotan::dlm
