// Which column is the time, which the series, and why the others are neither.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "csv.hpp"
#include "data_options.hpp"

namespace apps {

struct ColumnUse {
  enum class Role { time, values, regressor, sd, ignored } role;
  std::string name;
  std::string words = "";  ///< how it was read, or why it is ignored
};

struct Roles {
  std::optional<Column> time;  ///< none: the rows are counted. May be made of several columns
  const Column* values = nullptr;
  std::vector<ColumnUse> uses;
  std::vector<std::string> notes;
};

/// Throws CsvError or InputError where a column that looks like the time cannot be read, where a named column
/// is not there, and where there is nothing to model.
Roles assign_roles(const Table& table, const DataOptions& options);

}  // namespace apps
