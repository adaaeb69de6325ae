// A fourth round of trials: which column is the series, and what stands above, below and beside a table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../apps/dlm/errors.hpp"
#include "program.hpp"
#include "series_reading.hpp"

using namespace apps;
using namespace reading;

namespace {

/// Thirty days, a column of large scattered whole numbers, a column of values.
std::string beside(const std::string& name, const std::string& value = "value") {
  std::string out = "date;" + name + ";" + value + "\n";
  for (int i = 0; i < 30; ++i)
    out += fmt::format("2023-01-{:02};{};{}.5\n", i + 1, 10000 + (i * 7919) % 89999, 100 + (i * 37) % 11);
  return out;
}
std::string notes(const Series& s) { return fmt::format("{}", fmt::join(s.notes, "\n")); }
void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* w : words) EXPECT_NE(text.find(w), std::string::npos) << w << "\n" << text;
}

}  // namespace

TEST(TrialsChoice, IdentifiersAreNotTheSeries) {
  for (const char* name :
       {"id", "OrderID", "customer_no", "Customer No.", "PLZ", "zip", "zip_code", "code", "lat", "longitude",
        "store_id", "storeid", "Kundennr", "Artikelnummer", "order number", "postal code", "shopId", "number"}) {
    const Series s = read(beside(name));
    EXPECT_EQ(s.name, "value") << name;
    expect_words(notes(s), {"and could have been", name, "--column names it"});
    EXPECT_EQ(read(beside(name), {.column = name}).name, name);
  }
  for (const char* name : {"Sunspot Number", "NO", "humid", "paid", "idle", "latency", "coded", "yen"})
    EXPECT_EQ(read(beside(name)).name, name);
  EXPECT_EQ(read("date;id\n2023-01-01;5\n2023-01-02;9\n2023-01-03;7\n").name, "id") << "nothing else is there";
}

TEST(TrialsChoice, PartsOfDatesWithWordsInCommon) {
  for (const char* header : {"Obs_Year,Obs_Month,Close", "ObsYear,ObsMonth,Close", "year obs,month obs,Close"}) {
    std::string text = std::string(header) + "\n";
    for (int i = 0; i < 24; ++i) text += fmt::format("{},{},{}.5\n", 2020 + i / 12, i % 12 + 1, (i * 7) % 5);
    const Series s = read(text);
    EXPECT_EQ(s.label(13), "2021-02") << header;
    EXPECT_EQ(s.name, "Close");
  }
}

TEST(TrialsChoice, WideTables) {
  for (const char* header :
       {"Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec", "Year,January,February,March,April,May,June",
        "Year,Q1,Q2,Q3,Q4", "Date,00:00,06:00,12:00,18:00"}) {
    std::string text = std::string(header) + "\n";
    for (int i = 0; i < 5; ++i) {
      text += fmt::format("{}", 2015 + i);
      for (const char* c = header; *c; ++c)
        if (*c == ',') text += fmt::format(",{}.5", (i * 7) % 5);
      text += "\n";
    }
    expect_words(complaint(text), {"the columns are times", "turn the table"});
  }
}

TEST(TrialsChoice, WhyThereIsNoColumnOfNumbers) {
  expect_words(complaint("date,y\n2023-01-01,1.5\n2023-01-02,n/v\n2023-01-03,n/v\n2023-01-04,n/v\n"),
               {"there is no column of numbers to model", "\"n/v\" in line 3, column \"y\", is no number", "--column"});
  expect_words(complaint("date;y\n2023-01-01;1.5.2\n2023-01-02;2.5.1\n"),
               {"\"1.5.2\" in line 2, column \"y\"", "--decimal"});
}

TEST(TrialsChoice, ColumnsThatFallThroughout) {
  std::string even = "depth,y\n";
  for (int i = 0; i < 40; ++i) even += fmt::format("{},{}.5\n", 400 - 10 * i, (i * 7) % 5);
  expect_words(complaint(even),
               {"data.csv:2, column \"depth\": its values fall throughout, from 400 to 10; --time depth"});
  const Series s = read(even, {.time = "depth"});
  EXPECT_EQ(s.label(0), "10");
  EXPECT_TRUE(s.even);
  EXPECT_NE(notes(s).find("have been sorted"), std::string::npos);
  EXPECT_EQ(read(even, {.column = "y", .time = "none"}).y[0], 0.5);
}

TEST(TrialsChoice, LinesAboveTheTable) {
  const std::string table = "date,text,y\n2023-01-01,a,1.5\n2023-01-02,b,2.5\n2023-01-03,c,1.7\n2023-01-04,d,1.1\n";
  for (const std::string& above :
       {std::string("Account,DE12345\n"), std::string("Account,DE1\nFrom,2023-01-01\n"), std::string("Statement\n"),
        std::string("\"Data Source\",\"World Development Indicators\"\n\n")}) {
    const std::string text = complaint(above + table);
    const auto lines = static_cast<std::size_t>(std::count(above.begin(), above.end(), '\n'));
    expect_words(text, {"remove the lines above the table"});
    EXPECT_NE(text.find(fmt::format("say --skip-rows {}.", lines)), std::string::npos) << text;
    EXPECT_EQ(text.find("decimal commas"), std::string::npos) << text;
    const Series s = read(above + table, {.skip_rows = lines});
    EXPECT_EQ(s.name, "y");
    EXPECT_EQ(s.label(0), "2023-01-01");
  }
  std::string semicolons = "Kontoauszug;Girokonto\nDatum;Text;Betrag\n02.01.2023;a;1,50\n13.01.2023;b;2,50\n";
  expect_words(complaint(semicolons), {"say --skip-rows 1"});
  EXPECT_EQ(read(semicolons, {.skip_rows = 1}).y[1], 2.5);
  expect_words(complaint(table, {.skip_rows = 50}), {"nothing is left below the 50 lines of --skip-rows"});
}

TEST(TrialsChoice, CommentsAboveTheTable) {
  const std::string table = "date,y\n2023-01-01,1.5\n2023-01-02,2.5\n2023-01-03,1.7\n";
  const Series s = read("# made by x, y\n# on a day\n\n" + table);
  EXPECT_EQ(s.name, "y");
  expect_words(notes(s), {"2 lines above the header that begin with # are left out."});
  const Series one = read("# made by x\n2023-01-01,1.5\n2023-01-02,2.5\n");
  EXPECT_EQ(one.n(), 2u);
  const Series names = read("# units\n# date,flow\n2023-01-01,1.5\n2023-01-02,2.5\n");
  EXPECT_EQ(names.name, "flow");
  EXPECT_EQ(names.n(), 2u);
  expect_words(notes(names), {"names of the columns are those of line 2", "A line above the header"});
  const Series column = read("#,date,y\n1,2023-01-01,1.5\n2,2023-01-02,2.5\n3,2023-01-03,2.5\n");
  EXPECT_EQ(column.uses.back().name, "#");
}

TEST(TrialsChoice, UnitsAndFooters) {
  const std::string rows = "2023-01-01,1.5,3.5\n2023-01-02,2.5,4.5\n2023-01-03,1.7,2.5\n";
  expect_words(complaint("date,temp,wind\n2022-12-31,°C,m/s\n" + rows), {"\"°C\" is not a number", "row of units"});
  expect_words(complaint("date,temp,wind\n" + rows + "Total,9,9\n"), {"\"Total\" is not a date", "such as totals"});
  expect_words(complaint("date,temp,wind\n" + rows + "Source: the office\n"),
               {"this row has 1 field where the header has 3", "remove the lines below the table"});
  EXPECT_NE(programs::Folder().run("fit --help").out.find("--skip-rows"), std::string::npos);
}
