// Reads a CSV file into named columns of numbers, dates or text. Whatever the bytes, it returns a table or
// throws a CsvError that names the line.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dates.hpp"

namespace apps {

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
