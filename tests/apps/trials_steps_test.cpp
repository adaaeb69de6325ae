// Second trials, items 2 and 6: what makes a step of a series, rows that are out of place, values that are codes, and
// files with sep= lines, units and local times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "series_reading.hpp"

using namespace reading;

namespace {

constexpr std::int64_t hour = 3600, day = 86400;

std::string joined(const std::vector<std::string>& notes) { return fmt::format("{}", fmt::join(notes, "\n")); }
void expect_words(const std::string& text, std::initializer_list<const char*> all) {
  for (const char* words : all) EXPECT_NE(text.find(words), std::string::npos) << words << "\nin: " << text;
}
std::string stamps(int count, const std::function<std::int64_t(int)>& seconds) {
  return rows("time", count, [&](int i) { return written("%Y-%m-%d %H:%M:%S", seconds(i)); });
}
std::string days(int count, const std::function<std::int64_t(int)>& number) {
  return rows("date", count, [&](int i) { return written("%Y-%m-%d", at(2019, 1, 7) + day * number(i)); });
}
/// Mondays to Fridays, from a Monday.
std::string business_days(int count) {
  return days(count, [](int i) { return i / 5 * 7 + i % 5; });
}

}  // namespace

TEST(TrialsSteps, BusinessDaysAreSaidAndCanBeSteps) {
  const Series calendar = read(business_days(40), {.seasons = {{5}}});
  EXPECT_EQ(calendar.absent, 14u);
  expect_words(joined(calendar.notes), {"No row falls on a Saturday or Sunday", "a season of 5 days does not keep",
                                        "--time-step business-days"});
  const Series s = read(business_days(40), {.time_steps = TimeSteps::business_days, .seasons = {{5}}, .steps = 6});
  EXPECT_TRUE(s.even);
  EXPECT_EQ(s.absent, 0u);
  EXPECT_EQ(s.spacing(), "every business day");
  EXPECT_EQ(s.label(39), "2019-03-01");
  EXPECT_EQ(s.label(40), "2019-03-04") << "Monday after Friday";
  EXPECT_EQ(s.label(45), "2019-03-11");
  EXPECT_TRUE(s.notes.empty()) << joined(s.notes);
  // A holiday is a step without a row.
  std::string holiday = business_days(40);
  holiday.erase(holiday.find("2019-01-17"), holiday.find("2019-01-18") - holiday.find("2019-01-17"));
  const Series gap = read(holiday, {.time_steps = TimeSteps::business_days});
  EXPECT_EQ(gap.gaps_in_words(), "1 of 40 business days has no row: treated as missing");
  EXPECT_EQ(gap.model_times()[8], 9);
  EXPECT_TRUE(read(holiday, {.time_steps = TimeSteps::rows}).even);
  expect_words(complaint(days(20, [](int i) { return i; }), {.time_steps = TimeSteps::business_days}),
               {"data.csv:7", "2019-01-12 is no business day"});
  expect_words(complaint("d,y\n2019-01,1\n2019-02,2\n2019-03,1\n", {.time_steps = TimeSteps::business_days}),
               {"is for days, and a step of the times is a month"});
}

TEST(TrialsSteps, ARowOfAnotherDecadeIsRefused) {
  std::string text = days(100, [](int i) { return i; });
  text.replace(text.find("2019-03-01"), 10, "2010-03-01");
  expect_words(complaint(text), {"data.csv:55", "the time 2010-03-01 lies 3234 steps (each a day)",
                                 "--time-step calendar", "--time-step rows"});
  EXPECT_GT(read(text, {.time_steps = TimeSteps::calendar}).absent, 3000u);
  // Far, but less far than the series is long: a note that names the line.
  std::string longer = days(3000, [](int i) { return i; });
  longer.replace(longer.find("2019-03-01"), 10, "2018-03-01");
  expect_words(joined(read(longer).notes),
               {"2018-03-01 lies 312 steps", "data.csv:55", "line 55, 2018-03-01, comes after"});
}

TEST(TrialsSteps, ThirdFridaysAreMonthly) {
  const auto third_friday = [](int i) {
    std::int64_t t = at(2018 + i / 12, i % 12 + 1, 15);
    while (written("%w", t) != "5") t += day;
    return t;
  };
  const Series s = read(rows("date", 30, [&](int i) { return written("%Y-%m-%d", third_friday(i)); }));
  EXPECT_EQ(s.spacing(), "every month");
  EXPECT_TRUE(s.even);
  EXPECT_EQ(s.label(13), "2019-02");
  const Series four_weeks = read(days(20, [](int i) { return 28 * i; }));
  EXPECT_EQ(four_weeks.spacing(), "every 4 weeks");
  EXPECT_EQ(read(days(4, [](int i) { return 28 * i; })).spacing(), "every 4 weeks");
}

TEST(TrialsSteps, StampsBesideTheGridAreRounded) {
  const auto jitter = [](int i) { return (i * 7) % 5 - 2; };
  const Series s = read(stamps(50, [&](int i) { return at(2020, 1, 1) + hour * (i + 10) + jitter(i); }), {.steps = 2});
  EXPECT_EQ(s.spacing(), "every hour");
  EXPECT_TRUE(s.even);
  EXPECT_EQ(s.label(1), "2020-01-01T11:00:00") << "as written";
  expect_words(joined(s.notes), {"The times lie up to 2 s beside even steps; they are taken as every hour."});
  // With a row that is not there.
  const Series gap = read(stamps(50, [&](int i) { return at(2020, 1, 1) + hour * (i + (i > 20)) + jitter(i); }));
  EXPECT_EQ(gap.absent, 1u);
  // No grid: uneven times stay as they are.
  const Series uneven = read(stamps(50, [&](int i) { return at(2020, 1, 1) + hour * i + 97 * ((i * i) % 31); }));
  EXPECT_FALSE(uneven.even);
  EXPECT_TRUE(joined(uneven.notes).empty()) << joined(uneven.notes);
}

TEST(TrialsSteps, LocalTimeWithDaylightSaving) {
  // Clocks in Berlin: 2020-03-29 without 02:00, 2020-10-25 with 02:00 twice.
  const auto spring = [](int i) { return at(2020, 3, 28) + hour * (i + (i >= 26)); };
  expect_words(joined(read(stamps(60, spring)).notes),
               {"The hour from 2020-03-29T02:00:00 is not there", "daylight saving", "--time-step rows"});
  const auto autumn = [](int i) { return at(2020, 10, 24) + hour * (i - (i >= 27)); };
  expect_words(complaint(stamps(60, autumn)), {"data.csv:29", "2020-10-25T02:00:00 is also that of line 28",
                                               "local time with daylight saving", "--time-step rows"});
  const Series s = read(stamps(60, autumn), {.time_steps = TimeSteps::rows});
  EXPECT_TRUE(s.even);
  EXPECT_EQ(s.spacing(), "each row a step after the one before it");
  EXPECT_EQ(s.label(27), "2020-10-25T02:00:00");
  expect_words(complaint("t,y\n2020-01-01 00:00:01,1\n2020-01-01 00:00:01,2\n"), {"several series need a file each"});
}

TEST(TrialsSteps, CodesForMissingValues) {
  std::string text = "y\n";
  for (int i = 0; i < 40; ++i) text += i % 13 == 5 ? "1e30\n" : std::to_string(10 + i % 7) + "\n";
  expect_words(complaint(text), {"stands in 3 rows, far from all other values (10 to 16)", "say --missing 1e+30",
                                 "--missing none if not"});
  const Series s = read(text, {.missing = {"1e30"}});
  EXPECT_EQ(s.observed(), 37u);
  EXPECT_TRUE(s.notes.empty());
  EXPECT_EQ(read(text, {.missing = {"none"}}).observed(), 40u);
  for (const char* code : {"9999", "-999", "99.99", "-9999", "32767", "5000"}) {
    std::string coded = "y\n";
    for (int i = 0; i < 40; ++i) coded += i % 13 == 5 ? std::string(code) + "\n" : std::to_string(10 + i % 7) + "\n";
    expect_words(joined(read(coded).notes), {"stands in 3 rows", "say --missing"});
    EXPECT_EQ(read(coded, {.missing = {code}}).observed(), 37u);
  }
  EXPECT_EQ(read("date,y\n2020-01,5\n2020-02,n.d.\n2020-03,6\n", {.missing = {"n.d."}}).observed(), 2u);
  EXPECT_EQ(read("year,y\n1998,5\n1999,1999\n2000,6\n", {.missing = {"1999"}}).n(), 3u) << "times are left alone";
  EXPECT_TRUE(read("y\n1.0000001\n1.0000002\n1.0000001\n5\n").notes.empty());
}

TEST(TrialsSteps, SeparatorLines) {
  for (const char* line : {"sep=;\n", "SEP=;\r\n", "\"sep=;\"\n"}) {
    const Series s = read(std::string(line) + "date;y\n2020-01;1,5\n2020-02;2,5\n2020-03;2\n");
    EXPECT_EQ(s.name, "y");
    EXPECT_EQ(s.y[0], 1.5);
  }
  expect_words(complaint("sep=,\ndate,y\n2020-01,1\n2020-01,2\n"), {"data.csv:4", "line 3"});
}

TEST(TrialsSteps, HoursToTheEndOfTheDay) {
  for (const char* header : {"hour", "Hour Ending", "HR", "time"}) {
    const Series s = read(rows(std::string("date,") + header, 72, [](int i) {
      return written("%Y-%m-%d,", at(2020, 1, 1) + day * (i / 24)) + std::to_string(i % 24 + 1);
    }));
    EXPECT_EQ(s.label(0), "2020-01-01T01:00:00") << header;
    EXPECT_EQ(s.label(23), "2020-01-02T00:00:00") << header;
    EXPECT_TRUE(s.even);
    expect_words(s.time_in_words(), {"hour 24 is the next day's 00:00"});
  }
  expect_words(complaint("date,hour,y\n2020-01-01,0,1\n2020-01-01,1,3\n2020-01-01,28,2\n"),
               {"data.csv:4, column \"hour\": this is no time of day"});
  const Series clock = read(rows("time", 48, [](int i) {
    return written("%Y-%m-%d ", at(2020, 1, 1) + day * (i / 24)) + fmt::format("{:02}:00", i % 24 + 1);
  }));
  EXPECT_TRUE(clock.even);
  EXPECT_EQ(clock.label(23), "2020-01-02T00:00:00");
  expect_words(complaint("t,y\n2020-01-01 24:30,1\n2020-01-02 01:00,2\n"), {"is not a date"});
}

TEST(TrialsSteps, UnitsInFields) {
  const Series s = read("date,weight\n2020-01-01,95.89 kg\n2020-01-02,96.1 kg\n2020-01-03,95kg\n");
  EXPECT_EQ(s.y, (std::vector<double>{95.89, 96.1, 95}));
  EXPECT_EQ(s.values_in_words(), "column \"weight\" (kg left out)");
  EXPECT_EQ(read("date,temp\n2020-01,-1.5 °C\n2020-02,3 °C\n").y, (std::vector<double>{-1.5, 3}));
  EXPECT_EQ(read("d;v\n2020-01;1,5 m/s\n2020-02;3,25 m/s\n").y, (std::vector<double>{1.5, 3.25}));
  expect_words(complaint("date,weight\n2020-01,95.89 kg\n2020-02,950 g\n2020-03,95 kg\n"),
               {"data.csv:3, column \"weight\": \"950 g\" is in g where the fields before it are in kg"});
  expect_words(complaint("date,weight\n2020-01,1.2M\n2020-02,950K\n2020-03,1.1M\n"), {"is in K where"});
  expect_words(complaint("date,v\n2020-01,12.5\n2020-02,13.1 p\n2020-03,12\n2020-04,14\n"),
               {"\"13.1 p\" is not a number"});
  expect_words(complaint("date,v\n1 janv,12.5\n2 janv,13.1\n3 janv,12\n4 janv,14\n"), {"\"1 janv\" is not a date"});
}
