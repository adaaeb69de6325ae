// Series that are built in.
#pragma once
#include <string>
#include <vector>

namespace apps {

struct Dataset {
  std::string name, title, value_label;
  std::string time_name, value_name;  ///< columns
  int first_year;
  int per_year;  ///< 1 or 12
  std::vector<double> values;
};

const std::vector<Dataset>& datasets();
/// Null if there is none of this name.
const Dataset* find_dataset(const std::string& name);
std::string csv_of(const Dataset& dataset);

}  // namespace apps
