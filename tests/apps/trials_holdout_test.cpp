// Item 16 of the trials: values held back at the end, and how well they are forecast.
#include <fmt/format.h>

#include "program.hpp"

using namespace programs;

namespace {

/// A month for each value, from 2000 on; NaN is an empty field.
std::string monthly(const std::vector<double>& values) {
  std::string out = "month,y\n";
  for (std::size_t i = 0; i < values.size(); ++i)
    out += fmt::format("{}-{:02},{}\n", 2000 + i / 12, i % 12 + 1,
                       std::isnan(values[i]) ? "" : fmt::format("{}", values[i]));
  return out;
}
std::vector<double> seasonal(int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(50 + 0.5 * i + 8 * std::sin(2 * M_PI * i / 12) + 0.3 * ((i * 37) % 11));
  return out;
}

}  // namespace

TEST(Trials, Item16HoldoutScoresAreThoseOfTheForecasts) {
  const Folder here;
  const std::vector<double> y = seasonal(72);
  here.write("all.csv", monthly(y));
  here.write("before.csv", monthly({y.begin(), y.end() - 12}));
  const Outcome o = here.run("fit all.csv --season 12 --holdout 12 --json all.json --report all.html");
  ASSERT_EQ(o.code, 0) << o.error;
  ASSERT_EQ(here.run("forecast before.csv --season 12 --steps 12 --json before.json").code, 0);
  const Json held = here.json("all.json")["holdout"], ahead = here.json("before.json")["forecast"];
  EXPECT_EQ(held["time"], ahead["time"]);
  double sum = 0, squares = 0, naive = 0, scale = 0;
  int inside = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double error = y[60 + i] - ahead["forecast"][i].get<double>();
    EXPECT_NEAR(held["forecast"][i].get<double>(), ahead["forecast"][i].get<double>(), 1e-6);
    sum += std::abs(error), squares += error * error;
    naive += std::abs(y[60 + i] - y[48 + i]);
    EXPECT_EQ(held["naive_forecast"][i].get<double>(), y[48 + i]);
    inside += y[60 + i] >= ahead["lower"][i].get<double>() && y[60 + i] <= ahead["upper"][i].get<double>();
  }
  for (std::size_t t = 12; t < 60; ++t) scale += std::abs(y[t] - y[t - 12]) / 48;
  EXPECT_NEAR(held["model"]["mae"].get<double>(), sum / 12, 1e-6);
  EXPECT_NEAR(held["model"]["rmse"].get<double>(), std::sqrt(squares / 12), 1e-6);
  EXPECT_NEAR(held["model"]["mase"].get<double>(), sum / 12 / scale, 1e-6);
  EXPECT_NEAR(held["naive"]["mae"].get<double>(), naive / 12, 1e-9);
  EXPECT_NEAR(held["naive"]["mase"].get<double>(), naive / 12 / scale, 1e-9);
  EXPECT_EQ(held["naive"]["season"], 12);
  EXPECT_EQ(held["bands"][0]["level"], 0.8);
  EXPECT_EQ(held["bands"][1]["inside"], inside);
  EXPECT_NEAR(held["bands"][1]["coverage"].get<double>(), inside / 12.0, 1e-12);
  EXPECT_EQ(here.json("all.json")["y"].size(), 72u) << "the fit itself is of everything";
  for (const char* words : {"holdout: the last 12 values, 2005-01 to 2005-12, forecast by a fit to the 60 before",
                            "% smaller than that of repeating the last season", "of a fit to all 72 values"})
    EXPECT_NE(o.out.find(words), std::string::npos) << words << "\n" << o.out;
}

TEST(Trials, Item16HoldoutOnTheOriginalScale) {
  const Folder here;
  ASSERT_EQ(here.run("fit airline --log --season 12 --holdout 12 --json a.json --quiet").code, 0);
  const Json held = here.json("a.json")["holdout"];
  double sum = 0;
  for (std::size_t i = 0; i < 12; ++i)
    sum += std::abs(held["observed"][i].get<double>() - held["forecast"][i].get<double>());
  EXPECT_NEAR(held["model"]["mae"].get<double>(), sum / 12, 1e-9);
  EXPECT_LT(held["model"]["mae"].get<double>(), 30);  // passengers, not their logarithms
  EXPECT_GT(held["model"]["mae"].get<double>(), 5);
  EXPECT_NEAR(held["naive"]["mae"].get<double>(), 47.8333, 1e-3);
}

TEST(Trials, Item16HoldoutAfterGapsAndWithRegressors) {
  const Folder here;
  std::vector<double> y = seasonal(60);
  y[57] = y[59] = NAN;  // the last row and one within what is held back
  here.write("gaps.csv", monthly(y));
  ASSERT_EQ(here.run("fit gaps.csv --order 0 --holdout 4 --json gaps.json").code, 0);
  const Json held = here.json("gaps.json")["holdout"];
  EXPECT_EQ(held["values"], 4);
  EXPECT_EQ(held["time"], Json::array({"2004-07", "2004-08", "2004-09", "2004-10", "2004-11"}));
  EXPECT_TRUE(held["observed"][3].is_null());
  EXPECT_TRUE(held["naive"]["season"].is_null());
  EXPECT_EQ(held["naive_forecast"][4].get<double>(), y[53]);

  std::string text = "month,y,x\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{}-{:02},{},{}\n", 2000 + i / 12, i % 12 + 1, 20 + 5 * (i % 5 == 0) + 0.1 * ((i * 37) % 11),
                        i % 5 == 0 ? 1 : 0);
  here.write("regress.csv", text);
  ASSERT_EQ(here.run("fit regress.csv --column y --order 0 --regress x --holdout 10 --json r.json").code, 0);
  const Json known = here.json("r.json")["holdout"];
  EXPECT_LT(known["model"]["mae"].get<double>(), 0.6) << "the regressors of what is held back are known";
  EXPECT_GT(known["naive"]["mae"].get<double>(), 0.9);
}

TEST(Trials, Item16HoldoutOfUnevenTimes) {
  const Folder here;
  std::string text = "t,y\n";
  std::vector<double> y;
  double scale = 0;
  for (int i = 0; i < 40; ++i) {
    y.push_back(10 + (i * 37) % 11);
    text += fmt::format("{},{}\n", i + 0.01 * ((i * 29) % 37), y.back());
    if (i > 0 && i < 35) scale += std::abs(y[i] - y[i - 1]) / 34;
  }
  here.write("uneven.csv", text);
  ASSERT_EQ(here.run("fit uneven.csv --column y --time t --order 0 --holdout 5 --json u.json --quiet").code, 0);
  const Json naive = here.json("u.json")["holdout"]["naive"];
  EXPECT_NEAR(naive["mase"].get<double>(), naive["mae"].get<double>() / scale, 1e-9);
}

TEST(Trials, Item16HoldoutThatCannotBe) {
  const Folder here;
  here.expect_refused("fit nile --holdout 100", "[--holdout] 100 of 100 values cannot be held back");
  here.expect_refused("fit nile --holdout 98",
                      "[nile without what --holdout leaves out] 2 observed values cannot tell");
  for (const char* value : {"0", "-3", "2.5", "twelve", "99999999999"})
    here.expect_refused(fmt::format("fit nile --holdout {}", value), "is not a whole number from 1", 2);
  const Outcome few = here.run("fit nile --order 0 --holdout 1");
  EXPECT_EQ(few.code, 0) << few.error;
  EXPECT_NE(few.out.find("1 value says little"), std::string::npos) << few.out;
}
