// The summary on the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tables.hpp"
#include "text.hpp"

namespace apps {
namespace {

std::string parameter_rows(const Analysis& a) {
  std::vector<std::vector<std::string>> rows = {{"parameter", "value", "", "std. error"}};
  for (const Parameter& p : a.parameters)
    for (std::size_t k = 0; k < p.values.size(); ++k) {
      const std::string name = p.values.size() == 1 ? p.name : fmt::format("{}[{}]", p.name, k + 1);
      if (!p.estimated)
        rows.push_back({name, number_text(p.values[k], 5), "", "fixed"});
      else
        rows.push_back({name, number_text(p.values[k], 5), "±", number_text(p.errors[k], 3)});
    }
  return aligned(rows, {false, true, false, true});
}

/// Effects of regressors, which people read like parameters.
std::string effect_rows(const Analysis& a) {
  std::vector<std::vector<std::string>> rows;
  for (const Effect& effect : a.effects())
    rows.push_back({"effect of " + effect.name, with_error(effect.value, effect.sd), "±", number_text(effect.sd, 3),
                    fmt::format("t = {}", number_text(effect.t(), 3))});
  return rows.empty() ? "" : "\n" + aligned(rows, {false, true, false, true, false});
}

std::string likelihood_rows(const Analysis& a) {
  const auto fixed = [](double v) {
    return number_text(v,
                       v != 0 && std::abs(v) < 1e6 ? 5 + static_cast<int>(std::log10(std::max(1.0, std::abs(v)))) : 8);
  };
  const std::string start = a.space.D0 ? "exact, from a diffuse start, " : "one pass, ";
  std::vector<std::vector<std::string>> rows = {
      {"-2 log L", fixed(a.one_pass),
       start + (a.search ? "without constants: what the search minimised" : "without constants")},
      {"-2 log L, full", fixed(a.deviance()), "the same with n log 2π"},
      {"AIC, BIC", fixed(a.aic()) + ", " + fixed(a.bic()),
       fmt::format("of the full one, {} parameters estimated{}", a.estimated_count(),
                   a.space.D0 ? fmt::format(" and {} states diffuse", a.space.D0->shape(1)) : "")}};
  if (a.fit && !a.space.D0)
    rows.push_back({"lik", fixed(a.fit->lik.item<double>()),
                    "of the smoother's second pass, as the DLM toolbox for MATLAB reports it"});
  return aligned(rows, {false, false, false});
}

std::string test_rows(const Analysis& a) {
  return aligned(
      {{fmt::format("Ljung-Box, {} lags", a.autocorrelation.lags), number_text(a.autocorrelation.statistic),
        p_text(a.autocorrelation.p_value), verdict(a.autocorrelation, "no sign of autocorrelation", "autocorrelated")},
       {"Jarque-Bera", number_text(a.normality.statistic), p_text(a.normality.p_value),
        verdict(a.normality, "no sign of non-normality", "not normal")},
       {fmt::format("variance ratio, {:.0f} each", a.variance.degrees), number_text(a.variance.statistic),
        p_text(a.variance.p_value), verdict(a.variance, "no sign of changing variance", "the variance changes")}},
      {false, true, false, false});
}

/// What the model does not expect, if anything.
std::string flag_rows(const Analysis& a) {
  if (a.flags.found.empty()) return "";
  constexpr std::size_t most = 20;
  std::vector<std::vector<std::string>> rows;
  for (const Flag& flag : a.flags.found)
    if (rows.size() < most)
      rows.push_back({a.series.label(flag.row), name_of(flag.kind), size_of_flag(a, flag),
                      fmt::format("t = {}", number_text(flag.t(), 3))});
  std::string out = fmt::format("\n  outliers and level shifts: {}\n", threshold_in_words(a.flags));
  out += aligned(rows, {false, false, true, false});
  if (a.flags.found.size() > most)
    out += fmt::format("  … and {} more; --json has them all\n", a.flags.found.size() - most);
  return out;
}

}  // namespace

std::string size_of_flag(const Analysis& a, const Flag& flag) {
  if (a.series.log) return "×" + number_text(std::exp(flag.size), 3);
  return fmt::format("{} ± {}", number_text(flag.size, 3), number_text(flag.sd, 2));
}

std::string series_in_words(const Analysis& a) {
  const Series& s = a.series;
  std::string out = fmt::format("{} value{}", s.observed(), s.observed() == 1 ? "" : "s");
  if (!s.time_name.empty()) out += fmt::format(", {} to {}", s.label(0), s.label(s.n() - 1));
  if (s.n() > 1 && !s.time_name.empty()) out += ", " + s.spacing();
  return out + "; " + s.gaps_in_words();
}

int forecast_digits(const Analysis& a, int least) {
  const Band band = a.band(a.future.mean, a.future.sd, a.level);
  double largest = 0, narrowest = INFINITY;
  for (std::size_t i = 0; i < band.lower.size(); ++i) {
    if (!std::isfinite(band.lower[i]) || !std::isfinite(band.upper[i])) continue;
    largest = std::max({largest, std::abs(band.lower[i]), std::abs(band.upper[i])});
    if (band.upper[i] > band.lower[i]) narrowest = std::min(narrowest, (band.upper[i] - band.lower[i]) / 2);
  }
  return digits_to_tell(largest, std::isfinite(narrowest) ? narrowest : 0, least);
}

std::string with_error(double value, double error) {
  return number_text(value, digits_to_tell(std::abs(value), error, 5));
}

std::string search_in_words(const Analysis& a) {
  if (!a.search) return "nothing: all parameters are given";
  return fmt::format("maximum likelihood by {}: {} iterations, {} evaluations, {}", a.method, a.search->iterations,
                     a.search->evaluations, a.search->converged ? "converged" : "NOT converged");
}

std::string p_text(double p) {
  if (std::isnan(p)) return "too few values";
  return p < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.4f}", p);
}

std::string verdict(const TestResult& test, const std::string& fine, const std::string& doubt) {
  if (std::isnan(test.p_value)) return "";
  return test.p_value < 0.05 ? doubt : fine;
}

std::string summary_text(const Analysis& a) {
  const std::string title =
      a.series.title == a.series.name ? fmt::format("{} of {}", a.series.name, a.series.source) : a.series.title;
  std::string out = fmt::format("\n{}\n\n", title);
  const std::string ignored = a.series.ignored_in_words();
  std::vector<std::vector<std::string>> head = {
      {"series", series_in_words(a)}, {"time", a.series.time_in_words()}, {"values", a.series.values_in_words()}};
  if (!ignored.empty()) head.push_back({"ignored", ignored});
  head.push_back({"model", (a.series.log ? "log y = " : "") + a.modelling.description + " + noise"});
  head.push_back({"estimated", search_in_words(a)});
  out += aligned(head, {false, false});
  out += "\n" + parameter_rows(a) + effect_rows(a) + "\n" + likelihood_rows(a);
  out += fmt::format(
      "\n  residuals{}\n",
      a.left_out
          ? fmt::format(" of one-step predictions ({} not predicted, while the first state is found)", a.left_out)
          : "");
  out += test_rows(a) + flag_rows(a);
  if (a.notes.empty()) return out;
  out += "\n";
  for (const std::string& note : a.notes) out += "  note: " + note + "\n";
  return out;
}

std::string holdout_text(const Analysis& a) {
  const Holdout& h = *a.holdout;
  const auto row = [](const std::string& name, const Accuracy& of) {
    return std::vector<std::string>{name, number_text(of.mae), number_text(of.rmse), number_text(of.mase, 3)};
  };
  std::string out = fmt::format("\n  holdout: the last {} value{}, {} to {}, forecast by a fit to the {} before\n",
                                h.values, h.values == 1 ? "" : "s", a.series.label(h.first),
                                a.series.label(h.first + h.rows - 1), a.series.observed() - h.values);
  out += aligned({{"", "MAE", "RMSE", "MASE"},
                  row(a.series.log ? "model (median)" : "model", h.of_model),
                  row(naive_in_words(h), h.of_naive)},
                 {false, true, true, true});
  return out + fmt::format("  {}\n  Everything else here is of a fit to all {} values.\n", verdict_in_words(h),
                           a.series.observed());
}

std::string forecast_text(const Analysis& a) {
  constexpr std::size_t most = 40;
  const std::size_t steps = a.future.mean.size();
  const Band band = a.band(a.future.mean, a.future.sd, a.level);
  const std::vector<double> values = a.original(a.future.mean);
  std::vector<std::vector<std::string>> rows = {{a.series.time_name.empty() ? "step" : a.series.time_name,
                                                 a.series.log ? "median" : "forecast", "lower", "upper"}};
  const int digits = forecast_digits(a, 5);
  for (std::size_t i = 0; i < std::min(steps, most); ++i)
    rows.push_back({a.series.label(a.series.n() + i), number_text(values[i], digits),
                    number_text(band.lower[i], digits), number_text(band.upper[i], digits)});
  std::string out = fmt::format("\n  forecast of {} step{}, {:g} % bands for observations\n", steps,
                                steps == 1 ? "" : "s", 100 * a.level);
  out += aligned(rows, {false, true, true, true});
  if (steps > most) out += fmt::format("  … and {} more; --csv or --json has them all\n", steps - most);
  return out;
}

}  // namespace apps
