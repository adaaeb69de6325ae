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

struct DataOptions {
  std::string source = "";  ///< a CSV file, "-", or a built-in series
  /// Columns; "" where they are to be found. Time "none": the rows are counted.
  std::string column = "", time = "", sd_column = "";
  std::vector<std::string> regress = {};
  char separator = 0, decimal = 0;  ///< 0: found out
  DateOptions dates = {};
  bool log = false;
  std::vector<Season> seasons = {};
  int steps = 0;            ///< of the forecast; 0: none
  bool steps_suit = false;  ///< where no steps are given: as many as suit the series
};

}  // namespace apps
