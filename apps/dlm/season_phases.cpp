// Times count from the start of year 0, or from 1970-01-01, a Thursday: what is left after whole periods is
// the phase.
#include "season_phases.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace apps {
namespace {

constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr const char* weekdays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr double hour = 3600, day = 24 * hour, days_from_monday = 3;

double remainder(double value, double of) { return value - of * std::floor(value / of); }

std::string clock(double seconds) {
  const int minutes = static_cast<int>(std::floor(seconds / 60 + 1e-6));
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

}  // namespace

SeasonPhases::SeasonPhases(const Series& s, double period) : series_(s), period_(period) {
  const double span = period * s.step;
  const TimeUnit unit = unit_of(s.form);
  const auto is = [&](double length) { return std::abs(span - length) < 1e-9 * length; };
  if (unit == TimeUnit::month && is(12)) kind_ = Kind::month;
  if (unit == TimeUnit::quarter && is(4)) kind_ = Kind::quarter;
  if (unit == TimeUnit::day && is(7)) kind_ = Kind::weekday;
  if (unit == TimeUnit::day && std::abs(span - 365.25) < 2) kind_ = Kind::day_of_year;
  if (unit == TimeUnit::second && is(day)) kind_ = Kind::hour;
  if (unit == TimeUnit::second && is(7 * day)) kind_ = Kind::hour_of_week;
}

double SeasonPhases::position(std::size_t row) const {
  const double time = series_.time[row];
  switch (kind_) {
    case Kind::counted:
      return remainder(std::round((time - series_.time[0]) / series_.step * 1e6) / 1e6, period_);
    case Kind::month:
      return remainder(time, 12);
    case Kind::quarter:
      return remainder(time, 4);
    case Kind::weekday:
      return remainder(time + days_from_monday, 7);
    case Kind::hour:
      return remainder(time, day) / hour;
    case Kind::hour_of_week:
      return remainder(time + days_from_monday * day, 7 * day) / day;
    case Kind::day_of_year: {
      const std::chrono::sys_days date{std::chrono::days(std::llround(time))};
      const auto year = std::chrono::year_month_day(date).year();
      return static_cast<double>((date - std::chrono::sys_days(year / std::chrono::January / 1)).count());
    }
  }
  return 0;
}

std::string SeasonPhases::label(std::size_t row) const {
  const double at = position(row);
  switch (kind_) {
    case Kind::counted:
      return fmt::format("step {:g}", at);
    case Kind::month:
      return months[static_cast<std::size_t>(at)];
    case Kind::quarter:
      return fmt::format("Q{:g}", at + 1);
    case Kind::weekday:
      return weekdays[static_cast<std::size_t>(at)];
    case Kind::hour:
      return clock(at * hour);
    case Kind::hour_of_week:
      return fmt::format("{} {}", weekdays[static_cast<std::size_t>(at)], clock(remainder(at, 1) * day));
    case Kind::day_of_year: {
      const std::chrono::year_month_day date(std::chrono::sys_days(std::chrono::days(std::llround(series_.time[row]))));
      return fmt::format("{} {}", months[static_cast<unsigned>(date.month()) - 1], static_cast<unsigned>(date.day()));
    }
  }
  return "";
}

std::vector<Tick> SeasonPhases::ticks() const {
  std::vector<Tick> out;
  switch (kind_) {
    case Kind::counted:
      break;
    case Kind::month:
      for (int k = 0; k < 12; ++k) out.push_back({static_cast<double>(k), months[k], ""});
      break;
    case Kind::quarter:
      for (int k = 0; k < 4; ++k) out.push_back({static_cast<double>(k), fmt::format("Q{}", k + 1), ""});
      break;
    case Kind::weekday:
    case Kind::hour_of_week:
      for (int k = 0; k < 7; ++k) out.push_back({static_cast<double>(k), weekdays[k], ""});
      break;
    case Kind::hour:
      for (int k = 0; k < 24; k += 3) out.push_back({static_cast<double>(k), clock(k * hour), ""});
      break;
    case Kind::day_of_year:
      for (int k = 0; k < 12; ++k) out.push_back({std::floor(k * 30.44), months[k], ""});
      break;
  }
  return out;
}

std::string SeasonPhases::axis_label() const { return kind_ == Kind::counted ? "step of the season, from 0" : ""; }

}  // namespace apps
