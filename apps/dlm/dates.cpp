// ISO 8601 dates and their shorter forms, read piece by piece.
#include "dates.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "text.hpp"

namespace apps {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Reads a date piece by piece.
struct Cursor {
  std::string_view rest;

  bool done() const { return rest.empty(); }
  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  /// A number of exactly `count` digits between lo and hi.
  bool digits(std::size_t count, int lo, int hi, int& value) {
    if (rest.size() < count) return false;
    value = 0;
    for (const char c : rest.substr(0, count)) {
      if (c < '0' || c > '9') return false;
      value = 10 * value + (c - '0');
    }
    rest.remove_prefix(count);
    return value >= lo && value <= hi;
  }
};

/// HH:MM[:SS[.fff]][Z|±HH:MM] in seconds from midnight UTC.
std::optional<double> parse_clock(Cursor& in) {
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  if (!in.digits(2, 0, 23, hour) || !in.take(':') || !in.digits(2, 0, 59, minute)) return {};
  if (in.take(':')) {
    if (!in.digits(2, 0, 60, second)) return {};  // 60: a leap second
    if (in.take('.')) {
      int digit = 0;
      if (!in.digits(1, 0, 9, digit)) return {};
      double place = 0.1;
      do fraction += place * digit, place /= 10;
      while (in.digits(1, 0, 9, digit));
    }
  }
  double seconds = 3600.0 * hour + 60.0 * minute + second + fraction;
  if (!in.take('Z')) {
    const int sign = in.take('+') ? 1 : in.take('-') ? -1 : 0;
    if (sign != 0) {
      if (!in.digits(2, 0, 23, hour)) return {};
      minute = 0;
      if (in.take(':') ? !in.digits(2, 0, 59, minute) : !in.done() && !in.digits(2, 0, 59, minute)) return {};
      seconds -= sign * (3600.0 * hour + 60.0 * minute);
    }
  }
  if (!in.done()) return {};
  return seconds;
}

std::chrono::sys_days day_at(double days) {
  return std::chrono::sys_days(std::chrono::days(std::llround(days)));
}

struct DateFormFacts {
  TimeUnit unit;
  std::string_view description;
};
/// In the order of DateForm.
constexpr DateFormFacts date_forms[] = {
    {TimeUnit::none, "a number"},     {TimeUnit::year, "a year"},
    {TimeUnit::quarter, "a quarter"}, {TimeUnit::month, "a month"},
    {TimeUnit::month, "a day"},       {TimeUnit::month, "a day"},
    {TimeUnit::day, "a day"},         {TimeUnit::second, "a day with a time"}};
const DateFormFacts& facts(DateForm form) { return date_forms[static_cast<std::size_t>(form)]; }

}  // namespace

std::optional<Time> parse_date(std::string_view text) {
  Cursor in{text};
  int year = 0, month = 0, day = 0;
  if (!in.digits(4, 0, 9999, year)) return {};
  if (in.done()) return Time{static_cast<double>(year), DateForm::year};
  const bool slash = in.take('/');
  const bool dash = !slash && in.take('-');
  if (!slash && (in.take('Q') || in.take('q'))) {
    int quarter = 0;
    if (!in.digits(1, 1, 4, quarter) || !in.done()) return {};
    return Time{4.0 * year + quarter - 1, DateForm::quarter};
  }
  if ((!slash && !dash) || !in.digits(2, 1, 12, month)) return {};
  if (in.done()) return Time{12.0 * year + month - 1, DateForm::month};
  if (!in.take(slash ? '/' : '-') || !in.digits(2, 1, 31, day)) return {};
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  const double days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (in.done()) return Time{days, DateForm::day};
  if (!in.take('T') && !in.take('t') && !in.take(' ')) return {};
  const std::optional<double> clock = parse_clock(in);
  if (!clock) return {};
  return Time{days * seconds_per_day + *clock, DateForm::second};
}

TimeUnit unit_of(DateForm form) { return facts(form).unit; }

std::string_view name_of(TimeUnit unit) {
  constexpr std::string_view names[] = {"step", "year", "quarter", "month", "day", "second"};
  return names[static_cast<std::size_t>(unit)];
}

std::string_view description_of(DateForm form) { return facts(form).description; }

DateForm count_whole_months(std::vector<double>& days) {
  using namespace std::chrono;
  bool first = true, last = true, several = false;
  double seen = missing;
  for (const double value : days) {
    if (std::isnan(value)) continue;
    const year_month_day date(day_at(value));
    first = first && date.day() == day(1);
    last = last && date == date.year() / date.month() / std::chrono::last;
    several = several || (!std::isnan(seen) && value != seen);
    seen = value;
    if (!first && !last) return DateForm::day;
  }
  if (!several) return DateForm::day;
  for (double& value : days) {
    if (std::isnan(value)) continue;
    const year_month_day date(day_at(value));
    value = 12.0 * static_cast<int>(date.year()) + static_cast<unsigned>(date.month()) - 1;
  }
  return first ? DateForm::month_start : DateForm::month_end;
}

std::string format_time(double time, DateForm form) {
  using namespace std::chrono;
  const std::string plain = fmt::format("{}", time);
  if (!std::isfinite(time)) return plain;
  const TimeUnit unit = unit_of(form);
  const auto date_text = [](const year_month_day& date) {
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  };
  if (unit == TimeUnit::year || unit == TimeUnit::quarter || unit == TimeUnit::month) {
    const int per_year = unit == TimeUnit::year ? 1 : unit == TimeUnit::quarter ? 4 : 12;
    const double whole = std::round(time);
    if (whole < 0 || whole >= 10000.0 * per_year) return plain;
    const int periods = static_cast<int>(whole), calendar_year = periods / per_year,
              part = periods % per_year + 1;
    if (unit == TimeUnit::year) return fmt::format("{:04}", calendar_year);
    if (unit == TimeUnit::quarter) return fmt::format("{:04}-Q{}", calendar_year, part);
    if (form == DateForm::month) return fmt::format("{:04}-{:02}", calendar_year, part);
    const year_month in_month = std::chrono::year(calendar_year) / static_cast<int>(part);
    return date_text(form == DateForm::month_start ? year_month_day(in_month / 1)
                                                   : year_month_day(sys_days(in_month / last)));
  }
  if (unit == TimeUnit::none) return plain;
  const double milliseconds_per_day = 1000 * seconds_per_day;
  const double total =
      unit == TimeUnit::day ? std::round(time) * milliseconds_per_day : std::round(time * 1000);
  const double days_since = std::floor(total / milliseconds_per_day);
  if (days_since < -719528 || days_since > 2932896) return plain;  // 0000-01-01 to 9999-12-31
  const std::string date = date_text(year_month_day(day_at(days_since)));
  if (unit == TimeUnit::day) return date;
  const auto rest = static_cast<std::int64_t>(total - days_since * milliseconds_per_day);
  const std::string clock =
      fmt::format("{}T{:02}:{:02}:{:02}", date, rest / 3600000, rest / 60000 % 60, rest / 1000 % 60);
  return rest % 1000 ? fmt::format("{}.{:03}", clock, rest % 1000) : clock;
}

Time parse_time(std::string_view text) {
  const std::optional<Time> date = parse_date(text);
  if (!date)
    throw CsvError(fmt::format(
        "[csv] {} is not a date; write 2024-01-31, 2024-01, 2024-Q1, 2024 or 2024-01-31T12:00:00.",
        shown(text)));
  return *date;
}

double common_step(std::span<const double> times) {
  if (times.size() < 2) return 0;
  const double step = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  if (!(step > 0) || !std::isfinite(step)) return 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (!(std::abs(times[i] - times[i - 1] - step) <= 1e-9 * step + 1e-15 * std::abs(times[i]))) return 0;
  return times.size() == 2 ? step : times[1] - times[0];
}

}  // namespace apps
