// Items 1 and 2 of the trials: dates as people write them. Each format is read back to the dates it was made
// of; what may mean two things is refused; mutated files never lose their time axis silently. COTAN_NIGHTLY=1
// reads 10^5 of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "../../apps/dlm/errors.hpp"
#include "series_reading.hpp"
#include "support/nightly.hpp"

using namespace apps;
using namespace reading;

namespace {

enum class Step { hour, day, week, month, quarter, year };

std::vector<std::int64_t> times(Step step, int count) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < count; ++i) {
    const std::int64_t day = at(2019, 12, 20) + 86400 * i, monday = at(2019, 12, 16) + 7 * 86400 * i;
    const int month = step == Step::quarter ? 3 * i : i + 2;
    out.push_back(step == Step::hour   ? at(2019, 12, 31) + 3600 * i
                  : step == Step::day  ? day
                  : step == Step::week ? monday
                  : step == Step::year ? at(1990 + i, 1, 1)
                                       : at(2009 + month / 12, month % 12 + 1, 1));
  }
  return out;
}

std::string column(const std::string& name, const std::vector<std::string>& fields) {
  std::string out = name + ",y\n";
  for (std::size_t i = 0; i < fields.size(); ++i)
    out += "\"" + fields[i] + "\"," + std::to_string(100 + (i * 37) % 11) + ".5\n";
  return out;
}

std::vector<std::string> all_written(const std::string& pattern, Step step, int count) {
  std::vector<std::string> out;
  for (const std::int64_t t : times(step, count)) out.push_back(written(pattern, t));
  return out;
}

void expect_read(const std::string& name, const std::string& pattern, Step step, const std::string& label,
                 int count = 40) {
  SCOPED_TRACE(pattern);
  const std::vector<std::int64_t> truth = times(step, count);
  try {
    const Series s = read(column(name, all_written(pattern, step, count)));
    ASSERT_EQ(s.n(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_EQ(s.label(i), written(label, truth[i])) << s.time_in_words();
    EXPECT_TRUE(s.even) << s.spacing();
    EXPECT_NE(s.time_in_words().find("column \"" + name + "\" ("), std::string::npos) << s.time_in_words();
    EXPECT_NE(s.values_in_words().find("column \"y\""), std::string::npos);
  } catch (const std::exception& error) {
    ADD_FAILURE() << written(pattern, truth[0]) << ": " << error.what();
  }
}

}  // namespace

TEST(Trials, Item1DaysInEveryFormat) {
  for (const char* pattern : {"%Y-%m-%d",
                              "%Y/%m/%d",
                              "%Y.%m.%d",
                              "%Y %m %d",
                              "%Y%m%d",
                              "%d/%m/%Y",
                              "%m/%d/%Y",
                              "%d.%m.%Y",
                              "%d-%m-%Y",
                              "%m-%d-%Y",
                              "%d/%m/%y",
                              "%m/%d/%y",
                              "%d.%m.%y",
                              "%y-%m-%d",
                              "%d %b %Y",
                              "%d-%b-%Y",
                              "%d-%b-%y",
                              "%d%b%Y",
                              "%d %B %Y",
                              "%B %d, %Y",
                              "%b %d %Y",
                              "%a, %d %b %Y",
                              "%A, %B %d, %Y",
                              "%Y-%b-%d",
                              "%Y-%j",
                              "%G-W%V-%u",
                              "%Y-%m-%dT%H:%M:%S",
                              "%Y-%m-%d %H:%M:%S",
                              "%Y-%m-%dT%H:%M:%SZ",
                              "%Y-%m-%dT00:00:00+00:00",
                              "%Y-%m-%d 00:00:00.000",
                              "%m/%d/%Y 12:00 AM",
                              "%eth %B %Y",
                              "%b. %d, %Y"})
    expect_read("date", pattern, Step::day, "%Y-%m-%d");
  for (const char* pattern : {"%s", "%s000", "%s000000000"}) expect_read("ts", pattern, Step::day, "%Y-%m-%d");
}

TEST(Trials, Item1TimesInEveryFormat) {
  for (const char* pattern : {"%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%d/%m/%Y %H:%M", "%m/%d/%Y %I:%M %p",
                              "%Y%m%dT%H%M%S", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%a %b %d %H:%M:%S %Y",
                              "%d/%b/%Y:%H:%M:%S +0000", "%Y-%m-%d %H:%M:%S.000", "%b %d, %Y, %H:%M", "%s"})
    expect_read("time", pattern, Step::hour, "%Y-%m-%dT%H:%M:%S", 60);
  // Zones and fractions.
  const Series s = read("t,y\n2020-01-01T01:00:00+01:00,1\n2020-01-01T00:30:00.500Z,2\n2020-01-01T00:30-00:30,3\n");
  EXPECT_EQ(s.label(0), "2020-01-01T00:00:00");
  EXPECT_EQ(s.label(1), "2020-01-01T00:30:00.500");
  EXPECT_EQ(s.label(2), "2020-01-01T01:00:00");
  EXPECT_NE(s.time_in_words().find("in UTC"), std::string::npos);
}

TEST(Trials, Item1MonthsQuartersWeeksYears) {
  for (const char* pattern : {"%b %Y", "%b-%y", "%B %Y", "%Y-%m", "%Y/%m", "%m/%Y", "%m-%Y", "%Y%m", "%YM%m", "%Y-M%m",
                              "%Y %b", "%b%Y", "%b-%Y", "%Y.%m", "%m.%Y", "%b '%y", "%Y-%B", "%b/%y"})
    expect_read("month", pattern, Step::month, "%Y-%m", 30);
  for (const char* pattern : {"01/%m/%Y", "%m/01/%Y", "%Y-%m-01", "01.%m.%y", "%Y-%m-01 00:00:00", "1 %B %Y", "%Y%m01"})
    expect_read("date", pattern, Step::month, "%Y-%m-01", 30);
  expect_read("date", "%Y-%m-15", Step::month, "%Y-%m-15", 30);
  expect_read("date", "%Y-%m-15 12:00:00", Step::month, "%Y-%m-15", 30);
  for (const char* pattern : {"%YQ%q", "%Y-Q%q", "%Y Q%q", "Q%q %Y", "Q%q-%Y", "%qQ%Y", "Q%q %y", "%Y:Q%q"}) {
    std::vector<std::string> labels;
    const Series s = read(column("quarter", all_written(pattern, Step::quarter, 20)));
    for (std::size_t i = 0; i < s.n(); ++i)
      EXPECT_EQ(s.label(i), written("%Y-Q%q", times(Step::quarter, 20)[i])) << pattern;
    EXPECT_EQ(s.step_name(), "quarter");
  }
  for (const char* pattern : {"%GW%V", "%G-W%V", "%G W%V", "W%V %G"})
    expect_read("week", pattern, Step::week, "%G-W%V", 60);
  expect_read("year", "%Y", Step::year, "%Y", 30);
  EXPECT_EQ(read(column("week", all_written("%Y-%m-%d", Step::week, 20))).step_name(), "week");
}

TEST(Trials, Item1NumbersThatAreDates) {
  std::string decimal = "year,y\n", serial = "Date,y\n", co2 = "decimal date,y\n", day_of_file = "";
  for (int i = 0; i < 30; ++i) {
    char text[100];
    std::snprintf(text, sizeof text, "%.3f,%d\n", 2000 + i / 12.0, (i * 7) % 5);
    decimal += text;
    std::snprintf(text, sizeof text, "%d,%d\n", 43831 + i, (i * 7) % 5);
    serial += text;
    std::snprintf(text, sizeof text, "%.4f,%d\n", 1958 + (i + 0.5) / 12.0, (i * 7) % 5);
    co2 += text;
  }
  EXPECT_EQ(read(decimal).label(13), "2001-02");
  EXPECT_EQ(read(co2).label(1), "1958-02");
  EXPECT_EQ(read(serial).label(0), "2020-01-01");
  EXPECT_NE(read(serial).time_in_words().find("spreadsheet"), std::string::npos);
  // Without the word date these are just numbers, and a number that only grows is not thrown away.
  EXPECT_EQ(read("weight\n43831\n43835\n43836\n").name, "weight");
}

TEST(Trials, Item1JoinedColumns) {
  const Series months = read("year,month,y\n2019,11,1\n2019,12,2\n2020,1,3\n2020,2,4\n");
  EXPECT_EQ(months.label(2), "2020-01");
  EXPECT_TRUE(months.even);
  EXPECT_EQ(months.name, "y");
  EXPECT_EQ(read("y,Year,Month\n1,2019,Nov\n2,2019,Dec\n3,2020,Jan\n").label(2), "2020-01");
  EXPECT_EQ(read("year,month,day,y\n2020,2,28,1\n2020,2,29,2\n2020,3,1,3\n").label(1), "2020-02-29");
  EXPECT_EQ(read("year,quarter,y\n2020,3,1\n2020,4,2\n2021,1,3\n").label(2), "2021-Q1");
  const Series clock = read("date,time,y\n2020-01-01,12:00,1\n2020-01-01,18:00,2\n2020-01-02,00:00,3\n");
  EXPECT_EQ(clock.label(1), "2020-01-01T18:00:00");
  EXPECT_EQ(clock.name, "y");
}

TEST(Trials, Item1TheColumnDecidesTheOrderOfDayAndMonth) {
  // Monthly over two years: only one reading is even.
  EXPECT_EQ(read(column("d", all_written("01/%m/%Y", Step::month, 30))).label(1), "2009-04-01");
  EXPECT_EQ(read(column("d", all_written("%m/01/%Y", Step::month, 30))).label(1), "2009-04-01");
  // A missing month does not matter.
  std::vector<std::string> fields = all_written("01/%m/%Y", Step::month, 60);
  fields.erase(fields.begin() + 20);
  const Series s = read(column("d", fields));
  EXPECT_EQ(s.label(1), "2009-04-01");
  EXPECT_EQ(s.absent, 1u);
  EXPECT_NE(s.time_in_words().find("--month-first reads them otherwise"), std::string::npos) << s.time_in_words();
  // One day above 12 decides.
  EXPECT_EQ(read("d,y\n01/02/2020,1\n13/02/2020,2\n").label(0), "2020-02-01");
  EXPECT_EQ(read("d,y\n01/02/2020,1\n01/13/2020,2\n").label(0), "2020-01-02");
}

TEST(Trials, Item1AmbiguousDatesAreRefusedWithBothReadings) {
  const std::string year =
      column("date", {"01/01/2020", "01/02/2020", "01/03/2020", "01/04/2020", "01/05/2020", "01/06/2020"});
  EXPECT_EQ(complaint(year),
            "[csv] data.csv:3, column \"date\": \"01/02/2020\" may be 2020-02-01 (dd/mm/yyyy) or 2020-01-02 "
            "(mm/dd/yyyy), and all "
            "6 dates fit each reading without one that spaces them clearly more evenly; say --day-first or "
            "--month-first.");
  EXPECT_EQ(read(year, {.dates = {.order = DateOrder::day_first}}).label(1), "2020-02-01");
  EXPECT_EQ(read(year, {.dates = {.order = DateOrder::month_first}}).label(1), "2020-01-02");
  EXPECT_EQ(read(year, {.dates = {.format = "%d/%m/%Y"}}).label(1), "2020-02-01");
  for (const char* fields : {"05.06.2020", "05-06-2020", "05/06/20", "05.06.2020 12:00"}) {
    const std::string text = complaint(std::string("date,y\n") + fields + ",1\n");
    EXPECT_NE(text.find("--day-first or --month-first"), std::string::npos) << text;
    EXPECT_NE(text.find("2020-06-05"), std::string::npos) << text;
    EXPECT_NE(text.find("2020-05-06"), std::string::npos) << text;
  }
  const std::string trio = complaint("date,y\n01-02-03,1\n");
  for (const char* reading : {"2003-02-01", "2003-01-02", "2001-02-03", "--date-format '%y-%m-%d'"})
    EXPECT_NE(trio.find(reading), std::string::npos) << trio;
  // A day of a year that is not given.
  EXPECT_NE(
      complaint("d,y\nJan-01,1\nJan-02,2\nJan-03,3\n").find("may be 2001-01 or a day of a year that is not given"),
      std::string::npos);
  EXPECT_EQ(read("d,y\nJan-01,1\nJan-02,2\nJan-03,3\n", {.dates = {.format = "%b-%y"}}).step_name(), "year");
}

TEST(Trials, Item1MixedFormats) {
  EXPECT_EQ(read("d,y\n2020-01-01,1\n2020-01-02 12:00,2\n").label(0), "2020-01-01T00:00:00");
  EXPECT_EQ(read("d,y\n2020-01-01,1\n2 Jan 2020,2\n2020/01/03,3\n").label(2), "2020-01-03");
  EXPECT_NE(read("d,y\n2020-01-01,1\n2 Jan 2020,2\n").time_in_words().find("yyyy-mm-dd and dd Mon yyyy"),
            std::string::npos);
  EXPECT_EQ(complaint("d,y\n13/01/2020,1\n01/14/2020,2\n"),
            "[csv] data.csv:3, column \"d\": \"01/14/2020\" is mm/dd/yyyy where the rows before it are "
            "dd/mm/yyyy; write all "
            "dates of a column in one form.");
  EXPECT_NE(complaint("d,y\n2020-01-01,1\n05/06/2020,2\n")
                .find("data.csv:3, column \"d\": \"05/06/2020\" is dd/mm/yyyy where"),
            std::string::npos);
  EXPECT_NE(complaint("d,y\n2020-01-01,1\n2020-02,2\n").find("is a month where the rows before it hold a day"),
            std::string::npos);
}

TEST(Trials, Item1UnknownDatesAreNeverDropped) {
  for (const auto& [text, words] : std::map<std::string, std::string>{
           {"date,y\njanv. 2010,1\nfévr. 2010,2\n",
            "data.csv:2, column \"date\": \"janv. 2010\" is not a date that is known: names of "
            "months must be English"},
           {"date,y\n2020-01-01,1\nsoon,2\n2020-01-03,3\n", "data.csv:3, column \"date\": \"soon\""},
           {"date,y\n010120,1\n020120,2\n150120,3\n", "\"010120\" is not a date that is known"},
           {"label,y\nfirst,1\nsecond,2\n", "data.csv:2, column \"label\": \"first\" is not a date that is known"},
           {"y,date\n1,32/01/2020\n2,33/01/2020\n", "\"32/01/2020\" is not a date"},
           {"2010-01-01,1\nTotal,2\n2010-01-03,2\n", "data.csv:2, column \"c1\": \"Total\""},
           {"when,y\n01/10,1\n02/10,2\n", "\"01/10\" is not a date that is known"},
       })
    EXPECT_NE(complaint(text).find(words), std::string::npos) << complaint(text);
  EXPECT_EQ(read("label,y\nfirst,1\nsecond,2\n", {.time = "none"}).time_in_words(),
            "the rows are counted, 1 to 2: as --time none says");
  EXPECT_EQ(read("y\n1\n2\n").time_in_words(), "the rows are counted, 1 to 2: no column holds times");
  EXPECT_NE(complaint("a,y\n1,1\n3,2\n", {.dates = {.format = "%Y"}}).find("no column holds dates like \"%Y\""),
            std::string::npos);
  EXPECT_NE(complaint("a,y\n1,1\n3,2\n", {.time = "a", .dates = {.format = "%Y"}}).find("is no date by --date-format"),
            std::string::npos);
}

TEST(Trials, Item2IndicesAndUnixTimesAreNotTheSeries) {
  const Series t = read("t,v\n0,5.1\n1,5.7\n2,5.2\n3,6.1\n");
  EXPECT_EQ(t.name, "v");
  EXPECT_EQ(t.time_in_words(), "column \"t\" (counts the rows)");
  const Series pandas = read(",date,v\n0,2020-01-01,5\n1,2020-01-02,6\n2,2020-01-03,4\n");
  EXPECT_EQ(pandas.name, "v");
  EXPECT_EQ(pandas.ignored_in_words(), "\"c1\" (counts the rows)");
  EXPECT_EQ(read(",v\n0,5\n1,6\n2,4\n").name, "v");
  EXPECT_EQ(read("5.5\n6.1\n4\n").notes, std::vector<std::string>());
  EXPECT_EQ(read("id,v\n1000,5\n1003,6\n1006,4\n").form, DateForm::none);
  EXPECT_EQ(read(",v\n1990,5\n1991,6\n1992,4\n").form, DateForm::year);
  EXPECT_EQ(read("id,date,v,w,note\n7,2020-01-01,5,1,a\n9,2020-01-02,6,1,b\n8,2020-01-03,4,1,c\n").ignored_in_words(),
            "\"id\" (an index by its name), \"w\" (the same in all rows), \"note\" (text)");
  const Series unix_time = read("1577836800,5\n1577923200,6\n1578009600,4\n");
  EXPECT_EQ(unix_time.label(2), "2020-01-03");
  EXPECT_EQ(unix_time.name, "c2");
  // Forecasts are dated by the calendar.
  const Series days = read("day,v\n20221229,5\n20221230,6\n20221231,4\n", {.steps = 2});
  EXPECT_EQ(days.label(3), "2023-01-01");
  EXPECT_EQ(days.time_in_words(), "column \"day\" (yyyymmdd)");
  EXPECT_EQ(read("x,v\n0.1,5\n0.2,6\n0.35,4\n").time_name, "x");
  // A column that only grows may be a series; it is said.
  std::string growing = "cases,deaths\n";
  for (int i = 1; i < 15; ++i) growing += std::to_string(i * i) + "," + std::to_string((i * 7) % 5) + "\n";
  const Series cases = read(growing);
  EXPECT_EQ(cases.name, "cases");
  ASSERT_FALSE(cases.notes.empty());
  EXPECT_NE(cases.notes[0].find("only grows; if it says when the rows were observed, give --time"), std::string::npos);
}

TEST(Trials, Item7RowsThatAreNotThereAreSaid) {
  std::string text = "date,y\n";
  int rows = 0;
  for (int i = 0; i < 70; ++i) {
    const std::int64_t day = at(2020, 1, 6) + 86400 * i;  // a Monday
    if (i % 7 > 4) continue;
    text += written("%Y-%m-%d", day) + "," + std::to_string(++rows % 5 + 0.5) + "\n";
  }
  const Series s = read(text, {.seasons = {{7}}});
  EXPECT_EQ(s.gaps_in_words(), "18 of 68 days have no row: treated as missing");
  EXPECT_EQ(s.spacing(), "every day");
  ASSERT_EQ(s.notes.size(), 1u);
  EXPECT_NE(s.notes[0].find("Of the 7 positions of the season, 2 are never observed (Saturday, Sunday)"),
            std::string::npos)
      << s.notes[0];
  EXPECT_EQ(read("d,y\n2020-01-01,1\n2020-01-02,\n2020-01-03,2\n").gaps_in_words(), "1 row has no value");
  EXPECT_EQ(read("d,y\n2020-01-01,1\n2020-01-02,5\n2020-01-03,2\n").gaps_in_words(), "none missing");
  EXPECT_EQ(read("t,y\n0,1\n1,5\n2,2\n2.3,2\n").gaps_in_words(), "the uneven steps are part of the model");
  EXPECT_NE(read("y\n1\n2\n-999\n3\n2\n").notes.at(0).find("stands in 1 row, far from all other values"),
            std::string::npos);
}

TEST(Trials, Item9NumbersAsPeopleWriteThem) {
  const auto values = [](const std::string& text, const DataOptions& options = {}) { return read(text, options).y; };
  using V = std::vector<double>;
  EXPECT_EQ(values("d;y\n2020-01;1,5\n2020-02;-2,25\n"), (V{1.5, -2.25}));
  EXPECT_EQ(values("d;y\n2020-01;1.234,5\n2020-02;2,25\n"), (V{1234.5, 2.25}));
  EXPECT_EQ(values("d,y\n2020-01,\"$1,234.50\"\n2020-02,$7\n2020-03,-$3.5\n2020-04,\"($1,000)\"\n"),
            (V{1234.5, 7, -3.5, -1000}));
  EXPECT_EQ(values("d,y\n2020-01,12.5%\n2020-02,7 %\n"), (V{12.5, 7}));
  EXPECT_EQ(values("d,y\n2020-01,1 234\n2020-02,1\u00A0234 567\n2020-03,5'000\n"), (V{1234, 1234567, 5000}));
  EXPECT_EQ(values("d,y\n2020-01,\"1,234\"\n2020-02,987\n"), (V{1234, 987}));
  EXPECT_EQ(values("d,y\n2020-01,\"1,234,567\"\n2020-02,\"2,345\"\n"), (V{1234567, 2345}));
  EXPECT_EQ(values("d,y\n2020-01,1.234\n2020-02,2.345\n"), (V{1.234, 2.345}));
  EXPECT_EQ(values("d;y\n2020-01;1,2345\n2020-02;2,345\n"), (V{1.2345, 2.345})) << "no thousands have four digits";
  EXPECT_EQ(values("d,y\n2020-01,12.30-\n2020-02,4.00\n"), (V{-12.3, 4})) << "minus signs of ledgers";
  EXPECT_EQ(values("d;y\n2020-01;€ 1.234,00\n2020-02;5 €\n"), (V{1234, 5}));
  EXPECT_EQ(values("d;y;z\n2020-01;1.234;1,5\n2020-02;2.345;2,5\n"), (V{1234, 2345}))
      << "the other column has decimal commas";
  EXPECT_EQ(read("d,y\n2020-01,\"$1,234.50\"\n2020-02,$7\n").values_in_words(),
            "column \"y\" ($ left out, commas between thousands)");
  EXPECT_EQ(read("d;y\n2020-01;1,5\n2020-02;2,5\n").values_in_words(), "column \"y\" (decimal commas)");
  EXPECT_EQ(complaint("d,y\n2020-01,\"1,234\"\n2020-02,\"2,345\"\n"),
            "[csv] data.csv:2, column \"y\": \"1,234\" may be 1.234 or 1234: the column does not tell what "
            "',' means; say --decimal "
            "',' or --decimal '.'.");
  EXPECT_NE(complaint("d;y\n2020-01;1,234\n2020-02;2,345\n").find("may be 1.234 or 1234"), std::string::npos)
      << "semicolons are no proof of decimal commas";
  EXPECT_NE(complaint("d;y\n2020-01;1.234\n2020-02;2.345\n").find("may be 1.234 or 1234"), std::string::npos);
  EXPECT_EQ(values("d;y\n2020-01;1.234\n2020-02;2.345\n", {.decimal = ','}), (V{1234, 2345}));
  EXPECT_EQ(values("d,y\n2020-01,\"1,234\"\n2020-02,\"2,345\"\n", {.separator = ',', .decimal = '.'}), (V{1234, 2345}));
  EXPECT_NE(complaint("d,y\n2020-01,12%\n2020-02,0.12\n").find("is not a percentage where"), std::string::npos);
  EXPECT_NE(complaint("d,y\n2020-01,$12\n2020-02,€12\n").find("is in € where the fields before it are in $"),
            std::string::npos);
  EXPECT_NE(complaint("d,y\n2020-01,1,5\n2020-02,2,5\n").find("numbers with decimal commas need quotes, or ';'"),
            std::string::npos);
}

TEST(Trials, Item12Encodings) {
  const Series latin = read(
      "Gr\xF6\xDF"
      "e,Temp \xB0"
      "C\n2000,1\n2001,5\n2002,3\n");
  EXPECT_EQ(latin.time_name, "Größe");
  EXPECT_EQ(latin.name, "Temp °C");
  ASSERT_FALSE(latin.notes.empty());
  EXPECT_NE(latin.notes[0].find("Latin-1"), std::string::npos);
  const std::string plain = "date,größe €\n2020-01-01,1\n2020-01-02,3\n2020-01-03,2\n";
  const std::u16string wide = u"date,größe €\n2020-01-01,1\n2020-01-02,3\n2020-01-03,2\n";
  for (const bool big : {false, true})
    for (const bool mark : {false, true}) {
      std::string bytes = !mark ? "" : big ? "\xFE\xFF" : "\xFF\xFE";
      for (const char16_t c : wide) {
        const char low = static_cast<char>(c & 0xFF), high = static_cast<char>(c >> 8);
        bytes += big ? high : low, bytes += big ? low : high;
      }
      const Series s = read(bytes);
      EXPECT_EQ(s.name, "größe €") << big << mark;
      EXPECT_EQ(s.label(2), "2020-01-03");
    }
  EXPECT_EQ(read("\xEF\xBB\xBF" + plain).name, "größe €");
  EXPECT_TRUE(read(plain).notes.empty());
}

namespace {

/// A file whose every row has a value of its own, so that a row can be found again, and the dates of the
/// rows.
struct Seed {
  std::string text;
  bool in_parts = false;  ///< several columns make the time: without their names nobody knows
  std::map<double, std::string> dates;
};

std::vector<Seed> seeds() {
  const struct {
    const char *name, *pattern;
    Step step;
    const char* label;
  } kinds[] = {{"date", "%Y-%m-%d", Step::day, "%Y-%m-%d"},
               {"Date", "%d %b %Y", Step::day, "%Y-%m-%d"},
               {"month", "%b %Y", Step::month, "%Y-%m"},
               {"day", "%Y%m%d", Step::day, "%Y-%m-%d"},
               {"time", "%Y-%m-%d %H:%M", Step::hour, "%Y-%m-%dT%H:%M:%S"},
               {"quarter", "%Y-Q%q", Step::quarter, "%Y-Q%q"},
               {"week", "%G-W%V", Step::week, "%G-W%V"},
               {"date", "%d/%m/%Y", Step::day, "%Y-%m-%d"},
               {"ts", "%s", Step::day, "%Y-%m-%d"},
               {"period", "%Y%m", Step::month, "%Y-%m"},
               {"", "%Y-%m-%d", Step::day, "%Y-%m-%d"},
               {"when", "%m/%d/%Y", Step::day, "%Y-%m-%d"},
               {"year", "%Y", Step::year, "%Y"},
               {"week", "%G%V", Step::week, "%G-W%V"},
               {"time", "%Y%m%d%H", Step::hour, "%Y-%m-%dT%H:%M:%S"},
               {"hour", "%y%m%d%H%M", Step::hour, "%Y-%m-%dT%H:%M:%S"},
               {"quarter", "%Y%q", Step::quarter, "%Y-Q%q"},
               {"quarter", "%Y.%q", Step::quarter, "%Y-Q%q"},
               {"month", "%y%m", Step::month, "%Y-%m"},
               {"KW", "%V/%G", Step::week, "%G-W%V"},
               {"date", "%y%m%d", Step::day, "%Y-%m-%d"},
               {"date", "%Y%j", Step::day, "%Y-%m-%d"},
               {"FY", "FY%Y", Step::year, "%Y"},
               {"date,hour", "%Y-%m-%d,%H", Step::hour, "%Y-%m-%dT%H:%M:%S"},
               {"date,time", "%Y%m%d,%H%M", Step::hour, "%Y-%m-%dT%H:%M:%S"},
               {"year,week", "%G,%V", Step::week, "%G-W%V"},
               {"year,doy", "%Y,%j", Step::day, "%Y-%m-%d"}};
  std::vector<Seed> out;
  for (const auto& kind : kinds) {
    Seed seed;
    seed.text = std::string(kind.name) + ",sales,note\n";
    seed.in_parts = seed.text.find(",sales") != seed.text.find(',');
    const std::vector<std::int64_t> when = times(kind.step, 24);
    for (std::size_t i = 0; i < when.size(); ++i) {
      const double value = 1000.5 + static_cast<double>((i * 37) % 101);
      char number[40];
      std::snprintf(number, sizeof number, "%.1f", value);
      seed.text += written(kind.pattern, when[i]) + "," + number + ",x" + std::to_string(i) + "\n";
      seed.dates[value] = written(kind.label, when[i]);
    }
    out.push_back(seed);
  }
  return out;
}

}  // namespace

// Whatever happens to a file: an error, or a series whose time axis is said, whose columns are all accounted
// for, and whose untouched rows keep their dates.
TEST(Trials, Item1FuzzNoTimeAxisIsLostSilently) {
  const int count = is_nightly() ? 100000 : 4000;
  std::mt19937 random(20261116);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<Seed> all = seeds();
  const std::string_view pieces[] = {",", ";", "\n", "\"", "1",    "-", "/",  ".",      "2020-01-01", "Jan", "NA",
                                     " ", "e", "$",  "%",  "\xFF", "é", "00", "T12:00", "Q1",         "0"};
  std::size_t read_well = 0, refused = 0, counted = 0;
  for (int i = 0; i < count; ++i) {
    const Seed& seed = all[below(all.size())];
    std::string text = seed.text;
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t place = below(text.size());
      switch (below(4)) {
        case 0:
          text.erase(place, 1 + below(4));
          break;
        case 1:
          text.insert(place, pieces[below(std::size(pieces))]);
          break;
        case 2:
          text[place] = static_cast<char>('0' + below(10));
          break;
        default:
          text[place] = static_cast<char>(below(256));
      }
    }
    try {
      const Series s = read(text);
      ++read_well;
      ASSERT_FALSE(s.time_in_words().empty()) << text;
      ASSERT_FALSE(s.values_in_words().empty()) << text;
      std::set<std::string> named;
      for (const ColumnUse& use : s.uses) ASSERT_TRUE(named.insert(use.name).second) << use.name << "\n" << text;
      for (std::size_t t = 1; t < s.n(); ++t) ASSERT_LT(s.time[t - 1], s.time[t]) << text;
      // The time column leads, with dates: it is the axis, or the file is refused.
      if (seed.in_parts && !text.starts_with(seed.text.substr(0, seed.text.find('\n')))) continue;
      counted += s.time_name.empty();
      ASSERT_FALSE(s.time_name.empty()) << s.time_in_words() << "\n" << text;
      if (s.name.find("sales") == std::string::npos) continue;
      std::size_t wrong = 0;
      for (std::size_t t = 0; t < s.n(); ++t) {
        const auto known = seed.dates.find(s.y[t]);
        if (known != seed.dates.end())
          wrong += s.label(t) != known->second && s.label(t) != known->second + "T00:00:00";
      }
      ASSERT_LE(wrong, 3u) << s.time_in_words() << "\n" << text;  // the rows that were changed
    } catch (const CsvError& error) {
      ++refused;
      ASSERT_TRUE(std::string(error.what()).starts_with("[csv] ")) << error.what();
    } catch (const InputError& error) {
      ++refused;
      ASSERT_TRUE(std::string(error.what()).starts_with("[data.csv")) << error.what();
    }
  }
  EXPECT_GT(read_well, static_cast<std::size_t>(count) / 20);
  EXPECT_GT(refused, static_cast<std::size_t>(count) / 20);
  EXPECT_EQ(counted, 0u);
}
