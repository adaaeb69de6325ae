// Second trials, item 1: digits that are dates of another kind than the first guess. The header that names the unit
// decides, then the spacing; what stays open is asked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series_reading.hpp"

using namespace reading;

namespace {

constexpr std::int64_t hour = 3600, day = 86400;

std::string hours(const std::string& header, const std::string& pattern, int count) {
  return rows(header, count, [&](int i) { return written(pattern, at(2019, 12, 30) + hour * i); });
}
std::string months(const std::string& header, const std::string& pattern, int count, int from = 2018) {
  return rows(header, count, [&](int i) { return written(pattern, at(from + i / 12, i % 12 + 1, 1)); });
}
std::string weeks(const std::string& header, const std::string& pattern, int count) {
  return rows(header, count, [&](int i) { return written(pattern, at(2018, 1, 1) + 7 * day * i); });
}
std::string quarters(const std::string& header, const std::string& pattern, int count) {
  return rows(header, count, [&](int i) { return written(pattern, at(2015 + i / 4, i % 4 * 3 + 1, 1)); });
}
void expect_words(const std::string& text, std::initializer_list<const char*> all) {
  for (const char* words : all) EXPECT_NE(text.find(words), std::string::npos) << words << "\nin: " << text;
}

}  // namespace

TEST(TrialsDigits, HoursAreNotUnixSeconds) {
  for (const char* pattern : {"%Y%m%d%H", "%y%m%d%H%M"})
    for (const char* header : {"date", "time", "timestamp", "hour", ""}) {
      const Series s = read(hours(header, pattern, 60));
      EXPECT_EQ(s.label(0), "2019-12-30T00:00:00") << pattern << header << s.time_in_words();
      EXPECT_EQ(s.spacing(), "every hour") << pattern << header;
      EXPECT_EQ(s.absent, 0u);
    }
  expect_words(read(hours("time", "%Y%m%d%H", 60)).time_in_words(),
               {"yyyymmddHH, since that spaces the rows evenly; --date-format '%s' reads them otherwise"});
  // Within a day both are even: asked, unless the name says it.
  const std::string one_day = hours("time", "%Y%m%d%H", 20);
  expect_words(complaint(one_day), {"data.csv:2", "2019-12-30T00:00:00 (yyyymmddHH)", "2033-12-", "(Unix seconds)",
                                    "--date-format '%Y%m%d%H' or --date-format '%s'"});
  EXPECT_EQ(read(one_day, {.dates = {.format = "%Y%m%d%H"}}).label(1), "2019-12-30T01:00:00");
  EXPECT_EQ(read(hours("hour", "%Y%m%d%H", 20)).label(1), "2019-12-30T01:00:00");
  EXPECT_EQ(read(hours("unix_time", "%Y%m%d%H", 20)).label(0).substr(0, 4), "2033");
  EXPECT_EQ(read(hours("timestamp", "%s", 60)).label(0), "2019-12-30T00:00:00");
  EXPECT_EQ(read(hours("epoch_ms", "%s000", 60)).label(1), "2019-12-30T01:00:00");
}

TEST(TrialsDigits, MonthsOfFourDigits) {
  for (const char* header : {"month", "yymm", "date", "period"}) {
    const Series s = read(months(header, "%y%m", 30));
    EXPECT_EQ(s.label(12), "2019-01") << header << s.time_in_words();
    EXPECT_EQ(s.spacing(), "every month") << header;
  }
  EXPECT_EQ(read(rows("year", 12, [](int i) { return std::to_string(2001 + i); })).label(0), "2001");
  EXPECT_EQ(read(rows("month", 12, [](int i) { return std::to_string(2001 + i); })).label(0), "2020-01");
  // A guess that could be otherwise is said.
  expect_words(read(rows("date", 12, [](int i) { return std::to_string(2001 + i); })).time_in_words(),
               {"years, since that is usual; --date-format '%y%m' reads them otherwise"});
  EXPECT_EQ(read(rows("year", 20, [](int i) { return std::to_string(1990 + i) + ".0"; })).label(0), "1990");
}

TEST(TrialsDigits, FinancialYears) {
  const auto years = [](const std::string& header, const char* pattern, int from, int count) {
    return rows(header, count, [&](int i) {
      return fmt::format(fmt::runtime(pattern), from + i, (from + i + 1) % 100, from + i + 1);
    });
  };
  for (const char* pattern : {"{}/{:02}", "{}-{:02}", "{}–{:02}", "{0}/{2}", "{0}-{2}", "FY{}/{:02}", "FY{}", "FY {}"})
    for (const char* header : {"year", "FY", "date", "season"}) {
      const Series s = read(years(header, pattern, 2000, 11));
      EXPECT_EQ(s.label(3), "2003") << pattern << header << s.time_in_words();
      EXPECT_EQ(s.spacing(), "every year") << pattern;
      expect_words(s.time_in_words(), {"financial years"});
    }
  expect_words(read(years("date", "{}/{:02}", 2000, 11)).time_in_words(),
               {"--date-format '%Y/%m' reads them otherwise"});
  expect_words(complaint(years("date", "{}/{:02}", 2000, 2)),
               {"2000-01 (yyyy/mm) or 2000 (financial years yyyy/yy)", "--date-format '%Y/%N'"});
  EXPECT_EQ(read(years("date", "{}/{:02}", 1995, 20)).label(0), "1995");
  EXPECT_EQ(read(months("month", "%Y/%m", 24, 2000)).label(1), "2000-02");
}

TEST(TrialsDigits, WeeksByTheirHeader) {
  for (const char* header : {"week", "Week", "yearweek", "ISO week", "KW", "date"}) {
    const Series s = read(weeks(header, "%G%V", 80));
    EXPECT_EQ(s.label(53), "2019-W02") << header << s.time_in_words();
    EXPECT_EQ(s.spacing(), "every week") << header;
    EXPECT_EQ(s.absent, 0u);
  }
  EXPECT_EQ(read(weeks("week", "%G%V", 10)).label(9), "2018-W10");
  expect_words(complaint("week,y\n201751,1\n201752,4\n201753,2\n201801,3\n"),
               {"data.csv:4", "\"201753\" is no week of ISO 8601", "--time none"});
}

TEST(TrialsDigits, QuartersAndHalves) {
  for (const char* pattern : {"%Y%q", "%Y0%q", "%Y.%q"}) {
    const Series s = read(quarters("quarter", pattern, 20));
    EXPECT_EQ(s.label(5), "2016-Q2") << pattern << s.time_in_words();
    EXPECT_EQ(s.spacing(), "every quarter") << pattern;
  }
  for (const char* header : {"date", "period", "year"})
    for (const char* pattern : {"%Y%q", "%Y.%q"})
      EXPECT_EQ(read(quarters(header, pattern, 20)).label(5), "2016-Q2") << header << pattern;
  expect_words(complaint(quarters("year", "%Y.%q", 4)), {"2015-Q1 (yyyy.q)", "decimal years", "--date-format '%Y.%q'"});
  for (const char* pattern : {"{}H{}", "{}-H{}", "{}S{}", "{}-S{}", "{}h{}"}) {
    const Series s =
        read(rows("period", 12, [&](int i) { return fmt::format(fmt::runtime(pattern), 2015 + i / 2, i % 2 + 1); }));
    EXPECT_EQ(s.label(3), "2016-H2") << pattern;
    EXPECT_EQ(s.spacing(), "every half-year") << pattern;
  }
}

TEST(TrialsDigits, NumbersOfDays) {
  const auto numbers = [](const std::string& header, int first) {
    return rows(header, 30, [&](int i) { return std::to_string(first + i); });
  };
  EXPECT_EQ(read(numbers("Date", 43831)).label(0), "2020-01-01");
  EXPECT_EQ(read(numbers("date", 17400)).label(0), "2017-08-22") << "as R counts them";
  expect_words(complaint(numbers("date", 18262)), {"2020-01-01 (days since 1970-01-01) or 2018-09-19 (yyddd)"});
  EXPECT_EQ(read(numbers("day", 18262)).form, DateForm::none);
  expect_words(complaint(numbers("date", 20001)),
               {"1954-10-04 (serial days of a spreadsheet)", "2024-10-05 (days since 1970", "2020-01-01 (yyddd)",
                "--date-format '%x'", "--date-format '%n'"});
  EXPECT_EQ(read(numbers("date", 20001), {.dates = {.format = "%n"}}).label(0), "2024-10-05");
  EXPECT_EQ(read(numbers("station", 1001)).form, DateForm::none) << "no years";
}

TEST(TrialsDigits, PartsInColumns) {
  const Series s = read(rows("year,week", 80, [](int i) { return written("%G,%V", at(2018, 1, 1) + 7 * day * i); }));
  EXPECT_EQ(s.label(53), "2019-W02");
  EXPECT_TRUE(s.even);
  expect_words(complaint("year,week,y\n2018,52,1\n2018,53,3\n2019,1,2\n"),
               {"data.csv:3", "no week 53 of 2018 by ISO 8601"});
  EXPECT_EQ(read(rows("year,doy", 80, [](int i) { return written("%Y,%j", at(2018, 12, 1) + day * i); })).label(31),
            "2019-01-01");
  EXPECT_EQ(read("Year,Period,y\n2018,M11,1\n2018,M12,3\n2019,M01,2\n").label(2), "2019-01");
  const Series lost = read(rows("year,day", 20, [](int i) { return "2018," + std::to_string(i % 7); }));
  EXPECT_TRUE(lost.time_name.empty());
  expect_words(lost.notes.at(0), {"by their names \"year\", \"day\" would say when they were observed"});
  expect_words(complaint("name,2015,2016,2017,2018\na,1,2,3,4\nb,2,3,4,5\n"),
               {"the columns are times (\"2015\", \"2016\"", "turn the table"});
  EXPECT_EQ(read("KW;y\n1/2020;3\n2/2020;4\n3/2020;3\n").label(2), "2020-W03");
  EXPECT_EQ(read("date;y\n1/2020;3\n2/2020;4\n3/2020;3\n").label(2), "2020-03");
}

TEST(TrialsDigits, OtherCalendarsAreSaid) {
  const auto notes = [](const std::string& text) { return fmt::format("{}", fmt::join(read(text).notes, "\n")); };
  expect_words(notes(rows("year", 9, [](int i) { return std::to_string(2560 + i); })),
               {"Buddhist years are 543 ahead"});
  expect_words(notes(rows("date", 9, [](int i) { return fmt::format("1399-01-{:02}", i + 1); })), {"Persian"});
  EXPECT_EQ(notes(rows("year", 9, [](int i) { return std::to_string(1420 + i); })), "");
  expect_words(complaint("season,y\nWinter 2015,1\nSpring 2015,2\n"),
               {"the month or the quarter that each season begins"});
  expect_words(complaint("time,y\n2020-01-01 00:00 CET,1\n2020-01-01 01:00 CET,2\n"),
               {"the zone as an offset from UTC"});
}

TEST(TrialsDigits, DaysOfSixDigitsAndOrdinalDays) {
  const auto days = [](const std::string& header, const std::string& pattern, int count) {
    return rows(header, count, [&](int i) { return written(pattern, at(2019, 1, 1) + day * i); });
  };
  for (const char* pattern : {"%y%m%d", "%Y%j", "%d%m%Y", "%d%m%y"}) {
    const Series s = read(days("date", pattern, 70));
    EXPECT_EQ(s.label(60), "2019-03-02") << pattern << s.time_in_words();
    EXPECT_EQ(s.spacing(), "every day");
  }
  // Months of 1901, each year, or the first of each month of 2019.
  expect_words(complaint("date,y\n190101,1\n190201,2\n190301,4\n190401,3\n"),
               {"1901-01 (yyyymm)", "2019-01-01 (yymmdd)"});
}

TEST(TrialsDigits, TimesOfDay) {
  const auto clock = [](int i) { return fmt::format("{}{:02}", i / 2, i % 2 * 30); };
  expect_words(complaint(rows("time", 40, clock)), {"is a time of day without a date", "--time none"});
  expect_words(complaint("time,y\n10:00,1\n11:00,3\n12:00,2\n"), {"is a time of day without a date"});
  const Series s = read(rows(
      "date,time", 96, [&](int i) { return written("%Y-%m-%d,", at(2020, 1, 1) + day * (i / 48)) + clock(i % 48); }));
  EXPECT_EQ(s.label(50), "2020-01-02T01:00:00");
  EXPECT_EQ(read("date,time,y\n2020-01-01,1000,1\n2020-01-01,1100,3\n2020-01-01,1200,2\n").label(1),
            "2020-01-01T11:00:00");
  EXPECT_EQ(s.spacing(), "every 30 minutes");
  EXPECT_EQ(read("time,y\n0,1\n100,3\n200,2\n300,5\n").spacing(), "every 100 of time");
}
