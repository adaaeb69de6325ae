// Three steps: split the bytes into fields, find out what each column holds, convert it.
#include "csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>

#include "text.hpp"

namespace apps {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw CsvError("[csv] " + fmt::format(format, std::forward<Args>(args)...));
}

std::string shown_separator(char separator) {
  return separator == '\t' ? "'\\t'" : fmt::format("'{}'", separator);
}

// ---- bytes to fields

struct Record {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view name, char separator, char comment)
      : text_(text), name_(name), separator_(separator), comment_(comment) {}

  /// The next row that is neither blank nor a comment; false at the end.
  bool next(Record& record) {
    while (pos_ < text_.size() && (blank_line() || (comment_ && text_[pos_] == comment_))) skip_line();
    if (pos_ >= text_.size()) return false;
    record.line = line_;
    record.fields.clear();
    do record.fields.push_back(field());
    while (take_separator());
    end_line();
    return true;
  }

 private:
  bool is_padding(char c) const { return (c == ' ' || c == '\t') && c != separator_; }
  bool at_line_end() const { return pos_ >= text_.size() || text_[pos_] == '\n' || text_[pos_] == '\r'; }
  bool blank_line() const {
    const std::size_t end = text_.find_first_not_of(separator_ == '\t' ? " " : " \t", pos_);
    return end == std::string_view::npos || text_[end] == '\n' || text_[end] == '\r';
  }
  bool take_separator() {
    if (pos_ >= text_.size() || text_[pos_] != separator_) return false;
    ++pos_;
    return true;
  }
  void skip_line() {
    pos_ = std::min(text_.find_first_of("\r\n", pos_), text_.size());
    end_line();
  }
  void end_line() {
    if (pos_ >= text_.size()) return;
    if (text_[pos_] == '\r' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '\n') ++pos_;
    ++pos_;
    ++line_;
  }
  std::string field() {
    while (pos_ < text_.size() && is_padding(text_[pos_])) ++pos_;
    if (pos_ < text_.size() && text_[pos_] == '"') return quoted_field();
    const std::size_t begin = pos_;
    while (!at_line_end() && text_[pos_] != separator_) ++pos_;
    std::size_t end = pos_;
    while (end > begin && is_padding(text_[end - 1])) --end;
    return std::string(text_.substr(begin, end - begin));
  }
  std::string quoted_field() {
    const std::size_t begin = ++pos_, opened = line_;
    std::string out;
    for (;;) {
      const std::size_t stop = text_.find_first_of("\"\r\n", pos_);
      if (stop == std::string_view::npos)
        fail(
            "{}:{}: the quote that opens {} is never closed; add the closing quote, or double it (\"\") if "
            "it belongs to the text.",
            name_, opened, shown(text_.substr(begin)));
      out += text_.substr(pos_, stop - pos_);
      pos_ = stop;
      if (text_[pos_] != '"') {  // a line end inside the field belongs to it
        end_line();
        out += text_.substr(stop, pos_ - stop);
      } else if (pos_ + 1 < text_.size() && text_[pos_ + 1] == '"') {
        out += '"';
        pos_ += 2;
      } else {
        break;
      }
    }
    ++pos_;
    while (pos_ < text_.size() && is_padding(text_[pos_])) ++pos_;
    if (!at_line_end() && text_[pos_] != separator_) {
      const std::size_t end = std::min(text_.find_first_of("\r\n", pos_), text_.size());
      fail(
          "{}:{}: {} follows a closing quote; put the separator {} after it, or double the quote (\"\") if "
          "it belongs to the text.",
          name_, line_, shown(text_.substr(pos_, end - pos_)), shown_separator(separator_));
    }
    return out;
  }

  std::string_view text_, name_;
  char separator_, comment_;
  std::size_t pos_ = 0, line_ = 1;
};

/// The candidate that splits the first rows into equally many fields, more than one of them; failing that,
/// the one that splits the first row most. Commas come last: they also occur inside numbers and prose.
char find_separator(std::string_view text, const CsvOptions& options) {
  constexpr int rows_looked_at = 20;
  char best = ',';
  std::size_t best_score = 1;
  for (const char candidate : {'\t', ';', ','}) {
    if (candidate == options.decimal) continue;
    Scanner scanner(text, "", candidate, options.comment);
    Record record;
    std::size_t first = 0;
    bool equal = true;
    try {
      for (int row = 0; row < rows_looked_at && equal && scanner.next(record); ++row) {
        if (row == 0) first = record.fields.size();
        equal = record.fields.size() == first;
      }
    } catch (const CsvError&) {
      equal = false;
    }
    constexpr std::size_t bonus = std::size_t{1} << 40;
    const std::size_t score = first + (equal && first > 1 ? bonus : 0);
    if (score > best_score) best = candidate, best_score = score;
  }
  return best == options.decimal ? ';' : best;
}

void refuse_binary(std::string_view text, std::string_view name) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    fail("{}: this is UTF-16 text; save the file as UTF-8.", name);
  if (text.starts_with("\x1F\x8B")) fail("{}: this is a gzip file; unpack it first.", name);
  if (text.starts_with("PK\x03\x04"))
    fail("{}: this is a zip archive or a spreadsheet; save the sheet as CSV.", name);
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && (byte < '\t' || byte > '\r');
  };
  const auto bad = std::find_if(text.begin(), text.end(), control);
  if (bad != text.end())
    fail("{}:{}: byte 0x{:02X} does not belong in a text file; give a CSV file saved as UTF-8.", name,
         std::count(text.begin(), bad, '\n') + 1, static_cast<unsigned char>(*bad));
}

// ---- fields to values

bool is_missing(std::string_view field) {
  if (field.empty()) return true;
  if (field.size() > 4) return false;
  const std::string word = lower(field);
  for (const char* sign : {"na", "n/a", "nan", "null", ".", "-", "#n/a", "<na>"})
    if (word == sign) return true;
  return false;
}

enum class Parsed { yes, no, infinite };

/// Whether a decimal number too large or too small for a double is too large.
bool overflows(std::string_view digits) {
  const std::size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_at);
  std::int64_t exponent = 0;
  if (exponent_at + 1 < digits.size()) {
    std::string_view power = digits.substr(exponent_at + 1);
    const bool negative = power.starts_with('-');
    if (power.starts_with('+')) power.remove_prefix(1);
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc{})
      return !negative;
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  return static_cast<double>(point) - static_cast<double>(first) + static_cast<double>(exponent) > 0;
}

Parsed parse_number(std::string_view field, char decimal, double& value) {
  std::string swapped;
  if (decimal != '.' && field.find(decimal) != std::string_view::npos) {
    if (field.find('.') != std::string_view::npos) return Parsed::no;
    swapped = field;
    std::replace(swapped.begin(), swapped.end(), decimal, '.');
    field = swapped;
  }
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return Parsed::no;
  if (error == std::errc::result_out_of_range) {
    if (overflows(field)) return Parsed::infinite;
    value = 0;  // too small to tell from zero
  }
  return std::isinf(value) ? Parsed::infinite : Parsed::yes;
}

// ---- columns

/// Where a field stands and what it says, for a message.
std::string place(const Table& table, const Column& column, std::size_t row) {
  return fmt::format("{}:{}, column {}: {}", table.source, table.lines[row], shown(column.name),
                     shown(column.text[row]));
}

void convert_numbers(const Table& table, Column& column, char decimal) {
  column.values.assign(column.text.size(), missing);
  for (std::size_t row = 0; row < column.text.size(); ++row) {
    const std::string& field = column.text[row];
    if (is_missing(field)) continue;
    const Parsed parsed = parse_number(field, decimal, column.values[row]);
    if (parsed == Parsed::infinite)
      fail("{} is too large for a number; scale the data, or leave the field empty if the value is missing.",
           place(table, column, row));
    if (parsed == Parsed::no && decimal == '.' && field.find(',') != std::string::npos)
      fail(
          "{} is not a number: it holds a comma; leave out separators of thousands, and write decimals with "
          "a point or set the decimal mark to ','.",
          place(table, column, row));
    if (parsed == Parsed::no)
      fail(
          "{} is not a number, as the other fields of the column are; correct it, or leave the field empty "
          "if the value is missing.",
          place(table, column, row));
  }
  column.text.clear();
  column.text.shrink_to_fit();
}

void convert_dates(const Table& table, Column& column) {
  column.values.assign(column.text.size(), missing);
  std::vector<bool> whole_day(column.text.size(), false);
  const auto clock_form = [](DateForm form) { return form == DateForm::day || form == DateForm::second; };
  bool mixed = false;
  for (std::size_t row = 0; row < column.text.size(); ++row) {
    if (is_missing(column.text[row])) continue;
    const std::optional<Time> date = parse_date(column.text[row]);
    if (!date)
      fail(
          "{} is not a date; write 2024-01-31, 2024-01, 2024-Q1, 2024 or 2024-01-31T12:00:00, or leave the "
          "field empty if the date is missing.",
          place(table, column, row));
    if (column.form == DateForm::none) column.form = date->form;
    if (date->form != column.form) {
      if (!clock_form(date->form) || !clock_form(column.form))
        fail("{} is {} where the rows before it hold {}; write all dates of a column in one form.",
             place(table, column, row), description_of(date->form), description_of(column.form));
      mixed = true;
    }
    whole_day[row] = date->form == DateForm::day;
    column.values[row] = date->value;
  }
  if (mixed) {
    column.form = DateForm::second;
    for (std::size_t row = 0; row < column.values.size(); ++row)
      if (whole_day[row]) column.values[row] *= seconds_per_day;
  }
  if (column.form == DateForm::day) column.form = count_whole_months(column.values);
}

/// Four-digit whole numbers are years when the column's name says so, or when they lead the rows and grow.
bool holds_years(const Column& column, bool leads) {
  int before = -1;
  bool growing = true;
  for (const std::string& field : column.text) {
    if (is_missing(field)) continue;
    const std::optional<Time> date = parse_date(field);
    if (!date || date->form != DateForm::year || date->value < 1000 || date->value > 2999) return false;
    const int year = static_cast<int>(date->value);
    growing = growing && year > before;
    before = year;
  }
  if (before < 0) return false;
  const std::string name = lower(column.name);
  const bool named = name == "year" || name == "yr" || name == "date" || name == "time" || name == "period";
  return named || (leads && growing && column.text.size() > 1);
}

void convert_by_majority(const Table& table, Column& column, bool leads, char decimal) {
  std::size_t numbers = 0, dates = 0, present = 0;
  for (const std::string& field : column.text) {
    if (is_missing(field)) continue;
    ++present;
    double value = 0;
    if (parse_number(field, decimal, value) != Parsed::no)
      ++numbers;
    else if (parse_date(field))
      ++dates;
  }
  if (2 * dates > present || (numbers == present && holds_years(column, leads))) {
    column.kind = ColumnKind::date;
    convert_dates(table, column);
  } else if (present == 0 || 2 * numbers > present) {
    column.kind = ColumnKind::number;
    convert_numbers(table, column, decimal);
  } else {
    column.kind = ColumnKind::text;
  }
}

void convert(const Table& table, Column& column, bool leads, const CsvOptions& options) {
  const auto& use = options.use;
  const bool must_be_sound = use.empty() || std::find(use.begin(), use.end(), column.name) != use.end();
  try {
    convert_by_majority(table, column, leads, options.decimal);
  } catch (const CsvError&) {
    if (must_be_sound) throw;
    column.kind = ColumnKind::text;
    column.values.clear();
    column.form = DateForm::none;
  }
}

bool is_header(const std::vector<std::string>& fields, char decimal) {
  bool value_seen = false;
  for (const std::string& field : fields) {
    double value = 0;
    if (is_missing(field)) continue;
    if (parse_number(field, decimal, value) == Parsed::no && !parse_date(field)) return true;
    value_seen = true;
  }
  return !value_seen;
}

std::vector<Column> name_columns(const Record& first, bool header, std::string_view source) {
  std::vector<Column> columns(first.fields.size());
  std::map<std::string_view, std::size_t> taken;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].name = header && !first.fields[i].empty() ? first.fields[i] : fmt::format("c{}", i + 1);
    const auto [other, is_new] = taken.emplace(columns[i].name, i);
    if (!is_new)
      fail("{}:{}: columns {} and {} are both named {}; give each column a name of its own.", source,
           first.line, other->second + 1, i + 1, shown(columns[i].name));
  }
  return columns;
}

// ---- finding columns

/// " (did you mean …?)" when a name is close to the one asked for.
std::string suggestion(const std::vector<Column>& columns, std::string_view name) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  const std::string nearest = nearest_spelling(name, names);
  return nearest.empty() ? "" : fmt::format(" (did you mean {}?)", shown(nearest));
}

template <class Predicate>
std::string list_names(const std::vector<Column>& columns, Predicate wanted) {
  constexpr std::size_t most = 20;
  std::string out;
  std::size_t count = 0;
  for (const Column& column : columns) {
    if (!wanted(column)) continue;
    if (count < most) out += (count ? ", " : "") + shown(column.name);
    ++count;
  }
  if (count > most) out += fmt::format(" and {} more", count - most);
  return count ? out : "none";
}

std::string first_text(const Table& table, const Column& column) {
  for (std::size_t row = 0; row < column.text.size(); ++row)
    if (!is_missing(column.text[row]))
      return fmt::format("{} in line {}", shown(column.text[row]), table.lines[row]);
  return "nothing";
}

bool is_numeric(const Column& column) {
  return column.kind == ColumnKind::number || column.form == DateForm::year;
}

}  // namespace

const Column& Table::column(std::string_view name) const {
  for (const Column& column : columns)
    if (column.name == name) return column;
  fail("{}: there is no column {}{}; the columns are {}.", source, shown(name), suggestion(columns, name),
       list_names(columns, [](const Column&) { return true; }));
}

const Column& Table::numeric(std::string_view name) const {
  const Column& found = column(name);
  if (!is_numeric(found))
    fail("{}: column {} holds {} ({}), not numbers; choose one of the numeric columns: {}.", source,
         shown(name), found.kind == ColumnKind::date ? "dates" : "text", first_text(*this, found),
         list_names(columns, is_numeric));
  return found;
}

const Column& Table::time(std::string_view name) const {
  const Column& found = column(name);
  const auto orderly = [](const Column& column) { return column.kind != ColumnKind::text; };
  if (!orderly(found))
    fail("{}: column {} holds text ({}), not dates or numbers; choose one of: {}.", source, shown(name),
         first_text(*this, found), list_names(columns, orderly));
  return found;
}

Table read_csv(std::string_view text, std::string_view name, const CsvOptions& options) {
  refuse_binary(text, name);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const char separator = options.separator ? options.separator : find_separator(text, options);
  if (separator == '"' || separator == '\n' || separator == '\r' || separator == options.decimal)
    fail("{}: {} cannot separate fields; choose ',', ';' or a tab, and a decimal mark that differs from it.",
         name, shown(std::string_view(&separator, 1)));

  Scanner scanner(text, name, separator, options.comment);
  Record record;
  if (!scanner.next(record)) fail("{}: the file is empty; give a header line and rows of data.", name);
  const bool header = options.header == Header::automatic ? is_header(record.fields, options.decimal)
                                                          : options.header == Header::present;

  Table table;
  table.source = name;
  table.columns = name_columns(record, header, name);
  for (bool more = header ? scanner.next(record) : true; more; more = scanner.next(record)) {
    if (record.fields.size() != table.columns.size())
      fail(
          "{}:{}: this row has {} field{} where the {} has {}; fill in or remove fields, or quote those that "
          "hold the separator {}.",
          name, record.line, record.fields.size(), record.fields.size() == 1 ? "" : "s",
          header ? "header" : "first row", table.columns.size(), shown_separator(separator));
    table.lines.push_back(record.line);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      table.columns[i].text.push_back(std::move(record.fields[i]));
  }
  if (table.lines.empty()) fail("{}: there is a header but no row of data; add rows below it.", name);
  for (std::size_t i = 0; i < table.columns.size(); ++i) convert(table, table.columns[i], i == 0, options);
  return table;
}

Table read_csv_file(const std::string& path, const CsvOptions& options) {
  const auto read_all = [](std::istream& in, std::string_view name) {
    std::string text;
    std::vector<char> chunk(1 << 16);
    errno = 0;
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0)
      text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (in.bad())
      fail("cannot read {}: {}; check the file.", name, errno ? std::strerror(errno) : "unknown reason");
    return text;
  };
  if (path == "-") return read_csv(read_all(std::cin, "standard input"), "standard input", options);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail("{} is a directory; give the path of a CSV file, or - for standard input.", path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("cannot open {}: {}; check the path, or give - for standard input.", path,
         errno ? std::strerror(errno) : "unknown reason");
  return read_csv(read_all(file, path), path, options);
}

}  // namespace apps
