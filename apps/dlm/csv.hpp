// Reads a CSV file into named columns of numbers, dates or text. Whatever the bytes, it returns a table or
// throws a CsvError that names the line.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "date_formats.hpp"
#include "number_dates.hpp"

namespace apps {

enum class ColumnKind { number, date, text };

struct Column {
  std::string name;
  bool named = true;  ///< false: the header leaves it without a name
  ColumnKind kind = ColumnKind::number;
  std::vector<double> values = {};     ///< numbers, or dates as times; NaN where missing; empty for text
  std::vector<std::string> text = {};  ///< the fields as written; empty for numbers
  std::vector<double> numbers = {};    ///< of dates that are also numbers, such as years
  DateForm form = DateForm::none;
  std::string format = "", why = "";  ///< for people: how its fields were read, and what decided it
  std::size_t digits = 0;             ///< of every field, where each is digits alone and they are as long
  double written = 0;                 ///< the unit of the last digit written, as `values` count; 0: they are exact

  bool by_format = false;      ///< dates by --date-format
  bool by_order = false;       ///< dates whose reading --day-first and --month-first decide
  std::string no_format = "";  ///< why --date-format does not fit: a message with the line

  /// Why the column cannot be used as what it mostly is, and why it holds no dates: messages with the line.
  std::string problem = "", no_dates = "";

  TimeUnit unit() const { return unit_of(form); }
  NameHint hint() const { return named ? hint_of_name(name) : NameHint::index; }
  bool is_numeric() const { return kind == ColumnKind::number || !numbers.empty(); }
  /// As numbers, which dates such as years are too.
  const std::vector<double>& as_numbers() const { return kind == ColumnKind::date ? numbers : values; }
};

struct Table {
  std::string source;              ///< the file's name, for messages
  std::vector<Column> columns;     ///< all of the same length
  std::vector<std::size_t> lines;  ///< where each row begins in the file, from 1
  std::vector<std::string> notes;  ///< what was assumed of the file

  std::size_t rows() const { return lines.size(); }
  /// These throw a CsvError that lists what there is and suggests the nearest name, or says what is wrong
  /// with the column.
  const Column& column(std::string_view name) const;
  /// A column of numbers (years count as numbers too).
  const Column& numeric(std::string_view name) const;
  /// A column of dates or numbers.
  const Column& time(std::string_view name) const;
};

enum class Header { automatic, present, absent };

struct CsvOptions {
  Header header = Header::automatic;  ///< automatic: absent when the first row holds only numbers and dates
  char separator = 0;                 ///< 0: comma, semicolon, bar or tab, whichever fits the first rows
  char decimal = 0;                   ///< '.' or ','; 0: what each column says
  char comment = 0;                   ///< lines that begin with it are skipped; 0: those with # above the header
  std::size_t skip_rows = 0;          ///< lines above the header
  DateOptions dates = {};
  std::vector<std::string> missing = {};  ///< fields that hold nothing, besides the usual ones, in columns of values
  std::string dates_of = "";              ///< the column that a given date format is for; "": whichever it fits
};

/// `name` stands for the file in messages.
Table read_csv(std::string_view bytes, std::string_view name, const CsvOptions& options = {});
/// Reads a file, or standard input for "-".
Table read_csv_file(const std::string& path, const CsvOptions& options = {});

/// Finds out what the columns of text hold and converts them; never throws for what they hold.
void convert_columns(Table& table, const CsvOptions& options, char separator);

}  // namespace apps
