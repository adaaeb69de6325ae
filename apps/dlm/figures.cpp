// Charts are given what they show; how they look is theirs.
#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "season_phases.hpp"

namespace apps {
namespace {

std::string time_label(const Series& s) {
  return s.form == DateForm::none ? (s.time_name.empty() ? "step" : s.time_name) : "";
}

std::vector<std::string> labels_of(const Series& s, std::size_t from, std::size_t to) {
  std::vector<std::string> out;
  for (std::size_t i = from; i < to; ++i) out.push_back(s.label(i));
  return out;
}

TimeChart frame_of(const Analysis& a, const std::string& title, Use use) {
  TimeChart chart;
  chart.title = title;
  chart.interactive = use == Use::page;
  if (chart.interactive) chart.labels = labels_of(a.series, 0, a.series.n() + a.series.steps());
  chart.time_label = time_label(a.series);
  chart.value_label = a.series.value_label;
  chart.unit = unit_of(a.series.form);
  chart.time = a.series.time;
  return chart;
}

std::vector<Band> fan_of(const Analysis& a) {
  std::vector<double> levels = {0.5, 0.8, a.level};
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end(), [](double x, double y) { return std::abs(x - y) < 0.02; }),
               levels.end());
  std::vector<Band> out;
  for (const double level : levels) out.push_back(a.band(a.future.mean, a.future.sd, level));
  return out;
}

/// The title of the series, where nothing around a chart says it.
std::string title_for(const Analysis& a, Use use) { return use == Use::page ? "" : a.series.title; }

/// Rows that were flagged, from a row on, counted from there.
std::vector<std::size_t> flagged(const Analysis& a, Flag::Kind kind, std::size_t from = 0) {
  std::vector<std::size_t> out;
  for (const Flag& flag : a.flags.found)
    if (flag.kind == kind && flag.row >= from) out.push_back(flag.row - from);
  return out;
}

void add_flags(TimeChart& chart, const Analysis& a, std::size_t from = 0) {
  chart.outliers = flagged(a, Flag::Kind::outlier, from);
  chart.level_shifts = flagged(a, Flag::Kind::level_shift, from);
}

/// Regressors that say yes now and then, such as holidays, from a row on.
std::vector<Events> events_of(const Series& s, std::size_t from, std::size_t to) {
  std::vector<Events> out;
  for (std::size_t k = 0; k < s.regressors.size(); ++k) {
    const std::vector<double>& x = s.regressors[k];
    const auto ones = static_cast<std::size_t>(std::count(x.begin(), x.end(), 1.0)),
               zeros = static_cast<std::size_t>(std::count(x.begin(), x.end(), 0.0));
    if (ones + zeros != x.size() || ones == 0 || 4 * ones > x.size()) continue;
    Events events{s.regressor_names[k], {}};
    for (std::size_t i = from; i < std::min(to, x.size()); ++i)
      if (x[i] == 1) events.time.push_back(i < s.n() ? s.time[i] : s.future_time[i - s.n()]);
    out.push_back(events);
  }
  return out;
}

/// The period of a part that is a season.
double period_of(const Analysis& a, const Path& path) {
  for (std::size_t k = 0; k < a.modelling.parts.size(); ++k) {
    if (a.modelling.parts[k].name != path.name) continue;
    const cotan::dlm::Block& block = a.modelling.model.blocks[k];
    if (const auto* seasonal = std::get_if<cotan::dlm::Seasonal>(&block)) return seasonal->period;
    if (const auto* harmonics = std::get_if<cotan::dlm::Harmonics>(&block)) return harmonics->period;
  }
  return 0;
}

/// Rows of one period, the last or the first, by their phase.
std::vector<std::size_t> rows_of_period(const Series& s, const SeasonPhases& phases, double period, bool last) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < s.n(); ++i) {
    const double away = last ? s.time.back() - s.time[i] : s.time[i] - s.time[0];
    if (away < (period - 1e-6) * s.step) rows.push_back(i);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t i, std::size_t j) { return phases.position(i) < phases.position(j); });
  return rows;
}

std::vector<double> at_rows(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  std::vector<double> out;
  for (const std::size_t row : rows) out.push_back(values[row]);
  return out;
}

std::string capitalised(const std::string& name) {
  return std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])))) + name.substr(1);
}

ProfileChart profile_chart(const Analysis& a, const Path& path, double period) {
  const SeasonPhases phases(a.series, period);
  const std::vector<std::size_t> now = rows_of_period(a.series, phases, period, true),
                                 once = rows_of_period(a.series, phases, period, false);
  ProfileChart chart;
  chart.title = capitalised(path.name) + " by phase";
  chart.value_label = a.series.log ? "factor" : a.series.value_label;
  chart.neutral = a.series.log ? 1 : 0;
  chart.ticks = phases.ticks();
  chart.phase_label = phases.axis_label();
  const Band band = a.band(path.mean, path.sd, a.level);
  const std::vector<double> effect = a.original(path.mean);
  for (const std::size_t row : now)
    chart.position.push_back(phases.position(row)), chart.labels.push_back(phases.label(row));
  chart.mean = at_rows(effect, now);
  chart.band = {a.level, at_rows(band.lower, now), at_rows(band.upper, now)};
  chart.mean_label = "effect in the last period";
  chart.earlier_label = "in the first";
  if (once.size() == now.size() && a.series.time.back() - a.series.time[0] > 2 * period * a.series.step)
    chart.earlier = at_rows(effect, once);
  return chart;
}

}  // namespace

const Path* level_path(const Analysis& a) {
  if (!a.series.regressors.empty()) return nullptr;
  for (const Path& path : a.paths)
    if ((path.kind == Part::Kind::trend || path.kind == Part::Kind::spline) && !path.is_slope) return &path;
  return nullptr;
}

std::size_t residual_count(const Analysis& a) {
  return static_cast<std::size_t>(
      std::count_if(a.residuals.begin(), a.residuals.end(), [](double r) { return std::isfinite(r); }));
}

std::string series_chart(const Analysis& a, Use use) {
  const Path* level = level_path(a);
  TimeChart chart = frame_of(a, title_for(a, use), use);
  add_flags(chart, a);
  chart.events = events_of(a.series, 0, a.series.n());
  chart.observed = a.series.y;
  const std::vector<double>& mean = level ? level->mean : a.fitted;
  chart.fitted = a.original(mean);
  chart.fitted_band = a.band(mean, level ? level->sd : a.fitted_sd, a.level);
  chart.fitted_label = level ? (a.series.log ? "smoothed trend" : "smoothed level") : "smoothed signal";
  return to_svg(chart);
}

std::string forecast_chart(const Analysis& a, Use use) {
  const Series& s = a.series;
  const auto season = static_cast<std::size_t>(a.modelling.model.season());
  const std::size_t shown = std::min(s.n(), std::max<std::size_t>({3 * s.steps(), 4 * season, 40}));
  const auto tail = [&](const std::vector<double>& v) {
    return std::vector<double>(v.end() - static_cast<std::ptrdiff_t>(shown), v.end());
  };
  TimeChart chart = frame_of(a, title_for(a, use), use);
  if (chart.interactive)
    chart.labels.erase(chart.labels.begin(), chart.labels.begin() + static_cast<std::ptrdiff_t>(s.n() - shown));
  add_flags(chart, a, s.n() - shown);
  chart.events = events_of(s, s.n() - shown, s.n() + s.steps());
  chart.time = tail(s.time);
  chart.observed = tail(s.y);
  chart.fitted = tail(a.original(a.fitted));
  const Band band = a.band(a.fitted, a.fitted_sd, a.level);
  chart.fitted_band = {band.level, tail(band.lower), tail(band.upper)};
  chart.fitted_label = "smoothed signal";
  chart.forecast_time = s.future_time;
  chart.forecast = a.original(a.future.mean);
  chart.forecast_label = s.log ? "forecast (median)" : "forecast";
  chart.fan = fan_of(a);
  return to_svg(chart);
}

std::string holdout_chart(const Analysis& a) {
  const Series& s = a.series;
  const Holdout& h = *a.holdout;
  const std::size_t before = std::max<std::size_t>({3 * h.rows, 4 * h.season, 40}),
                    from = h.first > before ? h.first - before : 0, to = h.first + h.rows;
  const auto part = [&](const std::vector<double>& v, std::size_t first) {
    return std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(first),
                               v.begin() + static_cast<std::ptrdiff_t>(to));
  };
  TimeChart chart = frame_of(a, "", Use::page);
  chart.labels = labels_of(s, from, to);
  chart.time = part(s.time, from);
  chart.observed = part(s.y, from);
  chart.forecast_time = part(s.time, h.first);
  chart.forecast = h.forecast;
  chart.forecast_label = s.log ? "forecast (median)" : "forecast";
  chart.fan = h.bands;
  chart.reference = h.naive;
  chart.reference_label = h.season ? "the season before" : "the last value before";
  chart.known_until = s.time[h.first - 1];
  chart.known_label = "held back";
  return to_svg(chart);
}

std::string component_chart(const Analysis& a, const Path& path, Use use) {
  TimeChart chart = frame_of(a, capitalised(path.name), use);
  const bool is_level = path.kind == Part::Kind::trend || path.kind == Part::Kind::spline;
  chart.height = 240;
  chart.fitted_label = path.name;
  const std::string per_step = "per " + a.series.step_name();
  if (path.is_slope && a.series.log) {  // growth in percent: the slope of a logarithm is one
    std::vector<double> growth = a.original(path.mean);
    Band band = a.band(path.mean, path.sd, a.level);
    for (std::vector<double>* v : {&growth, &band.lower, &band.upper})
      for (double& x : *v) x = 100 * (x - 1);
    chart.title = "Growth";
    chart.fitted_label = "growth";
    chart.value_label = "% " + per_step;
    chart.fitted = growth;
    chart.fitted_band = band;
    return to_svg(chart);
  }
  chart.fitted = a.original(path.mean);
  chart.fitted_band = a.band(path.mean, path.sd, a.level);
  if (path.is_slope)
    chart.value_label += " " + per_step;
  else if (a.series.log && !is_level)
    chart.value_label = "factor";
  return to_svg(chart);
}

std::vector<std::string> profile_charts(const Analysis& a, Use use) {
  std::vector<std::string> out;
  for (const Path& path : a.paths) {
    const double period = path.kind == Part::Kind::season ? period_of(a, path) : 0;
    if (period == 0 || a.series.time.back() - a.series.time[0] < (period - 1 - 1e-6) * a.series.step) continue;
    ProfileChart chart = profile_chart(a, path, period);
    chart.interactive = use == Use::page;
    out.push_back(to_svg(chart));
  }
  return out;
}

std::string residual_chart(const Analysis& a, Use use) {
  ResidualChart chart;
  chart.title = "Standardised residuals";
  chart.time_label = time_label(a.series);
  chart.unit = unit_of(a.series.form);
  chart.time = a.series.time;
  chart.residuals = a.residuals;
  chart.interactive = use == Use::page;
  if (chart.interactive) chart.labels = labels_of(a.series, 0, a.series.n());
  return to_svg(chart);
}

std::vector<std::string> diagnostic_charts(const Analysis& a, Use use) {
  constexpr double width = 282, height = 270;  // three in a row
  const bool interactive = use == Use::page;
  const std::size_t lags = std::min<std::size_t>(std::max<std::size_t>(20, a.autocorrelation.lags), a.series.n() / 2);
  const AutocorrelationChart correlation{.title = "Autocorrelation",
                                         .values = autocorrelation(a.residuals, lags),
                                         .count = residual_count(a),
                                         .width = width,
                                         .height = height,
                                         .interactive = interactive};
  const QuantileChart quantiles{.title = "Normal quantiles",
                                .residuals = a.residuals,
                                .width = width,
                                .height = height,
                                .interactive = interactive};
  const HistogramChart histogram{.title = "Histogram",
                                 .value_label = "residual, and the normal curve",
                                 .residuals = a.residuals,
                                 .width = width,
                                 .height = height,
                                 .interactive = interactive};
  return {to_svg(correlation), to_svg(quantiles), to_svg(histogram)};
}

}  // namespace apps
