// Bytes to text, text to fields, fields to columns; and columns by their names.
#include "csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

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

// ---- lines above and below a table

std::size_t after_line(std::string_view text, std::size_t at) {
  at = std::min(text.find_first_of("\r\n", at), text.size());
  if (text.substr(at).starts_with("\r\n")) ++at;
  return std::min(at + 1, text.size());
}

/// What stands above the header and is no part of the table.
struct Above {
  std::size_t lines = 0;  ///< to skip
  std::size_t begin = 0;  ///< where the table does, in bytes
  std::size_t comments = 0, last_comment = 0;
  std::size_t comment_at = 0;  ///< of the last one, in bytes
};

/// A line that begins with # is a comment, but for a column that is called so.
bool is_comment(std::string_view line) {
  return line.starts_with('#') && !(line.size() > 1 && std::string_view(",;\t|").find(line[1]) != line.npos);
}

Above find_above(std::string_view text, std::size_t skip, bool declared, bool comments) {
  Above out;
  for (std::size_t i = 0; i < std::max<std::size_t>(skip, declared ? 1 : 0) && out.begin < text.size(); ++i)
    ++out.lines, out.begin = after_line(text, out.begin);
  std::size_t at = out.begin;
  for (std::size_t line = out.lines; comments && at < text.size(); ++line, at = after_line(text, at)) {
    const std::string_view rest = text.substr(at, text.find_first_of("\r\n", at) - at);
    if (is_comment(rest))
      ++out.comments, out.last_comment = line + 1, out.comment_at = at, out.lines = line + 1,
                      out.begin = after_line(text, at);
    else if (rest.find_first_not_of(" \t") != std::string_view::npos)
      break;
  }
  return out;
}

/// "# date,value" right above rows without a header: the names.
std::optional<Record> header_in_comment(std::string_view text, const Above& above, const Record& first,
                                        std::string_view name, char separator) {
  if (!above.comments) return {};
  std::string_view line = text.substr(above.comment_at, above.begin - above.comment_at);
  const bool one = first.fields.size() == 1;  // "#id" names a column, "# made by x" does not
  if (one && (above.comments > 1 || line.find_first_of(" \t") != line.npos)) return {};
  if (!one) line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
  Record out;
  try {
    if (!Scanner(line, name, separator, 0).next(out)) return {};
  } catch (const CsvError&) {
    return {};
  }
  out.line = above.last_comment;
  const auto is_value = [](const std::string& f) { return looks_like_number(f) || looks_like_date(f); };
  if (out.fields.size() != first.fields.size() || std::any_of(out.fields.begin(), out.fields.end(), is_value) ||
      std::none_of(first.fields.begin(), first.fields.end(), is_value))
    return {};
  return out;
}

/// Why a row has another number of fields than the header, and what to do.
std::string cause_of_ragged(const Record& record, const Table& table, Scanner rest, char separator) {
  constexpr std::size_t rows_looked_at = 50;
  const std::size_t wanted = table.columns.size(), given = record.fields.size();
  std::map<std::size_t, std::size_t> counts, first_line;
  Record next = record;
  std::size_t looked_at = 0;
  try {
    do ++counts[next.fields.size()], first_line.emplace(next.fields.size(), next.line);
    while (++looked_at < rows_looked_at && rest.next(next));
  } catch (const CsvError&) {
  }
  const auto digits = std::count_if(record.fields.begin(), record.fields.end(), [](const std::string& f) {
    return !f.empty() && f.find_first_not_of("0123456789", f.starts_with('-')) == std::string::npos;
  });
  const std::string quote =
      fmt::format("fill in or remove fields, or quote those that hold the separator {}", shown_separator(separator));
  if (separator == ',' && given > wanted && wanted > 1 && 2 * (given - wanted) <= static_cast<std::size_t>(digits))
    return quote + " (numbers with decimal commas need quotes, or ';' between fields)";
  const auto usual =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t begin = first_line[usual->first] - 1;
  if (usual->first > wanted && table.lines.size() < 20 &&
      (wanted == 1 || (usual->second > 1 && 2 * usual->second > looked_at)))
    return fmt::format("if the table begins in line {}, remove the lines above the table, or say --skip-rows {}",
                       begin + 1, begin);
  if (given < wanted && table.lines.size() > 1 && !counts.contains(wanted))
    return "fill in fields, or remove the lines below the table";
  return quote;
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
  const Above above = find_above(text, options.skip_rows, declared, options.comment == 0);
  const char separator = options.separator ? options.separator
                         : declared        ? declared
                                           : find_separator(text.substr(above.begin), options.decimal, options.comment);
  if (separator == '"' || separator == '\n' || separator == '\r' || separator == options.decimal)
    fail("{}: {} cannot separate fields; choose ',', ';' or a tab, and a decimal mark that differs from it.", name,
         shown(std::string_view(&separator, 1)));

  Scanner scanner(text, name, separator, options.comment);
  Record record;
  for (std::size_t i = 0; i < above.lines; ++i) scanner.skip_line();
  const Scanner table_only = scanner;
  if (!scanner.next(record)) {
    if (options.skip_rows)
      fail("{}: nothing is left below the {} lines of --skip-rows; give fewer.", name, options.skip_rows);
    fail("{}: the file is empty; give a header line and rows of data.", name);
  }
  bool header =
      options.header == Header::automatic ? is_header(record.fields, options) : options.header == Header::present;

  Table table;
  table.source = name;
  if (!decoded.note.empty()) table.notes.push_back(decoded.note);
  std::size_t left_out = above.comments;
  if (std::optional<Record> names = options.header == Header::automatic
                                        ? header_in_comment(text, above, record, name, separator)
                                        : std::nullopt) {
    record = std::move(*names);
    scanner = table_only;
    header = true;
    --left_out;
    table.notes.push_back(
        fmt::format("The names of the columns are those of line {}, which begins with #.", record.line));
  }
  if (left_out)
    table.notes.push_back(fmt::format("{} above the header that begin{} with # {} left out.",
                                      left_out == 1 ? "A line" : fmt::format("{} lines", left_out),
                                      left_out == 1 ? "s" : "", left_out == 1 ? "is" : "are"));
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
      fail("{}:{}: this row has {} field{} where the {} has {}; {}.", name, record.line, record.fields.size(),
           record.fields.size() == 1 ? "" : "s", header ? "header" : "first row", table.columns.size(),
           cause_of_ragged(record, table, scanner, separator));
    if (options.decimal == ',' && table.columns.size() == 1 && table.lines.empty() &&
        record.fields[0].find(',') != std::string::npos && !looks_like_number(record.fields[0]))
      fail(
          "{}:{}: with --decimal ',' nothing separates the fields of {}; leave out --decimal, or name what does with "
          "--separator.",
          name, record.line, shown(record.fields[0]));
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
