// Bytes to text, text to fields, fields to columns; and columns by their names.
#include "csv.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "encoding.hpp"
#include "numbers.hpp"
#include "scan.hpp"
#include "text.hpp"

namespace apps {
namespace {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw CsvError("[csv] " + fmt::format(format, std::forward<Args>(args)...));
}

/// A row of names: some field of it is neither a number nor a date.
bool is_header(const std::vector<std::string>& fields, const CsvOptions& options) {
  const auto by_given = [&](const std::string& field) {
    return !options.dates.format.empty() &&
           read_dates({field}, options.dates, [](const auto&) { return false; }).reading;
  };
  bool value_seen = false;
  for (const std::string& field : fields) {
    if (is_missing(field)) continue;
    if (!looks_like_number(field) && !looks_like_date(field) && !by_given(field)) return true;
    value_seen = true;
  }
  return !value_seen;
}

std::vector<Column> name_columns(const Record& first, bool header, std::string_view source) {
  std::vector<Column> columns(first.fields.size());
  std::map<std::string_view, std::size_t> taken;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].named = !header || !first.fields[i].empty();
    columns[i].name = header && columns[i].named ? first.fields[i] : fmt::format("c{}", i + 1);
    const auto [other, is_new] = taken.emplace(columns[i].name, i);
    if (!is_new)
      fail("{}:{}: columns {} and {} are both named {}; give each column a name of its own.", source, first.line,
           other->second + 1, i + 1, shown(columns[i].name));
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

/// The first field that holds something; the number of rows if none does.
std::size_t first_row(const Column& column) {
  std::size_t row = 0;
  while (row < column.text.size() && is_missing(column.text[row])) ++row;
  return row;
}

/// The first field that is no number: why the column holds text.
std::size_t first_word(const Column& column) {
  for (std::size_t row = 0; row < column.text.size(); ++row)
    if (!is_missing(column.text[row]) && !looks_like_number(column.text[row])) return row;
  return first_row(column);
}

std::string text_at(const Table& table, const Column& column, std::size_t row) {
  if (row >= column.text.size()) return "nothing";
  return fmt::format("{} in line {}", shown(column.text[row]), table.lines[row]);
}

/// Text with digits in it was meant as a date.
bool has_digits(const Column& column) {
  const std::size_t row = first_row(column);
  return row < column.text.size() && column.text[row].find_first_of("0123456789") != std::string::npos;
}

bool is_numeric(const Column& column) { return column.is_numeric(); }

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
    fail("{}: column {} holds {} ({}), not numbers; choose one of the numeric columns: {}.", source, shown(name),
         found.kind == ColumnKind::date ? "dates" : "text",
         text_at(*this, found, found.kind == ColumnKind::date ? first_row(found) : first_word(found)),
         list_names(columns, is_numeric));
  if (!found.problem.empty() && found.kind == ColumnKind::number) throw CsvError(found.problem);
  return found;
}

const Column& Table::time(std::string_view name) const {
  const Column& found = column(name);
  const auto orderly = [](const Column& column) { return column.kind != ColumnKind::text; };
  if (!found.problem.empty()) throw CsvError(found.problem);
  if (!orderly(found) && !found.no_dates.empty() && has_digits(found)) throw CsvError(found.no_dates);
  if (!orderly(found))
    fail("{}: column {} holds text ({}), not dates or numbers; choose one of: {}.", source, shown(name),
         text_at(*this, found, first_row(found)), list_names(columns, orderly));
  return found;
}

Table read_csv(std::string_view bytes, std::string_view name, const CsvOptions& options) {
  const Decoded decoded = decode(bytes, name);
  const std::string_view text = decoded.text;
  const char declared = declared_separator(text);
  const char separator = options.separator ? options.separator
                         : declared        ? declared
                                           : find_separator(text, options.decimal, options.comment);
  if (separator == '"' || separator == '\n' || separator == '\r' || separator == options.decimal)
    fail("{}: {} cannot separate fields; choose ',', ';' or a tab, and a decimal mark that differs from it.", name,
         shown(std::string_view(&separator, 1)));

  Scanner scanner(text, name, separator, options.comment);
  Record record;
  if (declared) scanner.skip_line();
  if (!scanner.next(record)) fail("{}: the file is empty; give a header line and rows of data.", name);
  const bool header =
      options.header == Header::automatic ? is_header(record.fields, options) : options.header == Header::present;

  Table table;
  table.source = name;
  if (!decoded.note.empty()) table.notes.push_back(decoded.note);
  table.columns = name_columns(record, header, name);
  if (header && options.header == Header::automatic)
    for (const Column& column : table.columns)
      if (column.named && (looks_like_number(column.name) || looks_like_date(column.name))) {
        table.notes.push_back(
            fmt::format("The first row was taken as the names of the columns, {} among them.", shown(column.name)));
        break;
      }
  for (bool more = header ? scanner.next(record) : true; more; more = scanner.next(record)) {
    if (record.fields.size() != table.columns.size())
      fail(
          "{}:{}: this row has {} field{} where the {} has {}; fill in or remove fields, or quote those that "
          "hold the separator {}{}.",
          name, record.line, record.fields.size(), record.fields.size() == 1 ? "" : "s",
          header ? "header" : "first row", table.columns.size(), shown_separator(separator),
          record.fields.size() <= table.columns.size() ? ""
          : table.columns.size() == 1                  ? ", or remove lines above the table"
          : separator == ',' ? " (numbers with decimal commas need quotes, or ';' between fields)"
                             : "");
    table.lines.push_back(record.line);
    for (std::size_t i = 0; i < table.columns.size(); ++i) table.columns[i].text.push_back(std::move(record.fields[i]));
  }
  if (table.lines.empty()) fail("{}: there is a header but no row of data; add rows below it.", name);
  convert_columns(table, options, separator);
  return table;
}

Table read_csv_file(const std::string& path, const CsvOptions& options) {
  const auto read_all = [](std::istream& in, std::string_view name) {
    std::string text;
    std::vector<char> chunk(1 << 16);
    errno = 0;
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0)
      text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (in.bad()) fail("cannot read {}: {}; check the file.", name, errno ? std::strerror(errno) : "unknown reason");
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
