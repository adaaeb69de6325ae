// Lists of words, in the languages that files tend to be in.
#include "column_names.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "text.hpp"

namespace apps {
namespace {

/// The letters and digits of a name, in small letters: together, and word by word. Letters beyond ASCII stay as they
/// are.
struct NameWords {
  std::string plain;
  std::vector<std::string> words = std::vector<std::string>(1);

  explicit NameWords(std::string_view name) {
    for (const char c : lower(name)) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80);
      if (letter)
        plain += c, words.back() += c;
      else if (!words.back().empty())
        words.emplace_back();
    }
  }
  bool is(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), plain) != names.end();
  }
  bool has(std::initializer_list<std::string_view> names) const {
    return is(names) || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
             return std::find(names.begin(), names.end(), word) != names.end();
           });
  }
};

}  // namespace

NameHint hint_of_name(const std::string& name) {
  const NameWords n(name);
  if (n.has({"date", "dates", "datetime", "timestamp", "datum", "epoch", "unix", "yyyymmdd", "yymmdd", "fecha"}))
    return NameHint::date;
  if (n.is({"dt",           "ts",          "ds",          "unixtime",  "unixtimestamp",
            "when",         "yearmonth",   "yyyymm",      "yymm",      "ym",
            "yearweek",     "yyyyww",      "yearquarter", "yyyyq",     "yyyymmddhh",
            "yymmddhhmm",   "datehour",    "timeperiod",  "monthyear", "observationdate",
            "periodending", "monthending", "weekending",  "tijd",      "asof",
            "createdat",    "zeitpunkt",   "zeitstempel"}))
    return NameHint::date;
  if (n.is({"t",       "time",    "times",     "year",     "years",       "yr",
            "month",   "months",  "mon",       "week",     "weeks",       "wk",
            "day",     "days",    "quarter",   "quarters", "qtr",         "hour",
            "hours",   "hr",      "minute",    "minutes",  "second",      "seconds",
            "period",  "periods", "step",      "steps",    "decimalyear", "decimaldate",
            "decimal", "decyear", "fy",        "fyear",    "fiscalyear",  "financialyear",
            "isoweek", "hhmm",    "jahr",      "quartal",  "monat",       "woche",
            "kw",      "tag",     "stunde",    "uhrzeit",  "zeit",        "geschäftsjahr",
            "annee",   "année",   "trimestre", "mois",     "semaine",     "jour",
            "heure",   "période", "ano",       "año",      "mes",         "mês",
            "semana",  "hora"}))
    return NameHint::time;
  if (n.plain.empty() || n.is({"index", "idx",   "id",       "no",       "nr",  "num",         "number", "row",
                               "rows",  "rowid", "rownum",   "rownames", "obs", "observation", "n",      "i",
                               "x",     "x1",    "unnamed0", "record",   "seq", "sequence",    "key",    "line"}))
    return NameHint::index;
  return NameHint::none;
}

NamedUnit unit_of_name(std::string_view name) {
  const NameWords n(name);
  if (n.has({"epoch", "unix", "unixtime", "unixtimestamp", "posix"})) return NamedUnit::unix;
  if (n.has({"fy", "fyear", "fiscal", "financial", "fiscalyear", "financialyear", "season", "saison", "geschäftsjahr"}))
    return n.has({"quarter", "qtr"}) ? NamedUnit::quarter : NamedUnit::financial_year;
  if (n.has({"yyyymmddhh", "yymmddhh", "datehour", "hour", "hours", "hr", "hh", "he", "hourending", "stunde", "hora",
             "heure"}))
    return NamedUnit::hour;
  if (n.has({"week", "weeks", "wk", "kw", "woche", "isoweek", "yearweek", "yyyyww", "weekno", "semaine", "semana"}))
    return NamedUnit::week;
  if (n.has({"quarter", "quarters", "qtr", "quartal", "yyyyq", "yyyyqq", "yearquarter", "trimestre"}))
    return NamedUnit::quarter;
  if (n.has({"month", "months", "mon", "monat", "mois", "mes", "mês", "yymm", "yyyymm", "yearmonth", "ym"}))
    return NamedUnit::month;
  if (n.has({"day", "days", "tag", "jour", "dia", "yymmdd", "yyyymmdd"})) return NamedUnit::day;
  if (n.has({"year", "years", "yr", "jahr", "annee", "année", "ano", "año", "yyyy"})) return NamedUnit::year;
  if (n.is({"time", "hhmm", "clock", "uhrzeit", "zeit"})) return NamedUnit::clock;
  return NamedUnit::none;
}

}  // namespace apps
