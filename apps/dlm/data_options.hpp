// What can be asked of the data: which file, which columns, how they are written, and how far to forecast.
#pragma once
#include <string>
#include <vector>

#include "date_formats.hpp"

namespace apps {

struct Season {
  double period;      ///< in steps
  int harmonics = 0;  ///< 0: an effect for each step
};

/// What makes a step of the series.
enum class TimeSteps {
  found,          ///< the calendar's, refused where a row lies so far away that its date is in doubt
  calendar,       ///< as the times are written, whatever they are
  business_days,  ///< Monday comes after Friday
  rows            ///< a row after the other
};

struct DataOptions {
  std::string source = "";  ///< a CSV file, "-", or a built-in series
  /// Columns; "" where they are to be found. Time "none": the rows are counted.
  std::string column = "", time = "", sd_column = "";
  std::vector<std::string> regress = {};
  char separator = 0, decimal = 0;  ///< 0: found out
  std::size_t skip_rows = 0;        ///< lines above the header
  DateOptions dates = {};
  TimeSteps time_steps = TimeSteps::found;
  std::vector<std::string> missing = {};  ///< fields that say that nothing was observed, besides the usual ones
  bool log = false;
  std::vector<Season> seasons = {};
  int steps = 0;            ///< of the forecast; 0: none
  bool steps_suit = false;  ///< where no steps are given: as many as suit the series
};

}  // namespace apps
