// Where in its season a row lies, and what people call that: a month, a weekday, an hour.
#pragma once
#include <string>
#include <vector>

#include "axis.hpp"
#include "series.hpp"

namespace apps {

/// The phases of a season, 0 to its period.
class SeasonPhases {
 public:
  SeasonPhases(const Series& series, double period);
  double position(std::size_t row) const;
  /// "Mar", "Monday 06:00", "step 3".
  std::string label(std::size_t row) const;
  /// Names along an axis; none where phases are only counted.
  std::vector<Tick> ticks() const;
  std::string axis_label() const;

 private:
  enum class Kind { counted, month, quarter, weekday, day_of_year, hour, hour_of_week } kind_ = Kind::counted;
  const Series& series_;
  double period_;
};

}  // namespace apps
