// Numbers as people write them: decimal commas, separators of thousands, signs of currencies, percent.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace apps {

enum class Parsed { yes, no, infinite };

/// A plain number, with a point: -2.5e3.
Parsed parse_number(std::string_view field, double& value);

/// Whether a field says that nothing was observed: empty, NA, null, a dash, a dot.
bool is_missing(std::string_view field);

/// Whether a field is a number in some style, with a sign of a currency or percent maybe.
bool looks_like_number(std::string_view field);

struct NumberStyle {
  char decimal = 0;      ///< '.' or ','; 0: find out
  char separator = ',';  ///< of the file's fields: files with semicolons tend to have decimal commas
};

struct NumberOutcome {
  std::vector<double> values;  ///< NaN where missing or not a number
  double share = 0;            ///< of the fields, what is a number
  std::string style = "";      ///< what was assumed, for people: "$, commas between thousands"
  std::string dash = "";       ///< a dash that was taken for a missing value: "-"
  std::string unit = "";       ///< of all fields, left out of the values
  char decimal = 0;            ///< what the column is sure of; 0: of nothing
  std::string problem = "";    ///< what is wrong and what to do; "" where nothing is
  std::size_t row = 0;         ///< where
};

NumberOutcome read_numbers(const std::vector<std::string>& fields, const NumberStyle& style);

/// The unit of the last digit of plain numbers with this decimal mark; 0 where it is not known.
double unit_of_numbers(const std::vector<std::string>& fields, char decimal);
/// The same of fractions of seconds, 12:00:00.250; 0 where there are none.
double unit_of_clocks(const std::vector<std::string>& fields);

}  // namespace apps
