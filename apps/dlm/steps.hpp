// Where each row of a series stands, in steps: of the calendar, of business days, or a row after the other.
#pragma once
#include <string>
#include <vector>

#include "series.hpp"

namespace apps {

/// The lines of a series' rows in its file, for messages.
struct RowNames {
  const Table& table;
  const std::vector<std::size_t>& order;

  std::string operator[](std::size_t row) const;  ///< "data.csv:12"
};

/// The rows by time, or as the file has them where rows are steps; refuses times that are missing or that come twice.
std::vector<std::size_t> order_of_rows(const Table& table, const Column* time, TimeSteps steps,
                                       std::vector<std::string>& notes);

/// Sets the step, the positions and what they say of evenness and gaps, and fills up the times of a forecast.
void place_in_steps(Series& series, TimeSteps steps, std::size_t forecast, const RowNames& rows);

/// A row or two far from their neighbours may have wrong dates: refused where that is further than all others reach,
/// and noted otherwise.
void doubt_rows_far_away(Series& series, const RowNames& rows);

/// An hour of a Sunday at which clocks are changed somewhere.
bool may_be_clock_change(double seconds);

}  // namespace apps
