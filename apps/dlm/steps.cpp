// Positions are what the model sees; times stay as they were written.
#include "steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "errors.hpp"
#include "text.hpp"

namespace apps {
namespace {

/// The step that occurs most often, the smallest of several; the middle one where hardly a step is like
/// another.
double usual_step(const std::vector<double>& time, bool& common, double unit = 0) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < time.size(); ++i) {
    steps.push_back(time[i] - time[i - 1]);
    if (unit > 0) steps.back() = std::round(steps.back() / unit) * unit;
  }
  if (steps.empty()) return 1;
  std::sort(steps.begin(), steps.end());
  double best = steps[0];
  std::size_t most = 0;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i;
    while (end < steps.size() && steps[end] <= steps[i] * (1 + 1e-9)) ++end;
    if (end - i > most) most = end - i, best = steps[i];
    i = end;
  }
  common = 10 * most >= steps.size();
  return common ? best : steps[steps.size() / 2];
}

// ---- stamps beside a grid

struct Grid {
  double step, deviation;  ///< the largest one, in seconds
  std::vector<double> positions;
};

/// The round number of seconds next to a step that is a little off.
std::optional<double> round_step(double step) {
  for (const double unit : {1.0, 60.0, 3600.0, seconds_per_day})
    for (const double count : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30})
      if (std::abs(step - unit * count) <= 0.02 * unit * count) return unit * count;
  return {};
}

/// Stamps of a clock that is a little early or late: 10:00:01, 10:59:58.
std::optional<Grid> grid_near(const std::vector<double>& time) {
  constexpr double tolerance = 0.1;  // of a step
  if (time.size() < 6) return {};
  std::vector<double> steps;
  for (std::size_t i = 1; i < time.size(); ++i) steps.push_back(time[i] - time[i - 1]);
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2), steps.end());
  const std::optional<double> step = round_step(steps[steps.size() / 2]);
  if (!step) return {};
  Grid out{*step, 0, {}};
  std::vector<double> off;  // from the grid of the first row, whose own place is the middle one of them
  for (const double t : time) {
    const double at = (t - time[0]) / *step;
    out.positions.push_back(std::round(at));
    off.push_back(at - std::round(at));
    if (out.positions.size() > 1 && out.positions.back() <= out.positions[out.positions.size() - 2]) return {};
  }
  const auto [least, most] = std::minmax_element(off.begin(), off.end());
  if (*most - *least > 2 * tolerance) return {};
  std::vector<double> sorted = off;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  out.deviation = *step * std::max(*most - middle, middle - *least);
  return out;
}

// ---- business days

/// Mondays to Fridays since a Monday; none on a weekend.
std::optional<double> business_day(double day) {
  const double since_monday = day + 3;  // 1970-01-01 was a Thursday
  const double week = std::floor(since_monday / 7), weekday = since_monday - 7 * week;
  if (weekday > 4) return {};
  return 5 * week + weekday;
}
double next_business_day(double day) {
  do ++day;
  while (!business_day(day));
  return day;
}

void place_in_business_days(Series& s, std::size_t forecast, const RowNames& rows) {
  if (s.form != DateForm::day)
    complain<InputError>("[{}] --time-step business-days is for days, and a step of the times is a {}; leave it out.",
                         s.source, s.step_name());
  s.counted = TimeSteps::business_days;
  s.step = 1, s.common = true;
  while (s.future_time.size() < forecast)
    s.future_time.push_back(next_business_day(s.future_time.empty() ? s.time.back() : s.future_time.back()));
  for (std::size_t i = 0; i < s.n() + forecast; ++i) {
    const double day = i < s.n() ? s.time[i] : s.future_time[i - s.n()];
    const std::optional<double> at = business_day(day);
    if (!at)
      complain<InputError>("[{}] {} is no business day, Monday to Friday; remove the row, or leave out --time-step.",
                           rows[i], format_time(day, s.form));
    s.positions.push_back(*at - business_day(s.time[0]).value());
  }
}

void place_as_rows(Series& s, std::size_t forecast) {
  s.counted = TimeSteps::rows;
  s.step = usual_step(s.time, s.common);
  while (s.future_time.size() < forecast)
    s.future_time.push_back((s.future_time.empty() ? s.time.back() : s.future_time.back()) + s.step);
  s.positions.resize(s.n() + forecast);
  std::iota(s.positions.begin(), s.positions.end(), 0.0);
}

/// Steps that are even but for rounding of what is written, or of doubles: 0.33, 0.67, 1.00.
bool place_by_rounding(Series& s, const std::vector<double>& given, double unit, double resolution) {
  std::optional<RoundedGrid> grid = even_but_for_rounding(given, std::max(unit, 4 * resolution));
  if (!grid) return false;
  s.step = grid->step, s.common = true;
  s.positions = std::move(grid->positions);
  if (grid->deviation > 4 * resolution)
    s.notes.push_back(
        fmt::format("The times lie up to {:.3g}{} beside even steps, as rounding to the digits written may put them; "
                    "they are taken "
                    "as every {}.",
                    grid->deviation, s.form == DateForm::second ? " s" : "", s.step_name()));
  return true;
}

void place_by_calendar(Series& s, std::size_t forecast) {
  std::vector<double> given = s.time;
  given.insert(given.end(), s.future_time.begin(), s.future_time.end());
  const bool rounded = s.form == DateForm::second || s.form == DateForm::none;
  const double resolution = resolution_of(given), digit = rounded ? s.written : 0;
  // Whole numbers of the last digit, where doubles are finer than that.
  const double unit = digit > 4 * resolution ? digit : 0;
  s.step = usual_step(s.time, s.common, unit);
  for (const double t : given) {
    const double since = unit > 0 ? std::round((t - given[0]) / unit) * unit : t - given[0];
    const double at = since / s.step, nearest = std::round(at);
    s.positions.push_back(std::abs(at - nearest) < 1e-6 ? nearest : at);
  }
  const bool whole = std::all_of(s.positions.begin(), s.positions.end(), [](double p) { return p == std::floor(p); });
  const bool done = whole || (digit > 0 && place_by_rounding(s, given, digit, resolution));
  if (std::optional<Grid> grid = done || s.form != DateForm::second ? std::nullopt : grid_near(given)) {
    s.step = grid->step, s.common = true;
    s.positions = std::move(grid->positions);
    s.notes.push_back(fmt::format("The times lie up to {:.3g} s beside even steps; they are taken as every {}.",
                                  grid->deviation, s.step_name()));
  }
  while (s.future_time.size() < forecast) {
    s.future_time.push_back((s.future_time.empty() ? s.time.back() : s.future_time.back()) + s.step);
    s.positions.push_back(s.positions.back() + 1);
  }
}

void find_gaps(Series& s) {
  const auto whole = [](double p) { return p == std::floor(p); };
  s.on_grid = std::all_of(s.positions.begin(), s.positions.begin() + static_cast<std::ptrdiff_t>(s.n()), whole);
  s.even = true;
  for (std::size_t i = 1; i < s.positions.size(); ++i)
    s.even = s.even && std::abs(s.positions[i] - s.positions[i - 1] - 1) < 1e-9;
  if (s.on_grid) s.absent = static_cast<std::size_t>(s.positions[s.n() - 1]) + 1 - s.n();
}

}  // namespace

std::string RowNames::operator[](std::size_t row) const {
  return row < order.size() ? fmt::format("{}:{}", table.source, table.lines[order[row]]) : table.source;
}

bool may_be_clock_change(double seconds) {
  using namespace std::chrono;
  const double days = std::floor(seconds / seconds_per_day), hour = (seconds - days * seconds_per_day) / 3600;
  const sys_days day{std::chrono::days(static_cast<int>(days))};
  const auto month = static_cast<unsigned>(year_month_day(day).month());
  const bool season = month == 3 || month == 4 || (month >= 9 && month <= 11);
  return season && weekday(day) == Sunday && hour < 4;
}

std::vector<std::size_t> order_of_rows(const Table& table, const Column* time, TimeSteps steps,
                                       std::vector<std::string>& notes) {
  std::vector<std::size_t> order(table.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!time) return order;
  for (std::size_t row = 0; row < order.size(); ++row)
    if (std::isnan(time->values[row]))
      complain<InputError>(
          "[{}:{}] the time ({}) is missing; fill it in, remove the row, or choose another column with "
          "--time.",
          table.source, table.lines[row], shown(time->name));
  const auto label = [&](std::size_t row) { return format_time(time->values[row], time->form); };
  if (steps == TimeSteps::rows) {
    if (time->values.front() > time->values.back()) std::reverse(order.begin(), order.end());
    return order;
  }
  const auto earlier = [&](std::size_t a, std::size_t b) { return time->values[a] < time->values[b]; };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::vector<std::size_t> falls;
    for (std::size_t row = 1; row < order.size(); ++row)
      if (earlier(row, row - 1)) falls.push_back(row);
    std::stable_sort(order.begin(), order.end(), earlier);
    const bool few = 10 * falls.size() <= order.size();
    notes.push_back(fmt::format(
        "The rows were not in the order of time; they have been sorted{}.",
        few ? fmt::format(" (line {}, {}, comes after {})", table.lines[falls[0]], label(falls[0]), label(falls[0] - 1))
            : ""));
  }
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (time->values[order[i]] != time->values[order[i - 1]]) continue;
    const std::string twice = fmt::format("[{}:{}] the time {} is also that of line {}", table.source,
                                          table.lines[order[i]], label(order[i]), table.lines[order[i - 1]]);
    if (time->form == DateForm::second && may_be_clock_change(time->values[order[i]]))
      complain<InputError>(
          "{}: this looks like local time with daylight saving, where an hour comes twice when clocks go back; give "
          "times in UTC or with their offset (2020-10-25T02:00+02:00), or say --time-step rows: each row is the step "
          "after the one before it.",
          twice);
    complain<InputError>(
        "{}; give each time once (several series need a file each), or choose another column with --time. Parts of a "
        "date "
        "in columns of their own are joined where these are called year, month, week, day, doy, hour or time.",
        twice);
  }
  return order;
}

void place_in_steps(Series& s, TimeSteps steps, std::size_t forecast, const RowNames& rows) {
  if (steps == TimeSteps::business_days)
    place_in_business_days(s, forecast, rows);
  else if (steps == TimeSteps::rows)
    place_as_rows(s, forecast);
  else
    place_by_calendar(s, forecast);
  find_gaps(s);
}

void doubt_rows_far_away(Series& s, const RowNames& rows) {
  constexpr double far = 50;  // steps
  const std::size_t n = s.n(), few = std::max<std::size_t>(2, n / 50);
  if (s.form == DateForm::none || n < 5) return;
  for (const bool at_end : {false, true})
    for (std::size_t count = 1; count <= few && count + 2 < n; ++count) {
      const std::size_t cut = at_end ? n - count : count;  // the first row after the gap
      const double gap = s.positions[cut] - s.positions[cut - 1];
      const double others = at_end ? s.positions[cut - 1] - s.positions[0] : s.positions[n - 1] - s.positions[cut];
      if (gap <= far) continue;
      const std::size_t odd = at_end ? cut : cut - 1, near = at_end ? cut - 1 : cut;
      const std::string words = fmt::format("{} lies {:.0f} steps (each a {}) from its neighbour {}", s.label(odd), gap,
                                            s.step_name(), s.label(near));
      if (gap > 2 * others)
        complain<InputError>(
            "[{}] the time {}, further than the other rows reach in all; correct it or remove the row. If it is right: "
            "--time-step calendar takes the steps between as missing, --time-step rows takes each row as the step "
            "after "
            "the one before it.",
            rows[odd], words);
      s.notes.push_back(fmt::format("The time {}: look whether it is right ({}).", words, rows[odd]));
      break;
    }
}

}  // namespace apps
