// Dates that stand in several columns: year and month (and day), date and time of day.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "csv.hpp"

namespace apps {

struct JoinedDates {
  Column column;
  std::vector<std::string> parts;  ///< the names of the columns that it is made of
};

/// Nothing where no columns of such names and contents are there, and where one of them will do. Only columns
/// that may be used are looked at.
std::optional<JoinedDates> join_dates(const Table& table, const std::function<bool(const Column&)>& may_use);

}  // namespace apps
