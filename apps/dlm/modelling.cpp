// Blocks in the order of the options; parameters are checked before anything is computed.
#include "modelling.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "text.hpp"

namespace apps {
namespace {

namespace dlm = cotan::dlm;
using cotan::Array;

void add_block(Modelling& m, const dlm::Block& block, Part::Kind kind, const std::string& name,
               const std::string& words) {
  const int first = m.model.blocks.empty() ? 0 : m.model.states();
  m.model.blocks.push_back(block);
  m.parts.push_back({kind, name, first, m.model.states() - first});
  m.description += (m.description.empty() ? "" : " + ") + words;
}

/// One of several seasons is named by its period.
void add_season(Modelling& m, const Season& season, bool several) {
  const std::string name = several ? fmt::format("season {:g}", season.period) : "season";
  if (!season.harmonics) {
    dlm::Seasonal block{static_cast<int>(season.period)};
    if (several) block.sd = name;
    return add_block(m, block, Part::Kind::season, name, fmt::format("season of {} steps", block.period));
  }
  dlm::Harmonics block{season.period, season.harmonics};
  if (several)
    for (const dlm::ParameterInfo& p : dlm::parameters_of({.blocks = {block}, .sd = ""}))
      block.sd.push_back(fmt::format("{} of {:g}", p.name, season.period));
  add_block(
      m, block, Part::Kind::season, name,
      fmt::format("{} harmonic{} of {:g} steps", season.harmonics, season.harmonics == 1 ? "" : "s", season.period));
}

void add_blocks(Modelling& m, const Options& o, const Series& s) {
  using Kind = Part::Kind;
  const int order = o.order != Options::default_trend ? o.order : o.spline ? Options::no_trend : 1;
  constexpr const char* trends[] = {"local level", "local linear trend", "local quadratic trend"};
  if (order >= 0) add_block(m, dlm::Trend{order}, Kind::trend, "trend", trends[order]);
  if (o.spline) add_block(m, dlm::Spline{}, Kind::spline, "spline", "cubic spline");
  for (const Season& season : o.seasons) add_season(m, season, o.seasons.size() > 1);
  if (o.ar)
    add_block(m, dlm::AutoRegression{o.ar}, Kind::autoregression, "autoregression", fmt::format("AR({})", o.ar));
  if (!s.regressors.empty()) {
    const std::size_t rows = s.regressors[0].size(), columns = s.regressors.size();
    std::vector<double> x(rows * columns);
    for (std::size_t k = 0; k < columns; ++k)
      for (std::size_t i = 0; i < rows; ++i) x[i * columns + k] = s.regressors[k][i];
    add_block(
        m, dlm::Regression{Array::from_host(x, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)})},
        Kind::regression, "regression", fmt::format("regression on {}", fmt::join(s.regressor_names, ", ")));
  }
  if (m.parts.empty())
    complain<UsageError>("[--order] a model of nothing; give a trend, --spline, --season, --ar or --regress.");
}

/// Blocks that have no meaning between steps.
void refuse_uneven_times(const Options& o, const Series& s) {
  const auto whole = [&](std::size_t i) { return s.positions[i] - s.positions[i - 1]; };
  std::size_t row = 1;
  while (row < s.positions.size() && whole(row) == std::floor(whole(row))) ++row;
  if (s.even || row >= s.positions.size()) return;
  std::string what, instead;
  for (const Season& season : o.seasons)
    if (!season.harmonics)
      what = fmt::format("a season of {:g} steps", season.period), instead = "or --harmonics K after --season";
    else if (2 * season.harmonics == season.period)
      what = fmt::format("the last of {} harmonics of {:g} steps", season.harmonics, season.period),
      instead = "or fewer --harmonics";
  if (o.ar > 1) what = fmt::format("--ar {}", o.ar), instead = "or --ar 1";
  if (o.order == 2) what = "--order 2", instead = "or --order 1";
  if (what.empty()) return;
  complain<InputError>(
      "[{}] {} needs times that are whole numbers of steps apart, and those of {} are not ({}: {} comes after {}); say "
      "--time-step rows, by which each row is a step, {}.",
      s.source, what, shown(s.time_name), s.spacing(), s.label(row), s.label(row - 1), instead);
}

void name_states(Modelling& m, const Series& s) {
  m.state_names = m.model.state_names();
  for (const Part& part : m.parts)
    if (part.kind == Part::Kind::season && part.name != "season")
      for (int k = 0; k < part.states; ++k)
        m.state_names[static_cast<std::size_t>(part.first + k)] += " (" + part.name + ")";
  for (const Part& part : m.parts)
    if (part.kind == Part::Kind::regression)
      for (int k = 0; k < part.states; ++k)
        m.state_names[static_cast<std::size_t>(part.first + k)] =
            "effect of " + s.regressor_names[static_cast<std::size_t>(k)];
}

// ---- parameters

std::vector<std::string> names_of(const dlm::Model& model) {
  std::vector<std::string> out;
  for (const dlm::ParameterInfo& p : dlm::parameters_of(model)) out.push_back(p.name);
  return out;
}

using Ties = std::vector<std::pair<std::string, std::string>>;

/// What a parameter is called after all ties.
std::string final_name(const Ties& ties, std::string name) {
  for (const auto& [from, to] : ties)
    if (from == name) name = to;
  return name;
}

/// `ties` are those made already.
void require_parameter(const dlm::Model& model, const Ties& ties, const char* option, const std::string& name) {
  const std::vector<std::string> names = names_of(model);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  for (const auto& [from, to] : ties)
    if (from == name)
      complain<UsageError>("[{}] {} is tied away already, by --tie {}; name {} instead.", option, shown(name),
                           shown(from + "=" + to), shown(final_name(ties, name)));
  const std::string nearest = nearest_spelling(name, names);
  complain<UsageError>("[{}] the model has no parameter {}{}; it has: {}.", option, shown(name),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(names, ", "));
}

void rename(dlm::Model& model, const std::string& from, const std::string& to) {
  const auto one = [&](std::string& name) {
    if (name == from) name = to;
  };
  one(model.sd);
  for (dlm::Block& block : model.blocks) {
    if (auto* b = std::get_if<dlm::Trend>(&block)) std::for_each(b->sd.begin(), b->sd.end(), one);
    if (auto* b = std::get_if<dlm::Seasonal>(&block)) one(b->sd);
    if (auto* b = std::get_if<dlm::Spline>(&block)) one(b->sd);
    if (auto* b = std::get_if<dlm::AutoRegression>(&block)) one(b->sd);
    if (auto* b = std::get_if<dlm::Harmonics>(&block)) {
      if (b->sd.empty())  // the names it would have had
        for (const dlm::ParameterInfo& p : dlm::parameters_of({.blocks = {*b}, .sd = ""})) b->sd.push_back(p.name);
      std::for_each(b->sd.begin(), b->sd.end(), one);
    }
  }
}

void tie_parameters(dlm::Model& model, const Options& o) {
  Ties made;
  for (const auto& [from, to] : o.tie) {
    require_parameter(model, made, "--tie", from);
    require_parameter(model, made, "--tie", to);
    for (const dlm::ParameterInfo& p : dlm::parameters_of(model))
      if ((p.name == from || p.name == to) && p.kind == dlm::ParameterInfo::Kind::autoregression)
        complain<UsageError>("[--tie] {} holds coefficients; only standard deviations can be tied.", shown(p.name));
    rename(model, from, to);
    made.emplace_back(from, to);
  }
}

/// The roots of the process tell: partial autocorrelations within ±1, by Levinson's recursion backwards.
bool stationary(std::vector<double> phi) {
  while (!phi.empty()) {
    const double last = phi.back();
    if (!(std::abs(last) < 1)) return false;
    phi.pop_back();
    std::vector<double> before;
    for (std::size_t j = 0; j < phi.size(); ++j)
      before.push_back((phi[j] + last * phi[phi.size() - 1 - j]) / (1 - last * last));
    phi = before;
  }
  return true;
}

void take_values(Modelling& m, const Ties& ties, const char* option,
                 const std::map<std::string, std::vector<double>>& given, dlm::Parameters& to) {
  for (const auto& [name, values] : given) {
    require_parameter(m.model, ties, option, name);
    const auto all = dlm::parameters_of(m.model);
    const auto info =
        *std::find_if(all.begin(), all.end(), [&, &n = name](const dlm::ParameterInfo& p) { return p.name == n; });
    const bool sd = info.kind == dlm::ParameterInfo::Kind::standard_deviation;
    if (static_cast<int>(values.size()) != info.size)
      complain<UsageError>("[{}] {} has {} number{}, but {} are given; separate them by commas.", option, shown(name),
                           info.size, info.size == 1 ? "" : "s", values.size());
    for (const double v : values) {
      if (!std::isfinite(v)) complain<UsageError>("[{}] {} is {}; give a finite number.", option, shown(name), v);
      if (sd && v < 0)
        complain<UsageError>("[{}] {} is {}; it is a standard deviation: give 0 or more.", option, shown(name), v);
      if (sd && v > 1e150)
        complain<UsageError>("[{}] {} is {}, whose square overflows; scale the series.", option, shown(name), v);
      if (sd && v == 0 && std::string_view(option) == "--start")
        complain<UsageError>("[{}] {} starts at 0, from which no search moves; give a number above 0, or use --set.",
                             option, shown(name));
    }
    if (!sd && !stationary(values))
      complain<UsageError>(
          "[{}] {} is not a stationary process, which has nothing to start from; give smaller coefficients.", option,
          shown(name));
    to[name] = sd ? Array::from_host(values, {}) : Array::from_host(values);
  }
}

void sort_parameters(Modelling& m, const Options& o) {
  take_values(m, o.tie, "--set", o.set, m.fixed);
  take_values(m, o.tie, "--start", o.start, m.start);
  std::vector<std::string> zeros;
  for (const dlm::ParameterInfo& p : dlm::parameters_of(m.model)) {
    if (m.fixed.contains(p.name)) continue;
    if (!o.fixed) {
      m.free.push_back(p.name);
    } else if (p.kind == dlm::ParameterInfo::Kind::autoregression) {
      complain<UsageError>("[--fixed] the coefficients {} of the autoregression have no value; add --set {}=….", p.name,
                           p.name);
    } else {
      m.fixed[p.name] = Array::from_host(std::vector<double>{0.0}, {});
      zeros.push_back(p.name);
    }
  }
  if (!zeros.empty()) m.notes.push_back(fmt::format("Not given, and so taken to be 0: {}.", fmt::join(zeros, ", ")));
}

}  // namespace

Modelling choose_model(const Options& o, const Series& s) {
  Modelling m;
  m.model.blocks.clear();
  m.model.first = o.toolbox_start ? dlm::FirstState::toolbox : dlm::FirstState::diffuse;
  refuse_uneven_times(o, s);
  add_blocks(m, o, s);
  tie_parameters(m.model, o);
  name_states(m, s);
  sort_parameters(m, o);
  m.model.times = s.model_times();
  if (!s.scale.empty()) m.model.scale = Array::from_host(s.scale);
  return m;
}

}  // namespace apps
