// Models from blocks: each block gives its part of G, F and W, and the parts stand side by side.
#include <algorithm>
#include <cmath>

#include "dlm/errors.hpp"
#include "dlm/first_state.hpp"
#include "dlm/transition.hpp"

namespace cotan::dlm {

namespace np = numpy;

namespace {

constexpr auto dtype = f64;  // models are built in double precision

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

int columns_of(const Regression& r) {
  if (!r.x.defined() || r.x.ndim() < 1 || r.x.ndim() > 2)
    raise<ShapeError>("[dlm] the regressors are {}; they must be [steps] or [steps, series].",
                      r.x.defined() ? r.x.aval().str() : "missing");
  return r.x.ndim() == 1 ? 1 : static_cast<int>(r.x.shape()[1]);
}
int states_of(const Block& block) {
  return std::visit(Overloaded{
                        [](const Trend& b) { return b.order + 1; },
                        [](const Seasonal& b) { return b.period - 1; },
                        [](const Harmonics& b) { return 2 * b.count - (2 * b.count == b.period ? 1 : 0); },
                        [](const AutoRegression& b) { return b.order; },
                        [](const Regression& b) { return columns_of(b); },
                        [](const Spline&) { return 2; },
                    },
                    block);
}

/// Of a state of harmonics.
std::string harmonic_name(int state) {
  return fmt::format("harmonic {}{}", state / 2 + 1, state % 2 ? " conjugate" : "");
}
std::string sd_of(const Harmonics& b, int state) {
  if (b.sd.empty()) return harmonic_name(state);
  return b.sd.size() == 1 ? b.sd[0] : b.sd[static_cast<std::size_t>(state)];
}

void check(const Block& block) {
  std::visit(Overloaded{
                 [](const Trend& b) {
                   if (b.order < 0 || b.order > 2)
                     raise<ValueError>("[dlm] a trend of order {}; orders are 0 (level), 1 (with slope) and 2.",
                                       b.order);
                   if (static_cast<int>(b.sd.size()) < b.order + 1)
                     raise<ValueError>(
                         "[dlm] a trend of order {} has {} names of standard deviations; give {} (empty: no noise).",
                         b.order, b.sd.size(), b.order + 1);
                 },
                 [](const Seasonal& b) {
                   if (b.period < 2)
                     raise<ValueError>("[dlm] a season of {} steps; it must have at least 2.", b.period);
                 },
                 [](const Harmonics& b) {
                   if (!(b.period >= 2) || b.count < 1 || 2 * b.count > b.period)
                     raise<ValueError>("[dlm] {} harmonics of a period of {} steps; there are 1 to {}.", b.count,
                                       b.period, static_cast<int>(std::floor(b.period / 2)));
                   if (b.sd.size() > 1 && static_cast<int>(b.sd.size()) != states_of(b))
                     raise<ValueError>(
                         "[dlm] {} harmonics have {} names of standard deviations; give one for all, {} (one for each "
                         "state), or none.",
                         b.count, b.sd.size(), states_of(b));
                 },
                 [](const AutoRegression& b) {
                   if (b.order < 1)
                     raise<ValueError>("[dlm] an autoregression of order {}; it must be at least 1.", b.order);
                 },
                 [](const Regression& b) { columns_of(b); },
                 [](const Spline&) {},
             },
             block);
}

// Parameters ------------------------------------------------------------------------------------------

/// Looks parameters up; those that are not given are standard deviations of 0.
class Lookup {
 public:
  explicit Lookup(const Parameters& p) : parameters_(p) {}
  Array variance(const std::string& name) const {
    const auto at = parameters_.find(name);
    if (name.empty() || at == parameters_.end()) return np::zeros({}, dtype);
    return np::square(scalar(name, at->second));
  }
  Array coefficients(const std::string& name, int order) const {
    const auto at = parameters_.find(name);
    if (at == parameters_.end())
      raise<ValueError>(
          "[dlm] the coefficients '{}' of the autoregression are not given; put them into the parameters.", name);
    const Array a = at->second.ndim() == 0 ? np::reshape(at->second, {1}) : at->second;
    if (a.ndim() != 1 || a.shape()[0] != order)
      raise<ShapeError>("[dlm] '{}' is {}; an autoregression of order {} has [{}] coefficients.", name,
                        at->second.aval().str(), order, order);
    return a.astype(dtype);
  }

 private:
  static Array scalar(const std::string& name, const Array& a) {
    if (a.size() != 1) raise<ShapeError>("[dlm] '{}' is {}; a standard deviation is one number.", name, a.aval().str());
    return np::reshape(a, {}).astype(dtype);
  }
  const Parameters& parameters_;
};

// Parts -------------------------------------------------------------------------------------------------

/// Of a block: G and W as [m, m] or [n, m, m], F as [m] or [n, m].
struct Part {
  Array G, F, W;
  int bands;  ///< of G, for steps of one
};
Array host_matrix(int rows, int columns, const std::vector<double>& values) {
  return Array::from_host(values, {rows, columns});
}
Array unit_row(int m, int at = 0) {
  std::vector<double> f(static_cast<std::size_t>(m), 0.0);
  f[static_cast<std::size_t>(at)] = 1;
  return Array::from_host(f);
}
Array diagonal(const std::vector<Array>& entries) { return np::diag(np::stack(entries)); }

/// Steps of one.
Part part_of(const Block& block, const Lookup& p, std::int64_t n) {
  return std::visit(
      Overloaded{
          [&](const Trend& b) {
            const int m = b.order + 1;
            std::vector<Array> variances;
            for (int k = 0; k < m; ++k) variances.push_back(p.variance(b.sd[static_cast<std::size_t>(k)]));
            return Part{np::eye(m, {}, 0, dtype) + np::eye(m, m, 1, dtype), unit_row(m), diagonal(variances),
                        Band::diagonal | Band::above};
          },
          [&](const Seasonal& b) {
            const int m = b.period - 1;
            std::vector<double> G(static_cast<std::size_t>(m * m), 0.0);
            for (int k = 0; k < m; ++k) G[static_cast<std::size_t>(k)] = -1;
            for (int k = 1; k < m; ++k) G[static_cast<std::size_t>(k * m + k - 1)] = 1;
            return Part{host_matrix(m, m, G), unit_row(m), p.variance(b.sd) * outer(unit_row(m), unit_row(m)),
                        Band::below | Band::first_row};
          },
          [&](const Harmonics& b) {
            const int m = states_of(block);
            std::vector<double> G(static_cast<std::size_t>(m * m), 0.0), F(static_cast<std::size_t>(m), 0.0);
            std::vector<Array> variances;
            for (int k = 0; k < m; ++k) variances.push_back(p.variance(sd_of(b, k)));
            for (int h = 1; h <= b.count; ++h) {
              const double angle = 2 * M_PI * h / b.period;
              const auto at = static_cast<std::size_t>(2 * (h - 1)), width = static_cast<std::size_t>(m);
              F[at] = 1;
              G[at * width + at] = std::cos(angle);
              if (at + 1 == width) break;  // the last of all harmonics of an even period only changes its sign
              G[at * width + at + 1] = std::sin(angle);
              G[(at + 1) * width + at] = -std::sin(angle);
              G[(at + 1) * width + at + 1] = std::cos(angle);
            }
            return Part{host_matrix(m, m, G), Array::from_host(F), diagonal(variances),
                        Band::diagonal | Band::above | Band::below};
          },
          [&](const AutoRegression& b) {
            const Array phi = p.coefficients(b.coefficients, b.order), first = unit_row(b.order);
            return Part{outer(phi, first) + np::eye(b.order, b.order, 1, dtype), first,
                        p.variance(b.sd) * outer(first, first), Band::above | Band::first_column};
          },
          [&](const Regression& b) {
            const int k = columns_of(b);
            if (b.x.shape()[0] < n)
              raise<ShapeError>(
                  "[dlm] the regressors are {} but {} steps are wanted; give them for each step, future ones included.",
                  b.x.aval().str(), n);
            const Array x = np::reshape(b.x, {b.x.shape()[0], k}).astype(dtype)(range(0, n));
            return Part{np::eye(k, {}, 0, dtype), x, p.variance(b.sd) * np::eye(k, {}, 0, dtype), 0 | Band::diagonal};
          },
          [&](const Spline& b) {
            return Part{host_matrix(2, 2, {1, 1, 0, 1}), unit_row(2),
                        p.variance(b.sd) * host_matrix(2, 2, {1. / 3, 1. / 2, 1. / 2, 1}),
                        Band::diagonal | Band::above};
          },
      },
      block);
}

// Uneven steps ------------------------------------------------------------------------------------------

bool all_whole(const std::vector<double>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](double d) { return d == std::floor(d); });
}

/// G^d and W + G W Gᵀ + … of whole numbers of steps, one after the other.
void take_whole_steps(Part& part, const std::vector<double>& steps) {
  constexpr double most = 10000;
  const double longest = *std::max_element(steps.begin(), steps.end());
  if (longest > most)
    raise<ValueError>("[dlm] two timestamps are {} steps apart; up to {} are possible: count time in a longer unit.",
                      longest, most);
  const auto n = static_cast<std::int64_t>(steps.size()), m = part.G.shape(0);
  const Array wanted = np::reshape(Array::from_host(steps), {n, 1, 1}), G = part.G, W = part.W;
  const auto [powers, sums] = lax::fori_loop(
      0, static_cast<std::int64_t>(longest),
      [&](const Array& i, const std::pair<Array, Array>& now) {
        const Array more = i.astype(dtype) < wanted;
        return std::pair{np::where(more, np::matmul(G, now.first), now.first),
                         np::where(more, sandwich(G, now.second) + W, now.second)};
      },
      std::pair{np::broadcast_to(np::eye(m, {}, 0, dtype), {n, m, m}), np::zeros({n, m, m}, dtype)});
  part.G = powers;
  part.W = sums;
}

/// [[a, b], [c, d]] for series a to d.
Array matrices_of(const Array& a, const Array& b, const Array& c, const Array& d) {
  return np::stack({np::stack({a, b}, -1), np::stack({c, d}, -1)}, -2);
}

/// Where steps are not whole: the process in continuous time that is the same at whole steps.
void take_any_steps(const Block& block, const Lookup& p, Part& part, const std::vector<double>& steps) {
  const auto n = static_cast<std::int64_t>(steps.size());
  const Array d = Array::from_host(steps), wide = np::reshape(d, {n, 1, 1}), one = np::ones({n}, dtype),
              zero = np::zeros({n}, dtype);
  const auto whole_only = [](const char* what) {
    raise<ValueError>(
        "[dlm] {} needs timestamps that are whole numbers of steps apart; give times in steps, or use another block.",
        what);
  };
  std::visit(Overloaded{
                 [&](const Trend& b) {
                   if (b.order == 2) whole_only("a trend of order 2");
                   part.W = part.W * wide;
                   if (b.order == 0) return;
                   part.G = matrices_of(one, d, zero, one);
                   const Array level = p.variance(b.sd[0]), slope = p.variance(b.sd[1]);
                   // As far as a covariance can be: between whole steps, a level without noise of its own has too
                   // little.
                   const Array from_slope = np::maximum(level * d + slope * d * (d - 1) * (2 * d - 1) / 6,
                                                        slope * d * (d - 1) * (d - 1) / 4);
                   const Array both = slope * d * (d - 1) / 2;
                   part.W = matrices_of(from_slope, both, both, slope * d);
                 },
                 [&](const Seasonal&) { whole_only("a full season"); },
                 [&](const Harmonics& b) {
                   const int m = states_of(block);
                   Array G = np::zeros({n, m, m}, dtype);
                   for (int h = 1; h <= b.count; ++h) {
                     const Array angle = (2 * M_PI * h / b.period) * d;
                     const int at = 2 * (h - 1);
                     if (at + 1 == m) whole_only("the last harmonic of an even period");
                     const auto block_of = range(at, at + 2);
                     G = G.at(all, block_of, block_of)
                             .set(matrices_of(np::cos(angle), np::sin(angle), -np::sin(angle), np::cos(angle)));
                   }
                   part.G = G;
                   part.W = part.W * wide;
                 },
                 [&](const AutoRegression& b) {
                   if (b.order > 1) whole_only("an autoregression of order 2 or more");
                   const Array phi = np::abs(part.G(0, 0)), square = phi * phi;
                   part.G = np::power(phi, wide);
                   const Array near_one = square > 1 - 1e-12;
                   const Array sum = (1 - np::power(square, wide)) / np::where(near_one, 1.0, 1 - square);
                   part.W = part.W * np::where(near_one, wide, sum);
                 },
                 [&](const Regression&) { part.W = part.W * wide; },
                 [&](const Spline& b) {
                   part.G = matrices_of(one, d, zero, one);
                   const Array both = d * d / 2;
                   part.W = p.variance(b.sd) * matrices_of(d * d * d / 3, both, both, d);
                 },
             },
             block);
}

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

// Together ------------------------------------------------------------------------------------------------

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
    Part part = part_of(block, lookup, n);
    const auto m = part.G.shape(0);
    const auto* process = std::get_if<AutoRegression>(&block);
    if (diffuse)
      C0.push_back(process ? stationary_covariance(part.G, part.W, process->coefficients) : np::zeros({m, m}, dtype));
    D0.insert(D0.end(), static_cast<std::size_t>(m), process ? 0 : 1);
    s.bands.push_back(static_cast<int>(m));
    s.bands.push_back(part.bands);
    if (uneven && std::any_of(between.begin(), between.end(), [](double d) { return d != 1; })) {
      if (all_whole(between))
        take_whole_steps(part, between);
      else
        take_any_steps(block, lookup, part, between);
      s.bands.back() = 0 | Band::any;
    }
    G.push_back(part.G);
    F.push_back(part.F);
    W.push_back(part.W);
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
