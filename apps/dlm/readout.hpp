// What a page says of a chart where a reader points: a label and values, carried as JSON inside of the
// picture.
#pragma once
#include <string>
#include <vector>

namespace apps {

/// Values at each x; NaN where there is none. Empty: the picture says nothing.
struct Readout {
  struct Column {
    std::string name;
    const char* color;
    std::vector<double> values;
  };
  std::vector<double> x = {};
  std::vector<std::string> labels = {};
  std::vector<Column> columns = {};
  bool zoom = false;  ///< may a reader look closer, along x?
};

/// Rows that a readout has at most. Of longer series it keeps the rows with the largest and the smallest
/// value of each stretch, as lines do.
constexpr std::size_t most_rows_read_out = 1500;

/// The members "zoom", "at", "labels" and "columns" of a JSON object, without braces; safe between tags.
std::string readout_json(const Readout& readout);

}  // namespace apps
