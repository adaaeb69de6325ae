// A fourth round of trials: times of day as digits, beside a column of dates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../apps/dlm/errors.hpp"
#include "series_reading.hpp"

using namespace apps;
using namespace reading;

namespace {

/// Minutes from 09:00:00 of the days from 2023-01-02 on, each in `columns` columns.
std::string bars(const std::string& header, const std::string& date, const std::string& clock, int days) {
  std::string out = header + ",close\n";
  for (int i = 0; i < days * 240; ++i) {
    const std::int64_t time = at(2023, 1, 2) + 86400 * (i / 240) + 32400 + 60 * (i % 240);
    std::string hour = written(clock, time);
    if (clock == "%-H%M%S") hour = written("%H%M%S", time), hour = hour[0] == '0' ? hour.substr(1) : hour;
    out += written(date, time) + "," + hour + "," + std::to_string(100 + (i * 37) % 11) + ".5\n";
  }
  return out;
}

}  // namespace

TEST(TrialsClock, HoursMinutesAndSecondsAreJoinedWithTheirDates) {
  for (const char* header : {"date,time", "<DATE>,<TIME>", "Date,HHMMSS", "date,trade_time"})
    for (const char* date : {"%Y%m%d", "%Y-%m-%d", "01/01/2023", "%d.%m.%Y"})
      for (const char* clock : {"%H%M%S", "%-H%M%S", "%H%M", "%H:%M:%S", "%H%M%S000"})
        for (const int days : {1, 12}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", header, date, clock, days));
          if (days > 1 && date[0] == '0') continue;
          const DataOptions options{
              .dates = {.order = date == std::string("%d.%m.%Y") ? DateOrder::day_first : DateOrder::by_data}};
          try {
            const Series s = read(bars(header, date, clock, days), options);
            EXPECT_EQ(s.label(1), date[0] == '0' ? "2023-01-01T09:01:00" : "2023-01-02T09:01:00");
            EXPECT_EQ(s.step_name(), "minute");
            EXPECT_EQ(s.name, "close");
            EXPECT_EQ(s.even, days == 1);
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
        }
}

TEST(TrialsClock, SecondsThatLookLikeDatesAndFractions) {
  // 100101, 100102, … are days too, and 190001 is a month.
  for (const int start : {100101, 190001, 1}) {
    std::string text = "date,time,y\n", fraction = text;
    for (int i = 0; i < 50; ++i) {
      text += fmt::format("20230102,{:06},{}\n", start + i, 5.5 + (i * 7) % 5);
      fraction += fmt::format("20230102,{:06}.{},{}\n", start + i / 2, i % 2 * 5, 5.5 + (i * 7) % 5);
    }
    const Series s = read(text);
    EXPECT_EQ(s.step_name(), "second") << start;
    EXPECT_EQ(s.label(1), start == 1        ? "2023-01-02T00:00:02"
                          : start == 100101 ? "2023-01-02T10:01:02"
                                            : "2023-01-02T19:00:02");
    EXPECT_EQ(start == 1 ? "0.5 seconds" : read(fraction).step_name(), "0.5 seconds") << start;
  }
}

TEST(TrialsClock, WhatIsNoTimeOfDayIsRefused) {
  std::string text = bars("date,time", "%Y%m%d", "%H%M%S", 1);
  text.replace(text.find("093000"), 6, "093061");
  EXPECT_NE(complaint(text).find("column \"time\": this is no time of day"), std::string::npos) << complaint(text);
  // A mistake does not make hhmm to hhmmss.
  for (const char* clock : {"%H%M", "%-H%M"}) {
    std::string hhmm = bars("date,time", "%Y%m%d", clock, 1);
    hhmm.replace(hhmm.find("1130"), 4, "2500");
    EXPECT_NE(complaint(hhmm).find("column \"time\": this is no time of day"), std::string::npos) << complaint(hhmm);
  }
  // Without dates.
  std::string alone = "time,y\n";
  for (int i = 0; i < 240; ++i) alone += written("%H%M%S", 32400 + 60 * i) + "," + std::to_string((i * 7) % 5) + ".5\n";
  EXPECT_NE(complaint(alone).find("is a time of day without a date"), std::string::npos) << complaint(alone);
  // Seconds that pass are no time of day.
  std::string seconds = "date,time,y\n";
  for (int i = 0; i < 240; ++i) seconds += fmt::format("20230102,{},{}.5\n", 30 * i, (i * 7) % 5);
  EXPECT_EQ(read(seconds).label(3), "90");
}
