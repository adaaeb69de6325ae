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
}

void take_numbers(Column& column, NumberOutcome numbers) {
  column.kind = ColumnKind::number;
  column.values = std::move(numbers.values);
  column.format = std::move(numbers.style);
  if (!numbers.dash.empty())
    column.format += fmt::format("{}\"{}\" is missing", column.format.empty() ? "" : ", ", numbers.dash);
  column.text.clear();
  column.text.shrink_to_fit();
}

/// The format that the user gave; true where it fits most fields. Numbers of seconds or days could be any column.
bool take_given_format(const Table& table, Column& column, bool leads, const CsvOptions& options) {
  if (options.dates.format.empty() || (!options.dates_of.empty() && options.dates_of != column.name)) return false;
  const bool expected = leads || column.hint() == NameHint::time || column.hint() == NameHint::date;
  if (is_count(options.dates.format) && options.dates_of.empty() && !expected) return false;
  DateOutcome dates = dates_of(column, options.dates);
  if (dates.reading) {
    take_dates(column, std::move(*dates.reading));
    return true;
  }
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
void take_sound_numbers(const Table& table, Column& column, NumberOutcome numbers, bool leads, bool alone) {
  const std::vector<std::string> fields = with_points(column.text, numbers.style);
  const NumberColumn digits{fields, numbers.values, column.hint(), unit_of_name(column.name), leads, alone};
  DateOutcome dates = fields.empty() ? DateOutcome() : read_number_dates(digits);
  if (dates.reading) {
    take_dates(column, std::move(*dates.reading));
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

void convert(const Table& table, Column& column, NumberOutcome numbers, bool leads, bool alone,
             const CsvOptions& options) {
  const bool anything =
      std::any_of(column.text.begin(), column.text.end(), [](const auto& f) { return !is_missing(f); });
  if (!anything) return take_numbers(column, std::move(numbers));
  if (take_given_format(table, column, leads, options)) return;
  const bool said = column.hint() == NameHint::time || column.hint() == NameHint::date;
  if (said && !numbers.unit.empty()) numbers.share = 0;  // "1 janv", not a quantity
  if (numbers.share == 1 && numbers.problem.empty())
    return take_sound_numbers(table, column, std::move(numbers), leads, alone);

  DateOptions order = options.dates;
  order.format = "";
  DateOutcome dates = dates_of(column, order);
  if (dates.reading) return take_dates(column, std::move(*dates.reading));
  const std::string no_dates = dates.problem.empty() ? "" : message(table, column, dates.row, dates.problem);
  if (dates.share > 0.5 && dates.share > numbers.share) {
    take_no_dates(column, no_dates);
  } else if (refuse_odd_one(table, column, numbers.values, leads, alone)) {
    return;
  } else if (numbers.share > 0.5) {
    column.problem = message(table, column, numbers.row, numbers.problem);
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
    convert(table, table.columns[i], std::move(numbers[i]), i == 0, alone, options);
  }
}

}  // namespace apps
