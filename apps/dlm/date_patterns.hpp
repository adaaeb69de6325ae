// One date by one pattern, written as for strftime: "%d/%m/%Y".
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "dates.hpp"

namespace apps {

/// What a date says; 0 (year: -1) where it says nothing.
struct DateParts {
  int year = -1, month = 0, day = 0, half = 0, quarter = 0, week = 0, weekday = 0, day_of_year = 0;
  bool short_year = false;  ///< two digits
  bool clock_given = false, zone_given = false;
  double clock = 0;                  ///< seconds from midnight UTC
  std::optional<double> epoch = {};  ///< seconds since 1970
};

/// Which century two digits are of.
enum class Century {
  usual,      ///< 00 to 39: 2000 to 2039, others 1940 to 1999
  twentieth,  ///< 1900 to 1999
  first       ///< 2000 to 2099
};

/// Whether the text is a date by this pattern. With `clock_may_follow` a time of day may stand after it, and
/// the name of a weekday before it: "Mon, 5 Jan 2020 12:00".
///
/// %Y year, %y its last two digits, %N the year after it (of financial years, two digits or four), %m month, %b or %B
/// its English name, %d day, %j day of the year, %i half of the year, %q quarter, %G %V %u ISO year, week, weekday, %a
/// or %A weekday's name, %H %I %M %S %p clock, %z zone, %s Unix seconds, %Q Unix milliseconds, %n days since 1970, %x
/// serial days of a spreadsheet, %F %T %D %R as in C; a space is any white space.
bool match_date(std::string_view pattern, std::string_view text, bool clock_may_follow, DateParts& parts);

/// The parts as a time; none where there is no such date (February 30).
std::optional<Time> time_of(const DateParts& parts, Century century = Century::usual);

/// HH:MM[:SS[.fff]] [AM|PM] [Z|±HH:MM], all of the text, in seconds from midnight UTC.
std::optional<double> parse_clock(std::string_view text);

/// 1 to 12 for "Jan", "january", "Sept."; 0 for another word.
int month_of_name(std::string_view name);

/// "dd/mm/yyyy", for people.
std::string pattern_in_words(std::string_view pattern);

/// Whether it is a number of seconds or days, as of %s: any number fits.
bool is_count(std::string_view pattern);

/// What is wrong with a pattern that a user gave; "" if nothing is.
std::string flaw_of_pattern(std::string_view pattern);

}  // namespace apps
