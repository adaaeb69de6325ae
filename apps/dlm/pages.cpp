// Words around the charts and tables of an analysis.
#include "pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures.hpp"
#include "readout.hpp"
#include "report_tables.hpp"
#include "tables.hpp"

namespace apps {
namespace {

std::vector<Fact> facts(const Analysis& a) {
  const Series& s = a.series;
  std::vector<Fact> out = {{"values", fmt::format("{}", s.observed()), s.gaps_in_words()}};
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
  if (const std::string ignored = s.ignored_in_words(); !ignored.empty()) out += fmt::format(" Ignored: {}.", ignored);
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

std::string thinning_words(const Analysis& a) {
  if (a.series.n() <= most_rows_read_out) return "";
  return fmt::format(
      "\n\nThe series is long: lines show the outermost values of what falls on one column of the screen, "
      "and pointing at "
      "a figure tells {} of its {} rows, those with the largest and smallest value of each stretch. --csv "
      "has all.",
      most_rows_read_out, a.series.n());
}

std::vector<ReportTable> model_tables(const Analysis& a) {
  std::vector<ReportTable> out = {parameter_table(a), likelihood_table(a)};
  if (!a.series.regressors.empty()) out.push_back(effect_table(a));
  out.push_back(state_table(a));
  return out;
}

}  // namespace

std::string plot_svg(const Analysis& a) {
  std::vector<std::vector<std::string>> rows = {
      {a.forecast ? forecast_chart(a, Use::picture) : series_chart(a, Use::picture)}};
  for (const Path& path : a.paths)
    if (a.forecast || &path != level_path(a)) rows.push_back({component_chart(a, path, Use::picture)});
  for (const std::string& chart : profile_charts(a, Use::picture)) rows.push_back({chart});
  rows.push_back({residual_chart(a, Use::picture)});
  rows.push_back(diagnostic_charts(a, Use::picture));
  return stack_charts(rows);
}

std::string report_html(const Analysis& a) {
  Report report;
  report.title = a.series.title;
  report.subtitle =
      "State-space model: " + std::string(a.series.log ? "log y = " : "") + a.modelling.description + " + noise";
  report.facts = facts(a);
  const std::string band = percent(a.level);
  const Path* level = level_path(a);
  report.sections.push_back(
      {"Series",
       fmt::format("The observations, and the {} as the whole series tells it, with its {} band.{}",
                   level ? "level" : "signal", band,
                   a.series.log ? " The model is of the logarithm; everything is shown on the original scale." : "") +
           "\n\n" + data_words(a) + thinning_words(a),
       {series_chart(a, Use::page)},
       a.flags.found.empty() ? std::vector<ReportTable>() : std::vector<ReportTable>{flag_table(a)}});
  report.sections.push_back({"Model", notes_text(a), {}, model_tables(a)});
  Section components{"Components", "", {}, {}};
  components.text = fmt::format("How the parts of the model move, each with its {} band.{}", band,
                                a.series.log ? " Parts of a logarithm are factors." : "");
  for (const Path& path : a.paths)
    if (&path != level) components.charts.push_back(component_chart(a, path, Use::page));
  for (std::string& chart : profile_charts(a, Use::page)) components.charts.push_back(std::move(chart));
  if (!components.charts.empty()) report.sections.push_back(components);
  if (a.forecast)
    report.sections.push_back(
        {"Forecast",
         fmt::format("{} step{} after {}, with bands that hold an observation with the given probabilities, "
                     "if the model is right and its "
                     "parameters are as estimated.",
                     a.series.steps(), a.series.steps() == 1 ? "" : "s", a.series.label(a.series.n() - 1)),
         {forecast_chart(a, Use::page)},
         {forecast_table(a)}});
  if (a.holdout)
    report.sections.push_back(
        {"Holdout",
         fmt::format("How well the last {} values are forecast by a fit that has not seen them. {} "
                     "Everything else on this page is of "
                     "a fit to all {} values.",
                     a.holdout->values, verdict_in_words(*a.holdout), a.series.observed()),
         {holdout_chart(a)},
         {holdout_table(a)}});
  std::vector<std::string> charts = {residual_chart(a, Use::page)};
  for (std::string& chart : diagnostic_charts(a, Use::page)) charts.push_back(std::move(chart));
  report.sections.push_back({"Residuals", residual_words(a), charts, {test_table(a)}});
  report.footer =
      fmt::format("cotan-dlm {} · {} of {} · {}", COTAN_VERSION, a.series.name, a.series.source, search_in_words(a));
  return to_html(report);
}

}  // namespace apps
