// What dates a column of text holds. The order of day and month is decided by the whole column, and asked for
// where it does not tell.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dates.hpp"

namespace apps {

enum class DateOrder { by_data, day_first, month_first };

struct DateOptions {
  std::string format = "";  ///< as for strftime; "": found out
  DateOrder order = DateOrder::by_data;
};

struct DateReading {
  std::vector<double> times;  ///< as `form` counts them; NaN where missing
  DateForm form = DateForm::none;
  std::string format;    ///< for people: "dd/mm/yyyy"
  std::string why = "";  ///< what was decided and could have been decided otherwise
};

struct DateOutcome {
  std::optional<DateReading> reading = {};
  std::string problem = "";  ///< what is wrong and what to do, without the file's name; "" with a reading
  std::size_t row = 0;       ///< where it is wrong
  double share = 0;          ///< of the fields, what is a date in some format
};

/// `missing(field)` says which fields hold nothing.
DateOutcome read_dates(const std::vector<std::string>& fields, const DateOptions& options,
                       const std::function<bool(const std::string&)>& missing);

/// Whether a field is a date in some format, though maybe not in one alone.
bool looks_like_date(const std::string& field);

/// How well times fill an even grid, 0 to 1; less where they are not in order, 0 where one comes twice.
double regularity(const std::vector<double>& times);
/// Strictly rising or strictly falling; NaN is left out.
bool in_order(const std::vector<double>& times);

}  // namespace apps
