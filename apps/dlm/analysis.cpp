// The numbers: cotan computes arrays, this file asks for them and brings them to the host.
#include "analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "errors.hpp"
#include "estimate_progress.hpp"
#include "text.hpp"

namespace apps {
namespace {

namespace ct = cotan;
namespace dlm = cotan::dlm;
using ct::Array;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> host(const Array& a) { return a.to_vector<double>(); }

void check_data(const Series& s, const Modelling& m) {
  if (m.free.empty()) return;
  const std::size_t observed = s.observed(), states = static_cast<std::size_t>(m.model.states());
  if (observed < states || observed <= m.free.size() ||
      (m.model.first == dlm::FirstState::diffuse && observed == states))
    complain<InputError>(
        "[{}] {} observed value{} cannot tell about {} states and {} parameters; give a longer series, "
        "choose a smaller model, or fix the "
        "parameters with --fixed and --set.",
        s.source, observed, observed == 1 ? "" : "s", states, m.free.size());
  double low = INFINITY, high = -INFINITY;
  for (const double v : s.y)
    if (!std::isnan(v)) low = std::min(low, v), high = std::max(high, v);
  if (low == high)
    complain<InputError>(
        "[{}] the series is constant: all {} values are {}, so every variance is 0 and the likelihood has no "
        "maximum; there is nothing "
        "to estimate. Give a series that varies, or fix the parameters with --fixed and --set.",
        s.source, observed, low);
  if (std::max(std::abs(low), std::abs(high)) > 1e140)
    complain<InputError>("[{}] values up to {:g} have squares that overflow; divide the series by a power of ten.",
                         s.source, std::max(std::abs(low), std::abs(high)));
  if (high - low < 1e-140)
    complain<InputError>(
        "[{}] values differ by {:g} at most, whose squares vanish; multiply the series by a power of ten.", s.source,
        high - low);
}

void choose_device(const Options& o) {
  if (o.threads) ct::set_num_threads(o.threads);
  if (o.device.empty()) return;
  std::vector<std::string> names;
  for (const ct::Device& device : ct::devices()) names.push_back(device.name());
  if (std::find(names.begin(), names.end(), o.device) == names.end())
    complain<UsageError>("[--device] there is no device {}; this build has: {}.", shown(o.device),
                         fmt::join(names, ", "));
  ct::default_device(o.device);
}

const char* method_name(ct::optim::Method method) {
  using ct::optim::Method;
  return method == Method::lbfgs ? "L-BFGS" : method == Method::adam ? "Adam" : "damped Newton";
}

// ---- estimation

void estimate_parameters(Analysis& a, const Options& o, const Array& y, dlm::Parameters& values,
                         EstimateProgress& bar) {
  const Modelling& m = a.modelling;
  values = m.fixed;
  dlm::Parameters errors;
  if (!m.free.empty()) {
    dlm::EstimateOptions options{.free = m.free, .start = m.start, .algorithm = o.algorithm, .starts = o.starts};
    for (const auto& [name, value] : m.fixed) options.start[name] = value;
    options.minimize.method = o.method;
    if (o.method == ct::optim::Method::adam) options.minimize.max_iterations = 5000;
    if (bar.shown()) options.progress = [&](std::int64_t evaluations, double value) { bar.update(evaluations, value); };
    const dlm::Estimate e = dlm::estimate(m.model, y, options);
    values = e.parameters;
    errors = e.standard_errors;
    a.search = {e.value.item<double>(), e.iterations.item<std::int64_t>(), e.evaluations.item<std::int64_t>(),
                e.converged.item<bool>()};
    a.method = method_name(o.method);
    if (!std::isfinite(a.search->value))
      complain<InputError>(
          "[{}] the search ended at -2 log L = {}: the likelihood of this model cannot be computed there; "
          "try other first values with --start, "
          "a smaller model, or a series of another scale.",
          a.series.source, a.search->value);
  }
  for (const dlm::ParameterInfo& info : dlm::parameters_of(m.model)) {
    Parameter p{info.name, host(values.at(info.name)), {}, errors.contains(info.name)};
    p.errors = p.estimated ? host(errors.at(info.name)) : std::vector<double>(p.values.size(), missing);
    a.parameters.push_back(p);
  }
}

/// What a careful reader should know about an estimate.
void remark_on_estimate(Analysis& a) {
  if (!a.search) return;
  const auto& y = a.series.modelled();
  double low = INFINITY, high = -INFINITY;
  for (const double v : y)
    if (!std::isnan(v)) low = std::min(low, v), high = std::max(high, v);
  std::vector<std::string> zero, unsure;
  for (const Parameter& p : a.parameters) {
    if (!p.estimated) continue;
    if (p.values.size() == 1 && p.name != "phi" && p.values[0] < 1e-6 * (high - low)) {
      zero.push_back(p.name);
      continue;
    }
    if (std::any_of(p.errors.begin(), p.errors.end(), [](double e) { return std::isnan(e); })) unsure.push_back(p.name);
  }
  if (!a.search->converged)
    a.notes.push_back(
        fmt::format("The search stopped after {} iterations without converging; try --starts, --start or "
                    "another --method.",
                    a.search->iterations));
  if (!zero.empty())
    a.notes.push_back(
        fmt::format("Estimated as zero: {}. What {} would move stays as it is, and {} standard error{} little.",
                    fmt::join(zero, ", "), zero.size() == 1 ? "it" : "they", zero.size() == 1 ? "its" : "their",
                    zero.size() == 1 ? " means" : "s mean"));
  if (!unsure.empty())
    a.notes.push_back(fmt::format("No standard error for {}: the likelihood is flat or not at a maximum there.",
                                  fmt::join(unsure, ", ")));
}

// ---- components

/// What is asked of the smoother: sums of F x over the states of a part, and single states.
class Questions {
 public:
  explicit Questions(const Modelling& m) : states_(static_cast<std::size_t>(m.model.states())) {
    ask(parts_, 0, states_);
    for (const Part& part : m.parts) {
      const auto first = static_cast<std::size_t>(part.first), count = static_cast<std::size_t>(part.states);
      if (part.kind == Part::Kind::regression) {
        for (std::size_t k = 0; k < count; ++k) {
          paths_.push_back({m.state_names[first + k], part.kind, false, {}, {}});
          ask(parts_, first + k, 1);
        }
        continue;
      }
      paths_.push_back({part.name, part.kind, false, {}, {}});
      ask(parts_, first, count);
      const bool has_slope = (part.kind == Part::Kind::trend || part.kind == Part::Kind::spline) && part.states > 1;
      if (!has_slope) continue;
      paths_.push_back({"slope", part.kind, true, {}, {}});
      ask(others_, first + 1, 1);
    }
  }
  Array parts() const { return matrix(parts_); }
  std::optional<Array> others() const { return others_.empty() ? std::nullopt : std::optional(matrix(others_)); }

  void answer(Analysis& a, const dlm::Decomposition& d) const {
    const std::vector<double> part = host(d.part), part_sd = host(d.part_sd);
    const std::vector<double> other = d.other ? host(*d.other) : std::vector<double>(),
                              other_sd = d.other_sd ? host(*d.other_sd) : std::vector<double>();
    const std::size_t n = a.series.n(), parts = parts_.size() / states_, others = others_.size() / states_;
    const auto column = [&](const std::vector<double>& mean, const std::vector<double>& sd, std::size_t k,
                            std::size_t width, std::vector<double>& to, std::vector<double>& to_sd) {
      for (std::size_t t = 0; t < n; ++t) {
        const bool known = std::isfinite(sd[t * width + k]);
        to.push_back(known ? mean[t * width + k] : missing);
        to_sd.push_back(known ? sd[t * width + k] : missing);
      }
    };
    column(part, part_sd, 0, parts, a.fitted, a.fitted_sd);
    std::size_t next_part = 1, next_other = 0;
    for (Path path : paths_) {
      if (path.is_slope)
        column(other, other_sd, next_other++, others, path.mean, path.sd);
      else
        column(part, part_sd, next_part++, parts, path.mean, path.sd);
      a.paths.push_back(path);
    }
  }

 private:
  void ask(std::vector<double>& rows, std::size_t first, std::size_t count) const {
    for (std::size_t i = 0; i < states_; ++i) rows.push_back(i >= first && i < first + count ? 1 : 0);
  }
  Array matrix(const std::vector<double>& rows) const {
    return Array::from_host(rows,
                            {static_cast<std::int64_t>(rows.size() / states_), static_cast<std::int64_t>(states_)});
  }

  std::size_t states_;
  std::vector<Path> paths_;
  std::vector<double> parts_, others_;
};

void remark_on_unknown(Analysis& a) {
  std::vector<std::string> unknown;
  for (const Path& path : a.paths)
    if (std::all_of(path.sd.begin(), path.sd.end(), [](double v) { return std::isnan(v); }))
      unknown.push_back(path.name);
  const auto never = static_cast<std::size_t>(
      std::count_if(a.fitted_sd.begin(), a.fitted_sd.end(), [](double v) { return std::isnan(v); }));
  if (!unknown.empty())
    a.notes.push_back(fmt::format(
        "The series does not tell {} apart, because some of what the model has was never observed or is the same "
        "as another part; {} left out.",
        fmt::join(unknown, ", "), unknown.size() == 1 ? "it is" : "they are"));
  if (never)
    a.notes.push_back(fmt::format(
        "Nothing in the series tells about the signal at {} of {} rows, such as times of the season that were never "
        "observed; they are left out, and so are forecasts of them.",
        never, a.fitted_sd.size()));
}

// ---- diagnostics

/// A series without noise, such as a straight line, has no likelihood to speak of; true where that is so.
bool remark_on_perfection(Analysis& a) {
  const std::vector<double> y = a.series.modelled();
  double error = 0, low = INFINITY, high = -INFINITY;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (std::isfinite(a.residuals[t])) error = std::max(error, std::abs(y[t] - a.predicted[t]));
    if (std::isfinite(y[t])) low = std::min(low, y[t]), high = std::max(high, y[t]);
  }
  if (!(a.search && a.left_out && error < 1e-6 * (high - low))) return false;
  a.notes.push_back(
      "The model predicts the series almost without error: its likelihood grows without bound, so that "
      "parameters, standard errors, "
      "likelihood and tests mean nothing.");
  return true;
}

void diagnose(Analysis& a) {
  const std::vector<double> y = a.series.modelled();
  for (std::size_t t = 0; t < y.size(); ++t) {
    a.residuals.push_back((y[t] - a.predicted[t]) / a.predicted_sd[t]);
    if (!std::isnan(y[t]) && std::isnan(a.residuals[t])) ++a.left_out;
  }
  const std::size_t n = a.series.observed() - a.left_out;
  const auto season = static_cast<std::size_t>(a.modelling.model.season());
  const bool seasonal = std::any_of(a.modelling.parts.begin(), a.modelling.parts.end(),
                                    [](const Part& p) { return p.kind == Part::Kind::season; });
  const std::size_t lags = std::min<std::size_t>(seasonal ? 2 * season : 10, n / 3);
  a.autocorrelation = ljung_box(a.residuals, lags, a.estimated_count());
  a.normality = jarque_bera(a.residuals);
  a.variance = heteroscedasticity(a.residuals);
}

// ---- outliers and level shifts

/// A column of shocks [n, k].
ShockPath shock_path(const Array& size, const Array& sd, std::int64_t column) {
  return {host(size(ct::all, column)), host(sd(ct::all, column))};
}

void flag_surprises(Analysis& a, const dlm::Decomposition& d) {
  ShockPath level;
  for (const Part& part : a.modelling.parts)
    if (level.size.empty() && (part.kind == Part::Kind::trend || part.kind == Part::Kind::spline))
      level = shock_path(d.state_shock, d.state_shock_sd, part.first);
  if (!level.size.empty()) level.size[0] = level.sd[0] = missing;  // no level was before
  a.flags = find_flags(shock_path(d.value_shock, d.value_shock_sd, 0), level);
  const std::size_t many = std::max<std::size_t>(5, a.series.observed() / 20);
  if (a.flags.found.size() > many)
    a.notes.push_back(
        fmt::format("{} outliers and level shifts are more than a few: rather than {} wrong values, the model "
                    "may lack something, such as a season, or --log.",
                    a.flags.found.size(), a.flags.found.size()));
}

/// Seasons are looked for in what regressors leave.
void suggest_seasons(Analysis& a) {
  std::vector<double> rest = a.series.modelled();
  for (const Path& path : a.paths)
    if (path.kind == Part::Kind::regression)
      for (std::size_t t = 0; t < rest.size(); ++t) rest[t] -= path.mean[t];
  a.seasons = find_seasons(a.series, rest);
  if (!a.seasons.empty()) a.notes.push_back(suggestion_in_words(a.series, a.seasons));
}

dlm::StateSpace cast(const dlm::StateSpace& s, ct::DType dtype) {
  return ct::tree::map([=](const Array& a) { return a.astype(dtype); }, s);
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

std::size_t Analysis::estimated_count() const {
  std::size_t count = 0;
  for (const Parameter& p : parameters)
    if (p.estimated) count += p.values.size();
  return count;
}
std::vector<Effect> Analysis::effects() const {
  std::vector<Effect> out;
  for (const Part& part : modelling.parts)
    for (std::size_t k = 0; part.kind == Part::Kind::regression && k < static_cast<std::size_t>(part.states); ++k) {
      const std::size_t state = static_cast<std::size_t>(part.first) + k;
      out.push_back({series.regressor_names[k], last_x[state], last_sd[state]});
    }
  return out;
}
double Analysis::deviance() const { return one_pass + static_cast<double>(series.observed()) * std::log(2 * M_PI); }

std::vector<double> Analysis::original(const std::vector<double>& mean) const {
  std::vector<double> out = mean;
  if (series.log)
    for (double& v : out) v = std::exp(v);
  return out;
}
Band Analysis::band(const std::vector<double>& mean, const std::vector<double>& sd, double probability) const {
  const double z = normal_quantile((1 + probability) / 2);
  Band out{probability, mean, mean};
  for (std::size_t i = 0; i < mean.size(); ++i) out.lower[i] -= z * sd[i], out.upper[i] += z * sd[i];
  out.lower = original(out.lower), out.upper = original(out.upper);
  return out;
}

namespace {

Analysis analyse_series(const Options& o, const Series& series) {
  Analysis a;
  a.level = o.level;
  a.json_covariances = o.json_covariances;
  a.series = series;
  a.modelling = choose_model(o, a.series);
  a.notes = a.series.notes;
  a.notes.insert(a.notes.end(), a.modelling.notes.begin(), a.modelling.notes.end());
  check_data(a.series, a.modelling);

  const Array y = Array::from_host(a.series.modelled());
  dlm::Parameters values;
  EstimateProgress bar(o.starts, !o.quiet);
  estimate_parameters(a, o, y, values, bar);
  bar.say("smoothing");
  remark_on_estimate(a);

  const auto steps = static_cast<std::int64_t>(a.series.steps());
  const auto all_steps = static_cast<std::int64_t>(a.series.n()) + steps;
  const ct::DType dtype = o.single ? ct::f32 : ct::f64;
  const Array seen = y.astype(dtype);
  const auto space_of = [&](const dlm::Model& model) {
    return cast(dlm::state_space(model, values, y, all_steps), dtype);
  };
  a.space = space_of(a.modelling.model);
  // The toolbox smooths in two passes; predictions are never of the second one, which has seen the future.
  dlm::StateSpace smoothed = a.space;
  const bool toolbox = !a.space.D0 && o.toolbox_start;
  if (toolbox || !o.json.empty())
    a.fit = ct::jit([&](const dlm::StateSpace& s, const Array& series) {
      return dlm::fit(s, series, {.algorithm = o.algorithm, .restart = toolbox ? 100.0 : 0.0});
    })(a.space, seen);
  if (toolbox) {
    smoothed.x0 = a.fit->x0;
    smoothed.C0 = a.fit->C0;
  }
  const Questions questions(a.modelling);
  const auto decompose = ct::jit([&](const dlm::StateSpace& s, const Array& series) {
    return dlm::decompose(s, series, questions.parts(), questions.others());
  });
  const dlm::Decomposition d = decompose(smoothed, seen);
  a.last_x = host(d.x[-1]);
  a.last_sd = host(d.last_sd);
  dlm::Decomposition ahead = d;
  if (toolbox) {
    dlm::Model honest = a.modelling.model;
    honest.first = dlm::FirstState::diffuse;
    ahead = decompose(space_of(honest), seen);
  }
  a.predicted = host(ahead.yhat);
  a.predicted_sd = host(ahead.yhat_sd);
  a.one_pass = a.search  ? a.search->value
               : toolbox ? ct::jit([&](const dlm::StateSpace& s, const Array& series) {
                             return dlm::minus2_log_likelihood(s, series, o.algorithm);
                           })(a.space, seen)
                               .item<double>()
                         : d.lik.item<double>();
  const auto free =
      static_cast<double>(a.estimated_count()) + static_cast<double>(a.space.D0 ? a.space.D0->shape(1) : 0);
  a.aic_ = a.deviance() + 2 * free;
  a.bic_ = a.deviance() + std::log(static_cast<double>(a.series.n())) * free;
  if (!std::isfinite(a.one_pass) || !all_finite(host(d.x)))
    complain<InputError>(
        "[{}] the states of this model cannot be computed{}; check the parameters: an obs of 0, or "
        "parameters whose sizes are too far apart, "
        "leave nothing to divide by.",
        a.series.source, o.single ? " in f32" : "");
  questions.answer(a, d);
  remark_on_unknown(a);
  if (steps > 0) {
    a.forecast = ct::jit(
        [&](const dlm::StateSpace& s, const Array& series) { return dlm::forecast(s, series, steps); })(a.space, seen);
    a.future = {host(a.forecast->y), host(a.forecast->ystd)};
    const bool overflows = !all_finite(a.future.mean);
    for (std::size_t i = 0; i < a.future.mean.size(); ++i)
      if (!std::isfinite(a.future.sd[i])) a.future.mean[i] = a.future.sd[i] = missing;
    if (overflows) a.notes.push_back("The forecast overflows at some steps; they are left out.");
  }
  diagnose(a);
  if (!remark_on_perfection(a)) flag_surprises(a, d);
  return a;
}

/// Fits and forecasts as if the last values were not known.
Holdout hold_out(Options o, const Series& series) {
  const std::size_t row = first_held_back(series, static_cast<std::size_t>(o.holdout));
  o.json.clear();  // which would ask for more than a forecast
  const Analysis before = analyse_series(o, ending_before(series, row));
  std::vector<Band> bands;
  for (const double level : {0.8, o.level})
    if (bands.empty() || level != bands[0].level)
      bands.push_back(before.band(before.future.mean, before.future.sd, level));
  std::sort(bands.begin(), bands.end(), [](const Band& x, const Band& y) { return x.level < y.level; });
  Holdout out = score(series, row, before.original(before.future.mean), bands, o.seasons);
  out.converged = !before.search || before.search->converged;
  return out;
}

}  // namespace

Analysis analyse(const Options& o) {
  choose_device(o);
  const Series series = read_series(o);
  std::optional<Holdout> holdout;
  if (o.holdout) holdout = hold_out(o, series);
  Analysis a = analyse_series(o, series);
  a.holdout = holdout;
  if (o.seasons.empty()) suggest_seasons(a);
  return a;
}

}  // namespace apps
