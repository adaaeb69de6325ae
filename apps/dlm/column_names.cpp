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
  if (n.has({"date", "dates", "datetime", "timestamp", "datum", "epoch", "unix", "yyyymmdd", "yymmdd", "fecha",
             "datenum", "datenums", "matlabtime", "matlabdate"}))
    return NameHint::date;
  if (n.is({"dt",           "ts",          "ds",          "unixtime",  "unixtimestamp",
            "when",         "yearmonth",   "yyyymm",      "yymm",      "ym",
            "yearweek",     "yyyyww",      "yearquarter", "yyyyq",     "yyyymmddhh",
            "yymmddhhmm",   "datehour",    "timeperiod",  "monthyear", "observationdate",
            "periodending", "monthending", "weekending",  "tijd",      "asof",
            "createdat",    "zeitpunkt",   "zeitstempel"}))
    return NameHint::date;
  if (n.is({"t",
            "time",
            "times",
            "year",
            "years",
            "yr",
            "month",
            "months",
            "mon",
            "week",
            "weeks",
            "wk",
            "day",
            "days",
            "quarter",
            "quarters",
            "qtr",
            "hour",
            "hours",
            "hr",
            "minute",
            "minutes",
            "second",
            "seconds",
            "period",
            "periods",
            "step",
            "steps",
            "decimalyear",
            "decimaldate",
            "decimal",
            "decyear",
            "fy",
            "fyear",
            "fiscalyear",
            "financialyear",
            "isoweek",
            "hhmm",
            "hhmmss",
            "jahr",
            "quartal",
            "monat",
            "woche",
            "kw",
            "tag",
            "stunde",
            "uhrzeit",
            "zeit",
            "geschäftsjahr",
            "annee",
            "année",
            "trimestre",
            "mois",
            "semaine",
            "jour",
            "heure",
            "période",
            "ano",
            "año",
            "mes",
            "mês",
            "semana",
            "hora"}))
    return NameHint::time;
  if (n.plain.empty() || n.is({"index", "idx",   "id",       "no",       "nr",  "num",         "number", "row",
                               "rows",  "rowid", "rownum",   "rownames", "obs", "observation", "n",      "i",
                               "x",     "x1",    "unnamed0", "record",   "seq", "sequence",    "key",    "line"}))
    return NameHint::index;
  return NameHint::none;
}

NamedUnit unit_of_name(std::string_view name) {
  const NameWords n(name);
  if (n.has({"datenum", "datenums", "matlabtime", "matlabdate"})) return NamedUnit::datenum;
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
  if (n.is({"time", "hhmm", "hhmmss", "timehhmm", "timehhmmss", "clock", "clocktime", "timeofday", "tod", "tradetime",
            "bartime", "timeutc", "utctime", "timegmt", "localtime", "timelocal", "uhrzeit", "zeit"}))
    return NamedUnit::clock;
  return NamedUnit::none;
}

std::vector<std::string> words_of_name(std::string_view name) {
  std::string apart;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto large = [&](std::size_t at) { return at < name.size() && name[at] >= 'A' && name[at] <= 'Z'; };
    const auto small = [&](std::size_t at) { return at < name.size() && name[at] >= 'a' && name[at] <= 'z'; };
    if (i > 0 && large(i) && (small(i - 1) || (large(i - 1) && small(i + 1)))) apart += ' ';
    apart += name[i];
  }
  std::vector<std::string> words = NameWords(apart).words;
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_identifier_by_name(std::string_view name, bool& surely) {
  const std::vector<std::string> words = words_of_name(name);
  surely = false;
  if (words.empty()) return false;
  const std::string plain = NameWords(name).plain, &last = words.back();
  const auto is = [](const std::string& word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  surely =
      is(last, {"id",  "ids",    "uid",      "uuid", "guid", "pid", "sku",      "isbn",      "ean",  "zip", "zipcode",
                "plz", "postal", "postcode", "lat",  "lon",  "lng", "latitude", "longitude", "fips", "iban"}) ||
      is(words[0], {"id", "zip", "plz", "postal"}) ||
      is(plain, {"customerid", "orderid",       "userid",     "itemid",       "storeid",     "shopid",
                 "stationid",  "productid",     "clientid",   "accountid",    "sensorid",    "deviceid",
                 "invoiceid",  "transactionid", "postalcode", "postleitzahl", "breitengrad", "längengrad",
                 "codepostal", "phone",         "telephone",  "telefon"});
  if (surely) return true;
  if (plain.starts_with("sunspot") || plain.starts_with("wolf") || name == "NO") return false;  // nitric oxide
  const bool german = plain.ends_with("nummer") || (plain.size() > 4 && plain.ends_with("nr"));
  return german || is(last, {"no", "nr", "num", "number", "code", "codes", "nummer", "numero", "número", "numéro",
                             "ref", "key", "serial"});
}

}  // namespace apps
