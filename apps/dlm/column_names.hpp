// What a column's name says of its content.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace apps {

enum class NameHint {
  none,
  index,  ///< counts rows: "index", "id", no name
  time,   ///< "t", "month", "hour"
  date    ///< "date", "timestamp", "order_date"
};
NameHint hint_of_name(const std::string& name);

/// The unit of time that a name gives: it decides between readings of the same digits.
enum class NamedUnit {
  none,
  year,
  financial_year,  ///< "FY", also of sports: "season"
  quarter,
  month,
  week,
  day,
  hour,    ///< "hour", "yyyymmddhh"
  clock,   ///< "time", "hhmm"
  unix,    ///< "epoch", "unix_time"
  datenum  ///< MATLAB's
};
NamedUnit unit_of_name(std::string_view name);

/// What names rows and places, and measures nothing: "customer_id", "OrderID", "zip", "lat". `surely`: other words of
/// the name cannot make it a count, as they do of "sunspot number".
bool is_identifier_by_name(std::string_view name, bool& surely);

/// The words of a name in small letters: "ObsYear" and "obs_year" are "obs", "year".
std::vector<std::string> words_of_name(std::string_view name);

}  // namespace apps
