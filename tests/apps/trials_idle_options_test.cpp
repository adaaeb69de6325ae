// A fourth round of trials: options that fit nothing are refused, not left aside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../apps/dlm/errors.hpp"
#include "program.hpp"
#include "series_reading.hpp"

using namespace apps;
using namespace reading;

namespace {

std::string days(const std::string& header, const std::string& pattern, int step = 86400) {
  return rows(header, 40, [&](int i) { return written(pattern, at(2023, 1, 1) + step * i); });
}
void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* w : words) EXPECT_NE(text.find(w), std::string::npos) << w << "\n" << text;
}

}  // namespace

TEST(TrialsIdleOptions, DateFormatsThatFitNoField) {
  const auto refused = [](const std::string& text, const char* format, std::initializer_list<const char*> words) {
    SCOPED_TRACE(format);
    expect_words(complaint(text, {.dates = {.format = format}}), words);
  };
  refused(days("date", "%Y-%m-%d %H:%M", 3600), "%Y-%d-%m",
          {"data.csv:2, column \"date\": \"2023-01-01 00:00\" is no date by --date-format \"%Y-%d-%m\""});
  for (const char* format : {"%d/%m/%Y", "%Y", "%Q", "%Y-%m-%d %H:%M"})
    for (const char* name : {"date", "Datum", "when it was", "t"})
      refused(days(name, "%Y-%m-%d"), format, {"data.csv:2, column", "\"2023-01-01\" is no date by --date-format"});
  refused(days("date", "%Y%m%d"), "%d%m%Y", {"column \"date\": \"20230101\" is no date by --date-format"});
  refused(days("date", "%d/01/2023"), "%d.%m.%Y", {"column \"date\": \"01/01/2023\" is no date by --date-format"});
  refused("year,y\n1990,1.5\n1991,2.5\n1992,1.5\n", "%d/%m/%Y", {"column \"year\": \"1990\" is no date by"});
  refused("x,y\n5.5,1.5\n3.5,2.5\n9.5,1.5\n", "%d/%m/%Y", {"no column holds dates like", "(tried: \"x\", \"y\")"});
  refused("y\n1.5\n2.5\n1.5\n", "%d/%m/%Y", {"no column holds dates like \"%d/%m/%Y\" (tried: \"y\")"});
  std::string parts = "Year,Month,y\n";
  for (int i = 0; i < 24; ++i) parts += fmt::format("{},{},{}.5\n", 2020 + i / 12, i % 12 + 1, (i * 7) % 5);
  refused(parts, "%d/%m/%Y", {"column \"Year\": \"2020\" is no date by --date-format"});
  EXPECT_EQ(read(parts).label(13), "2021-02");
  expect_words(complaint(days("date", "%Y-%m-%d"), {.time = "none", .dates = {.format = "%Y-%m-%d"}}),
               {"counted by --time none", "leave out --date-format"});
  // The column that it fits is the time, whatever else is there.
  EXPECT_EQ(read("date,made,y\n2023-01-01,05.01.2020,1\n2023-01-02,06.01.2020,2\n2023-01-03,07.01.2020,3\n",
                 {.dates = {.format = "%d.%m.%Y"}})
                .label(1),
            "2020-01-06");
  EXPECT_EQ(read("year,sales\n1990,1500\n1991,2500\n1992,1700\n", {.dates = {.format = "%Y"}}).name, "sales");
}

TEST(TrialsIdleOptions, OrdersThatDecideNothing) {
  const auto refused = [](const std::string& text, DateOrder order, std::initializer_list<const char*> words) {
    expect_words(complaint(text, {.dates = {.order = order}}), words);
  };
  for (const char* name : {"date", "t", "when it was"}) {
    refused(days(name, "%d/%m/%Y"), DateOrder::month_first,
            {"\"13/01/2023\" is no date by --month-first, but by dd/mm/yyyy; correct it, or leave out --month-first"});
    refused(days(name, "%m/%d/%Y"), DateOrder::day_first, {"\"01/13/2023\" is no date by --day-first"});
    refused(days(name, "%Y-%m-%d"), DateOrder::day_first,
            {"--day-first is for dates with a day and a month in digits", name, "leave it out"});
  }
  refused("y\n1.5\n2.5\n1.5\n", DateOrder::day_first, {"no column holds such dates"});
  const std::string digits = days("date", "%d%m%Y");
  EXPECT_EQ(read(digits, {.dates = {.order = DateOrder::day_first}}).label(1), "2023-01-02");
  EXPECT_EQ(read(days("date", "%d/%m/%Y"), {.dates = {.order = DateOrder::day_first}}).label(1), "2023-01-02");
}

TEST(TrialsIdleOptions, ADecimalMarkThatFitsNothing) {
  std::string text = days("date", "%Y-%m-%d");
  expect_words(complaint(text, {.decimal = ','}),
               {"data.csv:2: with --decimal ',' nothing separates the fields of \"2023-01-01,100.5\""});
  std::replace(text.begin(), text.end(), ',', ';');
  expect_words(complaint(text, {.decimal = ','}),
               {"data.csv:2, column \"y\": \"100.5\" is no number by --decimal ','", "leave out --decimal"});
  // Not another column instead.
  EXPECT_NE(complaint("date;y;n\n2023-01-01;1.5;3\n2023-01-02;2.5;4\n2023-01-03;2.7;9\n", {.decimal = ','})
                .find("is no number by --decimal"),
            std::string::npos);
  EXPECT_EQ(read("date;y\n2023-01-01;1,5\n2023-01-02;2,5\n", {.decimal = ','}).y[1], 2.5);
}

TEST(TrialsIdleOptions, TiesThatWereMadeBefore) {
  const programs::Folder here;
  here.expect_refused(
      "fit airline --season 12 --harmonics 2 --tie 'harmonic 1=harmonic 2' --tie 'harmonic 1=slope'",
      "\"harmonic 1\" is tied away already, by --tie \"harmonic 1=harmonic 2\"; name \"harmonic 2\" instead", 2);
  here.expect_refused("fit nile --tie slope=level --set slope=1", "\"slope\" is tied away already", 2);
}

TEST(TrialsIdleOptions, CovariancesAreWrittenWhereTheyAreAskedFor) {
  const programs::Folder here;
  const std::string fit =
      "fit nile --order 1 --fixed --set obs=122 --set level=37 --set slope=1 --steps 5 --quiet --json ";
  ASSERT_EQ(here.run(fit + "small.json").code, 0);
  ASSERT_EQ(here.run(fit + "large.json --json-covariances").code, 0);
  const programs::Json small = here.json("small.json"), large = here.json("large.json");
  for (const char* name : {"C", "Cf"}) {
    EXPECT_FALSE(small.contains(name));
    EXPECT_EQ(large.at(name).size(), 100u);
  }
  EXPECT_FALSE(small["forecast"].contains("C"));
  EXPECT_NEAR(small["xfstd"][50][1].get<double>(), std::sqrt(large["Cf"][50][1][1].get<double>()), 1e-12);
  EXPECT_NEAR(small["xstd"][50][0].get<double>(), std::sqrt(large["C"][50][0][0].get<double>()), 1e-9);
  EXPECT_NEAR(small["forecast"]["xstd"][4][0].get<double>(), std::sqrt(large["forecast"]["C"][4][0][0].get<double>()),
              1e-12);
  here.expect_refused("fit nile --json-covariances", "add --json FILE", 2);
  EXPECT_NE(here.run("fit --help").out.find("--json-covariances"), std::string::npos);
}
