// Three steps: split the bytes into fields, find out what each column holds, convert it.
#include "csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>

namespace apps {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double seconds_per_day = 86400;

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw CsvError("[csv] " + fmt::format(format, std::forward<Args>(args)...));
}

/// Text for a message: in quotes, short, and without bytes that could upset a terminal.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  while (!text.empty() && out.size() < longest) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length > 1)
      out += text.substr(0, length);
    else if (c == '\n' || c == '\r' || c == '\t')
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    else if (length == 0 || c < ' ' || c == '\x7F')
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return fmt::format("\"{}{}\"", out, text.empty() ? "" : "…");
}

std::string shown_separator(char separator) {
  return separator == '\t' ? "'\\t'" : fmt::format("'{}'", separator);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
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

/// Reads a date piece by piece.
struct Cursor {
  std::string_view rest;

  bool done() const { return rest.empty(); }
  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  /// A number of exactly `count` digits between lo and hi.
  bool digits(std::size_t count, int lo, int hi, int& value) {
    if (rest.size() < count) return false;
    value = 0;
    for (const char c : rest.substr(0, count)) {
      if (c < '0' || c > '9') return false;
      value = 10 * value + (c - '0');
    }
    rest.remove_prefix(count);
    return value >= lo && value <= hi;
  }
};

/// HH:MM[:SS[.fff]][Z|±HH:MM] in seconds from midnight UTC.
std::optional<double> parse_clock(Cursor& in) {
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  if (!in.digits(2, 0, 23, hour) || !in.take(':') || !in.digits(2, 0, 59, minute)) return {};
  if (in.take(':')) {
    if (!in.digits(2, 0, 60, second)) return {};  // 60: a leap second
    if (in.take('.')) {
      int digit = 0;
      if (!in.digits(1, 0, 9, digit)) return {};
      double place = 0.1;
      do fraction += place * digit, place /= 10;
      while (in.digits(1, 0, 9, digit));
    }
  }
  double seconds = 3600.0 * hour + 60.0 * minute + second + fraction;
  if (!in.take('Z')) {
    const int sign = in.take('+') ? 1 : in.take('-') ? -1 : 0;
    if (sign != 0) {
      if (!in.digits(2, 0, 23, hour)) return {};
      minute = 0;
      if (in.take(':') ? !in.digits(2, 0, 59, minute) : !in.done() && !in.digits(2, 0, 59, minute)) return {};
      seconds -= sign * (3600.0 * hour + 60.0 * minute);
    }
  }
  if (!in.done()) return {};
  return seconds;
}

std::optional<Time> parse_date(std::string_view text) {
  Cursor in{text};
  int year = 0, month = 0, day = 0;
  if (!in.digits(4, 0, 9999, year)) return {};
  if (in.done()) return Time{static_cast<double>(year), DateForm::year};
  const bool slash = in.take('/');
  const bool dash = !slash && in.take('-');
  if (!slash && (in.take('Q') || in.take('q'))) {
    int quarter = 0;
    if (!in.digits(1, 1, 4, quarter) || !in.done()) return {};
    return Time{4.0 * year + quarter - 1, DateForm::quarter};
  }
  if ((!slash && !dash) || !in.digits(2, 1, 12, month)) return {};
  if (in.done()) return Time{12.0 * year + month - 1, DateForm::month};
  if (!in.take(slash ? '/' : '-') || !in.digits(2, 1, 31, day)) return {};
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  const double days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (in.done()) return Time{days, DateForm::day};
  if (!in.take('T') && !in.take('t') && !in.take(' ')) return {};
  const std::optional<double> clock = parse_clock(in);
  if (!clock) return {};
  return Time{days * seconds_per_day + *clock, DateForm::second};
}

std::chrono::sys_days day_at(double days) {
  return std::chrono::sys_days(std::chrono::days(std::llround(days)));
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

/// Days become months when all are the first, or all the last, of their month.
void count_whole_months(Column& column) {
  using namespace std::chrono;
  bool first = true, last = true, several = false;
  double seen = missing;
  for (const double value : column.values) {
    if (std::isnan(value)) continue;
    const year_month_day date(day_at(value));
    first = first && date.day() == day(1);
    last = last && date == date.year() / date.month() / std::chrono::last;
    several = several || (!std::isnan(seen) && value != seen);
    seen = value;
    if (!first && !last) return;
  }
  if (!several) return;
  column.form = first ? DateForm::month_start : DateForm::month_end;
  for (double& value : column.values) {
    if (std::isnan(value)) continue;
    const year_month_day date(day_at(value));
    value = 12.0 * static_cast<int>(date.year()) + static_cast<unsigned>(date.month()) - 1;
  }
}

struct DateFormFacts {
  TimeUnit unit;
  std::string_view description;
};
/// In the order of DateForm.
constexpr DateFormFacts date_forms[] = {
    {TimeUnit::none, "a number"},     {TimeUnit::year, "a year"},
    {TimeUnit::quarter, "a quarter"}, {TimeUnit::month, "a month"},
    {TimeUnit::month, "a day"},       {TimeUnit::month, "a day"},
    {TimeUnit::day, "a day"},         {TimeUnit::second, "a day with a time"}};
const DateFormFacts& facts(DateForm form) { return date_forms[static_cast<std::size_t>(form)]; }

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
             place(table, column, row), facts(date->form).description, facts(column.form).description);
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
  if (column.form == DateForm::day) count_whole_months(column);
}

/// Four-digit whole numbers are years when the column's name says so, or when they lead the rows and grow.
bool holds_years(const Column& column, bool leads) {
  int before = -1;
  bool growing = true;
  for (const std::string& field : column.text) {
    if (is_missing(field)) continue;
    int year = 0;
    Cursor in{field};
    if (!in.digits(4, 1000, 2999, year) || !in.done()) return false;
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

/// How many letters must be inserted, deleted or replaced to turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// " (did you mean …?)" when a name is close to the one asked for.
std::string suggestion(const std::vector<Column>& columns, std::string_view name) {
  constexpr std::size_t longest = 60;  // beyond that nobody mistypes a name, and the cost is quadratic
  if (name.size() > longest) return "";
  const Column* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const Column& column : columns) {
    if (column.name.size() > longest) continue;
    const std::size_t distance = edit_distance(lower(name), lower(column.name));
    if (distance < least) nearest = &column, least = distance;
  }
  return nearest ? fmt::format(" (did you mean {}?)", shown(nearest->name)) : "";
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

TimeUnit unit_of(DateForm form) { return facts(form).unit; }

std::string_view name_of(TimeUnit unit) {
  constexpr std::string_view names[] = {"step", "year", "quarter", "month", "day", "second"};
  return names[static_cast<std::size_t>(unit)];
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : (lead & 0xF0) == 0xE0       ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool too_long = code < (length == 2 ? 0xA0u : length == 3 ? 0x800u : 0x10000u);  // C1 controls too
  const bool surrogate = code >= 0xD800 && code < 0xE000, noncharacter = (code & 0xFFFE) == 0xFFFE;
  return too_long || surrogate || noncharacter || code > 0x10FFFF ? 0 : length;
}

std::string format_time(double time, DateForm form) {
  using namespace std::chrono;
  const std::string plain = fmt::format("{}", time);
  if (!std::isfinite(time)) return plain;
  const TimeUnit unit = unit_of(form);
  const auto date_text = [](const year_month_day& date) {
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  };
  if (unit == TimeUnit::year || unit == TimeUnit::quarter || unit == TimeUnit::month) {
    const int per_year = unit == TimeUnit::year ? 1 : unit == TimeUnit::quarter ? 4 : 12;
    const double whole = std::round(time);
    if (whole < 0 || whole >= 10000.0 * per_year) return plain;
    const int periods = static_cast<int>(whole), calendar_year = periods / per_year,
              part = periods % per_year + 1;
    if (unit == TimeUnit::year) return fmt::format("{:04}", calendar_year);
    if (unit == TimeUnit::quarter) return fmt::format("{:04}-Q{}", calendar_year, part);
    if (form == DateForm::month) return fmt::format("{:04}-{:02}", calendar_year, part);
    const year_month in_month = std::chrono::year(calendar_year) / static_cast<int>(part);
    return date_text(form == DateForm::month_start ? year_month_day(in_month / 1)
                                                   : year_month_day(sys_days(in_month / last)));
  }
  if (unit == TimeUnit::none) return plain;
  const double milliseconds_per_day = 1000 * seconds_per_day;
  const double total =
      unit == TimeUnit::day ? std::round(time) * milliseconds_per_day : std::round(time * 1000);
  const double days_since = std::floor(total / milliseconds_per_day);
  if (days_since < -719528 || days_since > 2932896) return plain;  // 0000-01-01 to 9999-12-31
  const std::string date = date_text(year_month_day(day_at(days_since)));
  if (unit == TimeUnit::day) return date;
  const auto rest = static_cast<std::int64_t>(total - days_since * milliseconds_per_day);
  const std::string clock =
      fmt::format("{}T{:02}:{:02}:{:02}", date, rest / 3600000, rest / 60000 % 60, rest / 1000 % 60);
  return rest % 1000 ? fmt::format("{}.{:03}", clock, rest % 1000) : clock;
}

Time parse_time(std::string_view text) {
  const std::optional<Time> date = parse_date(text);
  if (!date)
    fail("{} is not a date; write 2024-01-31, 2024-01, 2024-Q1, 2024 or 2024-01-31T12:00:00.", shown(text));
  return *date;
}

double common_step(std::span<const double> times) {
  if (times.size() < 2) return 0;
  const double step = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  if (!(step > 0) || !std::isfinite(step)) return 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (!(std::abs(times[i] - times[i - 1] - step) <= 1e-9 * step + 1e-15 * std::abs(times[i]))) return 0;
  return times.size() == 2 ? step : times[1] - times[0];
}

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
