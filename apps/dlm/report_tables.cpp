// Numbers of an analysis as people read them; whole ones are in the JSON.
#include "report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tables.hpp"

namespace apps {

std::string percent(double level) { return fmt::format("{:g} %", 100 * level); }

ReportTable parameter_table(const Analysis& a) {
  ReportTable table{"Parameters", {"", "estimate", "std. error"}, {}, "", false};
  for (const Parameter& p : a.parameters)
    for (std::size_t k = 0; k < p.values.size(); ++k)
      table.rows.push_back({p.values.size() == 1 ? p.name : fmt::format("{} {}", p.name, k + 1),
                            number_text(p.values[k], 5), p.estimated ? number_text(p.errors[k], 3) : "fixed"});
  table.note =
      "Standard deviations, per step where they move a state" + std::string(a.series.log ? ", of the logarithm." : ".");
  return table;
}

ReportTable likelihood_table(const Analysis& a) {
  const auto text = [](double v) { return number_text(v, 8); };
  std::vector<std::vector<std::string>> rows = {{"−2 log L, without constants", text(a.one_pass)},
                                                {"−2 log L, with constants", text(a.deviance())},
                                                {"AIC", text(a.aic())},
                                                {"BIC", text(a.bic())}};
  if (a.fit && !a.space.D0)
    rows.push_back(
        {"−2 log L of the second pass (lik of the DLM toolbox for MATLAB)", text(a.fit->lik.item<double>())});
  return {"Likelihood",
          {},
          rows,
          a.search ? fmt::format("Estimated by {}.", search_in_words(a)) : "All parameters were given.",
          false};
}

ReportTable test_table(const Analysis& a) {
  const auto p_value = [](double p) { return std::isnan(p) ? "–" : p < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", p); };
  const auto row = [&](const std::string& name, const TestResult& t, const std::string& reference,
                       const std::string& reading) {
    return std::vector<std::string>{name, number_text(t.statistic), reference, p_value(t.p_value), reading};
  };
  return {"Tests of the standardised residuals",
          {"test", "statistic", "reference", "p-value", "reading at 5 %"},
          {row(fmt::format("Ljung–Box, {} lags", a.autocorrelation.lags), a.autocorrelation,
               fmt::format("χ²({:g})", a.autocorrelation.degrees),
               verdict(a.autocorrelation, "no sign of autocorrelation", "autocorrelated: the model misses dynamics")),
           row("Jarque–Bera", a.normality, "χ²(2)",
               verdict(a.normality, "no sign of non-normality", "not normal: look for outliers")),
           row("Variance, last third / first third", a.variance, fmt::format("F({0:g}, {0:g})", a.variance.degrees),
               verdict(a.variance, "no sign of a change", "the variance changes"))},
          a.left_out ? fmt::format("Not predicted: {}, while the first state is found.", a.left_out) : "",
          false};
}

ReportTable forecast_table(const Analysis& a) {
  constexpr std::size_t most = 400;
  const Band band = a.band(a.future.mean, a.future.sd, a.level);
  const std::vector<double> values = a.original(a.future.mean);
  ReportTable table{"Forecast",
                    {a.series.time_name.empty() ? "step" : a.series.time_name, a.series.log ? "median" : "forecast",
                     percent(a.level) + " from", "to"},
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

ReportTable flag_table(const Analysis& a) {
  constexpr std::size_t most = 200;
  ReportTable table{
      "Outliers and level shifts",
      {a.series.time_name.empty() ? "step" : a.series.time_name, "", a.series.log ? "factor" : "size", "t"},
      {},
      fmt::format("Auxiliary residuals with {}.", threshold_in_words(a.flags)),
      a.flags.found.size() > 12};
  for (const Flag& flag : a.flags.found)
    if (table.rows.size() < most)
      table.rows.push_back(
          {a.series.label(flag.row), name_of(flag.kind), size_of_flag(a, flag), number_text(flag.t(), 3)});
  if (a.flags.found.size() > most) table.note += fmt::format(" The first {} of {}.", most, a.flags.found.size());
  return table;
}

ReportTable holdout_table(const Analysis& a) {
  const Holdout& h = *a.holdout;
  ReportTable table{"Errors of the forecasts", {"", "MAE", "RMSE", "MASE"}, {}, "", false};
  const auto add = [&](const std::string& name, const Accuracy& of) {
    table.rows.push_back({name, number_text(of.mae), number_text(of.rmse), number_text(of.mase, 3)});
  };
  add(a.series.log ? "model (median)" : "model", h.of_model);
  add(naive_in_words(h), h.of_naive);
  for (std::size_t i = 0; i < h.bands.size(); ++i) {
    table.header.push_back(fmt::format("in {} band", percent(h.bands[i].level)));
    table.rows[0].push_back(
        fmt::format("{:.0f} %", 100.0 * static_cast<double>(h.inside[i]) / static_cast<double>(h.values)));
    table.rows[1].push_back("–");
  }
  table.note = fmt::format(
      "Mean absolute error, root mean squared error, and the former over that of {} within the values "
      "before.",
      naive_in_words(h));
  return table;
}

ReportTable effect_table(const Analysis& a) {
  ReportTable table{"Effects of regressors",
                    {"", "effect", "std. deviation", "t"},
                    {},
                    a.series.log ? "Of one unit, on the logarithm." : "Of one unit.",
                    false};
  for (const Effect& effect : a.effects())
    table.rows.push_back(
        {effect.name, with_error(effect.value, effect.sd), number_text(effect.sd, 3), number_text(effect.t(), 3)});
  return table;
}

}  // namespace apps
