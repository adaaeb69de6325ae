// Series read from text, and dates to write such texts with.
#pragma once
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

#include "../../apps/dlm/series.hpp"

namespace reading {

using namespace apps;

inline Series read(const std::string& text, const DataOptions& options = {}) {
  const CsvOptions csv{.separator = options.separator,
                       .decimal = options.decimal,
                       .skip_rows = options.skip_rows,
                       .dates = options.dates,
                       .missing = options.missing,
                       .dates_of = options.time};
  return series_of(read_csv(text, "data.csv", csv), options);
}

inline std::string complaint(const std::string& text, const DataOptions& options = {}) {
  try {
    const Series s = read(text, options);
    return "read as: " + s.time_in_words();
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// strftime in UTC, with %q for the quarter.
inline std::string written(std::string pattern, std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  for (std::size_t at; (at = pattern.find("%q")) != std::string::npos;)
    pattern.replace(at, 2, std::to_string(parts.tm_mon / 3 + 1));
  char out[100];
  return {out, std::strftime(out, sizeof out, pattern.c_str(), &parts)};
}

inline std::int64_t at(int year, int month, int day) {
  std::tm parts{};
  parts.tm_year = year - 1900, parts.tm_mon = month - 1, parts.tm_mday = day;
  return timegm(&parts);
}

/// A file of `count` rows; row(i) writes the time, which stands in the columns of `header`, and a value follows.
inline std::string rows(const std::string& header, int count, const std::function<std::string(int)>& row) {
  std::string out = header + ",y\n";
  for (int i = 0; i < count; ++i) out += row(i) + "," + std::to_string(100 + (i * 37) % 11) + ".5\n";
  return out;
}

}  // namespace reading
