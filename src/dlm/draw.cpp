// Random states and series: simulation, the simulation smoother, Gibbs sampling of variances.
#include <algorithm>

#include "dlm/errors.hpp"
#include "dlm/roots.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

/// N(0, C) by a root of C, one row for each step.
Array noise(const Array& C, std::int64_t n, const Array& key) {
  const Array z = random::normal(key, {n, C.shape().back()}, C.dtype());
  return times(root_of(C), z);
}

/// The states of which a covariance has one standard deviation, and its shape: the inverse for a deviation of 1.
struct Shaped {
  std::vector<std::int64_t> states;
  Array inverse;

  Shaped() = default;
  explicit Shaped(const Array& C) {
    const std::vector<double> diagonal = np::diagonal(C).to_vector<double>();
    for (std::size_t k = 0; k < diagonal.size(); ++k)
      if (diagonal[k] > 0) states.push_back(static_cast<std::int64_t>(k));
    if (states.empty()) return;
    const Array at = Array::from_host(states);
    inverse = linalg::inv(np::take(np::take(C, at, 0), at, 1));
  }
  /// xᵀ C⁻¹ x, summed over rows.
  Array squares(const Array& x) const {
    const Array e = np::take(x, Array::from_host(states), 1);
    return np::sum(e * times(inverse, e));
  }
  double count() const { return static_cast<double>(states.size()); }
};
struct VarianceTerm {
  Shaped moves, first;  ///< the first state's, where it is stationary
};

/// Sums of squares of what moved the states of each parameter, and how many there are.
struct Sums {
  Array squares;
  double count;
};

}  // namespace

Drawn simulate(const StateSpace& model, std::int64_t steps, const Array& key) {
  if (steps < 1) raise<ValueError>("[dlm] a simulation of {} steps; it needs at least one.", steps);
  const StateSpace s = checked(model, np::zeros({steps, model.F.shape(-2)}, model.F.dtype()));
  const Array keys = random::split(key, 3);
  const Array first = s.x0 + noise(s.C0, 1, keys[0])[0];
  const Array w = noise(s.W, steps, keys[1]), v = noise(s.V, steps, keys[2]);
  const bool moving = s.G.ndim() == 3;
  const auto step = [&](const Array& x, const std::vector<Array>& in) {
    return std::pair{times(moving ? in[1] : s.G, x) + in[0], x};
  };
  const Array x = lax::scan(step, first, moving ? std::vector<Array>{w, s.G} : std::vector<Array>{w}).second;
  return {x, times(s.F, x) + v};
}

Array draw_states(const StateSpace& model, const Array& y, const Array& key, Algorithm algorithm) {
  const StateSpace s = checked(model, y);
  const Array rows = y.ndim() == 1 ? np::expand_dims(y, -1) : y;
  // A draw of everything, corrected by what its series says wrongly.
  const Drawn drawn = simulate(s, y.shape()[0], key);
  StateSpace centred = s;
  centred.x0 = np::zeros_like(s.x0);
  return drawn.x + smooth(centred, rows.astype(s.G.dtype()) - drawn.y, algorithm).x;
}

GibbsDraws gibbs(const Model& model, const Array& y, const Array& key, const GibbsOptions& options) {
  if (!model.times.empty())
    raise<ValueError>("[dlm] gibbs() takes series with even steps; put NaN where values are missing.");
  if (options.samples < 1 || options.burn_in < 0)
    raise<ValueError>("[dlm] {} samples after {}; there must be at least one.", options.samples, options.burn_in);
  const Array series = y.astype(f64);
  Parameters start = default_start(model, series);
  for (const auto& [name, value] : options.start) start[name] = value.astype(f64);
  // A parameter's part of W, per unit of variance: found by setting the others to zero.
  std::vector<std::string> names;
  std::map<std::string, VarianceTerm> terms;
  std::int64_t diffuse_steps = 0;
  for (const ParameterInfo& p : parameters_of(model)) {
    if (p.kind != ParameterInfo::Kind::standard_deviation) continue;
    names.push_back(p.name);
    Parameters alone;
    for (const auto& [name, value] : start)
      if (name == p.name) alone[name] = np::ones({}, f64);
    for (const ParameterInfo& q : parameters_of(model))
      if (q.kind == ParameterInfo::Kind::autoregression) alone[q.name] = start.at(q.name);
    const StateSpace unit = state_space(model, alone, series);
    VarianceTerm term{Shaped(unit.W), {}};
    if (model.first == FirstState::diffuse && !model.x0.defined() && !model.C0.defined()) term.first = Shaped(unit.C0);
    diffuse_steps = unit.diffuse_steps;
    terms[p.name] = term;
  }
  const std::int64_t n = y.shape()[0];
  const auto sums_of = [&](const std::string& name, const StateSpace& s, const Array& x) -> Sums {
    Array squares = np::zeros({}, f64);
    double count = 0;
    const VarianceTerm& term = terms.at(name);
    if (!term.moves.states.empty()) {
      squares = squares + term.moves.squares(x(range(1, n)) - times(s.G, x(range(0, n - 1))));
      count += term.moves.count() * static_cast<double>(n - 1);
    }
    if (!term.first.states.empty()) {
      squares = squares + term.first.squares(x(range(0, 1)));
      count += term.first.count();
    }
    if (name == model.sd) {
      const Array error = series - np::squeeze(times(s.F, x), -1), seen = ~np::isnan(series);
      const Array scale = model.scale.defined() ? model.scale.astype(f64)(range(0, n)) : np::ones({}, f64);
      squares = squares + np::sum(np::where(seen, np::square(error / scale), 0.0));
    }
    return {squares, count};
  };
  const Array observed = np::sum((~np::isnan(series)).astype(f64));
  struct Chain {
    Parameters parameters;
    Array x;
  };
  const auto sweep = [&](const Chain& now, const Array& sweep_key) {
    const Array keys = random::split(sweep_key, static_cast<std::int64_t>(names.size()) + 1);
    StateSpace s = state_space(model, now.parameters, series);
    s.diffuse_steps = diffuse_steps;
    const Array x = draw_states(s, series, keys[0]);
    Chain next{now.parameters, x};
    for (std::size_t k = 0; k < names.size(); ++k) {
      const Sums sums = sums_of(names[k], s, x);
      const Array count = sums.count + (names[k] == model.sd ? observed : np::zeros({}, f64));
      const Array shape = options.prior_shape + 0.5 * count;
      const Array scale = options.prior_scale * np::square(start.at(names[k])) + 0.5 * sums.squares;
      next.parameters[names[k]] =
          np::sqrt(scale / random::gamma(keys[static_cast<std::int64_t>(k) + 1], shape, {}, f64));
    }
    return std::pair{next, next.parameters};
  };
  const auto run = [&](const Parameters& first, const Array& key) {
    const Array keys = random::split(key, options.burn_in + options.samples);
    const Chain begin{first, np::zeros({n, model.states()}, f64)};
    return lax::scan(sweep, begin, keys);
  };
  const auto [last, draws] = jit(run)(start, key);
  GibbsDraws out{{}, last.x};
  for (const std::string& name : names) out.parameters[name] = draws.at(name)(range(options.burn_in, none));
  return out;
}

}  // namespace cotan::dlm
