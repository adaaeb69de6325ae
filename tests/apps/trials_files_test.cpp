// What the fourth newcomer's files met: which column is the time, which the series, and what the summary says of them.
#include <gtest/gtest.h>

#include "../../apps/dlm/errors.hpp"
#include "series_reading.hpp"

using namespace reading;

namespace {

bool says(const Series& s, const std::string& words) {
  for (const std::string& note : s.notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST(TrialFiles, OfTwoDatesTheOneInOrderIsTheTime) {
  const Series s = read(
      "created_at,event_date,amount\n2023-06-30 10:00:00,2021-01-04,97.9\n2023-06-29 10:00:01,2021-01-05,106.4\n"
      "2023-06-30 09:00:00,2021-01-06,99.5\n2023-06-28 11:00:00,2021-01-07,101.5\n");
  EXPECT_EQ(s.time_name, "event_date");
  EXPECT_TRUE(says(s, "The time is \"event_date\", and could have been \"created_at\": --time names it."));
}
TEST(TrialFiles, StepsMayBeWalked) {
  const Series s = read(
      "Date,Steps,Distance "
      "(km)\n2021-01-04,\"9,781\",7.52\n2021-01-05,\"4,120\",3.1\n2021-01-06,\"12,003\",9.7\n2021-01-07,\"8,250\",6."
      "1\n");
  EXPECT_EQ(s.name, "Steps");
  EXPECT_TRUE(says(s, "could have been \"Distance (km)\""));
}
TEST(TrialFiles, ATimeIsNotModelledForWantOfAnotherSeries) {
  EXPECT_NE(
      complaint("Period|Amount\n001.2010|A\n002.2010|B\n003.2010|C\n").find("there is no column of numbers to model"),
      std::string::npos);
}
TEST(TrialFiles, WhatWasTakenForNegativeOrMissingIsSaid) {
  const Series s = read("d,y\n2020-01,(5)\n2020-02,-\n2020-03,7\n2020-04, - \n2020-05,N.A.\n2020-06,4\n");
  EXPECT_EQ(s.values_in_words(), "column \"y\" (brackets are minus signs, \"-\" is missing)");
  EXPECT_EQ(s.observed(), 3u);
  EXPECT_EQ(read("d,y\n2020-01,12.30-\n2020-02,4.00\n").values_in_words(), "column \"y\" (minus signs behind)");
  EXPECT_EQ(read("d,y\n2020-01,5'000\n2020-02,6'100\n").values_in_words(),
            "column \"y\" (apostrophes between thousands)");
}
TEST(TrialFiles, MessagesNameTheFieldAndItsCause) {
  EXPECT_NE(complaint("d,y,z\n2020-01,1.5,1\n2020-02,oh,2\n2020-03,no,3\n2020-04,dear,4\n", {.column = "y"})
                .find("\"oh\" in line 3"),
            std::string::npos);
  EXPECT_NE(complaint("d,y\n2020-01,1\n2020-02,inf\n2020-03,2\n").find("is infinite"), std::string::npos);
  EXPECT_NE(complaint("when,y\n2015-01,1\n2015-02,3\n2015-03,2\n2015 total,6\n").find("totals and remarks"),
            std::string::npos);
  EXPECT_NE(complaint("when,y\nWeek 1,1\nWeek 2,3\nWeek 3,2\n").find("2024-W05"), std::string::npos);
}
TEST(TrialFiles, WideTablesAreReadInNoTime) {
  std::string names = "d", row = "\n2020-01";
  for (int k = 0; k < 200000; ++k) names += ",v" + std::to_string(k), row += ",1.5";
  const Series s = read(names + row + "\n");  // minutes where every column looked at every other one
  EXPECT_EQ(s.name, "v0");
}
