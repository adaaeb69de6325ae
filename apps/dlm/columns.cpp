// What a column holds is decided by all of its fields. A field that does not fit is a problem only for
// whoever uses the column.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "csv.hpp"
#include "date_patterns.hpp"
#include "numbers.hpp"
#include "text.hpp"

namespace apps {
namespace {

/// Where a field stands and what is said of it.
std::string message(const Table& table, const Column& column, std::size_t row, const std::string& what) {
  return fmt::format("[csv] {}:{}, column {}: {} {}", table.source, table.lines[row], shown(column.name),
                     shown(column.text[row]), what);
}

DateOutcome dates_of(const Column& column, const DateOptions& options) {
  return read_dates(column.text, options, is_missing, unit_of_name(column.name));
}

void take_dates(Column& column, DateReading reading) {
  column.kind = ColumnKind::date;
  column.values = std::move(reading.times);
  column.form = reading.form;
  column.format = std::move(reading.format);
  column.why = std::move(reading.why);
  column.by_order = reading.ordered;
  column.written = column.form == DateForm::second ? unit_of_clocks(column.text) : 0;
}

/// Seconds that were written as numbers: how exact they are; those that are whole but for that become whole.
void settle_seconds(Column& column, const std::vector<std::string>& fields, const std::vector<double>& numbers) {
  if (column.form != DateForm::second) return;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end(), [](double a, double b) {
    return std::isnan(b) ? false : std::isnan(a) || a < b;
  });
  const auto time = [&](auto at) { return column.values[static_cast<std::size_t>(at - numbers.begin())]; };
  const double digit = unit_of_numbers(fields, '.'), scale = std::abs((time(high) - time(low)) / (*high - *low));
  if (!(scale > 0) || !std::isfinite(scale) || (digit == 1 && scale > 0.5)) return;
  const double power = std::log10(digit * scale);
  column.written = std::abs(power - std::round(power)) < 1e-6 ? std::pow(10.0, std::round(power)) : digit * scale;
  if (round_to_clock(column.values, column.written)) {
    column.written = 0;
    column.form = simplify(column.values, column.form);
  }
}

void take_numbers(Column& column, NumberOutcome numbers) {
  column.kind = ColumnKind::number;
  column.values = std::move(numbers.values);
  column.format = std::move(numbers.style);
  column.digits = common_length(column.text);
  column.written = unit_of_numbers(column.text, column.format.starts_with("decimal commas") ? ',' : '.');
  if (column.written == 1) column.written = 0;  // whole numbers are what they are
  if (!numbers.dash.empty())
    column.format += fmt::format("{}\"{}\" is missing", column.format.empty() ? "" : ", ", numbers.dash);
  column.text.clear();
  column.text.shrink_to_fit();
}

bool is_time_by_name(const Column& column) {
  return column.hint() == NameHint::time || column.hint() == NameHint::date;
}

/// The format that the user gave; true where it fits most fields. Numbers of seconds or days could be any column, and
/// four digits are not years where another column is the time by its name.
bool take_given_format(const Table& table, Column& column, bool leads, bool numeric, const CsvOptions& options) {
  if (options.dates.format.empty() || (!options.dates_of.empty() && options.dates_of != column.name)) return false;
  const bool expected = leads || is_time_by_name(column);
  if (is_count(options.dates.format) && options.dates_of.empty() && !expected) return false;
  if (numeric && !is_time_by_name(column) && options.dates_of.empty() &&
      std::any_of(table.columns.begin(), table.columns.end(), is_time_by_name))
    return false;
  DateOutcome dates = dates_of(column, options.dates);
  column.by_format = dates.reading || dates.share > 0.5;
  if (dates.reading) {
    take_dates(column, std::move(*dates.reading));
    return true;
  }
  column.no_format = dates.problem.empty() ? "" : message(table, column, dates.row, dates.problem);
  if (dates.share <= 0.5 && options.dates_of.empty()) return false;
  column.kind = ColumnKind::date;
  column.values.assign(column.text.size(), std::nan(""));
  column.problem = dates.problem.empty() ? "" : message(table, column, dates.row, dates.problem);
  return true;
}

void take_no_dates(Column& column, std::string problem) {
  column.kind = ColumnKind::date;
  column.values.assign(column.text.size(), std::nan(""));
  column.problem = std::move(problem);
}

/// Dates of digits, but for one field: a column of dates that cannot be used.
bool refuse_odd_one(const Table& table, Column& column, const std::vector<double>& numbers, bool leads, bool alone) {
  const std::optional<std::size_t> row =
      odd_one_out({column.text, numbers, column.hint(), unit_of_name(column.name), leads, alone});
  if (!row) return false;
  take_no_dates(column, message(table, column, *row, std::string(unlike_the_others)));
  return true;
}

/// Fields of plain numbers, with points where they have decimal commas; none where they have currencies and the like.
std::vector<std::string> with_points(std::vector<std::string> fields, const std::string& style) {
  if (style == "decimal commas")
    for (std::string& field : fields) std::replace(field.begin(), field.end(), ',', '.');
  else if (!style.empty())
    fields.clear();
  return fields;
}

/// Numbers that are the only content of a column: dates in disguise, or just numbers.
void take_sound_numbers(const Table& table, Column& column, NumberOutcome numbers, bool leads, bool alone,
                        DateOrder order) {
  const std::vector<std::string> fields = with_points(column.text, numbers.style);
  const NumberColumn digits{fields, numbers.values, column.hint(), unit_of_name(column.name), leads, alone, order};
  DateOutcome dates = fields.empty() ? DateOutcome() : read_number_dates(digits);
  if (dates.reading) {
    take_dates(column, std::move(*dates.reading));
    settle_seconds(column, fields, numbers.values);
    column.numbers = std::move(numbers.values);
    return;
  }
  if (!dates.problem.empty()) return take_no_dates(column, message(table, column, dates.row, dates.problem));
  if (const DateOutcome clock = doubt_number_clock(digits); !clock.problem.empty() && !fields.empty())
    column.no_dates = message(table, column, clock.row, clock.problem);
  if (refuse_odd_one(table, column, numbers.values, leads, alone)) return;
  if (column.hint() == NameHint::date) {
    std::vector<double> sorted;
    for (const double v : numbers.values)
      if (!std::isnan(v)) sorted.push_back(v);
    const bool counts = !sorted.empty() && std::abs(sorted[0]) < 1000 && common_step(sorted) > 0;
    const auto first =
        std::find_if(column.text.begin(), column.text.end(), [](const auto& f) { return !is_missing(f); });
    if (!counts && first != column.text.end())
      column.no_dates = message(table, column, static_cast<std::size_t>(first - column.text.begin()),
                                "is not a date that is known; describe it by --date-format (such as '%d%m%y'), or "
                                "name the column of times with --time (--time none: the rows are counted).");
  }
  take_numbers(column, std::move(numbers));
}

/// Numbers by the decimal mark that --decimal does not name.
bool has_other_mark(const Column& column, const NumberOutcome& numbers, const CsvOptions& options, char separator) {
  if (options.decimal == 0 || numbers.share == 1) return false;
  const NumberOutcome free = read_numbers(column.text, {0, separator});
  return free.share == 1 && free.problem.empty();
}

void convert(const Table& table, Column& column, NumberOutcome numbers, bool leads, bool alone,
             const CsvOptions& options, char separator) {
  const bool anything =
      std::any_of(column.text.begin(), column.text.end(), [](const auto& f) { return !is_missing(f); });
  if (!anything) return take_numbers(column, std::move(numbers));
  if (take_given_format(table, column, leads, numbers.share == 1, options)) return;
  const bool said = column.hint() == NameHint::time || column.hint() == NameHint::date;
  if (said && !numbers.unit.empty()) numbers.share = 0;  // "1 janv", not a quantity
  if (numbers.share == 1 && numbers.problem.empty())
    return take_sound_numbers(table, column, std::move(numbers), leads, alone, options.dates.order);

  DateOptions order = options.dates;
  order.format = "";
  DateOutcome dates = dates_of(column, order);
  if (dates.reading) return take_dates(column, std::move(*dates.reading));
  const std::string no_dates = dates.problem.empty() ? "" : message(table, column, dates.row, dates.problem);
  if (dates.share > 0.5 && dates.share > numbers.share) {
    take_no_dates(column, no_dates);
  } else if (has_other_mark(column, numbers, options, separator)) {
    std::size_t row = 0;
    while (is_missing(column.text[row]) || !std::isnan(numbers.values[row])) ++row;
    column.problem =
        message(table, column, row,
                fmt::format("is no number by --decimal '{}'; correct it, or leave out --decimal.", options.decimal));
    take_numbers(column, std::move(numbers));
  } else if (refuse_odd_one(table, column, numbers.values, leads, alone)) {
    return;
  } else if (numbers.share > 0.5) {
    const bool unit =
        numbers.row == 0 && column.text.size() > 2 && column.text[0].find_first_of("0123456789") == std::string::npos;
    column.problem = message(table, column, numbers.row,
                             unit ? "is not a number, as the other fields of the column are; if it is a unit, remove "
                                    "the row of units, and if it is a name, the lines above it (--skip-rows)."
                                  : numbers.problem);
    take_numbers(column, std::move(numbers));
  } else {
    column.kind = ColumnKind::text;
    column.no_dates = no_dates;
  }
}

/// Fields that the user says mean nothing are emptied, but not in columns that are the time by their names.
void empty_missing(Column& column, const CsvOptions& options) {
  const NameHint hint = column.hint();
  if (hint == NameHint::time || hint == NameHint::date || column.name == options.dates_of) return;
  for (const std::string& word : options.missing) {
    double code = 0, value = 0;
    const bool is_number = parse_number(word, code) == Parsed::yes;
    for (std::string& field : column.text)
      if (field == word || (is_number && parse_number(field, value) == Parsed::yes && value == code)) field.clear();
  }
}

}  // namespace

void convert_columns(Table& table, const CsvOptions& options, char separator) {
  for (Column& column : table.columns) empty_missing(column, options);
  std::vector<NumberOutcome> numbers;
  char decimal = options.decimal;
  std::size_t numeric = 0;
  for (const Column& column : table.columns) {
    numbers.push_back(read_numbers(column.text, {options.decimal, separator}));
    if (numbers.back().share > 0.5) ++numeric;
    if (decimal == 0 && numbers.back().share == 1) decimal = numbers.back().decimal;
  }
  // What one column is sure of holds for those that do not tell.
  if (options.decimal == 0 && decimal != 0)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i].decimal == 0) {
        NumberOutcome again = read_numbers(table.columns[i].text, {decimal, separator});
        if (again.share >= numbers[i].share) numbers[i] = std::move(again);
      }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool alone = numeric - (numbers[i].share > 0.5 ? 1 : 0) == 0;
    convert(table, table.columns[i], std::move(numbers[i]), i == 0, alone, options, separator);
  }
}

}  // namespace apps
