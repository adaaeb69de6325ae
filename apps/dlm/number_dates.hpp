// Dates that are written as plain numbers: years, yyyymmdd, Unix times, serial days of spreadsheets.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "date_formats.hpp"

namespace apps {

struct NumberColumn {
  const std::vector<std::string>& fields;
  const std::vector<double>& numbers;  ///< NaN where missing or not a number
  NameHint hint;
  NamedUnit unit;  ///< that the column's name gives
  bool leads;      ///< the first column
  bool alone;      ///< no other column holds numbers
};

/// Neither a reading nor a problem where the numbers are just numbers. A number is only taken for a date where its
/// column's name or place says so too.
DateOutcome read_number_dates(const NumberColumn& column);

/// Seconds from midnight of hhmm, such as 930 or 0930, or of hours, 0 to 24; NaN for a number that is neither, empty
/// where most are.
std::vector<double> read_number_clock(const std::vector<double>& numbers);

/// hhmm without dates: what is wrong and where, so that nobody takes 1030 for the number after 1000.
DateOutcome doubt_number_clock(const NumberColumn& column);

/// What is said of that field.
constexpr std::string_view unlike_the_others =
    "is not a date, as the other fields of the column are; correct it, describe them by --date-format, or name the "
    "column "
    "of times with --time.";
/// The row of the first field that is no date in a column where nearly all others are.
std::optional<std::size_t> odd_one_out(const NumberColumn& column);

}  // namespace apps
