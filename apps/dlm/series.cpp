// Rows are put in the order of time; what cannot be used is refused with its line.
#include "series.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "datasets.hpp"
#include "errors.hpp"
#include "gaps.hpp"
#include "steps.hpp"
#include "text.hpp"

namespace apps {
namespace {

Table read_table(const DataOptions& o) {
  CsvOptions csv{.separator = o.separator, .decimal = o.decimal, .dates = o.dates, .missing = o.missing};
  csv.dates_of = o.time;
  csv.skip_rows = o.skip_rows;
  if (o.source == "-" || std::filesystem::exists(o.source)) return read_csv_file(o.source, csv);
  if (const Dataset* dataset = find_dataset(o.source)) return read_csv(csv_of(*dataset), dataset->name, {});
  std::vector<std::string> names;
  for (const Dataset& dataset : datasets()) names.push_back(dataset.name);
  const std::string nearest = nearest_spelling(o.source, names);
  complain<InputError>(
      "[{}] there is no such file{}; give the path of a CSV file, - for standard input, or one of the "
      "built-in series: {}.",
      o.source, nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(names, ", "));
}

std::vector<double> picked(const std::vector<double>& values, const std::vector<std::size_t>& order) {
  std::vector<double> out;
  for (const std::size_t row : order) out.push_back(values[row]);
  return out;
}

int default_steps(const DataOptions& o, std::size_t given) {
  if (o.steps) return o.steps;
  if (!o.steps_suit) return 0;
  if (given) return static_cast<int>(given);
  double longest = 0;
  for (const Season& season : o.seasons) longest = std::max(longest, season.period);
  return longest > 0 ? static_cast<int>(std::ceil(2 * longest)) : 12;
}

void check_numbers(const Table& table, const std::vector<std::size_t>& order, const Series& s, std::size_t used) {
  for (std::size_t k = 0; k < s.regressors.size(); ++k)
    for (std::size_t i = 0; i < used; ++i)
      if (std::isnan(s.regressors[k][i]))
        complain<InputError>("[{}:{}] the regressor {} is missing; regressors must be known at every step: fill it in.",
                             table.source, table.lines[order[i]], shown(s.regressor_names[k]));
  for (std::size_t i = 0; i < std::min(used, s.scale.size()); ++i)
    if (std::isnan(s.scale[i]) ? i < s.n() && !std::isnan(s.y[i]) : !(s.scale[i] > 0))
      complain<InputError>(
          "[{}:{}] the standard deviation of this observation is {}; it must be a number above 0: correct "
          "the column.",
          table.source, table.lines[order[i]], std::isnan(s.scale[i]) ? "missing" : number_text(s.scale[i]));
  if (!s.log) return;
  for (std::size_t i = 0; i < s.n(); ++i)
    if (s.y[i] <= 0)
      complain<InputError>("[{}:{}] {} has no logarithm; leave out --log, or model a series of positive values.",
                           table.source, table.lines[order[i]], s.y[i]);
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty()) return 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Unknown standard deviations, of missing or future observations, are set to the usual one: they hardly
/// matter.
void fill_scale(Series& s, std::size_t total) {
  if (s.scale.empty()) return;
  const double usual = median(s.scale);
  if (s.scale.size() < total)
    s.notes.push_back(
        fmt::format("Observations to come are taken to have a standard deviation of {}, the median of the column.",
                    number_text(usual)));
  s.scale.resize(total, usual);
  for (double& v : s.scale)
    if (std::isnan(v)) v = usual;
}

}  // namespace

std::size_t Series::observed() const {
  return static_cast<std::size_t>(std::count_if(y.begin(), y.end(), [](double v) { return !std::isnan(v); }));
}

std::vector<double> Series::modelled() const {
  std::vector<double> out = y;
  if (log)
    for (double& v : out) v = std::log(v);
  return out;
}

std::string Series::label(std::size_t i) const {
  const double t = i < n() ? time[i] : future_time.at(i - n());
  return form == DateForm::none ? fmt::format("{:.12g}", t) : format_time(t, form);
}

std::string Series::step_name() const {
  if (counted == TimeSteps::business_days) return "business day";
  if (counted == TimeSteps::rows) return "row";
  std::string unit(name_of(unit_of(form)));
  double count = step;
  if (form == DateForm::none && !time_name.empty()) return fmt::format("{:.6g} of {}", step, time_name);
  struct Longer {
    const char *unit, *name;
    double length;
  };
  for (const Longer& longer : {Longer{"second", "day", 86400},
                               {"second", "hour", 3600},
                               {"second", "minute", 60},
                               {"quarter", "year", 4},
                               {"quarter", "half-year", 2},
                               {"month", "year", 12},
                               {"day", "week", 7}})
    if (unit == longer.unit && step > 0 && std::fmod(step, longer.length) == 0) {
      unit = longer.name;
      count = step / longer.length;
      break;
    }
  return count == 1 ? unit : fmt::format("{:.6g} {}s", count, unit);
}

std::string Series::spacing() const {
  if (counted == TimeSteps::rows) return "each row a step after the one before it";
  if (!common) return fmt::format("unevenly spaced, a step is {}", step_name());
  return (even || on_grid ? "every " : "mostly every ") + step_name();
}

std::string Series::time_in_words() const {
  for (const ColumnUse& use : uses)
    if (use.role == ColumnUse::Role::time && !use.name.empty())
      return fmt::format("column {}{}", shown(use.name), use.words.empty() ? "" : fmt::format(" ({})", use.words));
    else if (use.role == ColumnUse::Role::time)
      return fmt::format("the rows are counted, 1 to {}{}", n(), use.words.empty() ? "" : ": " + use.words);
  return "";
}

std::string Series::values_in_words() const {
  std::string out;
  const auto add = [&](const std::string& what, const ColumnUse& use) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : "; ", what, shown(use.name),
                       use.words.empty() ? "" : fmt::format(" ({})", use.words));
  };
  for (const ColumnUse& use : uses) {
    if (use.role == ColumnUse::Role::values) add("column ", use);
    if (use.role == ColumnUse::Role::regressor) add("regressor ", use);
    if (use.role == ColumnUse::Role::sd) add("standard deviations ", use);
  }
  return out;
}

std::string Series::ignored_in_words() const {
  constexpr std::size_t most = 12;
  std::string out;
  std::size_t count = 0;
  for (const ColumnUse& use : uses) {
    if (use.role != ColumnUse::Role::ignored) continue;
    if (count++ < most) out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", shown(use.name), use.words);
  }
  return count > most ? fmt::format("{} and {} more", out, count - most) : out;
}

std::string Series::gaps_in_words() const {
  std::vector<std::string> out;
  const std::size_t gone = n() - observed();
  const std::string step = step_name();
  const bool one = !step.empty() && (step[0] < '0' || step[0] > '9');
  if (on_grid && absent)
    out.push_back(fmt::format("{} of {} {} {} no row: treated as missing", absent, n() + absent,
                              one ? step + "s" : "steps", absent == 1 ? "has" : "have"));
  if (!on_grid && !even) out.push_back("the uneven steps are part of the model");
  if (gone) out.push_back(fmt::format("{} row{} no value", gone, gone == 1 ? " has" : "s have"));
  return out.empty() ? "none missing" : fmt::format("{}", fmt::join(out, "; "));
}

Series read_series(const DataOptions& o) { return series_of(read_table(o), o); }

Series series_of(const Table& table, const DataOptions& o) {
  Series s;
  s.source = table.source;
  s.log = o.log;
  s.notes = table.notes;
  Roles roles = assign_roles(table, o);
  s.notes.insert(s.notes.end(), roles.notes.begin(), roles.notes.end());
  s.uses = std::move(roles.uses);
  const Column* time = roles.time ? &*roles.time : nullptr;
  const Column& column = *roles.values;
  const Dataset* dataset = find_dataset(table.source);
  s.name = column.name;
  s.title = dataset ? dataset->title : column.name;
  s.value_label = dataset ? dataset->value_label : column.name;
  const std::vector<std::size_t> order = order_of_rows(table, time, o.time_steps, s.notes);
  s.y = picked(column.as_numbers(), order);
  for (const std::string& name : o.regress) {
    s.regressors.push_back(picked(table.numeric(name).as_numbers(), order));
    s.regressor_names.push_back(name);
  }
  if (!o.sd_column.empty()) s.scale = picked(table.numeric(o.sd_column).as_numbers(), order);
  if (time) {
    s.time = picked(time->values, order);
    s.time_name = time->name;
    s.form = time->form;
    s.written = time->written;
  } else {
    for (std::size_t i = 0; i < s.n(); ++i) s.time.push_back(static_cast<double>(i + 1));
  }
  if (s.observed() == 0)
    complain<InputError>("[{}] all {} values of {} are missing; choose another column with --column.", s.source, s.n(),
                         shown(s.name));

  // Rows after the last value are the future, where a forecast is asked for.
  const std::size_t rows = s.n();
  std::size_t last = rows;
  while (std::isnan(s.y[last - 1])) --last;
  const auto steps = static_cast<std::size_t>(default_steps(o, rows - last));
  if (steps > 0) {
    const std::size_t given = std::min(rows - last, steps);
    if (!s.regressors.empty() && given < steps)
      complain<InputError>(
          "[{}] forecasting needs the regressors of every step, {} after the last value, but rows for {} are "
          "there; add rows with regressors and an empty {}, or give a smaller --steps.",
          s.source, steps, given, s.name);
    s.future_time.assign(s.time.begin() + static_cast<std::ptrdiff_t>(last),
                         s.time.begin() + static_cast<std::ptrdiff_t>(last + given));
    s.y.resize(last);
    s.time.resize(last);
  }
  check_numbers(table, order, s, std::min(rows, s.n() + steps));
  const RowNames lines = {table, order};
  place_in_steps(s, o.time_steps, steps, lines);
  const std::size_t total = s.n() + steps;
  for (std::vector<double>& r : s.regressors) r.resize(total);
  if (s.scale.size() > total) s.scale.resize(total);
  fill_scale(s, total);
  if (o.time_steps == TimeSteps::found) doubt_rows_far_away(s, lines);
  remark_on_seasons(s, o);
  remark_on_business_days(s, o);
  remark_on_clock_changes(s);
  remark_on_many_gaps(s, o);
  remark_on_years(s);
  check_codes(s, o);
  return s;
}

}  // namespace apps
