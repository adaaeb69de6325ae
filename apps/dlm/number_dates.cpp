// A table of the ways to write a date as a number, tried in turn.
#include "number_dates.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "date_patterns.hpp"
#include "numbers.hpp"
#include "text.hpp"

namespace apps {
namespace {

constexpr double missing_time = std::numeric_limits<double>::quiet_NaN();

bool all_of(const NumberColumn& c, auto holds) {
  bool any = false;
  for (std::size_t i = 0; i < c.numbers.size(); ++i) {
    if (std::isnan(c.numbers[i])) continue;
    if (!holds(c.numbers[i], c.fields[i])) return false;
    any = true;
  }
  return any;
}
std::size_t count_of(const NumberColumn& c) {
  return static_cast<std::size_t>(
      std::count_if(c.numbers.begin(), c.numbers.end(), [](double v) { return !std::isnan(v); }));
}

bool only_digits(const std::string& field, std::size_t count) {
  return field.size() == count &&
         std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// All fields by a pattern; none unless each is a date between the years 1600 and 2399.
std::optional<DateReading> by_pattern(const NumberColumn& c, const char* pattern, std::size_t digits) {
  DateReading out;
  out.times.assign(c.fields.size(), missing_time);
  const bool good = all_of(c, [&](double value, const std::string& field) {
    DateParts parts;
    if (digits && !only_digits(field, digits)) return false;
    if (!match_date(pattern, field, false, parts) || parts.year < 1600 || parts.year > 2399) return false;
    const std::optional<Time> time = time_of(parts);
    if (!time) return false;
    out.times[static_cast<std::size_t>(&field - c.fields.data())] = time->value;
    out.form = time->form;
    (void)value;
    return true;
  });
  if (!good) return {};
  out.form = simplify(out.times, out.form);
  out.format = pattern_in_words(pattern);
  return out;
}

std::optional<DateReading> years(const NumberColumn& c) {
  if (!all_of(c, [](double v, const std::string& f) { return only_digits(f, 4) && v >= 1000 && v <= 2999; }))
    return {};
  bool growing = true;
  double before = -1;
  for (const double v : c.numbers) {
    if (std::isnan(v)) continue;
    growing = growing && v > before;
    before = v;
  }
  if (c.hint == NameHint::none || c.hint == NameHint::index)
    if (!(c.leads && growing && c.fields.size() > 1 && !c.alone)) return {};
  // What is called an index, or nothing, counts years only one by one and in times that people write about.
  if (c.hint == NameHint::index &&
      (common_step(c.numbers) != 1 || c.numbers.front() < 1700 || c.numbers.back() > 2100))
    return {};
  return DateReading{c.numbers, DateForm::year, "years", ""};
}

/// Numbers without a name that says so are dates by chance if there are few of them and of their digits.
bool may_be_dates(const NumberColumn& c, std::size_t enough) {
  if (c.hint == NameHint::date || c.hint == NameHint::time) return true;
  return !c.alone && ((c.leads && in_order(c.numbers)) || count_of(c) >= enough);
}

std::optional<DateReading> year_month_day(const NumberColumn& c) {
  if (!may_be_dates(c, c.leads ? 4 : 8)) return {};
  return by_pattern(c, "%Y%m%d", 8);
}
std::optional<DateReading> year_month(const NumberColumn& c) {
  if (!may_be_dates(c, c.leads ? 8 : 16)) return {};
  return by_pattern(c, "%Y%m", 6);
}
std::optional<DateReading> with_clock(const NumberColumn& c) {
  if (!may_be_dates(c, 4)) return {};
  if (std::optional<DateReading> seconds = by_pattern(c, "%Y%m%d%H%M%S", 14)) return seconds;
  return by_pattern(c, "%Y%m%d%H%M", 12);
}

std::optional<DateReading> unix_time(const NumberColumn& c) {
  constexpr struct {
    double scale;
    const char* words;
  } units[] = {
      {1, "Unix seconds"}, {1e3, "Unix milliseconds"}, {1e6, "Unix microseconds"}, {1e9, "Unix nanoseconds"}};
  for (const auto& unit : units) {  // 1973 to 2100
    const bool inside = all_of(
        c, [&](double v, const std::string&) { return v >= 1e8 * unit.scale && v <= 4.1e9 * unit.scale; });
    if (!inside) continue;
    DateReading out{c.numbers, DateForm::second, unit.words, ""};
    for (double& t : out.times) t /= unit.scale;
    const bool regular =
        in_order(out.times) && count_of(c) > 2 &&
        all_of(c, [&](double v, const std::string&) { return std::fmod(v, 60 * unit.scale) == 0; });
    const bool said = c.hint == NameHint::date || c.hint == NameHint::time;
    if (!said && !(c.leads && !c.alone && regular)) return {};
    out.form = simplify(out.times, out.form);
    return out;
  }
  return {};
}

/// Days since 1899-12-30, as spreadsheets count them.
std::optional<DateReading> serial_days(const NumberColumn& c) {
  constexpr double unix_epoch = 25569;
  if (c.hint != NameHint::date) return {};
  if (!all_of(c, [](double v, const std::string&) { return v >= 10000 && v < 80000; })) return {};
  DateReading out{c.numbers, DateForm::second, "serial days of a spreadsheet", ""};
  for (double& t : out.times) t = std::round((t - unix_epoch) * seconds_per_day * 1000) / 1000;
  out.form = simplify(out.times, out.form);
  return out;
}

/// 2010.01 to 2010.12, the last zero written or not, and 01.2010.
std::optional<DateReading> dotted_months(const NumberColumn& c) {
  if (c.hint != NameHint::date && c.hint != NameHint::time && !c.leads) return {};
  if (c.hint == NameHint::none && c.alone) return {};
  if (std::optional<DateReading> out = by_pattern(c, "%m.%Y", 0)) return out;
  DateReading out{std::vector<double>(c.fields.size(), missing_time), DateForm::month, "yyyy.mm", ""};
  const bool good = all_of(c, [&](double v, const std::string& f) {
    const double in = std::floor(v), month = (v - in) * 100;
    const std::size_t point = f.find('.');
    if (point != 4 || f.size() > 7 || in < 1600 || in > 2399) return false;
    if (std::abs(month - std::round(month)) > 1e-6 || month < 0.5 || month > 12.5) return false;
    out.times[static_cast<std::size_t>(&f - c.fields.data())] = 12 * in + std::round(month) - 1;
    return true;
  });
  // Decimal years may look like it for a while: only months one after the other are taken.
  std::vector<double> present = out.times;
  std::erase_if(present, [](double t) { return std::isnan(t); });
  if (!good || present.size() < 3 || common_step(present) != 1) return {};
  return out;
}

double days_of_decimal_year(double v) {
  using namespace std::chrono;
  const double in = std::floor(v);
  const year y(static_cast<int>(in));
  const sys_days start(y / January / 1), next((y + std::chrono::years(1)) / January / 1);
  return static_cast<double>(start.time_since_epoch().count()) +
         (v - in) * static_cast<double>((next - start).count());
}

/// 2010, 2010.083, 2010.167: parts of the year where they are even, days otherwise.
std::optional<DateReading> decimal_years(const NumberColumn& c) {
  if (!all_of(c, [](double v, const std::string&) { return v >= 1600 && v < 2400; })) return {};
  if (all_of(c, [](double v, const std::string&) { return v == std::floor(v); })) return {};
  const bool said = c.hint == NameHint::date || c.hint == NameHint::time;
  if (c.alone || !in_order(c.numbers) || count_of(c) < 3) return {};
  for (const auto& [per_year, form] : {std::pair(4.0, DateForm::quarter), std::pair(12.0, DateForm::month)}) {
    DateReading out{c.numbers, form, "decimal years", ""};
    double least = 1, most = 0;
    for (double& t : out.times) {
      if (std::isnan(t)) continue;
      const double at = t * per_year + 0.1;  // 2010.08 and 2010.0833 are both February
      least = std::min(least, at - std::floor(at)), most = std::max(most, at - std::floor(at));
      t = std::floor(at);
    }
    std::vector<double> present = out.times;
    std::erase_if(present, [](double t) { return std::isnan(t); });
    std::sort(present.begin(), present.end());
    const bool even = common_step(present) > 0 && (said || c.leads);
    if (most - least < 0.3 && (said || even) && in_order(out.times)) return out;
  }
  if (!said) return {};
  DateReading out{c.numbers, DateForm::day, "decimal years", ""};
  for (double& t : out.times)
    if (!std::isnan(t)) t = std::round(days_of_decimal_year(t));
  if (in_order(out.times)) return out;
  out.form = DateForm::second;
  for (std::size_t i = 0; i < c.numbers.size(); ++i)
    if (!std::isnan(c.numbers[i]))
      out.times[i] = std::round(days_of_decimal_year(c.numbers[i]) * seconds_per_day);
  return out;
}

}  // namespace

NameHint hint_of_name(const std::string& name) {
  std::string plain;
  std::vector<std::string> words(1);
  for (const char c : lower(name)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter)
      plain += c, words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* n) { return plain == n; });
  };
  for (const char* foreign : {"année", "Année", "año", "Año", "mês", "Mês", "période", "Période"})
    if (name == foreign) return NameHint::time;
  for (const std::string& word : words)
    if (word == "date" || word == "dates" || word == "datetime" || word == "timestamp" || word == "datum")
      return NameHint::date;
  if (is({"dt",
          "ts",
          "ds",
          "epoch",
          "unix",
          "unixtime",
          "unixtimestamp",
          "when",
          "yearmonth",
          "yyyymm",
          "yyyymmdd",
          "ym",
          "timeperiod",
          "monthyear",
          "observationdate",
          "periodending",
          "monthending",
          "weekending",
          "fecha",
          "tijd",
          "asof",
          "createdat"}))
    return NameHint::date;
  if (is({"t",     "time",  "times",       "year",    "years",  "yr",      "month",   "months",
          "mon",   "week",  "weeks",       "wk",      "day",    "days",    "quarter", "qtr",
          "hour",  "hours", "minute",      "minutes", "second", "seconds", "period",  "periods",
          "step",  "steps", "decimalyear", "decyear", "jahr",   "monat",   "zeit",    "tag",
          "annee", "mois",  "jour",        "ano",     "mes"}))
    return NameHint::time;
  if (plain.empty() || is({"index", "idx",   "id",       "no",       "nr",  "num",         "number", "row",
                           "rows",  "rowid", "rownum",   "rownames", "obs", "observation", "n",      "i",
                           "x",     "x1",    "unnamed0", "record",   "seq", "sequence",    "key",    "line"}))
    return NameHint::index;
  return NameHint::none;
}

std::optional<DateReading> read_number_dates(const NumberColumn& column) {
  for (const auto way :
       {years, year_month_day, year_month, with_clock, unix_time, dotted_months, decimal_years, serial_days})
    if (std::optional<DateReading> out = way(column)) return out;
  return {};
}

std::optional<std::size_t> odd_one_out(const NumberColumn& c) {
  const bool said = c.hint == NameHint::time || c.hint == NameHint::date;
  if (!said && (!c.leads || c.alone)) return {};
  const auto is_date = [](const char* pattern, const std::string& field, std::size_t digits) {
    DateParts parts;
    return only_digits(field, digits) && match_date(pattern, field, false, parts) && parts.year >= 1600 &&
           parts.year < 2400 && time_of(parts).has_value();
  };
  const auto is_unix = [](double v) {
    return (v >= 1e8 && v <= 4.1e9 && std::fmod(v, 60) == 0) ||
           (v >= 1e11 && v <= 4.1e12 && std::fmod(v, 60000) == 0);
  };
  using Test = std::function<bool(const std::string&, double)>;
  std::vector<Test> tests = {[&](const std::string& f, double) { return is_date("%Y%m%d", f, 8); },
                             [&](const std::string& f, double) { return is_date("%Y%m", f, 6); },
                             [&](const std::string& f, double) { return is_date("%Y%m%d%H%M", f, 12); },
                             [&](const std::string& f, double) { return is_date("%Y%m%d%H%M%S", f, 14); },
                             [&](const std::string&, double v) { return is_unix(v); }};
  if (said) tests.push_back([&](const std::string& f, double) { return is_date("%Y", f, 4); });
  for (const Test& test : tests) {
    std::size_t fit = 0, count = 0;
    std::optional<std::size_t> odd;
    for (std::size_t i = 0; i < c.fields.size(); ++i) {
      if (is_missing(c.fields[i])) continue;
      ++count;
      if (test(c.fields[i], c.numbers[i]))
        ++fit;
      else if (!odd)
        odd = i;
    }
    if (odd && count >= 4 && 10 * fit >= 7 * count) return odd;
  }
  return {};
}

}  // namespace apps
