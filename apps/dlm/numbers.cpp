// A field is stripped of its signs; what is left is read with a point and with a comma as the decimal mark,
// and the whole column says which it is.
#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "date_patterns.hpp"
#include "text.hpp"

namespace apps {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

/// Whether a decimal number too large or too small for a double is too large.
bool overflows(std::string_view digits) {
  const std::size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_at);
  std::int64_t exponent = 0;
  if (exponent_at + 1 < digits.size()) {
    std::string_view power = digits.substr(exponent_at + 1);
    const bool negative = power.starts_with('-');
    if (power.starts_with('+')) power.remove_prefix(1);
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc{}) return !negative;
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  return static_cast<double>(point) - static_cast<double>(first) + static_cast<double>(exponent) > 0;
}

// ---- a field without its signs

struct Bare {
  std::string digits;    ///< with its marks: "1,234.50"
  std::string currency;  ///< "$", "EUR"
  std::string unit;      ///< "kg"
  std::string gaps;      ///< what stands between thousands, marked by '_' in digits: "spaces", "apostrophes"
  bool percent = false;
  bool in_brackets = false, minus_behind = false;  ///< ways to write a negative number
};

/// Takes what people put between thousands, spaces of every width and apostrophes, and gives the name of it; "" for
/// others.
std::string_view taken_gap(std::string_view& text) {
  for (const std::string_view space : {" ", "\u00A0", "\u202F", "\u2009"})
    if (text.starts_with(space)) return text.remove_prefix(space.size()), "spaces";
  for (const std::string_view apostrophe : {"'", "\u2019"})
    if (text.starts_with(apostrophe)) return text.remove_prefix(apostrophe.size()), "apostrophes";
  return "";
}

std::string_view taken_currency(std::string_view& text) {
  for (const std::string_view sign : {"US$", "$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "kr"})
    if (text.starts_with(sign)) return text.remove_prefix(sign.size()), sign;
  return "";
}

/// Letters after a number that may be its unit, "kg", "°C", "m/s", but not those of dates and times: "5 Jan", "1st",
/// "10 am".
bool may_be_unit(std::string_view text) {
  constexpr std::size_t longest = 12;
  if (text.empty() || letters_of(text) > longest || text.find_first_of("0123456789,;:.-+'\"") != std::string_view::npos)
    return false;
  for (const std::string_view other : {"st", "nd", "rd", "th", "am", "pm", "q", "w", "h", "z", "e"})
    if (lower(text) == other) return false;
  const char first = text[0];
  return ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || (first & 0x80)) &&
         month_of_name(text) == 0;
}

std::optional<Bare> bare(std::string_view field) {
  Bare out;
  bool negative = false, bracket = false;
  const auto spaces = [&] {
    while (field.starts_with(' ') || field.starts_with("\u00A0")) field.remove_prefix(field[0] == ' ' ? 1 : 2);
  };
  const auto sign = [&] {
    if (field.starts_with('-'))
      negative = true, field.remove_prefix(1);
    else if (field.starts_with("\u2212"))
      negative = true, field.remove_prefix(3);
    else if (field.starts_with('+'))
      field.remove_prefix(1);
    else
      return false;
    return true;
  };
  spaces();
  if (field.starts_with('(') && field.ends_with(')')) {  // of accountants: negative
    bracket = out.in_brackets = true;
    field = field.substr(1, field.size() - 2);
  }
  bool signed_before = sign();
  spaces();
  out.currency = taken_currency(field);
  spaces();
  if (!signed_before) sign();
  while (!field.empty()) {
    const char c = field[0];
    if ((c >= '0' && c <= '9') || c == '.' || c == ',') {
      out.digits += c;
      field.remove_prefix(1);
    } else if ((c == 'e' || c == 'E') &&
               field.find_first_of("0123456789") == (field.find_first_of("+-") == 1 ? 2 : 1) && !out.digits.empty()) {
      out.digits += field;
      field = "";
    } else if (std::string_view rest = field, gap = taken_gap(rest);
               !gap.empty() && !rest.empty() && rest[0] >= '0' && rest[0] <= '9' && !out.digits.empty()) {
      out.digits += '_';
      out.gaps = gap;
      field = rest;
    } else {
      break;
    }
  }
  if (out.digits.empty()) return {};
  spaces();
  if (field.starts_with('%')) out.percent = true, field.remove_prefix(1);
  if (const std::string_view after = taken_currency(field); !after.empty()) {
    if (!out.currency.empty()) return {};
    out.currency = after;
  }
  spaces();
  if (field == "-" && !negative && !bracket) negative = out.minus_behind = true, field = "";  // as SAP writes it
  if (!out.percent && out.currency.empty() && may_be_unit(field)) out.unit = field, field = "";
  if (!field.empty() || (negative && bracket)) return {};
  if (negative || bracket) out.digits = "-" + out.digits;
  return out;
}

/// Bare digits with this decimal mark; thousands may stand apart, all of them by the same mark. `grouped`
/// tells whether they do.
Parsed read_bare(const std::string& digits, char decimal, double& value, bool& grouped) {
  std::string plain;
  char group = 0;
  std::size_t run = 0, groups = 0;
  bool fraction = false;
  grouped = false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[i];
    if (c == 'e' || c == 'E') {
      if (groups) return Parsed::no;
      plain += digits.substr(i);
      return parse_number(plain, value);
    }
    if (c == decimal) {
      if (fraction || (groups && run != 3)) return Parsed::no;
      fraction = true;
      plain += '.';
    } else if (c == '.' || c == ',' || c == '_') {
      // One to three digits before the first mark, none of them a leading zero, then threes.
      if (fraction || (group && c != group) || (groups ? run != 3 : run < 1 || run > 3)) return Parsed::no;
      if (!groups && plain[plain.size() - run] == '0') return Parsed::no;
      group = c;
      ++groups;
      run = 0;
    } else {
      plain += c;
      run += c >= '0' && c <= '9' && !fraction;
    }
  }
  if (groups && run != 3) return Parsed::no;
  grouped = groups > 0 && group != '_';
  return parse_number(plain, value);
}

// ---- a column

/// Units that change within a column, or that only some fields have.
struct UnitDoubt {
  std::string words = "";  ///< "" where there is none
  std::size_t row = 0;
  double share = 0;  ///< of the fields, what has a unit
};

/// A unit is one where all fields have it; otherwise fields with letters are no numbers.
UnitDoubt settle_units(std::vector<std::optional<Bare>>& column, const std::vector<std::string>& fields) {
  std::size_t with_unit = 0, count = 0;
  UnitDoubt doubt;
  const Bare* first = nullptr;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (is_missing(fields[i])) continue;
    ++count;
    if (!column[i]) continue;
    with_unit += !column[i]->unit.empty();
    if (!first) first = &*column[i];
    if (column[i]->unit == first->unit || !doubt.words.empty()) continue;
    const auto unit = [](const Bare& b) { return b.unit.empty() ? "without a unit" : "in " + b.unit; };
    doubt = {fmt::format("is {} where the fields before it are {}; give all values in one unit, without its name.",
                         unit(*column[i]), unit(*first)),
             i};
  }
  const bool all = with_unit == count && doubt.words.empty();
  if (!all)
    for (std::optional<Bare>& b : column)
      if (b && !b->unit.empty()) b.reset();
  doubt.share = static_cast<double>(with_unit) / static_cast<double>(std::max<std::size_t>(count, 1));
  return doubt.share > 0.5 ? doubt : UnitDoubt();
}

struct Reading {
  std::vector<double> values;
  std::size_t read = 0, grouped = 0;
  std::string gaps = "";                     ///< between thousands
  std::size_t infinite = std::string::npos;  ///< the row of a number too large
};

Reading reading_by(char decimal, const std::vector<std::optional<Bare>>& column) {
  Reading out;
  out.values.assign(column.size(), missing_value);
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (!column[i]) continue;
    bool grouped = false;
    const Parsed parsed = read_bare(column[i]->digits, decimal, out.values[i], grouped);
    if (parsed == Parsed::infinite && out.infinite == std::string::npos) out.infinite = i;
    if (parsed == Parsed::no) {
      out.values[i] = missing_value;
      continue;
    }
    ++out.read;
    out.grouped += grouped;
    if (out.gaps.empty()) out.gaps = column[i]->gaps;
  }
  return out;
}

/// Both marks fit every field and mean different numbers: each mark has one to three digits before it and
/// three after it. Numbers below 1000 without a mark speak for thousands. Semicolons between fields speak for
/// nothing: spreadsheets write them for decimal commas, and people who have commas between thousands.
char decide(const std::vector<std::optional<Bare>>& column, char separator, std::string& problem, std::size_t& row) {
  std::size_t plain = 0, large = 0;
  char mark = 0;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (!column[i]) continue;
    const std::string& digits = column[i]->digits;
    const std::size_t at = digits.find_first_of(".,");
    const std::size_t length = digits.size() - digits.starts_with('-');
    if (at == std::string::npos) {
      plain += length == 3, large += length > 3;
    } else if (mark == 0) {
      mark = digits[at];
      row = i;
    }
  }
  const char other = mark == '.' ? ',' : '.';
  const bool dollars = mark != 0 && (column[row]->currency.ends_with('$') || column[row]->currency == "£");
  if (mark == ',' && dollars) return '.';                     // $1,234
  if (mark == ',' && plain && !large) return '.';             // 987 and 1,234
  if (mark == '.' && !plain && separator != ';') return '.';  // the usual decimal point
  double with_point = 0, with_comma = 0;
  bool grouped = false;
  read_bare(column[row]->digits, '.', with_point, grouped);
  read_bare(column[row]->digits, ',', with_comma, grouped);
  problem =
      fmt::format("may be {} or {}: the column does not tell what '{}' means; say --decimal '{}' or --decimal '{}'.",
                  mark == '.' ? with_point : with_comma, mark == '.' ? with_comma : with_point, mark, mark, other);
  return '.';
}

std::string style_words(const std::vector<std::optional<Bare>>& column, const Reading& reading, char decimal,
                        bool decimal_seen) {
  std::vector<std::string> words;
  const auto first = [&](auto has) {
    const auto found = std::find_if(column.begin(), column.end(), [&](const auto& b) { return b && has(*b); });
    return found == column.end() ? nullptr : &**found;
  };
  if (const Bare* b = first([](const Bare& b) { return !b.currency.empty(); }))
    words.push_back(b->currency + " left out");
  if (const Bare* b = first([](const Bare& b) { return !b.unit.empty(); })) words.push_back(b->unit + " left out");
  if (first([](const Bare& b) { return b.percent; })) words.emplace_back("in percent");
  if (first([](const Bare& b) { return b.in_brackets; })) words.emplace_back("brackets are minus signs");
  if (first([](const Bare& b) { return b.minus_behind; })) words.emplace_back("minus signs behind");
  if (decimal == ',' && decimal_seen) words.push_back("decimal commas");
  if (reading.grouped) words.push_back(decimal == '.' ? "commas between thousands" : "points between thousands");
  if (!reading.gaps.empty()) words.push_back(reading.gaps + " between thousands");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::size_t digits_from(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end - at;
}

}  // namespace

Parsed parse_number(std::string_view field, double& value) {
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

bool is_missing(std::string_view field) {
  while (field.starts_with(' ')) field.remove_prefix(1);
  while (field.ends_with(' ')) field.remove_suffix(1);
  if (field.empty()) return true;
  if (field.size() > 8 || (field[0] >= '0' && field[0] <= '9')) return false;
  const std::string word = lower(field);
  for (const char* sign :
       {"na", "n/a", "n.a.", "nan", "-nan", "null", "none", "nil",    "missing", ".",       "..",   "-",     "--",
        "–",  "—",   "?",    ":",   "*",    "#n/a", "#na",  "#null!", "#value!", "#div/0!", "<na>", "(null)"})
    if (word == sign) return true;
  return false;
}

bool looks_like_number(std::string_view field) {
  double value = 0;
  bool grouped = false;
  if (parse_number(field, value) != Parsed::no) return true;
  const std::optional<Bare> b = bare(field);
  return b && b->unit.empty() &&
         (read_bare(b->digits, '.', value, grouped) != Parsed::no ||
          read_bare(b->digits, ',', value, grouped) != Parsed::no);
}

NumberOutcome read_numbers(const std::vector<std::string>& fields, const NumberStyle& style) {
  NumberOutcome out;
  std::vector<std::optional<Bare>> column(fields.size());
  std::vector<bool> infinite(fields.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_missing(fields[i])) continue;
    ++count;
    double value = 0;
    infinite[i] =
        parse_number(fields[i], value) == Parsed::infinite && fields[i].find_first_of("iI") != std::string::npos;
    if (!infinite[i]) column[i] = bare(fields[i]);
  }
  const UnitDoubt doubt_of_units = settle_units(column, fields);
  const Reading point = reading_by('.', column), comma = reading_by(',', column);
  char decimal = style.decimal;
  const auto differ = [&] {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (point.values[i] != comma.values[i] && !(std::isnan(point.values[i]) && std::isnan(comma.values[i])))
        return true;
    return false;
  };
  std::string doubt;
  std::size_t doubt_row = 0;
  if (decimal == 0 && point.read != comma.read) {
    decimal = out.decimal = point.read > comma.read ? '.' : ',';
  } else if (decimal == 0) {
    decimal = differ() ? decide(column, style.separator, doubt, doubt_row) : '.';
  }
  const Reading& reading = decimal == '.' ? point : comma;
  out.values = reading.values;
  const auto infinities = static_cast<std::size_t>(std::count(infinite.begin(), infinite.end(), true));
  out.share = count ? static_cast<double>(reading.read + infinities) / static_cast<double>(count) : 1;
  if (!doubt_of_units.words.empty()) out.share = std::max(out.share, doubt_of_units.share);
  for (const std::optional<Bare>& b : column)
    if (b) out.unit = b->unit;
  const bool decimal_seen = std::any_of(
      column.begin(), column.end(), [&](const auto& b) { return b && b->digits.find(decimal) != std::string::npos; });
  out.style = style_words(column, reading, decimal, decimal_seen);
  // A dash is zero to accountants, and missing to others.
  const auto dash = std::find_if(fields.begin(), fields.end(), [](const std::string& field) {
    return is_missing(field) && field.find('-') != std::string::npos && lower(field) != "-nan";
  });
  if (dash != fields.end() && reading.read) out.dash = *dash;

  // What is wrong, the first of it.
  const auto complain = [&](std::size_t row, std::string words) {
    if (!out.problem.empty()) return;
    out.row = row;
    out.problem = std::move(words);
  };
  if (!doubt_of_units.words.empty()) complain(doubt_of_units.row, doubt_of_units.words);
  const Bare* first = nullptr;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (is_missing(fields[i])) continue;
    if (infinite[i])
      complain(i, "is infinite; leave the field empty if the value is missing.");
    else if (i == reading.infinite)
      complain(i, "is too large for a number; scale the data, or leave the field empty if the value is missing.");
    else if (std::isnan(reading.values[i]) && fields[i].find(',') != std::string::npos && looks_like_number(fields[i]))
      complain(i,
               fmt::format("is not a number with a decimal {}, as the other fields of the column are; correct it, or "
                           "set the decimal mark with --decimal.",
                           decimal == '.' ? "point" : "comma"));
    else if (std::isnan(reading.values[i]))
      complain(i,
               "is not a number, as the other fields of the column are; correct it, or leave the field empty "
               "if the value is missing.");
    if (!column[i]) continue;
    if (!first) first = &*column[i];
    if (column[i]->percent != first->percent)
      complain(i, fmt::format("is {}a percentage where the fields before it are{}; write all of them the same way.",
                              column[i]->percent ? "" : "not ", column[i]->percent ? " not" : ""));
    if (column[i]->currency != first->currency && !column[i]->currency.empty() && !first->currency.empty())
      complain(i, fmt::format("is in {} where the fields before it are in {}; give one currency.", column[i]->currency,
                              first->currency));
  }
  if (!doubt.empty()) complain(doubt_row, doubt);
  return out;
}

double unit_of_numbers(const std::vector<std::string>& fields, char decimal) {
  std::size_t most = 0;
  for (const std::string& f : fields) {
    if (is_missing(f)) continue;
    if (f.find_first_of("eE") != std::string::npos) return 0;
    if (const std::size_t point = f.find(decimal); point != std::string::npos)
      most = std::max(most, digits_from(f, point + 1));
  }
  return std::pow(10.0, -static_cast<double>(most));
}

double unit_of_clocks(const std::vector<std::string>& fields) {
  std::size_t most = 0;
  for (const std::string& f : fields) {
    const std::size_t colon = f.rfind(':');
    const std::size_t point = colon == std::string::npos ? colon : f.find_first_of(".,", colon);
    // Not the colon of a zone, +01:00.
    const std::size_t any = point == std::string::npos ? f.find('.', std::min(f.find(':'), f.size())) : point;
    if (any != std::string::npos) most = std::max(most, digits_from(f, any + 1));
  }
  return most ? std::pow(10.0, -static_cast<double>(most)) : 0;
}

}  // namespace apps
