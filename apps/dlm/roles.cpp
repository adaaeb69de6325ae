// Dates that are recognised come first; then what looks like dates and is refused; then numbers that count.
#include "roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "date_patterns.hpp"
#include "errors.hpp"
#include "joined_dates.hpp"
#include "numbers.hpp"
#include "text.hpp"

namespace apps {
namespace {

using Role = ColumnUse::Role;

std::vector<double> present(const std::vector<double>& values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double v) { return !std::isnan(v); });
  return out;
}

/// Steps of one size, up or down.
/// But for rounding.
bool evenly_spaced(const Column& column) {
  std::vector<double> values = column.values;
  if (values.size() < 3 || present(values).size() != values.size() || !in_order(values)) return false;
  if (values.front() > values.back()) std::reverse(values.begin(), values.end());
  if (common_step(values) > 0) return true;
  const std::optional<RoundedGrid> grid = even_but_for_rounding(values, column.written);
  return grid && grid->positions.back() + 1 == static_cast<double>(values.size());
}
/// 0, 1, 2, … or 1, 2, 3, …
bool counts_rows(const Column& column) {
  if (column.values.size() < 2 || (column.values[0] != 0 && column.values[0] != 1)) return false;
  for (std::size_t i = 1; i < column.values.size(); ++i)
    if (column.values[i] != column.values[i - 1] + 1) return false;
  return true;
}
bool is_constant(const Column& column) {
  if (column.kind == ColumnKind::text)
    return std::all_of(column.text.begin(), column.text.end(), [&](const auto& f) { return f == column.text[0]; });
  const std::vector<double> values = present(column.values);
  return !values.empty() && std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
}
bool has_date(const Column& c) { return c.kind == ColumnKind::date && c.problem.empty() && !present(c.values).empty(); }

/// A name as an argument.
std::string shell_word(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return plain ? name : shown(name);
}

constexpr const char* without_times = " Without times, say --time none: the rows are counted.";

class Assigner {
 public:
  Assigner(const Table& table, const DataOptions& options) : table_(table), o_(options) {}

  Roles assign() {
    find_time();
    refuse_idle_order();
    find_values();
    describe();
    return std::move(roles_);
  }

 private:
  bool asked_for(const std::string& name) const {
    return name == o_.column || name == o_.sd_column ||
           std::find(o_.regress.begin(), o_.regress.end(), name) != o_.regress.end();
  }
  bool is_free(const Column& c) const { return !asked_for(c.name) && !time_parts_.contains(c.name); }
  bool leads(const Column& c) const { return &c == &table_.columns.front(); }
  bool has_other_numbers(const Column& c) const {
    return std::any_of(table_.columns.begin(), table_.columns.end(), [&](const Column& d) {
      return &d != &c && d.kind == ColumnKind::number && (is_free(d) || d.name == o_.column) &&
             !present(d.values).empty();
    });
  }

  // ---- the time

  void take_time(const Column& c, const std::string& words) {
    roles_.time = c;
    time_parts_.insert(c.name);
    time_words_ = words;
  }
  static std::string words_of(const Column& c) {
    if (c.kind != ColumnKind::date) return "";
    return c.why.empty() || c.why.starts_with(c.format) ? (c.why.empty() ? c.format : c.why) : c.format + "; " + c.why;
  }

  void find_time() {
    const bool none = o_.time == "none" && std::none_of(table_.columns.begin(), table_.columns.end(),
                                                        [](const Column& c) { return c.name == "none"; });
    const std::string_view option = o_.dates.format.empty() ? option_of(o_.dates.order) : "--date-format";
    if (none && !option.empty())
      complain<InputError>("[{}] the rows are counted by --time none, so that no dates are read; leave out {}.",
                           table_.source, option);
    if (none) {
      counted_ = "as --time none says";
      return;
    }
    if (!o_.time.empty()) {
      const Column& c = table_.time(o_.time);
      if (c.kind == ColumnKind::number && !c.no_dates.empty() && !o_.dates.format.empty()) throw CsvError(c.no_dates);
      return take_time(c, words_of(c));
    }
    refuse_times_in_columns();
    refuse_idle_format();
    std::optional<JoinedDates> joined = join_dates(table_, [&](const Column& c) { return is_free(c); });
    if (joined) time_parts_.insert(joined->parts.begin(), joined->parts.end());
    refuse_unreadable();
    if (joined && (o_.dates.format.empty() || joined->column.by_format)) return take_joined(std::move(*joined));
    if (const Column* c = best_dates()) return take_time(*c, words_of(*c));
    refuse_unreadable_text();
    for (const Column& c : table_.columns)
      if (is_axis(c)) return take_time(c, axis_words(c));
    counted_ = "no column holds times";
    remark_on_unused_times();
  }

  /// A format that fits no column is not left aside.
  void refuse_idle_format() const {
    if (o_.dates.format.empty()) return;
    const auto fits = [](const Column& c) { return c.by_format; };
    if (std::any_of(table_.columns.begin(), table_.columns.end(), fits)) return;
    const auto expected = [&](const Column& c) {
      const NameHint hint = c.hint();
      return hint == NameHint::date                              ? 4
             : hint == NameHint::time                            ? 3
             : c.kind == ColumnKind::date || !c.no_dates.empty() ? 2
             : leads(c) && c.kind == ColumnKind::text            ? 1
                                                                 : 0;
    };
    const Column* best = nullptr;
    std::vector<std::string> tried;
    for (const Column& c : table_.columns) {
      if (c.no_format.empty()) continue;
      tried.push_back(shown(c.name));
      if (!best || expected(c) > expected(*best)) best = &c;
    }
    if (best && expected(*best)) throw CsvError(best->no_format);
    constexpr std::size_t most = 12;
    if (tried.size() > most) tried.resize(most), tried.emplace_back("…");
    complain<InputError>("[{}] no column holds dates like {}{}; correct --date-format, or name the column with --time.",
                         table_.source, shown(o_.dates.format),
                         tried.empty() ? "" : fmt::format(" (tried: {})", fmt::join(tried, ", ")));
  }

  void refuse_idle_order() const {
    if (o_.dates.order == DateOrder::by_data || (roles_.time && roles_.time->by_order)) return;
    const std::string_view option = option_of(o_.dates.order);
    complain<InputError>(
        "[{}] {} is for dates with a day and a month in digits, and {}; leave it out, or describe the dates by "
        "--date-format.",
        table_.source, option,
        roles_.time ? fmt::format("the times, {}, are no such dates{}", shown(roles_.time->name),
                                  time_words_.empty() ? "" : fmt::format(" ({})", time_words_))
                    : "no column holds such dates");
  }

  /// Parts of dates that make no date together are not dropped without a word.
  void remark_on_unused_times() {
    std::vector<std::string> names;
    for (const Column& c : table_.columns)
      if (is_free(c) && (c.hint() == NameHint::time || c.hint() == NameHint::date)) names.push_back(shown(c.name));
    if (!names.empty() && table_.columns.size() > names.size())
      roles_.notes.push_back(fmt::format(
          "The rows are counted, though by {} {} would say when they were observed: --time names a column that does.",
          names.size() == 1 ? "its name" : "their names", fmt::join(names, ", ")));
  }

  /// Names of columns that are times: a row is a series there.
  void refuse_times_in_columns() const {
    constexpr std::size_t enough = 4;
    const auto is_quarter = [](const std::string& name) {
      return name.size() == 2 && lower(name)[0] == 'q' && name[1] >= '1' && name[1] <= '4';
    };
    std::vector<std::string> times;
    for (const Column& c : table_.columns)
      if (c.named && (looks_like_date(c.name) || month_of_name(c.name) || is_quarter(c.name) || parse_clock(c.name)))
        times.push_back(c.name);
    if (times.size() < enough || 2 * times.size() < table_.columns.size() || !o_.column.empty()) return;
    complain<InputError>(
        "[{}] the columns are times ({}, {}, …), so that a row is a series; turn the table, so that each time is a "
        "row, or "
        "name the series with --column.",
        table_.source, shown(times[0]), shown(times[1]));
  }

  /// A column that by its name or place is the time, and whose dates cannot be read: never dropped silently.
  void refuse_unreadable() const {
    for (const Column& c : table_.columns) {
      if (!is_free(c)) continue;
      const NameHint hint = c.hint();
      const bool dates = c.kind == ColumnKind::date && !c.problem.empty();
      if (dates && (leads(c) || hint == NameHint::date || hint == NameHint::time)) throw CsvError(c.problem);
      if (hint == NameHint::date && !c.no_dates.empty()) throw CsvError(c.no_dates);
      if (hint == NameHint::date && c.kind == ColumnKind::number && !c.problem.empty()) throw CsvError(c.problem);
    }
  }
  /// The same where no other column has dates.
  void refuse_unreadable_text() const {
    const auto numeric = [](const Column& c) { return c.kind == ColumnKind::number; };
    if (std::none_of(table_.columns.begin(), table_.columns.end(), numeric)) return;  // there is nothing to model
    for (const Column& c : table_.columns) {
      if (!is_free(c)) continue;
      if (c.kind == ColumnKind::date && !c.problem.empty()) throw CsvError(c.problem);
      const bool said = c.hint() == NameHint::time || c.hint() == NameHint::date;
      if (c.kind == ColumnKind::number && (said || leads(c))) {
        if (!c.problem.empty()) throw CsvError(c.problem);
        if (!c.no_dates.empty()) throw CsvError(c.no_dates + without_times);
        const bool should_be = leads(c) && c.values.size() > 1 && (said || mostly_even(c.values));
        if (should_be && has_other_numbers(c) && !present(c.values).empty() && !is_axis(c) && !is_constant(c))
          throw CsvError(out_of_order(c));
      }
      const bool expected = leads(c) || c.hint() == NameHint::time;
      if (c.kind != ColumnKind::text || !expected || is_constant(c) || c.no_dates.empty()) continue;
      throw CsvError(c.no_dates + without_times);
    }
  }

  /// Where a column that is the time by its name and place stops to be one.
  std::string out_of_order(const Column& c) const {
    const double first = c.values[0], second = c.values[std::min<std::size_t>(1, c.values.size() - 1)];
    if (in_order(c.values) && first > second && present(c.values).size() == c.values.size())
      return fmt::format(
          "[csv] {}:{}, column {}: its values fall throughout, from {} to {}; --time {} takes them as the times and "
          "sorts "
          "the rows by them, --time none counts the rows.",
          table_.source, table_.lines[0], shown(c.name), first, c.values.back(), shell_word(c.name));
    std::size_t row = std::isnan(first) ? 0 : 1;  // where the direction of the first step is not kept
    while (row + 1 < c.values.size() && (c.values[row] - c.values[row - (row > 0)]) * (second - first) > 0) ++row;
    return fmt::format(
        "[csv] {}:{}, column {}: {}, so it does not say when the rows were observed; correct it, name "
        "the column of times with --time, or say --time none: the rows are counted.",
        table_.source, table_.lines[row], shown(c.name),
        std::isnan(c.values[row]) ? "the value is missing"
                                  : fmt::format("{} does not follow the values before it", c.values[row]));
  }

  const Column* best_dates() const {
    // Of two alike, that in which the rows are in order: not when they were written down.
    const auto rank = [&](const Column& c) {
      const int ordered = in_order(c.values) ? 1 : 0;
      if (c.by_format) return 10 + ordered;
      if (c.hint() == NameHint::date) return 8 + ordered;
      if (leads(c)) return 6 + ordered;
      return (c.hint() == NameHint::time ? 4 : 2) + ordered;
    };
    const Column* best = nullptr;
    for (const Column& c : table_.columns)
      if (has_date(c) && is_free(c) && !is_constant_of_many(c) && (!best || rank(c) > rank(*best))) best = &c;
    return best;
  }
  /// One date for all rows, such as when a file was made, is no time axis.
  bool is_constant_of_many(const Column& c) const { return table_.rows() > 2 && is_constant(c); }

  void take_joined(JoinedDates joined) {
    time_words_ = fmt::format("made of {}{}{}", fmt::join(joined.parts, " and "), joined.column.why.empty() ? "" : "; ",
                              joined.column.why);
    roles_.time = std::move(joined.column);
  }

  /// Numbers that say where a row stands.
  bool is_axis(const Column& c) const {
    if (c.kind != ColumnKind::number || !is_free(c) || !c.problem.empty() || !has_other_numbers(c)) return false;
    if (present(c.values).size() != c.values.size() || c.values.size() < 2 || !in_order(c.values)) return false;
    const NameHint hint = c.hint();
    if (hint == NameHint::time || hint == NameHint::date) return true;
    if (!leads(c)) return false;
    if (hint == NameHint::index) {
      const std::string name = lower(c.name);
      return evenly_spaced(c) || counts_rows(c) || name == "x" || name == "i" || name == "index" || name == "idx";
    }
    return evenly_spaced(c) && c.values.front() < c.values.back();
  }
  std::string axis_words(const Column& c) const {
    return counts_rows(c) ? "counts the rows" : evenly_spaced(c) ? "numbers, evenly spaced" : "numbers";
  }

  // ---- the values

  std::string reason_to_skip(const Column& c) const {
    if (c.kind == ColumnKind::text) return "text";
    if (c.kind == ColumnKind::date) return has_date(c) ? "other dates" : "dates that cannot be read";
    if (present(c.values).empty() && c.problem.empty()) return "empty";
    if (counts_rows(c)) return "counts the rows";
    if (c.hint() == NameHint::index && leads(c)) return "an index by its name";
    if (is_identifier(c)) return "an identifier by its name";
    const bool measured = std::any_of(c.values.begin(), c.values.end(), [](double v) { return v != std::floor(v); });
    // "T" may be a temperature and "steps" may be walked; parts of dates come again and again.
    constexpr double most_seconds = 60;
    const bool too_large = unit_of_name(c.name) == NamedUnit::none &&
                           std::any_of(c.values.begin(), c.values.end(), [](double v) { return v > most_seconds; });
    const bool no_time = roles_.time && (measured || too_large) && !in_order(c.values);
    if ((c.hint() == NameHint::time || c.hint() == NameHint::date) && !no_time) return "a time by its name";
    if (is_constant(c)) return "the same in all rows";
    return "";
  }

  /// Numbers that name something; "long" does so beside "lat".
  bool is_identifier(const Column& c) const {
    bool surely = false;
    if (c.named && lower(c.name) == "long")
      return std::any_of(table_.columns.begin(), table_.columns.end(),
                         [](const Column& d) { return words_of_name(d.name) == std::vector<std::string>{"lat"}; });
    if (!c.named || !is_identifier_by_name(c.name, surely)) return false;
    return surely || std::all_of(c.values.begin(), c.values.end(),
                                 [](double v) { return std::isnan(v) || (v == std::floor(v) && v >= 0); });
  }

  /// Flags, days of the week, numbers of shops: few different whole numbers that come again and again.
  static bool looks_like_code(const Column& c) {
    constexpr std::size_t few_kinds = 7, enough_rows = 20;
    const std::vector<double> values = present(c.values);
    const std::set<double> kinds(values.begin(), values.end());
    return values.size() >= enough_rows && kinds.size() <= few_kinds &&
           std::all_of(kinds.begin(), kinds.end(), [](double v) { return v == std::floor(v); });
  }

  void find_values() {
    if (!o_.column.empty()) {
      roles_.values = &table_.numeric(o_.column);
      return;
    }
    // What has a reason against it is taken only where nothing else is there, and codes after measurements.
    enum Pass { measurements, numbers, no_identifiers, anything };
    for (const Pass pass : {measurements, numbers, no_identifiers, anything})
      for (const Column& c : table_.columns) {
        if (c.kind != ColumnKind::number || !is_free(c) || roles_.values) continue;
        const std::string reason = reason_to_skip(c);
        if (!reason.empty() && pass < no_identifiers) continue;
        if (pass == no_identifiers && is_identifier(c)) continue;
        if (pass == measurements && looks_like_code(c)) continue;
        if (reason == "a time by its name" && table_.columns.size() > 1) continue;
        roles_.values = &table_.numeric(c.name);
        if (!reason.empty())
          roles_.notes.push_back(
              fmt::format("The series is {}, {}: there is no other column of numbers.", shown(c.name),
                          reason == "empty" ? "though it is empty" : "though it looks otherwise (" + reason + ")"));
      }
    if (roles_.values) return;
    std::vector<std::string> names;
    for (const Column& column : table_.columns) names.push_back(shown(column.name));
    if (names.size() > 20) names.resize(20), names.emplace_back("…");
    complain<InputError>("[{}] there is no column of numbers to model (columns: {}){}; name one with --column{}.",
                         table_.source, fmt::join(names, ", "), failed_number(),
                         table_.columns.size() == 1 ? ", or what stands between fields with --separator" : "");
  }

  /// The first field that is no number where most are.
  std::string failed_number() const {
    const Column* best = nullptr;
    std::size_t most = 0, row = 0;
    for (const Column& c : table_.columns) {
      if (c.kind != ColumnKind::text || time_parts_.contains(c.name)) continue;
      std::size_t good = 0, first = c.text.size();
      for (std::size_t i = 0; i < c.text.size(); ++i)
        if (looks_like_number(c.text[i]))
          ++good;
        else if (!is_missing(c.text[i]))
          first = std::min(first, i);
      if (first == c.text.size()) first = 0;
      if (!best || good > most || (good == most && is_time(*best) && !is_time(c))) best = &c, most = good, row = first;
    }
    if (!best) return "";
    const bool digits = best->text[row].find_first_of("0123456789") != std::string::npos;
    return fmt::format(": {} in line {}, column {}, is no number{}", shown(best->text[row]), table_.lines[row],
                       shown(best->name), digits ? " (--decimal says what the decimal mark is)" : "");
  }
  static bool is_time(const Column& c) { return c.hint() == NameHint::time || c.hint() == NameHint::date; }

  // ---- what is said of them

  void describe() {
    auto& uses = roles_.uses;
    if (roles_.time)
      uses.push_back({Role::time, roles_.time->name, time_words_});
    else
      uses.push_back({Role::time, "", counted_});
    uses.push_back(
        {Role::values, roles_.values->name, roles_.values->kind == ColumnKind::number ? roles_.values->format : ""});
    for (const std::string& name : o_.regress) uses.push_back({Role::regressor, name, table_.numeric(name).format});
    if (!o_.sd_column.empty()) uses.push_back({Role::sd, o_.sd_column, ""});
    std::vector<std::string> others;
    for (const Column& c : table_.columns) {
      if (&c == roles_.values || time_parts_.contains(c.name) || asked_for(c.name)) continue;
      const std::string reason = reason_to_skip(c);
      if (reason.empty() || (c.kind == ColumnKind::number && is_identifier(c) && !counts_rows(c) && !leads(c)))
        others.push_back(shown(c.name) + (reason.empty() ? "" : " (" + reason + ")"));
      uses.push_back({Role::ignored, c.name, reason.empty() ? "other numbers" : reason});
    }
    std::vector<std::string> other_times;
    if (roles_.time && o_.time.empty())
      for (const Column& c : table_.columns)
        if (has_date(c) && is_free(c) && !is_constant_of_many(c)) other_times.push_back(shown(c.name));
    if (!other_times.empty())
      roles_.notes.push_back(fmt::format("The time is {}, and could have been {}: --time names it.",
                                         shown(roles_.time->name), fmt::join(other_times, ", ")));
    const Column& v = *roles_.values;
    const std::vector<double> values = present(v.as_numbers());
    if (!roles_.time && o_.column.empty() && leads(v) && has_other_numbers(v) && values.size() >= 10 &&
        in_order(values))
      roles_.notes.push_back(fmt::format("{} only {}; if it says when the rows were observed, give --time {}.",
                                         shown(v.name), values.front() < values.back() ? "grows" : "falls",
                                         shown(v.name)));
    if (o_.column.empty() && !others.empty()) {
      constexpr std::size_t most_named = 5;
      const std::size_t more = others.size() > most_named ? others.size() - most_named : 0;
      others.resize(others.size() - more);
      roles_.notes.push_back(fmt::format("The series is {}, and could have been {}{}: --column names it.",
                                         shown(v.name), fmt::join(others, ", "),
                                         more ? fmt::format(" and {} more", more) : ""));
    }
  }

  const Table& table_;
  const DataOptions& o_;
  Roles roles_;
  std::set<std::string> time_parts_;
  std::string time_words_, counted_;
};

}  // namespace

Roles assign_roles(const Table& table, const DataOptions& options) { return Assigner(table, options).assign(); }

}  // namespace apps
