// Rows that are not there are as missing as values that are not there.
#include "gaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "text.hpp"

namespace apps {
namespace {

double steps_from_start(const Series& s, std::size_t i) { return (s.time[i] - s.time[0]) / s.step; }

/// "Saturday", "February", "06:00", or "position 5".
std::string name_of_position(const Series& s, std::size_t position, double period) {
  const double time = s.time[0] + static_cast<double>(position) * s.step;
  constexpr const char* weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
  constexpr const char* months[] = {"January", "February", "March",     "April",   "May",      "June",
                                    "July",    "August",   "September", "October", "November", "December"};
  const std::string step = s.step_name();
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

}  // namespace

void find_gaps(Series& s) {
  s.on_grid = s.n() < 2 || s.step > 0;
  for (std::size_t i = 0; i < s.n() && s.on_grid; ++i) {
    const double steps = steps_from_start(s, i);
    s.on_grid = std::abs(steps - std::round(steps)) < 1e-6;
  }
  if (!s.on_grid || s.n() < 2) return;
  const double places = std::round(steps_from_start(s, s.n() - 1)) + 1;
  s.absent = static_cast<std::size_t>(std::max(0.0, places - static_cast<double>(s.n())));
}

void remark_on_seasons(Series& s, const DataOptions& o) {
  if (!s.on_grid) return;
  for (const Season& season : o.seasons) {
    if (season.harmonics || season.period != std::floor(season.period) || season.period > 1e5) continue;
    const auto period = static_cast<std::size_t>(season.period);
    std::vector<bool> seen(period, false);
    for (std::size_t i = 0; i < s.n(); ++i)
      if (!std::isnan(s.y[i]))
        seen[static_cast<std::size_t>(std::llround(steps_from_start(s, i))) % period] = true;
    std::vector<std::string> never;
    for (std::size_t k = 0; k < period; ++k)
      if (!seen[k]) never.push_back(name_of_position(s, k, season.period));
    if (never.empty()) continue;
    const std::size_t count = never.size();
    if (count > 7) never.resize(7), never.emplace_back("…");
    s.notes.push_back(fmt::format(
        "Of the {} positions of the season, {} {} never observed ({}): what is said of {} there comes from "
        "the model's "
        "assumptions alone.",
        period, count, count == 1 ? "is" : "are", fmt::join(never, ", "), count == 1 ? "it" : "them"));
  }
}

void remark_on_codes(Series& s) {
  for (const double code : {-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0}) {
    const auto count = std::count(s.y.begin(), s.y.end(), code);
    if (count == 0) continue;
    double low = INFINITY, high = -INFINITY;
    for (const double v : s.y)
      if (!std::isnan(v) && v != code) low = std::min(low, v), high = std::max(high, v);
    const double away = code < low ? low - code : code - high;
    if (!(low <= high) || away < 3 * std::max(high - low, 1e-9 * std::abs(code))) continue;
    s.notes.push_back(
        fmt::format("{} stands in {} row{}, far from all other values; if it means that a value is missing, "
                    "leave the field empty.",
                    number_text(code, 6), count, count == 1 ? "" : "s"));
  }
}

}  // namespace apps
