// Dates as numbers that count years, quarters, months, days or seconds, and back.
#pragma once
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

/// What is wrong with the input, where, and what to do about it.
class CsvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What one step of 1 on a time axis means.
enum class TimeUnit { none, year, quarter, month, day, second };

/// What the dates of a column are, so that later dates can be written the same way. Dates that all fall on
/// one day of the month, or all on the last, count months: monthly data is equally spaced. Weeks count days, halves of
/// years count quarters.
enum class DateForm { none, year, half, quarter, month, day_of_month, month_end, week, day, second };

TimeUnit unit_of(DateForm form);
std::string_view name_of(TimeUnit unit);
/// "a month", for messages.
std::string_view description_of(DateForm form);

/// A date as counted by its unit: years from year 0, quarters and months from the start of year 0, days and
/// seconds from 1970-01-01 (UTC where no zone is given).
struct Time {
  double value;
  DateForm form;
};
constexpr double seconds_per_day = 86400;

/// The year that a time lies in.
double year_of(double time, DateForm form);

/// The date at a time, by ISO 8601; plain digits for DateForm::none and for times outside of the years 0 to
/// 9999.
std::string format_time(double time, DateForm form);

/// The step between neighbours if it is the same positive number everywhere (to 1e-9), else 0.
double common_step(std::span<const double> times);

/// How well times fill an even grid, 0 to 1; less where they are not in order, 0 where one comes twice.
double regularity(const std::vector<double>& times);
/// Most steps are of one size, as those of a time with a mistake in it are.
bool mostly_even(const std::vector<double>& values);
/// Strictly rising or strictly falling; NaN is left out.
bool in_order(const std::vector<double>& times);

/// Times that all fall on midnight, or once a month on the same time of the day, become days; days that all fall on the
/// same or on the last day of their month become months, and so do days that come once a month within the same week of
/// it: last business days, third Fridays. NaN is missing.
DateForm simplify(std::vector<double>& times, DateForm form);

// Times that are even but for the digits that they are written with: 0.00, 0.33, 0.67, or 0.1 s as a double of 1.6e9.

/// What doubles of this size cannot tell apart.
double resolution_of(const std::vector<double>& times);

struct RoundedGrid {
  double step, deviation;  ///< the largest one
  std::vector<double> positions;
};

/// Nothing where the times lie further from even steps than rounding to the unit puts them, or where the unit is too
/// large beside the step to tell.
std::optional<RoundedGrid> even_but_for_rounding(const std::vector<double>& times, double unit);

/// Seconds that are whole seconds or minutes but for rounding become these; true where they do.
bool round_to_clock(std::vector<double>& seconds, double unit);

}  // namespace apps
