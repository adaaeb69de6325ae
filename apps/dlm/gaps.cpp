// Rows that are not there are as missing as values that are not there.
#include "gaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "errors.hpp"
#include "steps.hpp"
#include "text.hpp"

namespace apps {
namespace {

/// "Saturday", "February", "06:00", or "position 5".
std::string name_of_position(const Series& s, std::size_t position, double period) {
  const double time = s.time[0] + static_cast<double>(position) * s.step;
  constexpr const char* weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr const char* months[] = {"January", "February", "March",     "April",   "May",      "June",
                                    "July",    "August",   "September", "October", "November", "December"};
  const std::string step = s.step_name();
  if (s.counted == TimeSteps::business_days && period == 5) {
    const std::chrono::sys_days first{std::chrono::days(std::llround(s.time[0]))};
    return weekdays[(std::chrono::weekday(first).c_encoding() - 1 + position) % 5 + 1];
  }
  if (s.counted != TimeSteps::calendar) return fmt::format("position {}", position + 1);
  if (unit_of(s.form) == TimeUnit::day && s.step == 1 && period == 7) {
    const std::chrono::sys_days day{std::chrono::days(std::llround(time))};
    return weekdays[std::chrono::weekday(day).c_encoding()];
  }
  if (unit_of(s.form) == TimeUnit::month && s.step == 1 && period == 12)
    return months[static_cast<std::size_t>(std::floor(time + 1e-6)) % 12];
  if (step == "hour" && period == 24)
    return fmt::format("{:02}:00", static_cast<int>(std::floor(std::fmod(time, 86400) / 3600)));
  return fmt::format("position {}", position + 1);
}

/// Nines, limits of integers, huge round numbers: what programs write for values that they do not have. Others are
/// suspect where they come again and again.
bool looks_like_code(double value, std::size_t count, double distance) {
  for (const double code : {99.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0, 99.9, 999.9, 9999.9, 99.99, 999.99,
                            32767.0, 32768.0, 65535.0, 2147483647.0, 2147483648.0})
    if (std::abs(value) == code) return true;
  return std::abs(value) >= 1e15 || (count > 1 && distance > 10);
}

}  // namespace

void remark_on_seasons(Series& s, const DataOptions& o) {
  if (!s.on_grid) return;
  for (const Season& season : o.seasons) {
    if (season.harmonics || season.period != std::floor(season.period) || season.period > 1e5) continue;
    const auto period = static_cast<std::size_t>(season.period);
    std::vector<bool> seen(period, false);
    for (std::size_t i = 0; i < s.n(); ++i)
      if (!std::isnan(s.y[i])) seen[static_cast<std::size_t>(std::llround(s.positions[i])) % period] = true;
    std::vector<std::string> never;
    for (std::size_t k = 0; k < period; ++k)
      if (!seen[k]) never.push_back(name_of_position(s, k, season.period));
    if (never.empty()) continue;
    const std::size_t count = never.size();
    if (count > 7) never.resize(7), never.emplace_back("…");
    s.notes.push_back(
        fmt::format("Of the {} positions of the season, {} {} never observed ({}): what is said of {} there comes from "
                    "the model's "
                    "assumptions alone.",
                    period, count, count == 1 ? "is" : "are", fmt::join(never, ", "), count == 1 ? "it" : "them"));
  }
}

void remark_on_business_days(Series& s, const DataOptions& o) {
  constexpr std::size_t two_weeks = 10;
  if (s.form != DateForm::day || s.step != 1 || s.counted != TimeSteps::calendar || s.n() < two_weeks) return;
  if (o.time_steps == TimeSteps::calendar) return;
  const auto on_weekend = [](double t) {
    const unsigned day = std::chrono::weekday(std::chrono::sys_days{std::chrono::days(std::llround(t))}).c_encoding();
    return day == 0 || day == 6;
  };
  if (std::any_of(s.time.begin(), s.time.end(), on_weekend)) return;
  std::string season;
  for (const Season& given : o.seasons) {
    if (given.period == 7) return;  // the note on its positions says it
    if (given.period < 365 && std::fmod(given.period, 7) != 0)
      season = fmt::format(", so that a season of {:g} days does not keep to the days of the week", given.period);
  }
  s.notes.push_back(
      fmt::format("No row falls on a Saturday or Sunday, and steps are days of the calendar: weekends are missing "
                  "values{}. With --time-step business-days Monday is the step after Friday.",
                  season));
}

void remark_on_years(Series& s) {
  const std::chrono::year_month_day now(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  constexpr int to_come = 100, gregorian = 1583;
  if (s.form == DateForm::none) return;
  const double first = year_of(s.time.front(), s.form), last = year_of(s.time.back(), s.form);
  const char* calendar = last > static_cast<int>(now.year()) + to_come ? "Buddhist years are 543 ahead"
                         : first < gregorian && s.form != DateForm::year
                             ? "dates of the Persian and the Islamic calendar look like it"
                             : nullptr;
  if (calendar)
    s.notes.push_back(
        fmt::format("The times are {} to {} by the Gregorian calendar; {}.", s.label(0), s.label(s.n() - 1), calendar));
}

void remark_on_many_gaps(Series& s, const DataOptions& o) {
  if (!s.on_grid || s.absent <= s.n() || s.counted != TimeSteps::calendar || o.time_steps == TimeSteps::calendar)
    return;
  s.notes.push_back(
      "More steps have no row than have one. If nothing is missing there, as between the hours of trading, --time-step "
      "rows takes each row as the step after the one before it.");
}

void remark_on_clock_changes(Series& s) {
  if (s.form != DateForm::second || s.counted != TimeSteps::calendar || s.step > 3600) return;
  for (std::size_t i = 1; i < s.n(); ++i) {
    const double expected = s.time[i - 1] + s.step, gap = s.time[i] - expected;
    if (gap != 3600 || !may_be_clock_change(expected)) continue;
    s.notes.push_back(
        fmt::format("The hour from {} is not there: this looks like local time with daylight saving, when clocks go "
                    "forward. It is taken as missing; give times in UTC or with their offset, or say --time-step rows.",
                    format_time(expected, s.form)));
    return;
  }
}

void check_codes(Series& s, const DataOptions& o) {
  double low = INFINITY, high = -INFINITY;
  for (const double v : s.y)
    if (!std::isnan(v)) low = std::min(low, v), high = std::max(high, v);
  for (const double code : {low, high}) {
    const auto count = static_cast<std::size_t>(std::count(s.y.begin(), s.y.end(), code));
    double nearest = INFINITY, lowest = INFINITY, highest = -INFINITY;
    for (const double v : s.y)
      if (!std::isnan(v) && v != code)
        nearest = std::min(nearest, std::abs(v - code)), lowest = std::min(lowest, v), highest = std::max(highest, v);
    if (!(lowest < highest) || 2 * count > s.observed()) continue;
    const double distance = nearest / (highest - lowest);
    const std::string words =
        fmt::format("{:g} stands in {} row{}, far from all other values", code, count, count == 1 ? "" : "s");
    const std::string option = fmt::format("--missing {:g}", code);
    const bool kept = std::find(o.missing.begin(), o.missing.end(), "none") != o.missing.end();
    const double size = std::max({highest - lowest, std::abs(highest), std::abs(lowest)});
    if (nearest > 1e6 * size && !kept)
      complain<InputError>(
          "[{}] {} ({:g} to {:g}); if it means that a value is missing, say {}, and --missing none if not.", s.source,
          words, lowest, highest, option);
    if (distance >= 3 && looks_like_code(code, count, distance))
      s.notes.push_back(fmt::format("{}; if it means that a value is missing, say {}.", words, option));
  }
}

}  // namespace apps
