// JSON with everything, CSV with what people plot. NaN is null in JSON and an empty field in CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tables.hpp"
#include "text.hpp"

namespace apps {
namespace {

using Json = nlohmann::ordered_json;
using cotan::Array;

Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double v : values) out.push_back(number(v));
  return out;
}

/// An array as nested lists; `observed` drops the axes of the one observed value.
Json nested(const Array& a, bool observed = false) {
  const std::vector<double> values = a.to_vector<double>();
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < a.shape().size(); ++i)
    if (!observed || i == 0) shape.push_back(static_cast<std::size_t>(a.shape()[i]));
  const auto build = [&](auto&& self, std::size_t axis, std::size_t at, std::size_t count) -> Json {
    if (axis == shape.size()) return number(values[at]);
    Json out = Json::array();
    const std::size_t each = count / std::max<std::size_t>(shape[axis], 1);
    for (std::size_t i = 0; i < shape[axis]; ++i) out.push_back(self(self, axis + 1, at + i * each, each));
    return out;
  };
  return build(build, 0, 0, values.size());
}

Json parameters_json(const Analysis& a) {
  Json out = Json::object();
  for (const Parameter& p : a.parameters) {
    const bool one = p.values.size() == 1 && p.name != "phi";
    out[p.name] = {{"value", one ? number(p.values[0]) : numbers(p.values)},
                   {"standard_error", one ? number(p.errors[0]) : numbers(p.errors)},
                   {"estimated", p.estimated}};
  }
  return out;
}

Json test_json(const TestResult& t) {
  Json out = {{"statistic", number(t.statistic)}, {"p_value", number(t.p_value)}, {"degrees", t.degrees}};
  if (t.lags) out["lags"] = t.lags;
  return out;
}

Json labels(const Series& s, std::size_t from, std::size_t to) {
  Json out = Json::array();
  for (std::size_t i = from; i < to; ++i) out.push_back(s.label(i));
  return out;
}

Json holdout_json(const Analysis& a) {
  if (!a.holdout) return nullptr;
  const Holdout& h = *a.holdout;
  const auto scores = [](const Accuracy& of) {
    return Json{{"mae", number(of.mae)}, {"rmse", number(of.rmse)}, {"mase", number(of.mase)}};
  };
  Json naive = scores(h.of_naive), bands = Json::array();
  naive["season"] = h.season ? Json(h.season) : Json(nullptr);
  for (std::size_t i = 0; i < h.bands.size(); ++i)
    bands.push_back({{"level", h.bands[i].level},
                     {"inside", h.inside[i]},
                     {"coverage", static_cast<double>(h.inside[i]) / static_cast<double>(h.values)},
                     {"lower", numbers(h.bands[i].lower)},
                     {"upper", numbers(h.bands[i].upper)}});
  const auto first = a.series.y.begin() + static_cast<std::ptrdiff_t>(h.first);
  return {{"values", h.values},
          {"model", scores(h.of_model)},
          {"naive", naive},
          {"verdict", verdict_in_words(h)},
          {"time", labels(a.series, h.first, h.first + h.rows)},
          {"observed", numbers({first, first + static_cast<std::ptrdiff_t>(h.rows)})},
          {"forecast", numbers(h.forecast)},
          {"naive_forecast", numbers(h.naive)},
          {"bands", bands}};
}

Json flags_json(const Analysis& a) {
  Json found = Json::array();
  for (const Flag& flag : a.flags.found)
    found.push_back({{"kind", flag.kind == Flag::Kind::outlier ? "outlier" : "level_shift"},
                     {"row", flag.row},
                     {"time", a.series.label(flag.row)},
                     {"size", number(flag.size)},
                     {"sd", number(flag.sd)},
                     {"t", number(flag.t())}});
  return {{"threshold", a.flags.threshold},
          {"tests", a.flags.tests},
          {"found", found},
          {"t_of_values", numbers(a.flags.t_of_values)},
          {"t_of_level", numbers(a.flags.t_of_level)}};
}

Json effects_json(const Analysis& a) {
  Json out = Json::object();
  for (const Effect& effect : a.effects())
    out[effect.name] = {{"value", number(effect.value)}, {"sd", number(effect.sd)}, {"t", number(effect.t())}};
  return out;
}

Json seasons_json(const Analysis& a) {
  Json out = Json::array();
  for (const SeasonEvidence& season : a.seasons)
    out.push_back({{"period", season.period},
                   {"option", season.option()},
                   {"share", number(season.share)},
                   {"p_value", number(season.p_value)}});
  return out;
}

/// Of covariances, a matrix for each step.
Json deviations(const Array& covariances) {
  const std::vector<double> values = covariances.to_vector<double>();
  const auto m = static_cast<std::size_t>(covariances.shape().back());
  Json out = Json::array();
  for (std::size_t at = 0; at < values.size(); at += m * m) {
    Json step = Json::array();
    for (std::size_t i = 0; i < m; ++i) step.push_back(number(std::sqrt(std::max(values[at + i * m + i], 0.0))));
    out.push_back(std::move(step));
  }
  return out;
}

/// Covariances of each step make files large: only where they are asked for.
void add_fit(Json& out, const cotan::dlm::Fit& f, bool covariances) {
  for (const auto& [name, value] :
       {std::pair{"x0", &f.x0}, {"C0", &f.C0}, {"x", &f.x}, {"xstd", &f.xstd}, {"xf", &f.xf}})
    out[name] = nested(*value);
  out["xfstd"] = deviations(f.Cf);
  if (covariances) out["C"] = nested(f.C), out["Cf"] = nested(f.Cf);
  for (const auto& [name, value] : {std::pair{"v", &f.v},
                                    {"Cp", &f.Cp},
                                    {"yhat", &f.yhat},
                                    {"level", &f.level},
                                    {"ystd", &f.ystd},
                                    {"resid0", &f.resid0},
                                    {"resid", &f.resid},
                                    {"resid2", &f.resid2}})
    out[name] = nested(*value, true);
  for (const auto& [name, value] : {std::pair{"nobs", &f.nobs},
                                    {"lik", &f.lik},
                                    {"lik_full", &f.lik_full},
                                    {"ssy", &f.ssy},
                                    {"s2", &f.s2},
                                    {"mse", &f.mse},
                                    {"mape", &f.mape}})
    out[name] = number(value->item<double>());
}

Json columns_json(const Series& s) {
  constexpr const char* roles[] = {"time", "values", "regressor", "sd", "ignored"};
  Json out = {{"time", s.time_in_words()}, {"values", s.values_in_words()}, {"ignored", s.ignored_in_words()}};
  Json uses = Json::array();
  for (const ColumnUse& use : s.uses)
    uses.push_back({{"name", use.name.empty() ? Json(nullptr) : Json(use.name)},
                    {"role", roles[static_cast<std::size_t>(use.role)]},
                    {"words", use.words}});
  out["uses"] = uses;
  return out;
}

/// A field of CSV, in quotes where it needs them.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}
std::string cell(double v) { return std::isfinite(v) ? fmt::format("{}", v) : ""; }

}  // namespace

std::string json_text(const Analysis& a) {
  const Series& s = a.series;
  Json out;
  out["program"] = {{"name", "cotan-dlm"}, {"version", COTAN_VERSION}};
  out["series"] = {{"name", s.name},
                   {"source", s.source},
                   {"n", s.n()},
                   {"missing", s.n() - s.observed()},
                   {"steps_without_row", s.absent},
                   {"log", s.log},
                   {"evenly_spaced", s.even},
                   {"step", s.step_name()}};
  out["columns"] = columns_json(s);
  out["model"] = {{"description", a.modelling.description},
                  {"states", a.modelling.model.states()},
                  {"state_names", a.modelling.state_names}};
  if (!s.even) out["model"]["times"] = numbers(s.model_times());
  out["parameters"] = parameters_json(a);
  out["estimate"] = nullptr;
  if (a.search)
    out["estimate"] = {{"value", number(a.search->value)},
                       {"iterations", a.search->iterations},
                       {"evaluations", a.search->evaluations},
                       {"converged", a.search->converged},
                       {"method", a.method}};
  out["one_pass"] = {{"lik", number(a.one_pass)},
                     {"lik_full", number(a.deviance())},
                     {"aic", number(a.aic())},
                     {"bic", number(a.bic())},
                     {"parameters_estimated", a.estimated_count()}};
  out["diagnostics"] = {{"left_out", a.left_out},
                        {"ljung_box", test_json(a.autocorrelation)},
                        {"jarque_bera", test_json(a.normality)},
                        {"variance_ratio", test_json(a.variance)}};
  out["effects"] = effects_json(a);
  out["flags"] = flags_json(a);
  out["suggested_seasons"] = seasons_json(a);
  out["holdout"] = holdout_json(a);
  out["notes"] = a.notes;
  out["G"] = nested(a.space.G);
  out["F"] = nested(a.space.F);
  out["W"] = nested(a.space.W);
  out["V"] = nested(a.space.V);
  out["time"] = labels(s, 0, s.n());
  out["y"] = numbers(s.y);
  out["predicted"] = {
      {"mean", numbers(a.predicted)}, {"sd", numbers(a.predicted_sd)}, {"residual", numbers(a.residuals)}};
  if (a.fit) add_fit(out, *a.fit, a.json_covariances);
  Json components = Json::object();
  for (const Path& path : a.paths) components[path.name] = {{"mean", numbers(path.mean)}, {"sd", numbers(path.sd)}};
  out["components"] = components;
  out["forecast"] = nullptr;
  if (a.forecast) {
    const Band band = a.band(a.future.mean, a.future.sd, a.level);
    out["forecast"] = {{"time", labels(s, s.n(), s.n() + s.steps())},
                       {"level", a.level},
                       {"forecast", numbers(a.original(a.future.mean))},
                       {"lower", numbers(band.lower)},
                       {"upper", numbers(band.upper)},
                       {"y", numbers(a.future.mean)},
                       {"ystd", numbers(a.future.sd)},
                       {"x", nested(a.forecast->x)},
                       {"xstd", deviations(a.forecast->C)}};
    if (a.json_covariances) out["forecast"]["C"] = nested(a.forecast->C);
  }
  // One line for each entry: a fit of a long series stays readable, and diffs stay small. Bytes of names that
  // are no UTF-8 are replaced.
  std::string text = "{\n";
  for (auto it = out.begin(); it != out.end(); ++it)
    text += fmt::format("{}: {}{}\n", Json(it.key()).dump(),
                        it.value().dump(-1, ' ', false, Json::error_handler_t::replace),
                        std::next(it) == out.end() ? "" : ",");
  return text + "}\n";
}

/// Columns with one meaning each; a row has those of its kind. See options.cpp's csv_help.
std::string csv_text(const Analysis& a) {
  const Series& s = a.series;
  std::string out = fmt::format(
      "{},{},fitted,fitted_lower,fitted_upper,predicted,predicted_lower,predicted_upper,residual,forecast,"
      "forecast_lower,forecast_upper",
      field(s.time_name.empty() ? "step" : s.time_name), field(s.name));
  for (const Path& path : a.paths)
    out += fmt::format(",{},{}", field(path.name + (s.log ? " (log)" : "")),
                       field(path.name + (s.log ? " (log)" : "") + " sd"));
  out += "\n";
  const std::vector<double> fitted = a.original(a.fitted), predicted = a.original(a.predicted);
  const Band band = a.band(a.fitted, a.fitted_sd, a.level), before = a.band(a.predicted, a.predicted_sd, a.level);
  for (std::size_t t = 0; t < s.n(); ++t) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},,,", s.label(t), cell(s.y[t]), cell(fitted[t]), cell(band.lower[t]),
                       cell(band.upper[t]), cell(predicted[t]), cell(before.lower[t]), cell(before.upper[t]),
                       cell(a.residuals[t]));
    for (const Path& path : a.paths) out += fmt::format(",{},{}", cell(path.mean[t]), cell(path.sd[t]));
    out += "\n";
  }
  const Band fan = a.band(a.future.mean, a.future.sd, a.level);
  const std::vector<double> ahead = a.original(a.future.mean);
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    out +=
        fmt::format("{},,,,,,,,,{},{},{}", s.label(s.n() + i), cell(ahead[i]), cell(fan.lower[i]), cell(fan.upper[i]));
    for (std::size_t k = 0; k < a.paths.size(); ++k) out += ",,";
    out += "\n";
  }
  return out;
}

}  // namespace apps
