// A fourth round of trials: times that are even but for the digits that they are written with.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "../../apps/dlm/errors.hpp"
#include "program.hpp"
#include "series_reading.hpp"

using namespace apps;
using namespace reading;

namespace {

bool notes_rounding(const Series& s) {
  return std::any_of(s.notes.begin(), s.notes.end(),
                     [](const std::string& note) { return note.find("beside even steps") != std::string::npos; });
}
std::string all_notes(const Series& s) { return fmt::format("{} {}", s.spacing(), fmt::join(s.notes, " | ")); }

}  // namespace

TEST(TrialsRounding, TenthsOfSecondsAreEven) {
  const auto check = [](const std::string& header, const std::function<std::string(int)>& time) {
    const Series s = read(rows(header, 60, time));
    EXPECT_TRUE(s.even) << time(1) << all_notes(s);
    EXPECT_EQ(s.spacing(), "every 0.1 seconds") << time(1);
    EXPECT_FALSE(notes_rounding(s)) << time(1) << all_notes(s);
    std::string gap = rows(header, 60, [&](int i) { return time(i < 20 ? i : i + 5); });
    const Series with_gap = read(gap);
    EXPECT_TRUE(with_gap.on_grid) << time(1);
    EXPECT_EQ(with_gap.absent, 5u) << time(1);
  };
  check("time", [](int i) { return fmt::format("2023-01-01T00:00:{:02}.{}00", i / 10, i % 10); });
  check("time", [](int i) { return fmt::format("2023-01-01T00:00:{:02}.{}00Z", i / 10, i % 10); });
  check("time", [](int i) { return fmt::format("2023-01-01T00:00:{:02}.{}00+01:00", i / 10, i % 10); });
  check("unix_time", [](int i) { return fmt::format("{}.{}", 1672531200 + i / 10, i % 10); });
  check("unix_time", [](int i) { return fmt::format("{}.{}00000", 1672531200 + i / 10, i % 10); });
  check("unix_time", [](int i) { return fmt::format("{}{}00", 1672531200 + i / 10, i % 10); });
  check("unix_time", [](int i) { return fmt::format("{}{}00000000", 1672531200 + i / 10, i % 10); });
  check("date,time", [](int i) { return fmt::format("2023-01-01,00:00:{:02}.{}00", i / 10, i % 10); });
}

TEST(TrialsRounding, RoundedDigitsAreEvenWithANote) {
  for (const auto& [header, digits, step] : {std::tuple("time", 2, 1 / 3.0),
                                             {"x", 2, 1 / 3.0},
                                             {"t", 3, 1 / 30.0},
                                             {"t", 2, 1 / 30.0},
                                             {"hours", 1, 2.0 / 3},
                                             {"seconds", 6, 1 / 7.0}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", header, digits, step));
    const Series s = read(rows(header, 60, [d = digits, h = step](int i) { return fmt::format("{:.{}f}", h * i, d); }));
    EXPECT_TRUE(s.even) << all_notes(s);
    EXPECT_NEAR(s.step, step, 0.005 * step);
    EXPECT_TRUE(notes_rounding(s)) << all_notes(s);
  }
  // Frames of a video, in milliseconds since 1970.
  const Series frames =
      read(rows("unix_time", 60, [](int i) { return fmt::format("{:.0f}", 1672531200000.0 + 1000 * i / 30.0); }));
  EXPECT_TRUE(frames.even) << all_notes(frames);
  EXPECT_TRUE(notes_rounding(frames));
}

TEST(TrialsRounding, WhatIsUnevenStaysSo) {
  const Series uneven = read(rows("t", 60, [](int i) { return fmt::format("{:.2f}", i + 0.2 * std::sin(i)); }));
  EXPECT_FALSE(uneven.even);
  EXPECT_FALSE(uneven.on_grid);
  const Series census = read("year,y\n1900,1\n1910,2\n1921,3\n1930,4\n1940,5\n1950,6\n");
  EXPECT_FALSE(census.even);
}

TEST(TrialsRounding, Datenums) {
  for (const int digits : {6, 5, 10}) {
    const Series s =
        read(rows("datenum", 60, [&](int i) { return fmt::format("{:.{}f}", 738000 + i / 24.0, digits); }));
    EXPECT_EQ(s.label(1), "2020-07-28T01:00:00") << digits;
    EXPECT_EQ(s.spacing(), "every hour") << digits;
    EXPECT_TRUE(s.even);
  }
  EXPECT_EQ(read(rows("datenum", 60, [](int i) { return fmt::format("{}", 738000 + i); })).label(1), "2020-07-29");
  const Series plain = read(rows("t", 60, [](int i) { return fmt::format("{:.6f}", 738000 + i / 24.0); }));
  EXPECT_TRUE(plain.even) << all_notes(plain);
}

TEST(TrialsRounding, SeasonsOfUnevenTimesNameTheColumnAndTheOption) {
  const programs::Folder here;
  here.write("u.csv", rows("depth_m", 60, [](int i) { return fmt::format("{:.2f}", i + 0.2 * std::sin(i)); }));
  for (const char* options : {"--season 5", "--order 2", "--ar 2", "--season 4 --harmonics 2"}) {
    here.expect_refused(std::string("fit u.csv --time depth_m ") + options, "those of \"depth_m\" are not");
    here.expect_refused(std::string("fit u.csv --time depth_m ") + options, "say --time-step rows");
  }
  EXPECT_EQ(here.run("fit u.csv --time depth_m --season 5 --order 0 --time-step rows").code, 0);
}
