// A year that stands in several rows is a part of a date, and so is a day with a time beside it.
#include "joined_dates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "date_patterns.hpp"
#include "number_dates.hpp"
#include "numbers.hpp"
#include "text.hpp"

namespace apps {
namespace {

constexpr double missing_time = std::numeric_limits<double>::quiet_NaN();

class Joiner {
 public:
  Joiner(const Table& table, const std::function<bool(const Column&)>& may_use) : table_(table), may_use_(may_use) {}

  std::optional<JoinedDates> join() {
    if (std::optional<JoinedDates> parts = from_year()) return parts;
    for (const Column& c : table_.columns) {  // Obs_Year, Obs_Month
      std::vector<std::string> words = words_of_name(c.name);
      if (std::erase_if(words, [](const std::string& w) { return w == "year" || w == "yr" || w == "jahr"; }) != 1 ||
          words.empty())
        continue;
      stem_ = words;
      if (std::optional<JoinedDates> parts = from_year()) return parts;
    }
    stem_.clear();
    return from_day();
  }

 private:
  const Column* named(std::initializer_list<const char*> names) const {
    for (const Column& c : table_.columns)
      for (const char* name : names)
        if (is_called(c.name, name) && may_use_(c) && c.problem.empty()) return &c;
    return nullptr;
  }
  /// The name, besides the words that all parts have in common.
  bool is_called(const std::string& name, const std::string& wanted) const {
    if (stem_.empty()) return lower(name) == wanted;
    std::vector<std::string> words = words_of_name(name);
    return std::erase(words, wanted) == 1 && words == stem_;
  }
  static bool repeats(const std::vector<double>& values) {
    std::set<double> seen;
    return std::any_of(values.begin(), values.end(),
                       [&](double v) { return !std::isnan(v) && !seen.insert(v).second; });
  }
  /// January, Jan, M01.
  static int month_of(const std::string& field) {
    DateParts parts;
    return match_date("M%m", field, false, parts) ? parts.month : month_of_name(field);
  }
  /// Whole numbers in the range, or names of months; empty where the column holds something else.
  static std::vector<double> part(const Column& c, double least, double most) {
    std::vector<double> out = c.is_numeric() ? c.as_numbers() : std::vector<double>();
    if (c.kind == ColumnKind::text && most == 12)
      for (const std::string& field : c.text) out.push_back(is_missing(field) ? missing_time : month_of(field));
    if (c.kind == ColumnKind::text && most == 4)  // Q1
      for (const std::string& f : c.text) out.push_back(f.size() == 2 && (f[0] == 'Q' || f[0] == 'q') ? f[1] - '0' : 0);
    for (const double v : out)
      if (!std::isnan(v) && !(v == std::floor(v) && v >= least && v <= most)) return {};
    return out;
  }

  std::optional<JoinedDates> from_year() const {
    const Column* year = named({"year", "yr", "yyyy", "jahr"});
    const Column* month = named({"month", "mon", "mo", "mm", "monat", "period"});
    const Column* quarter = named({"quarter", "qtr", "q"});
    if (!year || !year->is_numeric()) return {};
    const std::vector<double> years = part(*year, 1000, 2999);
    if (years.empty() || !repeats(years)) return {};
    if (!month)
      if (const Column* week = named({"week", "wk", "kw", "woche", "isoweek", "iso_week", "ww", "weekno"}))
        return by_days(*year, *week, 53, DateForm::week,
                       [](int in, int number) { return DateParts{.year = in, .week = number}; });
    if (!month)
      if (const Column* doy = named({"doy", "yday", "dayofyear", "day_of_year", "jday", "julian", "julian day"}))
        return by_days(*year, *doy, 366, DateForm::day,
                       [](int in, int number) { return DateParts{.year = in, .day_of_year = number}; });
    if (!month && !quarter) return {};
    if (!month) {
      const std::vector<double> quarters = part(*quarter, 1, 4);
      return made({year, quarter}, DateForm::quarter, quarters.empty(),
                  [&](std::size_t i) { return 4 * years[i] + quarters[i] - 1; });
    }
    const std::vector<double> months = part(*month, 1, 12);
    const Column* day = named({"day", "dd", "dom", "mday", "tag"});
    const std::vector<double> days = day ? part(*day, 1, 31) : std::vector<double>();
    const auto by_month = [&](std::size_t i) { return 12 * years[i] + months[i] - 1; };
    if (months.empty() || days.empty()) return made({year, month}, DateForm::month, months.empty(), by_month);
    const auto by_day = [&](std::size_t i) {
      if (std::isnan(years[i]) || std::isnan(months[i]) || std::isnan(days[i])) return missing_time;
      const std::chrono::year_month_day date =
          std::chrono::year(static_cast<int>(years[i])) / static_cast<int>(months[i]) / static_cast<int>(days[i]);
      if (!date.ok())
        throw CsvError(
            fmt::format("[csv] {}:{}: there is no day {} in month {} of {}; correct the row, or name the "
                        "column of times with --time.",
                        table_.source, table_.lines[i], days[i], months[i], years[i]));
      return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
    };
    std::optional<JoinedDates> joined = made({year, month, day}, DateForm::day, false, by_day);
    joined = with_hours(std::move(joined));
    joined->column.form = simplify(joined->column.values, joined->column.form);
    return joined;
  }

  /// A year and a number within it, a week or a day, of which there may be none.
  std::optional<JoinedDates> by_days(const Column& year, const Column& within, double most, DateForm form,
                                     DateParts (*parts)(int, int)) const {
    const std::vector<double> years = part(year, 1000, 2999), numbers = part(within, 0, most);
    std::optional<JoinedDates> joined = made({&year, &within}, form, numbers.empty(), [&](std::size_t i) {
      if (std::isnan(years[i]) || std::isnan(numbers[i])) return missing_time;
      const DateParts date = parts(static_cast<int>(years[i]), static_cast<int>(numbers[i]));
      const std::optional<Time> time = numbers[i] < 1 ? std::nullopt : time_of(date);
      if (!time)
        throw CsvError(
            fmt::format("[csv] {}:{}: there is no {} {} of {}{}; correct the row, or name the column of times "
                        "with --time (--time none: the rows are counted).",
                        table_.source, table_.lines[i], within.name, numbers[i], years[i],
                        form == DateForm::week ? " by ISO 8601" : ""));
      return time->value;
    });
    if (!joined || form == DateForm::week) return joined;
    joined = with_hours(std::move(joined));
    joined->column.form = simplify(joined->column.values, joined->column.form);
    return joined;
  }

  std::optional<JoinedDates> from_day() const {
    for (const Column& c : table_.columns) {
      if (c.kind != ColumnKind::date || !may_use_(c) || !c.problem.empty()) continue;
      if (c.form != DateForm::day || !repeats(c.values)) continue;
      JoinedDates days{c, {c.name}};
      if (std::optional<JoinedDates> timed = with_hours(days); timed && timed->parts.size() > 1) return timed;
    }
    return {};
  }

  /// Seconds from midnight: of 12:30, and of numbers where the column's name says hours or times. NaN for a field that
  /// is no time of day, empty where most are none.
  static std::vector<double> clock_of(const Column& c) {
    const NamedUnit unit = unit_of_name(c.name);
    const std::size_t digits = c.text.empty() ? c.digits : common_length(c.text);
    std::vector<double> numbers = c.is_numeric() ? c.as_numbers() : std::vector<double>();
    // 1000 to 1900 may have been taken for years, and 100101 for a day that is followed by others or is not.
    if (!c.is_numeric() && digits)
      for (const std::string& field : c.text) {
        double value = missing_time;
        if (!is_missing(field)) parse_number(field, value);
        numbers.push_back(value);
      }
    if (!numbers.empty())
      return unit == NamedUnit::hour || unit == NamedUnit::clock ? read_number_clock(numbers, digits)
                                                                 : std::vector<double>();
    std::vector<double> clock;
    for (const std::string& field : c.text) clock.push_back(parse_clock(field).value_or(missing_time));
    const auto wrong = std::count_if(clock.begin(), clock.end(), [](double v) { return std::isnan(v); });
    if (2 * wrong >= static_cast<std::ptrdiff_t>(clock.size())) clock.clear();
    return clock;
  }

  /// Days and a column with the time of day.
  std::optional<JoinedDates> with_hours(std::optional<JoinedDates> days) const {
    if (!days || !repeats(days->column.values)) return days;
    for (const Column& c : table_.columns) {
      if (!may_use_(c) || c.name == days->column.name) continue;
      const std::vector<double> clock = clock_of(c);
      if (clock.empty()) continue;
      const auto wrong = std::find_if(clock.begin(), clock.end(), [](double v) { return std::isnan(v); });
      if (wrong != clock.end())
        throw CsvError(
            fmt::format("[csv] {}:{}, column {}: this is no time of day, as the other fields of the column are; "
                        "correct it, or name the column of times with --time.",
                        table_.source, table_.lines[static_cast<std::size_t>(wrong - clock.begin())], shown(c.name)));
      for (std::size_t i = 0; i < clock.size(); ++i)
        days->column.values[i] = days->column.values[i] * seconds_per_day + clock[i];
      if (std::find(clock.begin(), clock.end(), seconds_per_day) != clock.end())
        days->column.why = "hour 24 is the next day's 00:00";
      days->column.form = DateForm::second;
      days->column.written = c.text.empty() ? c.written : unit_of_clocks(c.text);
      days->parts.push_back(c.name);
      days->column.name = fmt::format("{}", fmt::join(days->parts, " "));
      return days;
    }
    return days;
  }

  template <class Value>
  std::optional<JoinedDates> made(std::initializer_list<const Column*> from, DateForm form, bool not_there,
                                  Value value) const {
    if (not_there) return {};
    JoinedDates out;
    for (const Column* c : from) out.parts.push_back(c->name);
    out.column.name = fmt::format("{}", fmt::join(out.parts, " "));
    out.column.kind = ColumnKind::date;
    for (std::size_t i = 0; i < table_.rows(); ++i) out.column.values.push_back(value(i));
    out.column.form = form;
    return out;
  }

  const Table& table_;
  const std::function<bool(const Column&)>& may_use_;
  std::vector<std::string> stem_ = {};
};

}  // namespace

std::optional<JoinedDates> join_dates(const Table& table, const std::function<bool(const Column&)>& may_use) {
  return Joiner(table, may_use).join();
}

}  // namespace apps
