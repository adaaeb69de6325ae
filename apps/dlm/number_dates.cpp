// A table of the ways to write a date as a number, tried in turn.
#include "number_dates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "date_patterns.hpp"
#include "numbers.hpp"
#include "text.hpp"

namespace apps {
namespace {

constexpr double missing_time = std::numeric_limits<double>::quiet_NaN();

bool all_of(const NumberColumn& c, auto holds) {
  bool any = false;
  for (std::size_t i = 0; i < c.numbers.size(); ++i) {
    if (std::isnan(c.numbers[i])) continue;
    if (!holds(c.numbers[i], c.fields[i])) return false;
    any = true;
  }
  return any;
}
std::size_t count_of(const NumberColumn& c) {
  return static_cast<std::size_t>(
      std::count_if(c.numbers.begin(), c.numbers.end(), [](double v) { return !std::isnan(v); }));
}

bool only_digits(const std::string& field, std::size_t count) {
  return field.size() == count && std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool said(const NumberColumn& c) { return c.hint == NameHint::date || c.hint == NameHint::time; }

/// All fields by a pattern; none unless each is a date between the years 1600 and 2399.
std::optional<DateReading> by_pattern(const NumberColumn& c, const char* pattern, std::size_t digits) {
  if (digits && !all_of(c, [&](double, const std::string& f) { return only_digits(f, digits); })) return {};
  std::optional<DateReading> out = read_dates(c.fields, {.format = pattern}, is_missing).reading;
  if (!out) return {};
  for (const double t : out->times)
    if (const double year = year_of(t, out->form); !std::isnan(t) && (year < 1600 || year > 2399)) return {};
  return out;
}

std::optional<DateReading> years(const NumberColumn& c) {
  const auto is_year = [](double v, const std::string& f) {
    return (only_digits(f, 4) || (f.size() == 6 && f.ends_with(".0"))) && v >= 1000 && v <= 2999;
  };
  if (!all_of(c, is_year)) return {};
  bool growing = true;
  double before = -1;
  for (const double v : c.numbers) {
    if (std::isnan(v)) continue;
    growing = growing && v > before;
    before = v;
  }
  if (c.hint == NameHint::none || c.hint == NameHint::index)
    if (!(c.leads && growing && c.fields.size() > 1 && !c.alone)) return {};
  // What is not called a time counts years only in times that people write about, and an index only one by one.
  const bool written_about = all_of(c, [](double v, const std::string&) { return v >= 1700 && v <= 2100; });
  if ((c.hint == NameHint::none || c.hint == NameHint::index) && !written_about) return {};
  if (c.hint == NameHint::index && common_step(c.numbers) != 1) return {};
  return DateReading{c.numbers, DateForm::year, "years", ""};
}

/// Numbers without a name that says so are dates by chance if there are few of them and of their digits.
bool may_be_dates(const NumberColumn& c, std::size_t enough) {
  if (c.hint == NameHint::date || c.hint == NameHint::time) return true;
  return !c.alone && ((c.leads && in_order(c.numbers)) || count_of(c) >= enough);
}

/// Digits that are a date by a pattern.
struct Code {
  const char* pattern;
  std::size_t digits, enough;  ///< rows that are no chance, where no name says that they are dates
  NamedUnit unit;
  enum Usage {
    common,
    rare,   ///< taken where it spaces the rows evenly, or where the column's name gives the unit
    named,  ///< only where the name gives the unit
  } usage;
};
constexpr Code codes[] = {
    {"%Y%m%d", 8, 8, NamedUnit::day, Code::common},       {"%d%m%Y", 8, 16, NamedUnit::day, Code::rare},
    {"%m%d%Y", 8, 16, NamedUnit::day, Code::rare},        {"%y%m%d%H", 8, 8, NamedUnit::hour, Code::rare},
    {"%Y%j", 7, 8, NamedUnit::day, Code::rare},           {"%Y%m", 6, 16, NamedUnit::month, Code::common},
    {"%G%V", 6, 16, NamedUnit::week, Code::rare},         {"%Y0%q", 6, 16, NamedUnit::quarter, Code::named},
    {"%y%m%d", 6, 16, NamedUnit::day, Code::rare},        {"%d%m%y", 6, 16, NamedUnit::day, Code::rare},
    {"%m%d%y", 6, 16, NamedUnit::day, Code::rare},        {"%Y%q", 5, 16, NamedUnit::quarter, Code::rare},
    {"%y%m", 4, 16, NamedUnit::month, Code::rare},        {"%Y%m%d%H", 10, 4, NamedUnit::hour, Code::common},
    {"%y%m%d%H%M", 10, 4, NamedUnit::hour, Code::common}, {"%Y%m%d%H%M", 12, 4, NamedUnit::hour, Code::common},
    {"%y%m%d%H%M%S", 12, 4, NamedUnit::hour, Code::rare}, {"%Y%m%d%H%M%S", 14, 4, NamedUnit::hour, Code::common},
};
std::string option_for(std::string_view pattern) { return fmt::format("--date-format '{}'", pattern); }

enum class Spacing { even, mostly_even };

void add_codes(const NumberColumn& c, Spacing wanted, std::vector<DateCandidate>& to) {
  for (const Code& code : codes) {
    const bool is_named = c.unit == code.unit;
    if ((code.usage == Code::named && !is_named) || !may_be_dates(c, c.leads ? code.enough / 2 : code.enough)) continue;
    std::optional<DateReading> out = by_pattern(c, code.pattern, code.digits);
    if (!out) continue;
    const bool even =
        wanted == Spacing::even ? count_of(c) > 2 && regularity(out->times) > 0.8 : mostly_even(out->times);
    if (code.usage == Code::rare && !is_named && !even) continue;
    to.push_back({std::move(*out), option_for(code.pattern), code.unit, code.usage == Code::rare});
  }
}

/// Between the years 1600 and 2399.
bool is_date(std::string_view pattern, const std::string& field) {
  DateParts parts;
  if (!match_date(pattern, field, false, parts)) return false;
  const std::optional<Time> time = time_of(parts);
  return time && year_of(time->value, time->form) >= 1600 && year_of(time->value, time->form) < 2400;
}
bool is_dotted_quarter(const std::string& f) { return is_date("%Y.%q", f); }

/// Codes that would be dates but for a mistake or two, which show in the spacing.
DateOutcome doubt_codes(const NumberColumn& c) {
  std::vector<DateCandidate> all;
  add_codes(c, Spacing::mostly_even, all);
  if (all.empty()) return {};
  std::size_t row = 0;
  while (row + 1 < c.fields.size() && std::isnan(all[0].reading.times[row])) ++row;
  return {.problem = fmt::format(
              "may be {} ({}), but not all rows are evenly spaced by it; correct the dates, say {} if they "
              "are right, or --time none: the rows are counted.",
              format_time(all[0].reading.times[row], all[0].reading.form), all[0].reading.format, all[0].option),
          .row = row};
}

/// 2015.1 to 2015.4, quarters where the name says so, where that is even, or where so many are no chance.
void add_dotted_quarters(const NumberColumn& c, std::vector<DateCandidate>& to) {
  if (!said(c) && (!c.leads || c.alone)) return;
  if (!all_of(c, [](double, const std::string& f) { return is_dotted_quarter(f); })) return;
  std::optional<DateReading> out = by_pattern(c, "%Y.%q", 0);
  const std::size_t count = count_of(c);
  if (out && (c.unit == NamedUnit::quarter || count >= 8 || (count > 2 && regularity(out->times) > 0.8)))
    to.push_back({std::move(*out), option_for("%Y.%q"), NamedUnit::quarter});
}

void add_unix_times(const NumberColumn& c, std::vector<DateCandidate>& to) {
  constexpr struct {
    double scale;
    const char* words;
  } units[] = {{1, "Unix seconds"}, {1e3, "Unix milliseconds"}, {1e6, "Unix microseconds"}, {1e9, "Unix nanoseconds"}};
  for (const auto& unit : units) {  // 1973 to 2100
    const bool inside =
        all_of(c, [&](double v, const std::string&) { return v >= 1e8 * unit.scale && v <= 4.1e9 * unit.scale; });
    if (!inside) continue;
    DateReading out{c.numbers, DateForm::second, unit.words, ""};
    for (double& t : out.times) t /= unit.scale;
    const bool regular = in_order(out.times) && count_of(c) > 2 &&
                         all_of(c, [&](double v, const std::string&) { return std::fmod(v, 60 * unit.scale) == 0; });
    if (!said(c) && !(c.leads && !c.alone && regular)) return;
    out.form = simplify(out.times, out.form);
    const bool few_digits =
        unit.scale > 1 && all_of(c, [&](double v, const std::string&) { return v < 1e9 * unit.scale; });
    to.push_back({std::move(out), option_for(unit.scale == 1 ? "%s" : "%Q"), NamedUnit::unix, few_digits});
    return;
  }
}

/// Days since 1899-12-30, as spreadsheets count them, and since 1970, as R does; yyddd is as long as these.
void add_serial_days(const NumberColumn& c, std::vector<DateCandidate>& to) {
  if (c.hint != NameHint::date) return;
  if (!all_of(c, [](double v, const std::string&) { return v >= 10000 && v < 80000; })) return;
  constexpr double of_1990 = 32874;
  const bool early = all_of(c, [](double v, const std::string&) { return v < of_1990; });
  if (std::optional<DateReading> out = by_pattern(c, "%x", 0))
    to.push_back({std::move(*out), option_for("%x"), NamedUnit::none, early});
  if (!early) return;
  for (const auto& [pattern, digits] : {std::pair("%n", 0), std::pair("%y%j", 5)})
    if (std::optional<DateReading> out = by_pattern(c, pattern, static_cast<std::size_t>(digits)))
      to.push_back({std::move(*out), option_for(pattern), NamedUnit::none, true});
}

/// MATLAB's days since the year 0, where the name says that they are.
void add_datenums(const NumberColumn& c, std::vector<DateCandidate>& to) {
  constexpr double of_1970 = 719529;
  if (c.unit != NamedUnit::datenum ||
      !all_of(c, [](double v, const std::string&) { return v >= 580000 && v < 880000; }))
    return;
  DateReading out{c.numbers, DateForm::second, "days since the year 0, as MATLAB counts them", ""};
  for (double& t : out.times) t = (t - of_1970) * seconds_per_day;
  out.form = simplify(out.times, out.form);
  to.push_back({std::move(out), "--time none", NamedUnit::datenum});
}

/// 2010.01 to 2010.12, the last zero written or not, and 01.2010.
std::optional<DateReading> dotted_months(const NumberColumn& c) {
  if (c.hint != NameHint::date && c.hint != NameHint::time && !c.leads) return {};
  if (c.hint == NameHint::none && c.alone) return {};
  if (std::optional<DateReading> out = by_pattern(c, "%m.%Y", 0)) return out;
  DateReading out{std::vector<double>(c.fields.size(), missing_time), DateForm::month, "yyyy.mm", ""};
  const bool good = all_of(c, [&](double v, const std::string& f) {
    const double in = std::floor(v), month = (v - in) * 100;
    const std::size_t point = f.find('.');
    if (point != 4 || f.size() > 7 || in < 1600 || in > 2399) return false;
    if (std::abs(month - std::round(month)) > 1e-6 || month < 0.5 || month > 12.5) return false;
    out.times[static_cast<std::size_t>(&f - c.fields.data())] = 12 * in + std::round(month) - 1;
    return true;
  });
  // Decimal years may look like it for a while: only months one after the other are taken.
  std::vector<double> present = out.times;
  std::erase_if(present, [](double t) { return std::isnan(t); });
  if (!good || present.size() < 3 || common_step(present) != 1) return {};
  return out;
}

double days_of_decimal_year(double v) {
  using namespace std::chrono;
  const double in = std::floor(v);
  const year y(static_cast<int>(in));
  const sys_days start(y / January / 1), next((y + std::chrono::years(1)) / January / 1);
  return static_cast<double>(start.time_since_epoch().count()) + (v - in) * static_cast<double>((next - start).count());
}

/// 2010, 2010.083, 2010.167: parts of the year where they are even, days otherwise.
std::optional<DateReading> decimal_years(const NumberColumn& c) {
  if (!all_of(c, [](double v, const std::string&) { return v >= 1600 && v < 2400; })) return {};
  if (all_of(c, [](double v, const std::string&) { return v == std::floor(v); })) return {};
  if (c.alone || !in_order(c.numbers) || count_of(c) < 3) return {};
  for (const auto& [per_year, form] : {std::pair(4.0, DateForm::quarter), std::pair(12.0, DateForm::month)}) {
    DateReading out{c.numbers, form, "decimal years", ""};
    double least = 1, most = 0;
    for (double& t : out.times) {
      if (std::isnan(t)) continue;
      const double at = t * per_year + 0.1;  // 2010.08 and 2010.0833 are both February
      least = std::min(least, at - std::floor(at)), most = std::max(most, at - std::floor(at));
      t = std::floor(at);
    }
    std::vector<double> present = out.times;
    std::erase_if(present, [](double t) { return std::isnan(t); });
    std::sort(present.begin(), present.end());
    const bool even = common_step(present) > 0 && (said(c) || c.leads);
    if (most - least < 0.3 && (said(c) || even) && in_order(out.times)) return out;
  }
  if (!said(c)) return {};
  DateReading out{c.numbers, DateForm::day, "decimal years", ""};
  for (double& t : out.times)
    if (!std::isnan(t)) t = std::round(days_of_decimal_year(t));
  if (in_order(out.times)) return out;
  out.form = DateForm::second;
  for (std::size_t i = 0; i < c.numbers.size(); ++i)
    if (!std::isnan(c.numbers[i])) out.times[i] = std::round(days_of_decimal_year(c.numbers[i]) * seconds_per_day);
  return out;
}

/// Ways to write a time of day as a number.
struct ClockDigits {
  std::size_t length;  ///< with zeros before it
  double least;        ///< what one number of a column in five reaches
  double per_second;   ///< units of the last digit; 0: minutes or hours

  double seconds(double v) const {
    if (!(v >= 0) || (per_second != 1 && v != std::floor(v))) return missing_time;
    const double hours = length == 2 ? v : std::floor(v / (length == 4 ? 100 : 10000 * per_second));
    const double minutes = length == 2   ? 0
                           : length == 4 ? std::fmod(v, 100)
                                         : std::fmod(std::floor(v / (100 * per_second)), 100);
    const double seconds = length <= 4 ? 0 : std::fmod(v / per_second, 100);
    const double out = 3600 * hours + 60 * minutes + seconds;
    return minutes < 60 && seconds < 60 && out <= seconds_per_day ? out : missing_time;
  }
};
constexpr ClockDigits clock_digits[] = {{2, 0, 0}, {4, 100, 0}, {6, 2401, 1}, {9, 1e7, 1000}};

using Test = std::function<bool(const std::string&, double)>;

/// The first field that fails where nearly all others pass.
std::optional<std::size_t> odd_row(const NumberColumn& c, const Test& test) {
  std::size_t fit = 0, count = 0;
  std::optional<std::size_t> odd;
  for (std::size_t i = 0; i < c.fields.size(); ++i) {
    if (is_missing(c.fields[i])) continue;
    ++count;
    if (test(c.fields[i], c.numbers[i]))
      ++fit;
    else if (!odd)
      odd = i;
  }
  return odd && count >= 4 && 10 * fit >= 7 * count ? odd : std::nullopt;
}

Test test_of(const Code& code) {
  return [&](const std::string& f, double) { return only_digits(f, code.digits) && is_date(code.pattern, f); };
}

/// The dates of the fields that are some.
bool others_are_even(const NumberColumn& c, const Code& code) {
  std::vector<double> times;
  DateParts parts;
  const Test test = test_of(code);
  for (std::size_t i = 0; i < c.fields.size(); ++i)
    if (test(c.fields[i], c.numbers[i]) && match_date(code.pattern, c.fields[i], false, parts))
      times.push_back(time_of(parts)->value);
  return times.size() >= 6 && (regularity(times) > 0.8 || mostly_even(times));
}

/// yyyymmddHH with a mistake in it is no Unix time, and 2015.1 to 2015.4 with one are no decimal years.
std::optional<std::size_t> odd_among_dates(const NumberColumn& c) {
  if (c.unit == NamedUnit::unix) return {};
  if (const auto row = odd_row(c, [](const std::string& f, double) { return is_dotted_quarter(f); })) return row;
  for (const Code& code : codes)
    if (code.unit == NamedUnit::hour && code.usage == Code::common)
      if (const std::optional<std::size_t> row = odd_row(c, test_of(code))) return row;
  return {};
}

/// yyyyww by the column's name that are no weeks of ISO 8601.
DateOutcome doubt_weeks(const NumberColumn& c) {
  const auto has_week = [](double v, const std::string& f) {
    return only_digits(f, 6) && v >= 160000 && v < 240000 && std::fmod(v, 100) <= 54;
  };
  if (!all_of(c, has_week)) return {};
  for (std::size_t i = 0; i < c.fields.size(); ++i) {
    DateParts parts;
    if (is_missing(c.fields[i]) || (match_date("%G%V", c.fields[i], false, parts) && time_of(parts))) continue;
    return {.problem =
                "is no week of ISO 8601, which has weeks 1 to 52, and 53 in years with 53 Thursdays; another "
                "calendar's weeks are counted by --time none, or give the date that each begins on.",
            .row = i};
  }
  return {};
}

}  // namespace

DateOutcome read_number_dates(const NumberColumn& c) {
  std::vector<DateCandidate> all;
  if (std::optional<DateReading> out = years(c)) all.push_back({std::move(*out), option_for("%Y"), NamedUnit::year});
  add_codes(c, Spacing::even, all);
  add_dotted_quarters(c, all);
  if (const std::optional<std::size_t> row = all.empty() && (said(c) || c.leads) ? odd_among_dates(c) : std::nullopt)
    return {.problem = std::string(unlike_the_others), .row = *row};
  add_unix_times(c, all);
  if (std::optional<DateReading> out = dotted_months(c))
    all.push_back({std::move(*out), option_for("%Y.%m"), NamedUnit::month});
  else if (std::optional<DateReading> decimal = decimal_years(c))
    all.push_back({std::move(*decimal), "--time none", NamedUnit::none});
  add_serial_days(c, all);
  add_datenums(c, all);
  if (all.empty())
    if (DateOutcome doubt = doubt_codes(c); !doubt.problem.empty()) return doubt;
  // ddmmyyyy and mmddyyyy, where the order of them is given.
  const auto ordered = [&](const DateCandidate& to) {
    return to.option.find(c.order == DateOrder::day_first ? "'%d%m" : "'%m%d") != std::string::npos;
  };
  if (c.order != DateOrder::by_data && std::any_of(all.begin(), all.end(), ordered))
    std::erase_if(all, [&](const DateCandidate& to) { return !ordered(to); });
  if (c.unit == NamedUnit::week)
    if (DateOutcome doubt = doubt_weeks(c); !doubt.problem.empty()) return doubt;
  return choose_reading(std::move(all), c.unit);
}

std::size_t common_length(const std::vector<std::string>& fields) {
  std::size_t length = 0;
  for (const std::string& f : fields) {
    if (is_missing(f)) continue;
    if (!only_digits(f, length ? length : f.size())) return 0;
    length = f.size();
  }
  return length;
}

std::vector<double> read_number_clock(const std::vector<double>& numbers, std::size_t digits) {
  std::vector<double> best;
  std::size_t most = 0;
  const auto count = [&](auto holds) {
    return static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), holds));
  };
  const std::size_t present = count([](double v) { return !std::isnan(v); });
  const bool told = std::any_of(std::begin(clock_digits), std::end(clock_digits),
                                [&](const ClockDigits& way) { return way.length == digits && digits > 2; });
  for (const ClockDigits& way : clock_digits) {
    // Without zeros before them, more than a mistake or two must be as large as the way has it.
    if (told ? way.length != digits : 5 * count([&](double v) { return v >= way.least; }) <= present) continue;
    std::vector<double> out;
    for (const double v : numbers) out.push_back(way.seconds(v));
    const auto good =
        static_cast<std::size_t>(std::count_if(out.begin(), out.end(), [](double v) { return !std::isnan(v); }));
    if (good > most) best = std::move(out), most = good;
  }
  if (2 * most <= present) best.clear();
  return best;
}

DateOutcome doubt_number_clock(const NumberColumn& c) {
  if (c.unit != NamedUnit::clock && c.unit != NamedUnit::hour) return {};
  for (const auto& [way, words] : {std::pair(clock_digits[1], "hhmm"), std::pair(clock_digits[2], "hhmmss")}) {
    const auto is_clock = [&](const std::string& f, double v) {
      return only_digits(f, way.length) && !std::isnan(way.seconds(v));
    };
    if (const std::optional<std::size_t> row = odd_row(c, is_clock);
        row && std::any_of(c.fields.begin(), c.fields.end(), [](const std::string& f) { return f.starts_with("0"); }))
      return {
          .problem = fmt::format("is no time of day ({}), as the other fields of the column are; correct it.", words),
          .row = *row};
  }
  const std::size_t length = common_length(c.fields);
  const std::vector<double> clock = read_number_clock(c.numbers, length);
  const auto padded = [&](double, const std::string&) { return length == 4 || length == 6; };
  const bool any_wrong = std::any_of(clock.begin(), clock.end(), [](double v) { return std::isnan(v); });
  if (clock.empty() || any_wrong || !in_order(clock) || count_of(c) < 3) return {};
  const bool more_even = regularity(clock) > 1.2 * regularity(c.numbers);
  if (!more_even && !(all_of(c, padded) && c.fields[0].starts_with('0'))) return {};
  return {.problem = std::string(clock_without_date), .row = 0};
}

std::optional<std::size_t> odd_one_out(const NumberColumn& c) {
  if (!said(c) && (!c.leads || c.alone)) return {};
  if (const std::optional<std::size_t> row = odd_among_dates(c)) return row;
  const auto is_unix = [](double v) {
    return (v >= 1e8 && v <= 4.1e9 && std::fmod(v, 60) == 0) || (v >= 1e11 && v <= 4.1e12 && std::fmod(v, 60000) == 0);
  };
  std::vector<Test> tests = {[&](const std::string&, double v) { return is_unix(v); }};
  for (const Code& code : codes) {
    const bool expected = code.usage == Code::common || c.unit == code.unit;
    if (expected || (code.usage == Code::rare && (c.hint == NameHint::date || others_are_even(c, code))))
      tests.push_back(test_of(code));
  }
  if (said(c)) tests.push_back([&](const std::string& f, double) { return only_digits(f, 4) && is_date("%Y", f); });
  for (const Test& test : tests)
    if (const std::optional<std::size_t> row = odd_row(c, test)) return row;
  return {};
}

}  // namespace apps
