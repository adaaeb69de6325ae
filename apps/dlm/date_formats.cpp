// Every format that fits all fields is a reading of the column.
#include "date_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "date_patterns.hpp"
#include "text.hpp"

namespace apps {
namespace {

constexpr double missing_time = std::numeric_limits<double>::quiet_NaN();

enum class Order { none, day_month, month_day };

struct Format {
  std::string_view pattern;
  Order order = Order::none;         ///< of a day and a month that are both numbers
  bool may_be_a_day = false;         ///< "Jan-10": a year or a day
  NamedUnit unit = NamedUnit::none;  ///< that speaks for it in a column's name
};

constexpr Format monthly(std::string_view pattern) { return {pattern, Order::none, false, NamedUnit::month}; }
constexpr Format weekly(std::string_view pattern) { return {pattern, Order::none, false, NamedUnit::week}; }
constexpr Format financial(std::string_view pattern) {
  return {pattern, Order::none, false, NamedUnit::financial_year};
}

/// What is looked for, a time of day after it or not. Dates of digits alone are number_dates.cpp's.
constexpr Format formats[] = {
    {"%Y-%m-%d"},
    {"%Y/%m/%d"},
    {"%Y.%m.%d"},
    {"%Y %m %d"},
    {"%Y%m%d"},
    {"%Y-%j"},
    {"%d/%m/%Y", Order::day_month},
    {"%d.%m.%Y", Order::day_month},
    {"%d-%m-%Y", Order::day_month},
    {"%d %m %Y", Order::day_month},
    {"%m/%d/%Y", Order::month_day},
    {"%m.%d.%Y", Order::month_day},
    {"%m-%d-%Y", Order::month_day},
    {"%m %d %Y", Order::month_day},
    {"%d/%m/%y", Order::day_month},
    {"%d.%m.%y", Order::day_month},
    {"%d-%m-%y", Order::day_month},
    {"%m/%d/%y", Order::month_day},
    {"%m.%d.%y", Order::month_day},
    {"%m-%d-%y", Order::month_day},
    {"%y/%m/%d"},
    {"%y.%m.%d"},
    {"%y-%m-%d"},
    {"%d %b %Y"},
    {"%d-%b-%Y"},
    {"%d/%b/%Y"},
    {"%d.%b.%Y"},
    {"%d. %b %Y"},
    {"%d %b, %Y"},
    {"%d%b%Y"},
    {"%d %b %y"},
    {"%d-%b-%y"},
    {"%d/%b/%y"},
    {"%d%b%y"},
    {"%b %d, %Y"},
    {"%b %d %Y"},
    {"%b-%d-%Y"},
    {"%b/%d/%Y"},
    {"%b %d, %y"},
    {"%b %d %T %Y"},
    {"%Y-%b-%d"},
    {"%Y %b %d"},
    {"%Y/%b/%d"},
    {"%Y%b%d"},
    monthly("%Y-%m"),
    monthly("%Y/%m"),
    {"%m/%Y"},
    {"%m-%Y"},
    {"%YM%m"},
    {"%Y-M%m"},
    {"%Y M%m"},
    {"%b %Y"},
    {"%b-%Y"},
    {"%b/%Y"},
    {"%b, %Y"},
    {"%b%Y"},
    {"%Y %b"},
    {"%Y-%b"},
    {"%Y/%b"},
    {"%Y%b"},
    {"%b %y", Order::none, true},
    {"%b-%y", Order::none, true},
    {"%b/%y", Order::none, true},
    {"%b%y", Order::none, true},
    {"%y-%b", Order::none, true},
    {"%YQ%q"},
    {"%Y-Q%q"},
    {"%Y Q%q"},
    {"%Y/Q%q"},
    {"%Y:Q%q"},
    {"Q%q %Y"},
    {"Q%q-%Y"},
    {"Q%q/%Y"},
    {"Q%q%Y"},
    {"Q%q %y"},
    {"Q%q-%y"},
    {"%qQ%Y"},
    {"%qQ%y"},
    {"%GW%V"},
    {"%G-W%V"},
    {"%G W%V"},
    {"%G/W%V"},
    {"%G-W%V-%u"},
    {"W%V %G"},
    {"W%V-%G"},
    {"W%V/%G"},
    weekly("%V/%G"),
    weekly("%V-%G"),
    weekly("%G/%V"),
    weekly("%G-%V"),
    {"%YH%i"},
    {"%Y-H%i"},
    {"%Y H%i"},
    {"H%i %Y"},
    {"H%i-%Y"},
    {"H%i/%Y"},
    {"%iH%Y"},
    {"%YS%i"},
    {"%Y-S%i"},
    {"%Y S%i"},
    {"S%i %Y"},
    financial("%Y/%N"),
    financial("%Y-%N"),
    financial("%Y–%N"),
    financial("FY%Y"),
    financial("FY %Y"),
    financial("FY%y"),
    financial("FY %y"),
    financial("FY%Y/%N"),
    financial("FY%Y-%N"),
    {"%Y"},
};

bool has_digit(const std::string& text) {
  return text.size() < 60 && std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool fits(const Format& format, const std::string& field, DateParts& parts) {
  return match_date(format.pattern, field, true, parts) && time_of(parts);
}

/// Weeks without a W are taken only where the column's name says weeks.
std::vector<const Format*> formats_of(const std::string& field, const DateOptions& options,
                                      NamedUnit named = NamedUnit::none) {
  std::vector<const Format*> out;
  DateParts parts;
  if (!has_digit(field)) return out;
  for (const Format& format : formats) {
    const Order other = options.order == DateOrder::day_first     ? Order::month_day
                        : options.order == DateOrder::month_first ? Order::day_month
                                                                  : Order::none;
    if (other != Order::none && format.order == other) continue;
    if (format.unit == NamedUnit::week && named != NamedUnit::week) continue;
    if (fits(format, field, parts)) out.push_back(&format);
  }
  // Told that the day or the month comes first, the year does not, where it has two digits.
  if (options.order != DateOrder::by_data && out.size() > 1)
    std::erase_if(out, [](const Format* f) { return f->order == Order::none && f->pattern.starts_with("%y"); });
  return out;
}

// ---- one reading

/// Two digits of a year: the usual century, unless another one puts the rows in order.
std::vector<Time> times_of(const std::vector<DateParts>& parts, std::string& why) {
  const auto by = [&](Century century) {
    std::vector<Time> out;
    for (const DateParts& p : parts) {
      const std::optional<Time> time = time_of(p, century);
      if (p.year < 0 && !p.epoch)
        out.push_back({missing_time, DateForm::none});
      else
        out.push_back(time ? *time : Time{missing_time, DateForm::none});
    }
    return out;
  };
  const auto values = [](const std::vector<Time>& times) {
    std::vector<double> out;
    for (const Time& t : times) out.push_back(t.value);
    return out;
  };
  std::vector<Time> usual = by(Century::usual);
  if (std::none_of(parts.begin(), parts.end(), [](const DateParts& p) { return p.short_year; })) return usual;
  why = "years of two digits are 1940 to 2039";
  if (in_order(values(usual))) return usual;
  for (const auto& [century, words] :
       {std::pair(Century::twentieth, "1900 to 1999"), std::pair(Century::first, "2000 to 2099")})
    if (std::vector<Time> other = by(century); in_order(values(other))) {
      why = fmt::format("years of two digits are {}: so the rows are in order", words);
      return other;
    }
  return usual;
}

bool clock_form(DateForm form) { return form == DateForm::day || form == DateForm::second; }

/// Days and times together are times; other units do not mix.
bool unite(std::vector<Time>& times, DateForm& form, std::size_t& bad_row) {
  form = DateForm::none;
  bool mixed = false;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (std::isnan(times[i].value)) continue;
    if (form == DateForm::none) form = times[i].form;
    if (times[i].form == form) continue;
    bad_row = i;
    if (!clock_form(times[i].form) || !clock_form(form)) return false;
    mixed = true;
  }
  if (!mixed) return true;
  form = DateForm::second;
  for (Time& t : times)
    if (t.form == DateForm::day) t.value *= seconds_per_day;
  return true;
}

DateReading reading_of(const std::vector<DateParts>& parts, const std::string& words) {
  DateReading out;
  std::vector<Time> times = times_of(parts, out.why);
  std::size_t row = 0;
  unite(times, out.form, row);
  for (const Time& t : times) out.times.push_back(t.value);
  out.format = words;
  const bool clock = std::any_of(parts.begin(), parts.end(), [](const DateParts& p) { return p.clock_given; });
  if (clock && words.find("HH") == std::string::npos) out.format += " with times";
  if (std::any_of(parts.begin(), parts.end(), [](const DateParts& p) { return p.zone_given; }))
    out.format += ", in UTC";
  out.form = simplify(out.times, out.form);
  return out;
}

DateReading reading_by(const Format& format, const std::vector<std::string>& fields, const std::vector<bool>& here) {
  std::vector<DateParts> parts(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (here[i]) match_date(format.pattern, fields[i], true, parts[i]);
  const bool financial = format.unit == NamedUnit::financial_year;
  DateReading out = reading_of(parts, (financial ? "financial years " : "") + pattern_in_words(format.pattern));
  out.ordered = format.order != Order::none;
  return out;
}

// ---- several readings

std::string option_for(const Format& format) {
  if (format.pattern.find("%Y") != std::string_view::npos || format.order != Order::none) {
    if (format.order == Order::day_month) return "--day-first";
    if (format.order == Order::month_day) return "--month-first";
  }
  return fmt::format("--date-format '{}'", format.pattern);
}

/// 2000/01, 2001/02, 2002/03: nobody observes every 13 months, these are financial years.
bool skips_from_year_to_year(const DateReading& reading) {
  std::vector<double> times = reading.times;
  std::erase_if(times, [](double t) { return std::isnan(t); });
  return times.size() > 2 && common_step(times) == 13;
}

/// "Jan-10" may be a day of a year that is not given: only months that come one after the other are taken.
DateOutcome doubt_years(DateReading reading, const Format& format, const std::vector<bool>& here, std::size_t count) {
  const auto part = [](double t, int modulo) { return static_cast<int>(std::llround(t)) % modulo; };
  bool months = false;
  double first = missing_time;
  for (const double t : reading.times) {
    if (std::isnan(t)) continue;
    if (std::isnan(first)) first = t;
    months = months || part(t, 12) != part(first, 12);
  }
  if (count == 1 || (months && in_order(reading.times))) return {.reading = std::move(reading), .share = 1};
  DateOutcome out{.share = 1};
  while (out.row < here.size() && !here[out.row]) ++out.row;
  out.problem = fmt::format(
      "may be {} or a day of a year that is not given; say --date-format '{}' if it is the former, and write "
      "the year if it is not.",
      format_time(reading.times[out.row], reading.form), format.pattern);
  return out;
}

// ---- no reading

bool has_word(const std::string& field) {
  std::size_t run = 0;
  for (const char c : field) {
    run = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) ? run + 1 : 0;
    if (run >= 3) return true;
  }
  return false;
}

/// What the words in a field that is no date are.
std::string_view cause_in_words(const std::string& field) {
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view w) { return field.find(w) != std::string::npos; });
  };
  if (has({"spring", "summer", "autumn", "fall", "winter"}))
    return ": give the month or the quarter that each season begins with (2024-03, 2024-Q1)";
  if (has({" cet", " cest", " est", " edt", " pst", " pdt", " bst", "gmt+", "utc+", "gmt-", "utc-"}))
    return ": write the zone as an offset from UTC (+01:00)";
  if (has({"total", "average", "mean", "sum", "source", "note"}))
    return ": rows that are not observations, such as totals and remarks, must go";
  if (has({"week", "wk"})) return ": write the year and the week (2024-W05)";
  return ": names of months must be English (Jan, January)";
}

/// The foot of a table: "Total", "Source: …".
bool is_remark(const std::string& field) { return cause_in_words(field).find("totals") != std::string_view::npos; }

std::string not_a_date(const std::string& field) {
  if (parse_clock(field)) return std::string(clock_without_date);
  return fmt::format(
      "is not a date that is known{}; write 2024-01-31, 2024-01, 2024-Q1, 2024 or 2024-01-31T12:00:00, or "
      "describe it by --date-format (such as '%d/%m/%Y'), or leave the field empty if the date is missing.",
      has_word(field) && (has_digit(field) || is_remark(lower(field))) ? cause_in_words(lower(field)) : "");
}

/// Formats change within the column. Each field must be clear in itself, and none may put the day where
/// another one puts the month.
DateOutcome read_mixture(const std::vector<std::string>& fields, const std::vector<bool>& here,
                         const DateOptions& options, std::size_t changed_at, const std::string& before) {
  std::vector<DateParts> parts(fields.size());
  std::vector<std::string_view> used;
  bool clear = true, day_month = false, month_day = false;
  constexpr std::size_t enough_to_see = 200;
  std::size_t matched = 0, count = 0, unknown = fields.size();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!here[i]) continue;
    ++count;
    const std::vector<const Format*> possible = formats_of(fields[i], options);
    if (possible.empty()) unknown = std::min(unknown, i);
    matched += !possible.empty();
    if (count >= enough_to_see && unknown < fields.size()) break;  // a column of text need not be read to its end
    clear = clear && possible.size() == 1 && !possible[0]->may_be_a_day;
    if (possible.size() != 1) continue;
    match_date(possible[0]->pattern, fields[i], true, parts[i]);
    day_month = day_month || possible[0]->order == Order::day_month;
    month_day = month_day || possible[0]->order == Order::month_day;
    if (std::find(used.begin(), used.end(), possible[0]->pattern) == used.end()) used.push_back(possible[0]->pattern);
  }
  DateOutcome out{.share = static_cast<double>(matched) / static_cast<double>(std::max<std::size_t>(count, 1))};
  if (unknown < fields.size()) {
    out.row = unknown;
    out.problem = not_a_date(fields[unknown]);
    if (const std::vector<const Format*> otherwise = formats_of(fields[unknown], {});
        options.order != DateOrder::by_data && !otherwise.empty())
      out.problem = fmt::format("is no date by {}, but by {}; correct it, or leave out {}.", option_of(options.order),
                                pattern_in_words(otherwise[0]->pattern), option_of(options.order));
    return out;
  }
  std::string ignored;
  std::vector<Time> times = times_of(parts, ignored);
  DateForm form = DateForm::none;
  std::size_t bad = changed_at;
  const bool united = clear && unite(times, form, bad);
  if (united && !(day_month && month_day)) {
    std::string words;
    for (const std::string_view pattern : used) words += (words.empty() ? "" : " and ") + pattern_in_words(pattern);
    out.reading = reading_of(parts, words);
    out.reading->ordered = day_month || month_day;
    return out;
  }
  out.row = bad;
  const std::vector<const Format*> here_now = formats_of(fields[bad], options);
  if (clear && !united)
    out.problem = fmt::format("is {} where the rows before it hold {}; write all dates of a column in one form.",
                              description_of(times[bad].form), description_of(form));
  else
    out.problem = fmt::format("is {} where the rows before it are {}; write all dates of a column in one form.",
                              pattern_in_words(here_now[0]->pattern), before);
  return out;
}

DateOutcome read_by_given(const std::vector<std::string>& fields, const std::vector<bool>& here,
                          const std::string& format) {
  std::vector<DateParts> parts(fields.size());
  DateOutcome out;
  std::size_t matched = 0, count = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!here[i]) continue;
    ++count;
    if (match_date(format, fields[i], false, parts[i]) && time_of(parts[i])) {
      ++matched;
    } else if (out.problem.empty()) {
      out.row = i;
      out.problem = fmt::format("is no date by --date-format {} ({}); correct it or the format.", shown(format),
                                pattern_in_words(format));
    }
  }
  out.share = static_cast<double>(matched) / static_cast<double>(std::max<std::size_t>(count, 1));
  if (!count || !out.problem.empty()) return out;
  out.reading = reading_of(parts, pattern_in_words(format));
  out.reading->ordered = format.starts_with("%d%m") || format.starts_with("%m%d");
  return out;
}

}  // namespace

bool looks_like_date(const std::string& field) { return !formats_of(field, {}).empty(); }

DateOutcome read_dates(const std::vector<std::string>& fields, const DateOptions& options,
                       const std::function<bool(const std::string&)>& missing, NamedUnit named) {
  std::vector<bool> here(fields.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) count += here[i] = !missing(fields[i]);
  if (count == 0) return {};
  if (!options.format.empty()) return read_by_given(fields, here, options.format);

  std::vector<const Format*> left;
  std::string before;
  bool first = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!here[i]) continue;
    if (first) left = formats_of(fields[i], options, named);
    first = false;
    DateParts parts;
    if (!left.empty()) before = pattern_in_words(left[0]->pattern);
    std::erase_if(left, [&](const Format* f) { return !fits(*f, fields[i], parts); });
    if (left.empty()) return read_mixture(fields, here, options, i, before);
  }
  std::vector<DateCandidate> all;
  for (const Format* format : left) {
    DateCandidate c{reading_by(*format, fields, here), option_for(*format), format->unit};
    c.rare = format->unit == NamedUnit::month && skips_from_year_to_year(c.reading);
    if (std::none_of(all.begin(), all.end(),
                     [&](const DateCandidate& other) { return same(other.reading, c.reading); }))
      all.push_back(std::move(c));
  }
  if (all.size() == 1 && left[0]->may_be_a_day) return doubt_years(std::move(all[0].reading), *left[0], here, count);
  return choose_reading(std::move(all), named == NamedUnit::year ? NamedUnit::financial_year : named);
}

}  // namespace apps
