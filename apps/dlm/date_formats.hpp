// What dates a column of text holds. The order of day and month is decided by the whole column, and asked for
// where it does not tell.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "date_choice.hpp"

namespace apps {

enum class DateOrder { by_data, day_first, month_first };

/// "--day-first".
constexpr std::string_view option_of(DateOrder order) {
  return order == DateOrder::day_first ? "--day-first" : order == DateOrder::month_first ? "--month-first" : "";
}

struct DateOptions {
  std::string format = "";  ///< as for strftime; "": found out
  DateOrder order = DateOrder::by_data;
};

/// `missing(field)` says which fields hold nothing; `named` is the unit that the column's name gives.
DateOutcome read_dates(const std::vector<std::string>& fields, const DateOptions& options,
                       const std::function<bool(const std::string&)>& missing, NamedUnit named = NamedUnit::none);

/// What is said of a time of day that stands alone.
constexpr std::string_view clock_without_date =
    "is a time of day without a date; give the dates in the same column or in one beside it.";

/// Whether a field is a date in some format, though maybe not in one alone.
bool looks_like_date(const std::string& field);

}  // namespace apps
