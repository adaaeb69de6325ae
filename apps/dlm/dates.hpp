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

/// How the dates of a column were written, so that later dates can be written the same way. Dates that all
/// fall on the first, or all on the last, day of a month count months: monthly data is equally spaced.
enum class DateForm { none, year, quarter, month, month_start, month_end, day, second };

TimeUnit unit_of(DateForm form);
std::string_view name_of(TimeUnit unit);

/// The date at a time that parse_time() or a date Column counted; plain digits for DateForm::none and for
/// times outside of the years 0 to 9999.
std::string format_time(double time, DateForm form);

/// A date as counted by its unit: years from year 0, quarters and months from the start of year 0, days and
/// seconds from 1970-01-01 (UTC where no zone is given).
struct Time {
  double value;
  DateForm form;
};
/// Throws CsvError when the text is none of the date forms that read_csv() knows.
Time parse_time(std::string_view text);

/// The step between neighbours if it is the same positive number everywhere (to 1e-9), else 0.
double common_step(std::span<const double> times);

/// The same without an error.
std::optional<Time> parse_date(std::string_view text);
/// "a month", for messages.
std::string_view description_of(DateForm form);
constexpr double seconds_per_day = 86400;

/// Days, all of which are the first, or all the last, of their month, become months; others stay as they are.
DateForm count_whole_months(std::vector<double>& days);

}  // namespace apps
