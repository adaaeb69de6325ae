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
  if (observed < states || observed <= m.free.size())
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
    complain<InputError>(
        "[{}] values up to {:g} have squares that overflow; divide the series by a power of ten.", s.source,
        std::max(std::abs(low), std::abs(high)));
  if (high - low < 1e-140)
    complain<InputError>(
        "[{}] values differ by {:g} at most, whose squares vanish; multiply the series by a power of ten.",
        s.source, high - low);
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

void estimate_parameters(Analysis& a, const Options& o, const Array& y, dlm::Parameters& values) {
  const Modelling& m = a.modelling;
  values = m.fixed;
  dlm::Parameters errors;
  if (!m.free.empty()) {
    dlm::EstimateOptions options{
        .free = m.free, .start = m.start, .algorithm = o.algorithm, .starts = o.starts};
    for (const auto& [name, value] : m.fixed) options.start[name] = value;
    options.minimize.method = o.method;
    if (o.method == ct::optim::Method::adam) options.minimize.max_iterations = 5000;
    EstimateProgress bar(o.starts, !o.quiet);
    if (bar.shown())
      options.progress = [&](std::int64_t evaluations, double value) { bar.update(evaluations, value); };
    const dlm::Estimate e = dlm::estimate(m.model, y, options);
    values = e.parameters;
    errors = e.standard_errors;
    a.search = {e.value.item<double>(), e.iterations.item<std::int64_t>(), e.evaluations.item<std::int64_t>(),
                e.converged.item<bool>()};
    a.method = method_name(o.method);
    bar.finish();
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
    if (std::any_of(p.errors.begin(), p.errors.end(), [](double e) { return std::isnan(e); }))
      unsure.push_back(p.name);
  }
  if (!a.search->converged)
    a.notes.push_back(
        fmt::format("The search stopped after {} iterations without converging; try --starts, --start or "
                    "another --method.",
                    a.search->iterations));
  if (!zero.empty())
    a.notes.push_back(fmt::format(
        "Estimated as zero: {}. What {} would move stays as it is, and {} standard error{} little.",
        fmt::join(zero, ", "), zero.size() == 1 ? "it" : "they", zero.size() == 1 ? "its" : "their",
        zero.size() == 1 ? " means" : "s mean"));
  if (!unsure.empty())
    a.notes.push_back(
        fmt::format("No standard error for {}: the likelihood is flat or not at a maximum there.",
                    fmt::join(unsure, ", ")));
}

// ---- components

/// Of one step: F x and its variance over some of the states.
class Projection {
 public:
  Projection(const dlm::StateSpace& space, const dlm::Fit& fit)
      : x_(host(fit.x)),
        C_(host(fit.C)),
        F_(host(space.F)),
        m_(static_cast<std::size_t>(fit.x.shape(1))),
        moving_(space.F.ndim() == 3) {}

  /// What the states of a part add to the series.
  void of_part(std::size_t t, std::size_t first, std::size_t count, double& mean, double& sd) const {
    const double* F = F_.data() + (moving_ ? t * m_ : 0);
    double sum = 0, variance = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      sum += F[i] * x_[t * m_ + i];
      for (std::size_t j = first; j < first + count; ++j) variance += F[i] * F[j] * C_[(t * m_ + i) * m_ + j];
    }
    mean = sum;
    sd = std::sqrt(std::max(variance, 0.0));
  }
  void of_state(std::size_t t, std::size_t i, double& mean, double& sd) const {
    mean = x_[t * m_ + i];
    sd = std::sqrt(std::max(C_[(t * m_ + i) * m_ + i], 0.0));
  }

 private:
  std::vector<double> x_, C_, F_;
  std::size_t m_;
  bool moving_;
};

void find_paths(Analysis& a) {
  const Projection projection(a.space, a.fit);
  const std::size_t n = a.series.n(), m = static_cast<std::size_t>(a.modelling.model.states());
  const auto along = [&](std::vector<double>& mean, std::vector<double>& sd, auto of) {
    mean.resize(n), sd.resize(n);
    for (std::size_t t = 0; t < n; ++t) of(t, mean[t], sd[t]);
  };
  along(a.fitted, a.fitted_sd,
        [&](std::size_t t, double& mean, double& sd) { projection.of_part(t, 0, m, mean, sd); });
  for (const Part& part : a.modelling.parts) {
    const auto first = static_cast<std::size_t>(part.first), count = static_cast<std::size_t>(part.states);
    if (part.kind == Part::Kind::regression) {
      for (std::size_t k = 0; k < count; ++k) {
        Path path{a.modelling.state_names[first + k], part.kind, false, {}, {}};
        along(path.mean, path.sd, [&](std::size_t t, double& mean, double& sd) {
          projection.of_part(t, first + k, 1, mean, sd);
        });
        a.paths.push_back(path);
      }
      continue;
    }
    Path path{part.name, part.kind, false, {}, {}};
    along(path.mean, path.sd,
          [&](std::size_t t, double& mean, double& sd) { projection.of_part(t, first, count, mean, sd); });
    a.paths.push_back(path);
    const bool has_slope =
        (part.kind == Part::Kind::trend || part.kind == Part::Kind::spline) && part.states > 1;
    if (!has_slope) continue;
    Path slope{"slope", part.kind, true, {}, {}};
    along(slope.mean, slope.sd,
          [&](std::size_t t, double& mean, double& sd) { projection.of_state(t, first + 1, mean, sd); });
    a.paths.push_back(slope);
  }
}

// ---- diagnostics

/// A series without noise, such as a straight line, has no likelihood to speak of.
void remark_on_perfection(Analysis& a) {
  const std::vector<double> v = host(a.fit.v), y = a.series.modelled();
  double error = 0, low = INFINITY, high = -INFINITY;
  for (std::size_t t = 0; t < v.size(); ++t) {
    if (std::isfinite(a.residuals[t])) error = std::max(error, std::abs(v[t]));
    if (std::isfinite(y[t])) low = std::min(low, y[t]), high = std::max(high, y[t]);
  }
  if (a.search && a.left_out && error < 1e-6 * (high - low))
    a.notes.push_back(
        "The model predicts the series almost without error: its likelihood grows without bound, so that "
        "parameters, standard errors, "
        "likelihood and tests mean nothing.");
}

void diagnose(Analysis& a) {
  a.residuals = host(a.fit.resid2);
  // The first innovations measure how the first state was chosen.
  const auto states = static_cast<std::size_t>(a.modelling.model.states());
  if (a.series.observed() >= 3 * states) {
    std::size_t seen = 0;
    for (double& r : a.residuals) {
      if (seen == states) break;
      if (std::isfinite(r)) r = missing, ++seen;
    }
    a.left_out = seen;
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

dlm::StateSpace cast(const dlm::StateSpace& s, ct::DType dtype) {
  return {s.G.astype(dtype), s.F.astype(dtype),  s.W.astype(dtype),
          s.V.astype(dtype), s.x0.astype(dtype), s.C0.astype(dtype)};
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
double Analysis::deviance() const {
  return one_pass + static_cast<double>(series.observed()) * std::log(2 * M_PI);
}
double Analysis::aic() const { return deviance() + 2 * static_cast<double>(estimated_count()); }
double Analysis::bic() const {
  return deviance() +
         std::log(static_cast<double>(series.observed())) * static_cast<double>(estimated_count());
}

std::vector<double> Analysis::original(const std::vector<double>& mean) const {
  std::vector<double> out = mean;
  if (series.log)
    for (double& v : out) v = std::exp(v);
  return out;
}
Band Analysis::band(const std::vector<double>& mean, const std::vector<double>& sd,
                    double probability) const {
  const double z = normal_quantile((1 + probability) / 2);
  Band out{probability, mean, mean};
  for (std::size_t i = 0; i < mean.size(); ++i) out.lower[i] -= z * sd[i], out.upper[i] += z * sd[i];
  out.lower = original(out.lower), out.upper = original(out.upper);
  return out;
}

Analysis analyse(const Options& o) {
  choose_device(o);
  Analysis a;
  a.level = o.level;
  a.series = read_series(o);
  a.modelling = choose_model(o, a.series);
  a.notes = a.series.notes;
  a.notes.insert(a.notes.end(), a.modelling.notes.begin(), a.modelling.notes.end());
  check_data(a.series, a.modelling);

  const Array y = Array::from_host(a.series.modelled());
  dlm::Parameters values;
  estimate_parameters(a, o, y, values);
  remark_on_estimate(a);

  const auto steps = static_cast<std::int64_t>(a.series.steps());
  const dlm::StateSpace exact =
      dlm::state_space(a.modelling.model, values, y, static_cast<std::int64_t>(a.series.n()) + steps);
  a.space = cast(exact, o.single ? ct::f32 : ct::f64);
  const Array seen = y.astype(o.single ? ct::f32 : ct::f64);
  a.fit = ct::jit([&](const dlm::StateSpace& s, const Array& series) {
    return dlm::fit(s, series, {.algorithm = o.algorithm});
  })(a.space, seen);
  a.one_pass = a.search ? a.search->value
                        : ct::jit([&](const dlm::StateSpace& s, const Array& series) {
                            return dlm::minus2_log_likelihood(s, series, o.algorithm);
                          })(a.space, seen)
                              .item<double>();
  if (!std::isfinite(a.one_pass) || !all_finite(host(a.fit.x)) || !all_finite(host(a.fit.xstd)))
    complain<InputError>(
        "[{}] the states of this model cannot be computed{}; check the parameters: an obs of 0, or "
        "parameters whose sizes are too far apart, "
        "leave nothing to divide by.",
        a.series.source, o.single ? " in f32" : "");
  find_paths(a);
  if (steps > 0) {
    a.forecast = ct::jit([&](const dlm::StateSpace& s, const Array& series) {
      return dlm::forecast(s, series, steps);
    })(a.space, seen);
    a.future = {host(a.forecast->y), host(a.forecast->ystd)};
    if (!all_finite(a.future.mean) || !all_finite(a.future.sd))
      a.notes.push_back("The forecast overflows at some steps; they are left out.");
  }
  diagnose(a);
  remark_on_perfection(a);
  return a;
}

}  // namespace apps
