// Models from blocks: each block gives its part of G, F and W, and the parts stand side by side.
#include <algorithm>
#include <cmath>

#include "dlm/blocks.hpp"
#include "dlm/errors.hpp"
#include "dlm/first_state.hpp"
#include "dlm/transition.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

constexpr auto dtype = f64;  // models are built in double precision

std::vector<double> steps_between(const std::vector<double>& times, std::int64_t n) {
  if (static_cast<std::int64_t>(times.size()) < n)
    raise<ShapeError>("[dlm] there are {} timestamps but {} steps are wanted; give one for each, future ones included.",
                      times.size(), n);
  std::vector<double> out;
  for (std::int64_t t = 0; t + 1 < n; ++t) {
    const double d = times[static_cast<std::size_t>(t) + 1] - times[static_cast<std::size_t>(t)];
    if (!(d > 0) || !std::isfinite(d))
      raise<ValueError>(
          "[dlm] timestamps {} and {} are {} and {}; they must increase: sort the series, and give each time once.", t,
          t + 1, times[static_cast<std::size_t>(t)], times[static_cast<std::size_t>(t) + 1]);
    out.push_back(d);
  }
  out.push_back(1);
  return out;
}

std::int64_t steps_of(const Array& a) { return a.ndim() == 3 ? a.shape()[0] : 0; }

/// Matrices down the diagonal; all with a leading axis of steps if one has it.
Array block_diagonal(const std::vector<Array>& parts) {
  std::int64_t n = 0, columns = 0;
  for (const Array& a : parts) {
    n = std::max(n, steps_of(a));
    columns += a.shape(-1);
  }
  std::vector<Array> lines;
  std::int64_t before = 0;
  for (const Array& a : parts) {
    const std::int64_t height = a.shape(-2), width = a.shape(-1);
    const auto lead = [&](Shape s) {
      if (n) s.insert(s.begin(), n);
      return s;
    };
    std::vector<Array> line;
    if (before) line.push_back(np::zeros(lead({height, before}), a.dtype()));
    line.push_back(n && a.ndim() == 2 ? np::broadcast_to(a, lead({height, width})) : a);
    before += width;
    if (before < columns) line.push_back(np::zeros(lead({height, columns - before}), a.dtype()));
    lines.push_back(line.size() == 1 ? line[0] : np::concatenate(line, -1));
  }
  return lines.size() == 1 ? lines[0] : np::concatenate(lines, -2);
}
/// D0 of models side by side; some of them may have none.
Array directions_of(const std::vector<StateSpace>& models) {
  std::int64_t states = 0, before = 0;
  for (const StateSpace& s : models) states += s.x0.shape(0);
  std::vector<Array> columns;
  for (const StateSpace& s : models) {
    const std::int64_t m = s.x0.shape(0);
    if (s.D0) {
      const auto zeros = [&](std::int64_t rows) { return np::zeros({rows, s.D0->shape(1)}, s.x0.dtype()); };
      std::vector<Array> rows;
      if (before) rows.push_back(zeros(before));
      rows.push_back(*s.D0);
      if (before + m < states) rows.push_back(zeros(states - before - m));
      columns.push_back(np::concatenate(rows, 0));
    }
    before += m;
  }
  return np::concatenate(columns, 1);
}
/// F of blocks, side by side.
Array row_of(const std::vector<Array>& parts, std::int64_t n) {
  const bool per_step = std::any_of(parts.begin(), parts.end(), [](const Array& a) { return a.ndim() == 2; });
  std::vector<Array> out;
  for (const Array& a : parts) out.push_back(per_step && a.ndim() == 1 ? np::broadcast_to(a, {n, a.shape()[0]}) : a);
  return np::expand_dims(out.size() == 1 ? out[0] : np::concatenate(out, -1), -2);
}

}  // namespace

int Model::states() const {
  int m = 0;
  for (const Block& b : blocks) {
    check(b);
    m += states_of(b);
  }
  return m;
}
int Model::season() const {
  double longest = 0;
  for (const Block& b : blocks) {
    if (const auto* s = std::get_if<Seasonal>(&b)) longest = std::max(longest, static_cast<double>(s->period));
    if (const auto* h = std::get_if<Harmonics>(&b)) longest = std::max(longest, h->period);
  }
  return longest > 0 ? static_cast<int>(std::ceil(longest)) : 12;
}
std::vector<std::string> Model::state_names() const {
  std::vector<std::string> out;
  const auto add = [&](std::string name) {
    const auto taken = [&](const std::string& n) { return std::find(out.begin(), out.end(), n) != out.end(); };
    std::string unique = name;
    for (int k = 2; taken(unique); ++k) unique = fmt::format("{} ({})", name, k);
    out.push_back(unique);
  };
  for (const Block& block : blocks)
    std::visit(Overloaded{
                   [&](const Trend& b) {
                     const char* names[] = {"level", "slope", "curvature"};
                     for (int k = 0; k <= b.order; ++k) add(names[k]);
                   },
                   [&](const Seasonal& b) {
                     for (int k = 1; k < b.period; ++k)
                       add(k == 1 ? "season" : fmt::format("season, {} before", k - 1));
                   },
                   [&](const Harmonics& b) {
                     for (int k = 0; k < states_of(b); ++k) add(harmonic_name(k));
                   },
                   [&](const AutoRegression& b) {
                     for (int k = 0; k < b.order; ++k)
                       add(k == 0 ? "autoregression" : fmt::format("autoregression, part {}", k + 1));
                   },
                   [&](const Regression& b) {
                     for (int k = 0; k < columns_of(b); ++k) add(fmt::format("effect {}", k + 1));
                   },
                   [&](const Spline&) {
                     add("spline");
                     add("slope of the spline");
                   },
               },
               block);
  return out;
}

std::vector<ParameterInfo> parameters_of(const Model& model) {
  using Kind = ParameterInfo::Kind;
  std::vector<ParameterInfo> out;
  const auto add = [&](const std::string& name, Kind kind, int size) {
    if (name.empty()) return;
    for (const ParameterInfo& known : out)
      if (known.name == name) {
        if (known.kind != kind || known.size != size)
          raise<ValueError>("[dlm] the parameter '{}' is used for different things; give them different names.", name);
        return;
      }
    out.push_back({name, kind, size});
  };
  add(model.sd, Kind::standard_deviation, 1);
  for (const Block& block : model.blocks) {
    check(block);
    std::visit(Overloaded{
                   [&](const Trend& b) {
                     for (int k = 0; k <= b.order; ++k)
                       add(b.sd[static_cast<std::size_t>(k)], Kind::standard_deviation, 1);
                   },
                   [&](const Harmonics& b) {
                     for (int k = 0; k < states_of(b); ++k) add(sd_of(b, k), Kind::standard_deviation, 1);
                   },
                   [&](const AutoRegression& b) {
                     add(b.sd, Kind::standard_deviation, 1);
                     add(b.coefficients, Kind::autoregression, b.order);
                   },
                   [&](const auto& b) { add(b.sd, Kind::standard_deviation, 1); },
               },
               block);
  }
  return out;
}

StateSpace state_space(const Model& model, const Parameters& parameters, const Array& y, std::int64_t steps) {
  if (y.ndim() != 1 || y.shape()[0] == 0)
    raise<ShapeError>(
        "[dlm] the series is {}; a Model is of one series, [steps], with at least one step. For several, see "
        "together().",
        y.aval().str());
  if (model.blocks.empty()) raise<ValueError>("[dlm] the model has no blocks; give it a Trend, for example.");
  const auto known = parameters_of(model);
  for (const auto& [name, value] : parameters)
    if (std::none_of(known.begin(), known.end(), [&, &n = name](const ParameterInfo& k) { return k.name == n; })) {
      std::vector<std::string> names;
      for (const ParameterInfo& k : known) names.push_back(k.name);
      raise<ValueError>("[dlm] the model has no parameter '{}'; it has {}.", name, fmt::join(names, ", "));
    }
  const std::int64_t n = std::max(steps, y.shape()[0]);
  const Lookup lookup(parameters);
  const bool uneven = !model.times.empty();
  const std::vector<double> between = uneven ? steps_between(model.times, n) : std::vector<double>{};
  const bool diffuse = model.first == FirstState::diffuse && !model.x0.defined() && !model.C0.defined();
  std::vector<Array> G, F, W, C0;
  StateSpace s;
  std::vector<double> D0;  // a 1 for each state that is diffuse
  for (const Block& block : model.blocks) {
    BlockMatrices matrices = matrices_of(block, lookup, n);
    const auto m = matrices.G.shape(0);
    const auto* process = std::get_if<AutoRegression>(&block);
    if (diffuse)
      C0.push_back(process ? stationary_covariance(matrices.G, matrices.W, process->coefficients)
                           : np::zeros({m, m}, dtype));
    D0.insert(D0.end(), static_cast<std::size_t>(m), process ? 0 : 1);
    s.bands.push_back(static_cast<int>(m));
    s.bands.push_back(matrices.bands);
    if (uneven && std::any_of(between.begin(), between.end(), [](double d) { return d != 1; })) {
      take_steps(block, lookup, matrices, between);
      s.bands.back() = 0 | Band::any;
    }
    G.push_back(matrices.G);
    F.push_back(matrices.F);
    W.push_back(matrices.W);
  }
  s.G = block_diagonal(G);
  s.F = row_of(F, n);
  s.W = block_diagonal(W);
  s.V = np::reshape(lookup.variance(model.sd), {1, 1});
  if (model.scale.defined()) {
    if (model.scale.ndim() != 1 || model.scale.shape()[0] < n)
      raise<ShapeError>(
          "[dlm] the scale of the observations is {} but {} steps are wanted; give one number for each step.",
          model.scale.aval().str(), n);
    const Array scale = model.scale.astype(dtype)(range(0, n));
    s.V = np::reshape(scale * scale, {n, 1, 1}) * s.V;
  }
  if (!diffuse) {
    take_toolbox_first_state(s, model, y);
    return s;
  }
  s.x0 = np::zeros({model.states()}, dtype);
  s.C0 = block_diagonal(C0);
  take_diffuse_states(s, D0, y);
  return s;
}

StateSpace together(const std::vector<StateSpace>& models, const Array& correlation) {
  if (models.empty()) raise<ValueError>("[dlm] together() needs at least one model.");
  std::vector<Array> G, F, W, V, x0, C0;
  StateSpace out;
  for (const StateSpace& s : models) {
    G.push_back(s.G);
    F.push_back(s.F);
    W.push_back(s.W);
    V.push_back(s.V);
    x0.push_back(s.x0);
    C0.push_back(s.C0);
    const std::int64_t m = s.x0.shape(0);
    out.bands.insert(out.bands.end(), s.bands.begin(), s.bands.end());
    if (s.bands.empty()) out.bands.insert(out.bands.end(), {static_cast<int>(m), 0 | Band::any});
  }
  out.G = block_diagonal(G);
  out.F = block_diagonal(F);
  out.W = block_diagonal(W);
  out.V = block_diagonal(V);
  out.x0 = np::concatenate(x0, 0);
  out.C0 = block_diagonal(C0);
  if (std::any_of(models.begin(), models.end(), [](const StateSpace& s) { return s.D0.has_value(); })) {
    out.D0 = directions_of(models);
    // Each series finds its own directions: errors that are correlated change nothing about the steps that do.
    for (const StateSpace& s : models) out.diffuse_steps = std::max(out.diffuse_steps, s.diffuse_steps);
    for (const StateSpace& s : models)
      if (s.D0 && s.diffuse_steps == 0) out.diffuse_steps = 0;
  }
  if (correlation.defined()) {
    const std::int64_t p = out.V.shape().back();
    if (correlation.shape() != Shape{p, p})
      raise<ShapeError>("[dlm] the correlation of the observations is {}; it must be [{}, {}].",
                        correlation.aval().str(), p, p);
    const Array sd = np::sqrt(np::diagonal(out.V, 0, -2, -1));
    out.V = outer(sd, sd) * correlation.astype(out.V.dtype());
  }
  return out;
}

}  // namespace cotan::dlm
