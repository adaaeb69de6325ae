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
  DateOrder order = DateOrder::by_data;
};

/// Neither a reading nor a problem where the numbers are just numbers. A number is only taken for a date where its
/// column's name or place says so too.
DateOutcome read_number_dates(const NumberColumn& column);

/// Seconds from midnight of hours, 0 to 24, or of hhmm, hhmmss or hhmmssfff, with zeros before them or not; NaN for a
/// number that is none, empty where most are none. `digits` is the length of all fields, 0 where these differ.
std::vector<double> read_number_clock(const std::vector<double>& numbers, std::size_t digits);

/// The length of all fields that hold something, where each is digits alone; otherwise 0.
std::size_t common_length(const std::vector<std::string>& fields);

/// hhmm or hhmmss without dates: what is wrong and where, so that nobody takes 1030 for the number after 1000.
DateOutcome doubt_number_clock(const NumberColumn& column);

/// What is said of that field.
constexpr std::string_view unlike_the_others =
    "is not a date, as the other fields of the column are; correct it, describe them by --date-format, or name the "
    "column "
    "of times with --time.";
/// The row of the first field that is no date in a column where nearly all others are.
std::optional<std::size_t> odd_one_out(const NumberColumn& column);

}  // namespace apps
