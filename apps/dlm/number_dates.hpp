// Dates that are written as plain numbers: years, yyyymmdd, Unix times, serial days of spreadsheets.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "date_formats.hpp"

namespace apps {

/// What a column's name says of it.
enum class NameHint {
  none,
  index,  ///< counts rows: "index", "id", no name
  time,   ///< "t", "month", "hour"
  date    ///< "date", "timestamp", "order_date"
};
NameHint hint_of_name(const std::string& name);

struct NumberColumn {
  const std::vector<std::string>& fields;
  const std::vector<double>& numbers;  ///< NaN where missing or not a number
  NameHint hint;
  bool leads;  ///< the first column
  bool alone;  ///< no other column holds numbers
};

/// Nothing where the numbers are just numbers. A number is only taken for a date where its column's name or
/// place says so too.
std::optional<DateReading> read_number_dates(const NumberColumn& column);

/// The row of the first field that is no date in a column where nearly all others are.
std::optional<std::size_t> odd_one_out(const NumberColumn& column);

}  // namespace apps
