// The pattern is read along with the text; nothing is guessed here.
#include "date_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "text.hpp"

namespace apps {
namespace {

constexpr std::array<std::string_view, 12> month_names = {"january",   "february", "march",    "april",
                                                          "may",       "june",     "july",     "august",
                                                          "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> weekday_names = {"monday", "tuesday",  "wednesday", "thursday",
                                                           "friday", "saturday", "sunday"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The position, from 1, of the name that the word is or abbreviates with at least three letters; 0: none.
template <std::size_t count>
int position_of(std::string_view word, const std::array<std::string_view, count>& names) {
  if (word.size() < 3) return 0;
  const std::string name = lower(word);
  for (std::size_t i = 0; i < count; ++i)
    if (name == names[i] || (name.size() <= 4 && names[i].starts_with(name))) return static_cast<int>(i) + 1;
  return 0;
}

/// Reads a text piece by piece.
struct Cursor {
  std::string_view rest;

  bool done() const { return rest.empty(); }
  bool take(char c) {
    if (rest.empty() || small(rest[0]) != small(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  bool spaces() {
    const std::size_t before = rest.size();
    while (rest.starts_with(' ') || rest.starts_with('\t') || rest.starts_with("\u00A0"))
      rest.remove_prefix(rest[0] == ' ' || rest[0] == '\t' ? 1 : 2);
    return rest.size() != before;
  }
  /// A number of least to most digits between lo and hi.
  bool digits(std::size_t least, std::size_t most, int lo, int hi, int& value) {
    std::size_t count = 0;
    value = 0;
    while (count < most && count < rest.size() && is_digit(rest[count])) value = 10 * value + (rest[count++] - '0');
    if (count < least) return false;
    rest.remove_prefix(count);
    return value >= lo && value <= hi;
  }
  std::string_view word() {
    std::size_t count = 0;
    while (count < rest.size() && is_letter(rest[count])) ++count;
    const std::string_view out = rest.substr(0, count);
    rest.remove_prefix(count);
    return out;
  }
};

struct Clock {
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  int half = 0;  ///< 1: AM, 2: PM
  bool zone_given = false;
  double zone = 0;  ///< seconds east of Greenwich

  std::optional<double> seconds() const {
    if (hour == 24 && (minute || second || fraction > 0 || half)) return {};  // the end of the day
    if (half && (hour < 1 || hour > 12)) return {};
    const int in_day = half ? hour % 12 + (half == 2 ? 12 : 0) : hour;
    return 3600.0 * in_day + 60.0 * minute + second + fraction - zone;
  }
};

bool read_fraction(Cursor& in, double& fraction) {
  int digit = 0;
  if (!in.digits(1, 1, 0, 9, digit)) return false;
  double place = 0.1;
  do fraction += place * digit, place /= 10;
  while (in.digits(1, 1, 0, 9, digit));
  return true;
}

bool read_half(Cursor& in, int& half) {
  const std::string next = lower(in.rest.substr(0, 4));
  for (const std::string_view word : {"a.m.", "p.m.", "am", "pm"})
    if (next.starts_with(word)) {
      half = word[0] == 'a' ? 1 : 2;
      in.rest.remove_prefix(word.size());
      return true;
    }
  return false;
}

bool read_zone(Cursor& in, Clock& clock) {
  const std::string_view before = in.rest;
  const std::string word = lower(in.word());
  if (word == "z" || word == "utc" || word == "gmt") return clock.zone_given = true;
  in.rest = before;
  const int sign = in.take('+') ? 1 : in.take('-') ? -1 : 0;
  int hours = 0, minutes = 0;
  if (sign == 0 || !in.digits(2, 2, 0, 23, hours)) return in.rest = before, false;
  if (in.take(':') ? !in.digits(2, 2, 0, 59, minutes) : !in.done() && !in.digits(2, 2, 0, 59, minutes))
    return in.rest = before, false;
  clock.zone_given = true;
  clock.zone = sign * (3600.0 * hours + 60.0 * minutes);
  return true;
}

/// To the end of the text. `compact`: 120000 too.
bool read_clock(Cursor& in, bool compact, Clock& clock) {
  const std::string_view before = in.rest;
  if (!in.digits(1, 2, 0, 24, clock.hour)) return false;
  const bool padded = before.size() - in.rest.size() == 2;
  if (in.take(':')) {
    if (!in.digits(2, 2, 0, 59, clock.minute)) return false;
    if (in.take(':')) {
      if (!in.digits(2, 2, 0, 60, clock.second)) return false;  // 60: a leap second
      if ((in.take('.') || in.take(',')) && !read_fraction(in, clock.fraction)) return false;
    }
  } else if (compact && padded && in.digits(2, 2, 0, 59, clock.minute)) {
    in.digits(2, 2, 0, 60, clock.second);
    if (in.take('.') && !read_fraction(in, clock.fraction)) return false;
  } else if (!compact || !padded) {
    return false;
  }
  in.spaces();
  if (read_half(in, clock.half)) in.spaces();
  if (!in.done()) read_zone(in, clock);
  return in.done() && clock.seconds();
}

bool take_clock(Cursor& in, DateParts& parts) {
  const bool marked = in.take('T');
  if (!marked && !in.take(':') && !in.take(',') && !in.spaces()) return false;
  in.spaces();
  Clock clock;
  if (!read_clock(in, marked, clock)) return false;
  parts.clock_given = true;
  parts.zone_given = clock.zone_given;
  parts.clock = *clock.seconds();
  return true;
}

void skip_weekday(Cursor& in) {
  const std::string_view before = in.rest;
  if (position_of(in.word(), weekday_names) == 0) {
    in.rest = before;
    return;
  }
  in.take('.'), in.take(',');
  if (!in.spaces()) in.rest = before;
}

/// One letter of the pattern after %.
bool match_letter(char letter, Cursor& in, DateParts& parts, Clock& clock) {
  const auto of_clock = [&](bool read) { return parts.clock_given = true, read; };
  switch (letter) {
    case 'Y':
    case 'G':
      return in.digits(4, 4, 0, 9999, parts.year);
    case 'y':
      in.take('\'');
      parts.short_year = true;
      return in.digits(2, 2, 0, 99, parts.year);
    case 'N': {
      int next = 0;
      const std::size_t before = in.rest.size();
      if (!in.digits(2, 4, 0, 9999, next)) return false;
      const std::size_t digits = before - in.rest.size();
      return digits == 4 ? next == parts.year + 1 : digits == 2 && next == (parts.year + 1) % 100;
    }
    case 'm':
      return in.digits(1, 2, 1, 12, parts.month);
    case 'd':
    case 'e': {
      if (!in.digits(1, 2, 1, 31, parts.day)) return false;
      const std::string_view before = in.rest;
      const std::string suffix = lower(in.word());
      if (suffix != "st" && suffix != "nd" && suffix != "rd" && suffix != "th") in.rest = before;
      return true;
    }
    case 'b':
    case 'B':
    case 'h':
      parts.month = month_of_name(in.word());
      if (parts.month) in.take('.');
      return parts.month > 0;
    case 'j':
      return in.digits(3, 3, 1, 366, parts.day_of_year);
    case 'i':
      return in.digits(1, 1, 1, 2, parts.half);
    case 'q':
      return in.digits(1, 1, 1, 4, parts.quarter);
    case 'V':
      return in.digits(1, 2, 1, 53, parts.week);
    case 'u':
      return in.digits(1, 1, 1, 7, parts.weekday);
    case 'a':
    case 'A':
      return position_of(in.word(), weekday_names) > 0;
    case 'H':
      return of_clock(in.digits(1, 2, 0, 24, clock.hour));
    case 'I':
      return of_clock(in.digits(1, 2, 1, 12, clock.hour));
    case 'M':
      return of_clock(in.digits(2, 2, 0, 59, clock.minute));
    case 'S':
      if (!of_clock(in.digits(2, 2, 0, 60, clock.second))) return false;
      return !in.rest.starts_with('.') || (in.take('.') && read_fraction(in, clock.fraction));
    case 'f':
      return read_fraction(in, clock.fraction);
    case 'p':
      return read_half(in, clock.half);
    case 'z':
    case 'Z':
      return read_zone(in, clock);
    case 'Q':
    case 'n':
    case 'x':
    case 's': {
      double count = 0;
      const auto [end, error] = std::from_chars(in.rest.data(), in.rest.data() + in.rest.size(), count);
      if (error != std::errc{} || !std::isfinite(count)) return false;
      in.rest.remove_prefix(static_cast<std::size_t>(end - in.rest.data()));
      constexpr double spreadsheet_epoch = 25569;  // days from 1899-12-30 to 1970-01-01
      parts.epoch = letter == 'Q'   ? count / 1000
                    : letter == 'n' ? count * seconds_per_day
                    : letter == 'x' ? std::round((count - spreadsheet_epoch) * seconds_per_day * 1000) / 1000
                                    : count;
      return true;
    }
    case '%':
      return in.take('%');
    default:
      return false;
  }
}

/// Letters that stand for several.
std::string_view spelled_out(char letter) {
  return letter == 'F'   ? "%Y-%m-%d"
         : letter == 'T' ? "%H:%M:%S"
         : letter == 'R' ? "%H:%M"
         : letter == 'D' ? "%m/%d/%y"
                         : "";
}

bool match_pieces(std::string_view pattern, Cursor& in, DateParts& parts, Clock& clock) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '%' && i + 1 < pattern.size()) {
      const std::string_view longer = spelled_out(pattern[++i]);
      if (longer.empty() ? !match_letter(pattern[i], in, parts, clock) : !match_pieces(longer, in, parts, clock))
        return false;
    } else if (c == ' ' ? !in.spaces() : !in.take(c)) {
      return false;
    }
  }
  return true;
}

}  // namespace

int month_of_name(std::string_view name) {
  while (name.ends_with('.')) name.remove_suffix(1);
  return position_of(name, month_names);
}

std::optional<double> parse_clock(std::string_view text) {
  Cursor in{text};
  Clock clock;
  return read_clock(in, false, clock) ? clock.seconds() : std::nullopt;
}

bool match_date(std::string_view pattern, std::string_view text, bool clock_may_follow, DateParts& parts) {
  parts = {};
  while (text.ends_with(' ')) text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  Cursor in{text};
  Clock clock;
  if (clock_may_follow && !in.done() && is_letter(in.rest[0])) skip_weekday(in);
  if (!match_pieces(pattern, in, parts, clock)) return false;
  if (parts.clock_given) {
    const std::optional<double> seconds = clock.seconds();
    if (!seconds) return false;
    parts.clock = *seconds;
    parts.zone_given = clock.zone_given;
  }
  if (in.done()) return true;
  return clock_may_follow && !parts.clock_given && (parts.day || parts.weekday || parts.day_of_year) &&
         take_clock(in, parts);
}

std::optional<Time> time_of(const DateParts& parts, Century century) {
  using namespace std::chrono;
  if (parts.epoch) return Time{*parts.epoch, DateForm::second};
  if (parts.year < 0) return {};
  int full = parts.year;
  if (parts.short_year)
    full += century == Century::first || (century == Century::usual && parts.year < 40) ? 2000 : 1900;
  const year in(full);
  const auto at = [&](sys_days day) -> Time {
    const auto days = static_cast<double>(day.time_since_epoch().count());
    if (!parts.clock_given) return {days, DateForm::day};
    return {days * seconds_per_day + parts.clock, DateForm::second};
  };
  if (parts.half) return Time{4.0 * full + 2 * (parts.half - 1), DateForm::half};
  if (parts.quarter) return Time{4.0 * full + parts.quarter - 1, DateForm::quarter};
  if (parts.week) {
    const sys_days fourth(in / January / 4);  // always in week 1
    const sys_days monday = fourth - (weekday(fourth) - Monday) + days(7 * (parts.week - 1));
    if (year_month_day(monday + days(3)).year() != in) return {};  // there is no week 53
    if (parts.weekday) return at(monday + days(parts.weekday - 1));
    return Time{static_cast<double>(monday.time_since_epoch().count()), DateForm::week};
  }
  if (parts.day_of_year) {
    const sys_days day = sys_days(in / January / 1) + days(parts.day_of_year - 1);
    if (year_month_day(day).year() != in) return {};
    return at(day);
  }
  if (!parts.month) return Time{static_cast<double>(full), DateForm::year};
  if (!parts.day) return Time{12.0 * full + parts.month - 1, DateForm::month};
  const year_month_day date = in / parts.month / parts.day;
  if (!date.ok()) return {};
  return at(date);
}

std::string pattern_in_words(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    const char letter = pattern[++i];
    if (const std::string_view longer = spelled_out(letter); !longer.empty()) {
      out += pattern_in_words(longer);
      continue;
    }
    constexpr std::pair<char, const char*> words[] = {{'Y', "yyyy"},
                                                      {'G', "yyyy"},
                                                      {'y', "yy"},
                                                      {'N', "yy"},
                                                      {'i', "h"},
                                                      {'m', "mm"},
                                                      {'d', "dd"},
                                                      {'e', "dd"},
                                                      {'b', "Mon"},
                                                      {'B', "Mon"},
                                                      {'h', "Mon"},
                                                      {'j', "ddd"},
                                                      {'q', "q"},
                                                      {'V', "ww"},
                                                      {'u', "d"},
                                                      {'a', "Day"},
                                                      {'A', "Day"},
                                                      {'H', "HH"},
                                                      {'I', "HH"},
                                                      {'M', "MM"},
                                                      {'S', "SS"},
                                                      {'p', "AM"},
                                                      {'z', "+HHMM"},
                                                      {'Z', "zone"},
                                                      {'f', "fff"},
                                                      {'%', "%"},
                                                      {'s', "Unix seconds"},
                                                      {'Q', "Unix milliseconds"},
                                                      {'n', "days since 1970-01-01"},
                                                      {'x', "serial days of a spreadsheet"}};
    const auto* word = std::find_if(std::begin(words), std::end(words), [&](auto w) { return w.first == letter; });
    out += word == std::end(words) ? "?" : word->second;
  }
  return out;
}

bool is_count(std::string_view pattern) {
  return pattern == "%s" || pattern == "%Q" || pattern == "%n" || pattern == "%x";
}

std::string flaw_of_pattern(std::string_view pattern) {
  constexpr std::string_view known = "YGyNmdebBhjiqVuaAHIMSpzZfsQnx%FTRD";
  std::string letters;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    if (i + 1 == pattern.size()) return "% stands at its end without a letter";
    if (known.find(pattern[++i]) == std::string_view::npos) return fmt::format("%{} is not known", pattern[i]);
    letters += pattern[i] == 'F' || pattern[i] == 'D' ? "Ymd" : std::string(1, pattern[i]);
  }
  const auto has = [&](std::string_view any) { return letters.find_first_of(any) != std::string::npos; };
  if (has("sQnx")) return "";
  if (!has("YyG")) return "it has no year (%Y or %y)";
  if (has("d") && !has("mbBh")) return "it has a day but no month (%m or %b)";
  if (has("HIMS") && !has("deju")) return "it has a time of day but no day (%d)";
  if (has("u") && !has("V")) return "it has a weekday but no week (%V)";
  return "";
}

}  // namespace apps
