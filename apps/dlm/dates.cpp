// Counting by std::chrono's calendar.
#include "dates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

namespace apps {
namespace {

/// The day of the month of DateForm::day_of_month is a fraction of a month, the same in each.
constexpr double days_in_a_slot = 32;

std::chrono::sys_days day_at(double days) { return std::chrono::sys_days(std::chrono::days(std::llround(days))); }
double month_count(const std::chrono::year_month_day& date) {
  return 12.0 * static_cast<int>(date.year()) + static_cast<unsigned>(date.month()) - 1;
}

struct DateFormFacts {
  TimeUnit unit;
  std::string_view description;
};
/// In the order of DateForm.
constexpr DateFormFacts date_forms[] = {{TimeUnit::none, "a number"},       {TimeUnit::year, "a year"},
                                        {TimeUnit::quarter, "half a year"}, {TimeUnit::quarter, "a quarter"},
                                        {TimeUnit::month, "a month"},       {TimeUnit::month, "a day"},
                                        {TimeUnit::month, "a day"},         {TimeUnit::day, "a week"},
                                        {TimeUnit::day, "a day"},           {TimeUnit::second, "a day with a time"}};
const DateFormFacts& facts(DateForm form) { return date_forms[static_cast<std::size_t>(form)]; }

std::string date_text(const std::chrono::year_month_day& date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

/// ISO weeks belong to the year of their Thursday.
std::string week_text(std::chrono::sys_days day) {
  using namespace std::chrono;
  const sys_days monday = day - (weekday(day) - Monday), thursday = monday + days(3);
  const year in = year_month_day(thursday).year();
  const auto week = (thursday - sys_days(in / January / 1)).count() / 7 + 1;
  return fmt::format("{:04}-W{:02}", static_cast<int>(in), week);
}

std::string period_text(double time, DateForm form) {
  using namespace std::chrono;
  const TimeUnit unit = unit_of(form);
  const int per_year = unit == TimeUnit::year ? 1 : unit == TimeUnit::quarter ? 4 : 12;
  const double whole = form == DateForm::day_of_month ? std::floor(time + 1e-6) : std::round(time);
  if (whole < 0 || whole >= 10000.0 * per_year) return fmt::format("{}", time);
  const int periods = static_cast<int>(whole), in_year = periods / per_year, part = periods % per_year + 1;
  if (unit == TimeUnit::year) return fmt::format("{:04}", in_year);
  if (form == DateForm::half) return fmt::format("{:04}-H{}", in_year, part / 2 + 1);
  if (unit == TimeUnit::quarter) return fmt::format("{:04}-Q{}", in_year, part);
  if (form == DateForm::month) return fmt::format("{:04}-{:02}", in_year, part);
  const year_month month = year(in_year) / part;
  if (form == DateForm::month_end) return date_text(year_month_day(sys_days(month / last)));
  return date_text(month / (1 + static_cast<int>(std::lround((time - whole) * days_in_a_slot))));
}

/// What the days of a column have in common.
struct DayFacts {
  bool same = true, last = true;  ///< day of the month
  unsigned earliest = 31, latest = 1;
  bool once_a_month = true;
  bool even = false;  ///< every 28 days
  unsigned day = 0;
  std::size_t count = 0;
};

DayFacts facts_of(std::vector<double> days) {
  using namespace std::chrono;
  std::erase_if(days, [](double v) { return std::isnan(v); });
  std::sort(days.begin(), days.end());
  DayFacts out;
  double month_before = -1e9;
  for (const double value : days) {
    const year_month_day date(day_at(value));
    const auto day = static_cast<unsigned>(date.day());
    if (out.count++ == 0) out.day = day;
    out.same = out.same && day == out.day && day <= 28;
    out.last = out.last && date == date.year() / date.month() / last;
    out.earliest = std::min(out.earliest, day), out.latest = std::max(out.latest, day);
    out.once_a_month = out.once_a_month && month_count(date) > month_before;
    month_before = month_count(date);
  }
  out.even = common_step(days) > 0;
  return out;
}

DateForm months_of(std::vector<double>& days) {
  const DayFacts facts = facts_of(days);
  constexpr std::size_t several = 4;  // last business days and third Fridays need some evidence
  const bool within_a_week = facts.latest - facts.earliest < 7;
  DateForm form = DateForm::day;
  if (!facts.once_a_month || facts.count < 2)
    return form;
  else if (facts.same)
    form = DateForm::day_of_month;
  else if (facts.last)
    form = DateForm::month_end;
  else if (within_a_week && !facts.even && facts.count >= several)
    form = DateForm::month;
  if (form == DateForm::day) return form;
  for (double& value : days) {
    if (std::isnan(value)) continue;
    value = month_count(std::chrono::year_month_day(day_at(value)));
    if (form == DateForm::day_of_month) value += (facts.day - 1) / days_in_a_slot;
  }
  return form;
}

/// Whether the grid's nodes are no further from the times than rounding may put them; sets its deviation.
bool explains(RoundedGrid& grid, const std::vector<double>& times, double unit) {
  double least = 0, most = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double off = times[i] - times[0] - grid.step * grid.positions[i];
    least = std::min(least, off), most = std::max(most, off);
  }
  grid.deviation = std::max(most, -least);
  return grid.deviation <= unit * (1 + 1e-6) && most - least <= 1.5 * unit;
}

}  // namespace

TimeUnit unit_of(DateForm form) { return facts(form).unit; }

std::string_view name_of(TimeUnit unit) {
  constexpr std::string_view names[] = {"step", "year", "quarter", "month", "day", "second"};
  return names[static_cast<std::size_t>(unit)];
}

std::string_view description_of(DateForm form) { return facts(form).description; }

DateForm simplify(std::vector<double>& times, DateForm form) {
  const auto midnight = [](double t) { return std::isnan(t) || std::fmod(t, seconds_per_day) == 0; };
  if (form == DateForm::second && std::all_of(times.begin(), times.end(), midnight)) {
    for (double& t : times) t /= seconds_per_day;
    form = DateForm::day;
  }
  if (form == DateForm::second) {  // at the same time of each day, once a month
    std::vector<double> days = times;
    const auto clock = [](double t) { return t - std::floor(t / seconds_per_day) * seconds_per_day; };
    const auto first = std::find_if(times.begin(), times.end(), [](double t) { return !std::isnan(t); });
    for (double& t : days) {
      if (std::isnan(t)) continue;
      if (clock(t) != clock(*first)) return form;
      t = std::floor(t / seconds_per_day);
    }
    if (const DateForm months = months_of(days); months != DateForm::day) {
      times = days;
      return months;
    }
  }
  return form == DateForm::day ? months_of(times) : form;
}

double year_of(double time, DateForm form) {
  const TimeUnit unit = unit_of(form);
  if (unit == TimeUnit::day || unit == TimeUnit::second) {
    constexpr double days_per_year = 365.2425;
    return std::floor(1970 + time / (unit == TimeUnit::day ? 1 : seconds_per_day) / days_per_year);
  }
  return std::floor(time / (unit == TimeUnit::quarter ? 4 : unit == TimeUnit::month ? 12 : 1));
}

std::string format_time(double time, DateForm form) {
  using namespace std::chrono;
  const std::string plain = fmt::format("{}", time);
  const TimeUnit unit = unit_of(form);
  if (!std::isfinite(time) || unit == TimeUnit::none) return plain;
  if (unit != TimeUnit::day && unit != TimeUnit::second) return period_text(time, form);
  constexpr double milliseconds_per_day = 1000 * seconds_per_day;
  const double total = unit == TimeUnit::day ? std::round(time) * milliseconds_per_day : std::round(time * 1000);
  const double days_since = std::floor(total / milliseconds_per_day);
  if (days_since < -719528 || days_since > 2932896) return plain;  // 0000-01-01 to 9999-12-31
  if (form == DateForm::week) return week_text(day_at(days_since));
  const std::string date = date_text(year_month_day(day_at(days_since)));
  if (unit == TimeUnit::day) return date;
  const auto rest = static_cast<std::int64_t>(total - days_since * milliseconds_per_day);
  const std::string clock =
      fmt::format("{}T{:02}:{:02}:{:02}", date, rest / 3600000, rest / 60000 % 60, rest / 1000 % 60);
  return rest % 1000 ? fmt::format("{}.{:03}", clock, rest % 1000) : clock;
}

bool in_order(const std::vector<double>& times) {
  double before = std::numeric_limits<double>::quiet_NaN(), direction = 0;
  for (const double t : times) {
    if (std::isnan(t)) continue;
    if (!std::isnan(before)) {
      const double step = t - before;
      if (step == 0 || step * direction < 0) return false;
      direction = step;
    }
    before = t;
  }
  return true;
}

double regularity(const std::vector<double>& times) {
  std::vector<double> sorted;
  std::copy_if(times.begin(), times.end(), std::back_inserter(sorted), [](double t) { return !std::isnan(t); });
  if (sorted.size() < 2) return 1;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> steps;
  for (std::size_t i = 1; i < sorted.size(); ++i) steps.push_back(sorted[i] - sorted[i - 1]);
  const double shortest = *std::min_element(steps.begin(), steps.end());
  if (!(shortest > 0)) return 0;
  const double places = (sorted.back() - sorted.front()) / shortest + 1;
  const double fill = static_cast<double>(sorted.size()) / places;
  return in_order(times) ? fill : 0.3 * fill;
}

bool mostly_even(const std::vector<double>& values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (const double step = values[i] - values[i - 1]; !std::isnan(step)) steps.push_back(step);
  std::sort(steps.begin(), steps.end());  // more than half of them: then the middle one is of them
  if (steps.size() < 4) return false;
  const double usual = steps[steps.size() / 2];
  const auto equal = std::count_if(steps.begin(), steps.end(),
                                   [&](double s) { return std::abs(s - usual) <= 1e-9 * std::abs(usual); });
  return usual != 0 && 10 * static_cast<std::size_t>(equal) >= 7 * steps.size();
}

double common_step(std::span<const double> times) {
  if (times.size() < 2) return 0;
  const double step = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  if (!(step > 0) || !std::isfinite(step)) return 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (!(std::abs(times[i] - times[i - 1] - step) <= 1e-9 * step + 1e-15 * std::abs(times[i]))) return 0;
  return times.size() == 2 ? step : times[1] - times[0];
}

double resolution_of(const std::vector<double>& times) {
  double largest = 0;
  for (const double t : times)
    if (std::isfinite(t)) largest = std::max(largest, std::abs(t));
  return std::nextafter(largest, std::numeric_limits<double>::infinity()) - largest;
}

std::optional<RoundedGrid> even_but_for_rounding(const std::vector<double>& times, double unit) {
  constexpr std::size_t few = 4, enough = 10;
  if (times.size() < few || !(unit > 0)) return {};
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  std::vector<double> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  if (!(sorted[0] > 0) || !std::isfinite(middle) || unit > (times.size() < enough ? 0.1 : 0.34) * middle) return {};
  double sum = 0, count = 0;  // of single steps: their rounding cancels
  for (const double gap : gaps)
    if (std::round(gap / middle) == 1) sum += gap, ++count;
  RoundedGrid out{sum / std::max(count, 1.0), 0, {0}};
  for (const double gap : gaps) {
    const double steps = std::round(gap / out.step);
    if (!(steps >= 1)) return {};
    out.positions.push_back(out.positions.back() + steps);
  }
  out.step = (times.back() - times.front()) / out.positions.back();
  RoundedGrid round = out;  // a number of few digits, where one will do as well
  for (const double digits : {1.0, 2.0, 3.0}) {
    const double size = std::pow(10.0, std::floor(std::log10(out.step)) + 1 - digits);
    round.step = std::round(out.step / size) * size;
    if (explains(round, times, unit)) return round;
  }
  return explains(out, times, unit) ? std::optional(out) : std::nullopt;
}

bool round_to_clock(std::vector<double>& seconds, double unit) {
  for (const double clock : {60.0, 1.0}) {
    if (unit > clock / 4) continue;
    const bool all = std::all_of(seconds.begin(), seconds.end(), [&](double t) {
      return std::isnan(t) || std::abs(t - std::round(t / clock) * clock) <= 0.5 * unit + 1e-3;
    });
    if (!all) continue;
    for (double& t : seconds) t = std::round(t / clock) * clock;
    return true;
  }
  return false;
}

}  // namespace apps
