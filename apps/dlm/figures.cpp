// Which charts show which part of an analysis; the report puts words and tables around them.
#include "figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report.hpp"
#include "tables.hpp"

namespace apps {
namespace {

std::string percent(double level) { return fmt::format("{:g} %", 100 * level); }

std::string time_label(const Series& s) {
  return s.form == DateForm::none ? (s.time_name.empty() ? "step" : s.time_name) : "";
}

/// The trend or spline: what people call the level. Null where a model has none, or where regressors keep the
/// series away from it.
const Path* level_path(const Analysis& a) {
  if (!a.series.regressors.empty()) return nullptr;
  for (const Path& path : a.paths)
    if ((path.kind == Part::Kind::trend || path.kind == Part::Kind::spline) && !path.is_slope) return &path;
  return nullptr;
}

TimeChart frame_of(const Analysis& a, const std::string& title) {
  TimeChart chart;
  chart.title = title;
  chart.time_label = time_label(a.series);
  chart.value_label = a.series.value_label;
  chart.unit = unit_of(a.series.form);
  chart.time = a.series.time;
  return chart;
}

std::vector<Band> fan_of(const Analysis& a) {
  std::vector<double> levels = {0.5, 0.8, a.level};
  std::sort(levels.begin(), levels.end());
  levels.erase(
      std::unique(levels.begin(), levels.end(), [](double x, double y) { return std::abs(x - y) < 0.02; }),
      levels.end());
  std::vector<Band> out;
  for (const double level : levels) out.push_back(a.band(a.future.mean, a.future.sd, level));
  return out;
}

std::string series_chart(const Analysis& a, const std::string& title = "") {
  const Path* level = level_path(a);
  TimeChart chart = frame_of(a, title);
  chart.observed = a.series.y;
  const std::vector<double>& mean = level ? level->mean : a.fitted;
  chart.fitted = a.original(mean);
  chart.fitted_band = a.band(mean, level ? level->sd : a.fitted_sd, a.level);
  chart.fitted_label = level ? (a.series.log ? "smoothed trend" : "smoothed level") : "smoothed signal";
  return to_svg(chart);
}

/// The end of the series, the model's signal there, and the fan.
std::string forecast_chart(const Analysis& a, const std::string& title = "") {
  const Series& s = a.series;
  const auto season = static_cast<std::size_t>(a.modelling.model.season());
  const std::size_t shown = std::min(s.n(), std::max<std::size_t>({3 * s.steps(), 4 * season, 40}));
  const auto tail = [&](const std::vector<double>& v) {
    return std::vector<double>(v.end() - static_cast<std::ptrdiff_t>(shown), v.end());
  };
  TimeChart chart = frame_of(a, title);
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

std::string component_chart(const Analysis& a, const Path& path) {
  TimeChart chart = frame_of(
      a, path.is_slope ? "Slope"
                       : std::string(1, static_cast<char>(std::toupper(path.name[0]))) + path.name.substr(1));
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

std::string residual_chart(const Analysis& a) {
  ResidualChart chart;
  chart.title = "Standardised residuals";
  chart.time_label = time_label(a.series);
  chart.unit = unit_of(a.series.form);
  chart.time = a.series.time;
  chart.residuals = a.residuals;
  return to_svg(chart);
}

std::size_t residual_count(const Analysis& a) {
  return static_cast<std::size_t>(
      std::count_if(a.residuals.begin(), a.residuals.end(), [](double r) { return std::isfinite(r); }));
}

std::vector<std::string> diagnostic_charts(const Analysis& a) {
  const std::size_t lags =
      std::min<std::size_t>(std::max<std::size_t>(20, a.autocorrelation.lags), a.series.n() / 2);
  const AutocorrelationChart correlation{
      .title = "Autocorrelation", .values = autocorrelation(a.residuals, lags), .count = residual_count(a)};
  const QuantileChart quantiles{.title = "Normal quantiles", .residuals = a.residuals};
  return {to_svg(correlation), to_svg(quantiles)};
}

// ---- tables

ReportTable parameter_table(const Analysis& a) {
  ReportTable table{"Parameters", {"", "estimate", "std. error"}, {}, "", false};
  for (const Parameter& p : a.parameters)
    for (std::size_t k = 0; k < p.values.size(); ++k)
      table.rows.push_back({p.values.size() == 1 ? p.name : fmt::format("{} {}", p.name, k + 1),
                            number_text(p.values[k], 5),
                            p.estimated ? number_text(p.errors[k], 3) : "fixed"});
  table.note = "Standard deviations, per step where they move a state" +
               std::string(a.series.log ? ", of the logarithm." : ".");
  return table;
}

ReportTable likelihood_table(const Analysis& a) {
  const auto text = [](double v) { return number_text(v, 8); };
  std::vector<std::vector<std::string>> rows = {{"−2 log L, without constants", text(a.one_pass)},
                                                {"−2 log L, with constants", text(a.deviance())},
                                                {"AIC", text(a.aic())},
                                                {"BIC", text(a.bic())}};
  if (a.fit && !a.space.D0)
    rows.push_back({"−2 log L of the second pass (lik of the DLM toolbox for MATLAB)", text(a.fit->lik.item<double>())});
  return {"Likelihood",
          {},
          rows,
          a.search ? fmt::format("Estimated by {}.", search_in_words(a)) : "All parameters were given.",
          false};
}

ReportTable test_table(const Analysis& a) {
  const auto p_value = [](double p) {
    return std::isnan(p) ? "–" : p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", p);
  };
  const auto row = [&](const std::string& name, const TestResult& t, const std::string& reference,
                       const std::string& reading) {
    return std::vector<std::string>{name, number_text(t.statistic), reference, p_value(t.p_value), reading};
  };
  return {
      "Tests of the standardised residuals",
      {"test", "statistic", "reference", "p-value", "reading at 5 %"},
      {row(fmt::format("Ljung–Box, {} lags", a.autocorrelation.lags), a.autocorrelation,
           fmt::format("χ²({:g})", a.autocorrelation.degrees),
           verdict(a.autocorrelation, "no sign of autocorrelation",
                   "autocorrelated: the model misses dynamics")),
       row("Jarque–Bera", a.normality, "χ²(2)",
           verdict(a.normality, "no sign of non-normality", "not normal: look for outliers")),
       row("Variance, last third / first third", a.variance,
           fmt::format("F({0:g}, {0:g})", a.variance.degrees),
           verdict(a.variance, "no sign of a change", "the variance changes"))},
      a.left_out ? fmt::format("Not predicted: {}, while the first state is found.", a.left_out) : "",
      false};
}

ReportTable forecast_table(const Analysis& a) {
  constexpr std::size_t most = 400;
  const Band band = a.band(a.future.mean, a.future.sd, a.level);
  const std::vector<double> values = a.original(a.future.mean);
  ReportTable table{"Forecast",
                    {a.series.time_name.empty() ? "step" : a.series.time_name,
                     a.series.log ? "median" : "forecast", percent(a.level) + " from", "to"},
                    {},
                    values.size() > most ? fmt::format("The first {} of {} steps.", most, values.size()) : "",
                    values.size() > 12};
  const int digits = forecast_digits(a, 4);
  for (std::size_t i = 0; i < std::min(values.size(), most); ++i)
    table.rows.push_back({a.series.label(a.series.n() + i), number_text(values[i], digits),
                          number_text(band.lower[i], digits), number_text(band.upper[i], digits)});
  if (table.folded) table.caption = "All forecasts";
  return table;
}

ReportTable state_table(const Analysis& a) {
  const auto m = static_cast<std::size_t>(a.modelling.model.states());
  ReportTable table{"States at the last step",
                    {"state", "mean", "std. deviation"},
                    {},
                    a.series.log ? "Of the logarithm." : "",
                    m > 5};
  for (std::size_t i = 0; i < m; ++i)
    table.rows.push_back(
        {a.modelling.state_names[i], with_error(a.last_x[i], a.last_sd[i]), number_text(a.last_sd[i], 3)});
  return table;
}

std::vector<Fact> facts(const Analysis& a) {
  const Series& s = a.series;
  std::vector<Fact> out = {{"values", fmt::format("{}", s.n()), s.gaps_in_words()}};
  if (!s.time_name.empty())
    out.push_back({"from", s.label(0), fmt::format("to {}, {}", s.label(s.n() - 1), s.spacing())});
  out.push_back({"states", fmt::format("{}", a.modelling.model.states()),
                 fmt::format("{} parameters estimated", a.estimated_count())});
  out.push_back({"−2 log L", number_text(a.one_pass, 7), "without constants"});
  out.push_back({"AIC", number_text(a.aic(), 6), "BIC " + number_text(a.bic(), 6)});
  return out;
}

/// Which columns of the file were taken for what.
std::string data_words(const Analysis& a) {
  const Series& s = a.series;
  std::string out =
      fmt::format("Time: {}. Values: {}. {}.", s.time_in_words(), s.values_in_words(), series_in_words(a));
  if (const std::string ignored = s.ignored_in_words(); !ignored.empty())
    out += fmt::format(" Ignored: {}.", ignored);
  return out;
}

std::string notes_text(const Analysis& a) {
  std::string out;
  for (const std::string& note : a.notes) out += (out.empty() ? "" : "\n\n") + note;
  return out;
}

std::string residual_words(const Analysis& a) {
  return fmt::format(
      "Innovations in units of their standard deviation. Where the model is right they are independent and "
      "standard normal: within ±1.96 for 95 % of the "
      "steps, without autocorrelation, on the line of the quantile plot. Here {} of {} lie outside.",
      std::count_if(a.residuals.begin(), a.residuals.end(), [](double r) { return std::abs(r) > 1.96; }),
      residual_count(a));
}

}  // namespace

std::string plot_svg(const Analysis& a) {
  std::vector<std::vector<std::string>> rows = {
      {a.forecast ? forecast_chart(a, a.series.title) : series_chart(a, a.series.title)}};
  for (const Path& path : a.paths)
    if (a.forecast || &path != level_path(a)) rows.push_back({component_chart(a, path)});
  rows.push_back({residual_chart(a)});
  rows.push_back(diagnostic_charts(a));
  return stack_charts(rows);
}

std::string report_html(const Analysis& a) {
  Report report;
  report.title = a.series.title;
  report.subtitle = "State-space model: " + std::string(a.series.log ? "log y = " : "") +
                    a.modelling.description + " + noise";
  report.facts = facts(a);
  const std::string band = percent(a.level);
  const Path* level = level_path(a);
  report.sections.push_back(
      {"Series",
       fmt::format(
           "The observations, and the {} as the whole series tells it, with its {} band.{}",
           level ? "level" : "signal", band,
           a.series.log ? " The model is of the logarithm; everything is shown on the original scale." : "") +
           "\n\n" + data_words(a),
       {series_chart(a)},
       {}});
  report.sections.push_back(
      {"Model", notes_text(a), {}, {parameter_table(a), likelihood_table(a), state_table(a)}});
  Section components{"Components", "", {}, {}};
  components.text = fmt::format("How the parts of the model move, each with its {} band.{}", band,
                                a.series.log ? " Parts of a logarithm are factors." : "");
  for (const Path& path : a.paths)
    if (&path != level) components.charts.push_back(component_chart(a, path));
  if (!components.charts.empty()) report.sections.push_back(components);
  if (a.forecast)
    report.sections.push_back(
        {"Forecast",
         fmt::format("{} step{} after {}, with bands that hold an observation with the given probabilities, "
                     "if the model is right and its "
                     "parameters are as estimated.",
                     a.series.steps(), a.series.steps() == 1 ? "" : "s", a.series.label(a.series.n() - 1)),
         {forecast_chart(a)},
         {forecast_table(a)}});
  std::vector<std::string> charts = {residual_chart(a)};
  for (std::string& chart : diagnostic_charts(a)) charts.push_back(std::move(chart));
  report.sections.push_back({"Residuals", residual_words(a), charts, {test_table(a)}});
  report.footer = fmt::format("cotan-dlm {} · {} of {} · {}", COTAN_VERSION, a.series.name, a.series.source,
                              search_in_words(a));
  return to_html(report);
}

}  // namespace apps
