// Reads a CSV file into named columns of numbers, dates or text. Whatever the bytes, it returns a table or
// throws a CsvError that names the line.
#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

/// What is wrong with the input, where, and what to do about it.
class CsvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What one step of 1 on a time axis means.
enum class TimeUnit { none, year, quarter, month, day, second };

/// How the dates of a column were written, so that later dates can be written the same way. Dates that all
/// fall on the first, or all on the last, day of a month count months: monthly data is equally spaced.
enum class DateForm { none, year, quarter, month, month_start, month_end, day, second };

TimeUnit unit_of(DateForm form);
std::string_view name_of(TimeUnit unit);

/// The date at a time that parse_time() or a date Column counted; plain digits for DateForm::none and for
/// times outside of the years 0 to 9999.
std::string format_time(double time, DateForm form);

/// A date as counted by its unit: years from year 0, quarters and months from the start of year 0, days and
/// seconds from 1970-01-01 (UTC where no zone is given).
struct Time {
  double value;
  DateForm form;
};
/// Throws CsvError when the text is none of the date forms that read_csv() knows.
Time parse_time(std::string_view text);

/// Bytes of the printable UTF-8 character (or ASCII character of any kind) that the text begins with; 0 if
/// it begins with none.
std::size_t utf8_length(std::string_view text);

/// The step between neighbours if it is the same positive number everywhere (to 1e-9), else 0.
double common_step(std::span<const double> times);

enum class ColumnKind { number, date, text };

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::number;
  std::vector<double> values;     ///< numbers, or dates as times; NaN where missing; empty for text
  std::vector<std::string> text;  ///< the fields as written; empty for numbers
  DateForm form = DateForm::none;

  TimeUnit unit() const { return unit_of(form); }
};

struct Table {
  std::string source;              ///< the file's name, for messages
  std::vector<Column> columns;     ///< all of the same length
  std::vector<std::size_t> lines;  ///< where each row begins in the file, from 1

  std::size_t rows() const { return lines.size(); }
  /// These throw a CsvError that lists what there is and suggests the nearest name.
  const Column& column(std::string_view name) const;
  /// A column of numbers (years count as numbers too).
  const Column& numeric(std::string_view name) const;
  /// A column of dates or numbers.
  const Column& time(std::string_view name) const;
};

enum class Header { automatic, present, absent };

struct CsvOptions {
  Header header = Header::automatic;  ///< automatic: absent when the first row holds only numbers and dates
  char separator = 0;                 ///< 0: comma, semicolon or tab, whichever fits the first rows
  char decimal = '.';                 ///< or ','
  char comment = 0;                   ///< lines that begin with it are skipped; 0: there are none
  /// Columns that must be sound: a stray word in another one makes that column text. Empty: all of them.
  std::vector<std::string> use = {};
};

/// `name` stands for the file in messages.
Table read_csv(std::string_view text, std::string_view name, const CsvOptions& options = {});
/// Reads a file, or standard input for "-".
Table read_csv_file(const std::string& path, const CsvOptions& options = {});

}  // namespace apps
