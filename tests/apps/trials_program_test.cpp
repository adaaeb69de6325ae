// Items of the trials that concern cotan-dlm's command line and what it writes.
#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "../../apps/dlm/chart.hpp"
#include "../../apps/dlm/text.hpp"
#include "program.hpp"

using namespace programs;

namespace {

/// Rows of a file with a date and a value.
std::string rows(int count, const std::string& header, const std::function<std::string(int)>& row) {
  std::string out = header + "\n";
  for (int i = 0; i < count; ++i) out += row(i) + "\n";
  return out;
}
double wave(int i, double period) { return std::sin(2 * M_PI * i / period); }

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line)
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

}  // namespace

TEST(Trials, Item1TheSummarySaysWhichColumnIsWhat) {
  const Folder here;
  here.write("shop.csv", rows(40, "id,date,sales,note,price", [](int i) {
               return fmt::format("{},{}/{:02}/2020,{},n{},{}", i, 1 + i % 28, 1 + i / 28, 100 + (i * 37) % 11, i,
                                  5 + (i * 3) % 4);
             }));
  const Outcome o = here.run("fit shop.csv --order 0 --json fit.json --report fit.html");
  ASSERT_EQ(o.code, 0) << o.error;
  for (const char* words : {"time       column \"date\" (dd/mm/yyyy)", "values     column \"sales\"",
                            "ignored    \"id\" (counts the rows), \"note\" (text), \"price\" (other numbers)"})
    EXPECT_NE(o.out.find(words), std::string::npos) << words << "\n" << o.out;
  const Json columns = here.json("fit.json")["columns"];
  EXPECT_EQ(columns["time"], "column \"date\" (dd/mm/yyyy)");
  EXPECT_EQ(columns["uses"][0]["role"], "time");
  EXPECT_EQ(columns["uses"].size(), 5u);
  EXPECT_NE(contents(here.folder_ / "fit.html").find("Time: column &quot;date&quot; (dd/mm/yyyy)"), std::string::npos);
  here.write("plain.csv", rows(30, "y", [](int i) { return fmt::format("{}", (i * 7) % 5); }));
  EXPECT_NE(
      here.run("fit plain.csv --order 0").out.find("time       the rows are counted, 1 to 30: no column holds times"),
      std::string::npos);
}

TEST(Trials, Item1GapsCountInEveryFormat) {
  const Folder here;
  // The same days, in a format that used to be dropped: the same fit.
  std::string iso = "date,y\n", slash = iso;
  for (int i = 0; i < 80; ++i) {
    const int day = i + i / 3 * 2, month = day / 28, of_month = day % 28 + 1;
    const std::string value = fmt::format(",{:.3f}\n", 10 + 0.5 * wave(day, 30) + 0.1 * ((i * 37) % 11));
    iso += fmt::format("20{}-{:02}-{:02}", 20 + month / 12, month % 12 + 1, of_month) + value;
    slash += fmt::format("{:02}/{:02}/20{}", of_month, month % 12 + 1, 20 + month / 12) + value;
  }
  here.write("iso.csv", iso);
  here.write("slash.csv", slash);
  ASSERT_EQ(here.run("fit iso.csv --order 0 --json iso.json").code, 0);
  ASSERT_EQ(here.run("fit slash.csv --order 0 --json slash.json").code, 0);
  EXPECT_EQ(here.json("iso.json")["parameters"], here.json("slash.json")["parameters"]);
  EXPECT_EQ(here.json("iso.json")["time"], here.json("slash.json")["time"]);
  EXPECT_GT(here.json("slash.json")["series"]["steps_without_row"].get<int>(), 40);
}

TEST(Trials, Item6SeveralSeasons) {
  const Folder here;
  here.write("two.csv", rows(120, "day,y", [](int i) {
               return fmt::format("{},{:.4f}", i, 20 + 3 * (i % 7 == 2) + 4 * wave(i, 30.5) + 0.2 * ((i * 37) % 11));
             }));
  const Outcome o = here.run(
      "fit two.csv --order 0 --season 7 --season 30.5 --harmonics 1 --steps 7 --json fit.json --csv fit.csv "
      "--report fit.html");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("season of 7 steps + 1 harmonic of 30.5 steps"), std::string::npos) << o.out;
  const Json fit = here.json("fit.json");
  EXPECT_EQ(fit["model"]["states"], 1 + 6 + 2);
  for (const char* name : {"season 7", "harmonic 1 of 30.5", "harmonic 1 conjugate of 30.5"})
    EXPECT_TRUE(fit["parameters"].contains(name)) << name << fit["parameters"].dump();
  const Json week = fit["components"]["season 7"]["mean"], month = fit["components"]["season 30.5"]["mean"];
  ASSERT_EQ(week.size(), 120u);
  // Each part finds its own wave: 3 on one day of seven, less its mean; ±4 over the month.
  EXPECT_NEAR(week[58].get<double>(), 3.0 * 6 / 7, 0.5);
  EXPECT_NEAR(month[38].get<double>(), 4 * wave(38, 30.5), 0.6);
  EXPECT_NE(contents(here.folder_ / "fit.csv").find("season 7,season 7 sd,season 30.5,season 30.5 sd"),
            std::string::npos);
  here.expect_refused("fit two.csv --season 7 --season 14", "share a wave", 2);
  here.expect_refused("fit two.csv --season 7 --season 7", "share a wave", 2);
  here.expect_refused("fit two.csv --season 7 --season 30.5", "add --harmonics K", 2);
  EXPECT_EQ(here.run("fit two.csv --order 0 --harmonics 2 --season 7").code, 0) << "in either order";
}

TEST(Trials, Item7GapsAreSaid) {
  const Folder here;
  here.write("gaps.csv", rows(100, "date,y", [](int i) {
               const int day = i / 5 * 7 + i % 5;  // from Monday to Friday
               return fmt::format("2020-{:02}-{:02},{}", 6 + day / 28, 1 + day % 28, 10 + (i * 37) % 11);
             }));
  const Outcome o = here.run("fit gaps.csv --order 0 --season 7 --steps 2 --json fit.json");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("have no row: treated as missing"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("none missing"), std::string::npos) << o.out;
}

TEST(Trials, Item8DigitsByWhatDiffers) {
  const Folder here;
  here.write("large.csv", rows(60, "date,y", [](int i) {
               return fmt::format("2020-{:02}-{:02},{:.3f}", 1 + i / 28, 1 + i % 28, 1e9 + 0.3 * ((i * 37) % 11));
             }));
  const Outcome o = here.run("forecast large.csv --order 0 --steps 3 --report large.html");
  ASSERT_EQ(o.code, 0) << o.error;
  std::istringstream lines(o.out.substr(o.out.find("forecast of 3 steps")));
  std::string line, date, forecast, low, high;
  std::getline(lines, line), std::getline(lines, line), std::getline(lines, line);
  std::istringstream(line) >> date >> forecast >> low >> high;
  EXPECT_NE(forecast, low) << line;
  EXPECT_NE(forecast, high) << line;
  EXPECT_LT(std::stod(low), std::stod(forecast));
  EXPECT_LT(std::stod(forecast), std::stod(high));
  EXPECT_NE(contents(here.folder_ / "large.html").find(forecast.substr(0, 11)), std::string::npos);
  EXPECT_EQ(apps::number_text(1e9, 5), "1.0000×10⁹");
  EXPECT_EQ(apps::number_text(1e9 + 1.25, 12), "1000000001.25");
  EXPECT_EQ(apps::digits_to_tell(1e9, 3, 5), 12);
  EXPECT_EQ(apps::digits_to_tell(100, 3, 5), 5);
}

TEST(Trials, Item10FilesAreWhatTheirNamesSay) {
  const Folder here;
  here.expect_refused("fit nile --plot x.png", "SVG is written here; name it x.svg, and convert that", 2);
  here.expect_refused("fit nile --report x.pdf", "HTML is written here; name it x.html", 2);
  here.expect_refused("fit nile --csv x.xlsx", "CSV is written here", 2);
  here.expect_refused("fit nile --json x.csv", "JSON is written here", 2);
  EXPECT_FALSE(fs::exists(here.folder_ / "x.png"));
  EXPECT_EQ(here.run("fit nile --order 0 --plot a.d/../x.SVG --quiet").code, 1) << "a folder that is not there";
  EXPECT_EQ(here.run("fit nile --order 0 --plot x.SVG --report y.htm --quiet").code, 0);
  const Outcome o = here.run("fit nile --order 3");
  EXPECT_TRUE(o.says("it goes from 0 to 2")) << o.error;
  EXPECT_FALSE(o.says("did you mean")) << o.error;
  here.expect_refused("fit nile --date-format %K", "%K is not known", 2);
  here.expect_refused("fit nile --date-format %d", "it has no year", 2);
  here.expect_refused("fit nile --day-first --month-first", "it excludes --month-first", 2);
}

TEST(Trials, Item11AxesShowTheirBands) {
  apps::TimeChart chart;
  for (int i = 0; i < 50; ++i) chart.time.push_back(i), chart.observed.push_back(100 + (i * 37) % 11);
  chart.fitted = chart.observed;
  chart.fitted_band = {0.95, chart.observed, chart.observed};
  for (int i = 0; i < 50; ++i) chart.fitted_band.lower[i] -= 20, chart.fitted_band.upper[i] += i == 0 ? 60 : 20;
  chart.forecast_time = {50, 51, 52};
  chart.forecast = {105, 105, 105};
  chart.fan = {{0.95, {60, 0, -80}, {150, 210, 290}}};
  const std::string svg = to_svg(chart);
  EXPECT_NE(svg.find(">200<"), std::string::npos);  // the fan's ends are on the axis
  EXPECT_EQ(svg.find("goes on outside"), std::string::npos);
  // What is not shown is said to be so.
  chart.fitted_band.upper[0] = 1e7;
  EXPECT_NE(to_svg(chart).find("95 % band (goes on outside)"), std::string::npos);
}

TEST(Trials, Item11NoWordOfZeroForASeriesThatStartsElsewhere) {
  const Folder here;
  here.write("y.csv", rows(60, "y", [](int i) { return fmt::format("{}", 98 + 4 * i + (i * 37) % 11); }));
  const Outcome o = here.run("fit y.csv");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_EQ(o.out.find("starts near zero"), std::string::npos) << o.out;
}

TEST(Trials, Item12HeadersInLatin1) {
  const Folder here;
  here.write("latin.csv",
             "Ann\xE9"
             "e,Gr\xF6\xDF"
             "e\n" +
                 rows(30, "", [](int i) { return fmt::format("{},{}", 1950 + i, (i * 37) % 11); }).substr(1));
  const Outcome o = here.run("fit latin.csv --order 0 --json fit.json --plot fit.svg --csv fit.csv");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("values     column \"Größe\""), std::string::npos) << o.out;
  EXPECT_EQ(here.json("fit.json")["series"]["name"], "Größe");
  EXPECT_NE(contents(here.folder_ / "fit.svg").find("Größe"), std::string::npos);
  EXPECT_TRUE(contents(here.folder_ / "fit.csv").starts_with("Année,Größe,fitted"));
}

TEST(Trials, Item13WordsThatExplainThemselves) {
  const Folder here;
  for (const char* arguments : {"", "fti nile", "fit nile --nope"}) {
    const Outcome o = here.run(arguments);
    EXPECT_EQ(o.error.find("cotan-dlm: [cotan-dlm]"), std::string::npos) << o.error;
  }
  const std::string help = here.run("fit --help").out;
  const std::size_t at = help.find("toolbox for");
  EXPECT_NE(at, std::string::npos);
  EXPECT_NE(help.find("MATLAB"), std::string::npos);
  for (const char* words : {"--date-format", "--day-first", "--month-first", "forecast_lower", "predicted_lower"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
}

TEST(Trials, Item15ColumnsWithOneMeaningEach) {
  const Folder here;
  ASSERT_EQ(here.run("fit nile --order 0 --steps 3 --csv fit.csv --quiet").code, 0);
  std::istringstream lines(contents(here.folder_ / "fit.csv"));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = split(line);
  const std::vector<std::string> expected = {"year",         "flow",      "fitted",          "fitted_lower",
                                             "fitted_upper", "predicted", "predicted_lower", "predicted_upper",
                                             "residual",     "forecast",  "forecast_lower",  "forecast_upper",
                                             "trend",        "trend sd"};
  EXPECT_EQ(names, expected);
  int row = 0;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = split(line);
    ASSERT_EQ(fields.size(), names.size()) << line;
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const bool of_forecast = names[i].starts_with("forecast");
      if (row > 0) {
        EXPECT_EQ(fields[i].empty(), of_forecast != (row >= 100)) << names[i] << ": " << line;
      }
    }
    if (row > 5 && row < 100) {  // an observation is less certain than the level
      EXPECT_LT(std::stod(fields[6]), std::stod(fields[5]));
      EXPECT_GT(std::stod(fields[7]) - std::stod(fields[6]), std::stod(fields[4]) - std::stod(fields[3]));
    }
    ++row;
  }
  EXPECT_EQ(row, 103);
}

/// Of a second round of trials: what is read is never written over, and a guess among columns is said.
TEST(Trials, ResultsAreNotWrittenOverTheSeries) {
  const Folder here;
  const std::string text =
      rows(30, "date,v", [](int i) { return fmt::format("2020-01-{:02},{}", i + 1, 5 + wave(i, 7)); });
  here.write("in.csv", text);
  const Outcome o = here.run("fit in.csv --order 0 --csv ./in.csv");
  EXPECT_NE(o.code, 0);
  EXPECT_NE(o.error.find("is the file that the series is read from"), std::string::npos) << o.error;
  EXPECT_EQ(contents(here.folder_ / "in.csv"), text);
}
TEST(Trials, CodesAreNotTheSeriesAndGuessesAreSaid) {
  const Folder here;
  here.write("shop.csv", rows(28, "date,dow,promo,sales,returns", [](int i) {
               return fmt::format("2023-01-{:02},{},{},{},{}", i + 1, i % 7, i % 3 == 0 ? 1 : 0, 100 + 3.5 * wave(i, 7),
                                  4 + wave(i, 5));
             }));
  const Outcome o = here.run("fit shop.csv --order 0");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("values     column \"sales\""), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("could have been \"dow\", \"promo\", \"returns\""), std::string::npos) << o.out;
  EXPECT_EQ(here.run("fit shop.csv --order 0 --column returns").out.find("could have been"), std::string::npos);
}
