// Several ways to read the same column of dates: which one it is, or the question to the user.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "column_names.hpp"
#include "dates.hpp"

namespace apps {

struct DateReading {
  std::vector<double> times;  ///< as `form` counts them; NaN where missing
  DateForm form = DateForm::none;
  std::string format;    ///< for people: "dd/mm/yyyy"
  std::string why = "";  ///< what was decided and could have been decided otherwise
  bool ordered = false;  ///< a day and a month that are both numbers, so that their order decides
};

struct DateOutcome {
  std::optional<DateReading> reading = {};
  std::string problem = "";  ///< what is wrong and what to do, without the file's name; "" with a reading
  std::size_t row = 0;       ///< where it is wrong
  double share = 0;          ///< of the fields, what is a date in some format
};

/// One reading of all fields.
struct DateCandidate {
  DateReading reading;
  std::string option;                ///< what the user says to have it read so: "--day-first"
  NamedUnit unit = NamedUnit::none;  ///< that speaks for it in the column's name
  /// Seldom meant: where the usual one makes sense and is as even, it is taken.
  bool rare = false;
};

/// Of readings that differ: the one whose unit the column's name gives, or that spaces the rows clearly more evenly, or
/// the only usual one. Otherwise the problem says all of them and the options that decide.
DateOutcome choose_reading(std::vector<DateCandidate> candidates, NamedUnit named);

bool same(const DateReading& a, const DateReading& b);

}  // namespace apps
