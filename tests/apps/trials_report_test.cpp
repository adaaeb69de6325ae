// Item 16 of the trials: pages that readers can point at, in the light and in the dark, and what they show.
#include <fmt/format.h>

#include <filesystem>

#include "../../apps/dlm/chart.hpp"
#include "../../apps/dlm/readout.hpp"
#include "../../apps/dlm/season_phases.hpp"
#include "program.hpp"

using namespace programs;

namespace {

/// What the charts of a page say where a reader points.
std::vector<Json> readouts(const std::string& page) {
  std::vector<Json> out;
  for (std::size_t at = page.find("<metadata>"); at != page.npos; at = page.find("<metadata>", at + 1))
    out.push_back(Json::parse(page.substr(at + 10, page.find("</metadata>", at) - at - 10)));
  return out;
}
const Json* column(const Json& readout, const std::string& name) {
  for (const Json& c : readout["columns"])
    if (c[0] == name) return &c[2];
  return nullptr;
}

}  // namespace

TEST(Trials, Item16PagesSayTheValuesOfTheirCharts) {
  const Folder here;
  ASSERT_EQ(here.run("forecast airline --log --season 12 --steps 24 --holdout 12 --json a.json --report "
                     "a.html --plot a.svg --quiet")
                .code,
            0);
  const Json fit = here.json("a.json");
  const std::string page = contents(here.folder_ / "a.html");
  const std::vector<Json> charts = readouts(page);
  ASSERT_EQ(charts.size(), 10u)
      << "series, growth, season, its phases, forecast, holdout, residuals, and three of them";
  for (const Json& chart : charts)
    for (const Json& c : chart["columns"]) {
      EXPECT_EQ(c[2].size(), chart["at"].size()) << c[0];
      EXPECT_EQ(chart["labels"].size(), chart["at"].size()) << c[0];
    }
  const Json& series = charts[0];
  EXPECT_EQ(series["labels"][143], "1960-12");
  EXPECT_TRUE(series["zoom"].get<bool>());
  for (std::size_t t : {0, 70, 143}) EXPECT_EQ((*column(series, "observed"))[t], fit["y"][t]);
  EXPECT_LT((*column(series, "95 % from"))[70].get<double>(), (*column(series, "smoothed trend"))[70].get<double>());
  const Json& forecast = charts[4];
  ASSERT_TRUE(column(forecast, "forecast (median)"));
  EXPECT_EQ(forecast["labels"].back(), "1962-12");
  EXPECT_NEAR(column(forecast, "forecast (median)")->back().get<double>(),
              fit["forecast"]["forecast"].back().get<double>(), 0.1);
  EXPECT_TRUE(column(forecast, "observed")->back().is_null());
  const Json& held = charts[5];
  EXPECT_EQ(column(held, "observed")->back().get<double>(), 432);
  EXPECT_EQ(column(held, "the season before")->back().get<double>(), 405);
  // Nothing from outside, a picture of its own has no ballast, and there is a page without the script.
  for (const char* outside : {"<script ", "src=", "<link", "@import"})
    EXPECT_EQ(page.find(outside), page.npos) << outside;
  for (const char* part : {"prefers-color-scheme: dark", "light-dark(", "Histogram", "Season by phase", "Holdout",
                           "Errors of the forecasts"})
    EXPECT_NE(page.find(part), page.npos) << part;
  const std::string plot = contents(here.folder_ / "a.svg");
  EXPECT_EQ(plot.find("<metadata"), plot.npos);
  EXPECT_EQ(plot.find("var("), plot.npos);
  for (const char* part : {"Histogram", "Season by phase", ">Jan<", ">Dec<"})
    EXPECT_NE(plot.find(part), plot.npos) << part;
}

TEST(Trials, Item16LongSeriesMakePagesOfAUsualSize) {
  std::vector<double> x, y;
  std::vector<std::string> labels;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(i), y.push_back(std::sin(i * 0.01) + (i == 54321 ? 50 : 0));
    labels.push_back(fmt::format("row {}", i));
  }
  const Json kept = Json::parse("{" + apps::readout_json({x, labels, {{"y", "#000000", y}}, true}) + "}");
  EXPECT_LE(kept["at"].size(), apps::most_rows_read_out);
  EXPECT_GT(kept["at"].size(), apps::most_rows_read_out / 2);
  const auto peak = std::find(kept["labels"].begin(), kept["labels"].end(), "row 54321");
  ASSERT_NE(peak, kept["labels"].end()) << "what stands out is kept";
  EXPECT_TRUE(std::is_sorted(kept["at"].begin(), kept["at"].end()));

  const Folder here;
  std::string text = "y\n";
  for (int i = 0; i < 20000; ++i) text += fmt::format("{:.4f}\n", std::sin(i * 0.01) + 0.1 * ((i * 37) % 11));
  here.write("long.csv", text);
  ASSERT_EQ(here.run("fit long.csv --order 0 --fixed --set obs=0.3 --set level=0.1 --report long.html --quiet").code,
            0);
  EXPECT_LT(fs::file_size(here.folder_ / "long.html"), 1000000u);
  EXPECT_NE(contents(here.folder_ / "long.html").find("tells 1500 of its 20000 rows"), std::string::npos);
}

TEST(Trials, Item16ReadoutsAreSafeBetweenTags) {
  const std::string json = apps::readout_json(
      {{1, 2}, {"<b>&\"\\", std::string("\x01\xff")}, {{"a]]></metadata>", "#000000", {1, NAN}}}, false});
  EXPECT_EQ(json.find('<'), json.npos);
  EXPECT_EQ(json.find('&'), json.npos);
  const Json back = Json::parse("{" + json + "}");
  EXPECT_EQ(back["labels"][0], "<b>&\"\\");
  EXPECT_EQ(back["columns"][0][0], "a]]></metadata>");
  EXPECT_TRUE(back["columns"][0][2][1].is_null());
}

TEST(Trials, Item16PhasesHaveNames) {
  const auto label = [](apps::DateForm form, double step, double period, double time) {
    apps::Series s;
    s.form = form, s.step = step;
    s.time = {time, time + step}, s.y = {0, 0};
    return apps::SeasonPhases(s, period).label(0);
  };
  using apps::DateForm;
  EXPECT_EQ(label(DateForm::month, 1, 12, 1960 * 12 + 2), "Mar");
  EXPECT_EQ(label(DateForm::quarter, 1, 4, 1960 * 4 + 3), "Q4");
  EXPECT_EQ(label(DateForm::day, 1, 7, 0), "Thu");  // 1970-01-01
  EXPECT_EQ(label(DateForm::day, 1, 7, -4), "Sun");
  EXPECT_EQ(label(DateForm::second, 3600, 24, 86400.0 * 9 + 6 * 3600), "06:00");
  EXPECT_EQ(label(DateForm::second, 3600, 168, 86400.0 + 1800), "Fri 00:30");
  EXPECT_EQ(label(DateForm::day, 1, 365.25, 59), "Mar 1");
  EXPECT_EQ(label(DateForm::none, 1, 5, 7), "step 0");
}

TEST(Trials, Item16RegressorsAndEventsAreShown) {
  const Folder here;
  std::string text = "date,y,temp,holiday\n";
  for (int i = 0; i < 84; ++i)
    text += fmt::format("2021-{:02}-{:02},{:.3f},{},{}\n", 1 + i / 28, 1 + i % 28,
                        20 + 0.5 * (i * 7 % 13) + 6 * (i % 17 == 4) + 0.2 * ((i * 37) % 11), i * 7 % 13,
                        i % 17 == 4 ? 1 : 0);
  here.write("shop.csv", text);
  const Outcome o = here.run("fit shop.csv --column y --order 0 --regress temp,holiday --report r.html --json r.json");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("effect of holiday"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("t = "), std::string::npos) << o.out;
  const Json effects = here.json("r.json")["effects"];
  EXPECT_NEAR(effects["holiday"]["value"].get<double>(), 6, 0.6);
  EXPECT_NEAR(effects["holiday"]["t"].get<double>(),
              effects["holiday"]["value"].get<double>() / effects["holiday"]["sd"].get<double>(), 1e-9);
  const std::string page = contents(here.folder_ / "r.html");
  for (const char* part :
       {"Effects of regressors", ">holiday</td>", "Effect of holiday", "stroke='#009E73'", ">holiday</text>"})
    EXPECT_NE(page.find(part), page.npos) << part;
  EXPECT_EQ(page.find(">temp</text>"), page.npos) << "no event: it is not yes or no";
}
