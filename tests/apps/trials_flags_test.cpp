// Item 16 of the trials: outliers and level shifts by auxiliary residuals, against statsmodels 0.15 (smoothed
// disturbances over the square root of their variances, exact diffuse start).
#include <fmt/format.h>

#include <random>

#include "../../apps/dlm/flags.hpp"
#include "program.hpp"

using namespace programs;

namespace {

struct Golden {
  std::size_t row;
  double value, level;  ///< NaN: not asked for
};

void expect_close(const Json& flags, const std::vector<Golden>& goldens) {
  for (const Golden& g : goldens) {
    EXPECT_NEAR(flags["t_of_values"][g.row].get<double>(), g.value, 1e-8) << g.row;
    if (std::isnan(g.level))
      EXPECT_TRUE(flags["t_of_level"][g.row].is_null()) << g.row;
    else
      EXPECT_NEAR(flags["t_of_level"][g.row].get<double>(), g.level, 1e-8) << g.row;
  }
}

apps::ShockPath shocks(std::size_t count, const std::vector<std::pair<std::size_t, double>>& at) {
  apps::ShockPath out{std::vector<double>(count, 0.1), std::vector<double>(count, 1.0)};
  for (const auto& [row, size] : at) out.size[row] = size;
  return out;
}

}  // namespace

TEST(Trials, Item16TheNileAgreesWithStatsmodels) {
  const Folder here;
  const Outcome o = here.run(
      "fit nile --order 0 --set obs=122.876 --set level=38.329 --json nile.json --report nile.html --plot "
      "nile.svg");
  ASSERT_EQ(o.code, 0) << o.error;
  const Json flags = here.json("nile.json")["flags"];
  expect_close(flags, {{0, 0.07919906718, NAN},
                       {1, 0.4513276145, -0.07919906718},
                       {28, -1.565576333, -3.233735573},
                       {42, -3.03906427, -1.009442284},
                       {45, 2.248586251, 2.032723203},
                       {99, -0.5548525377, -0.5548525377}});
  EXPECT_EQ(flags["tests"], 199);
  EXPECT_NEAR(flags["threshold"].get<double>(), 3.02182, 1e-5);  // 199 · 2 Φ(−3.02182) = 0.5
  ASSERT_EQ(flags["found"].size(), 2u);
  EXPECT_EQ(flags["found"][0]["kind"], "level_shift");
  EXPECT_EQ(flags["found"][0]["time"], "1899");
  EXPECT_EQ(flags["found"][1]["kind"], "outlier");
  EXPECT_EQ(flags["found"][1]["time"], "1913");
  for (const char* words :
       {"|t| > 3.02, where half of one in 199 tests is expected", "1899  level shift", "1913  outlier"})
    EXPECT_NE(o.out.find(words), std::string::npos) << words << "\n" << o.out;
}

TEST(Trials, Item16ASeasonWithGapsAgreesWithStatsmodels) {
  const Folder here;
  std::istringstream lines(here.run("datasets airline").out);
  std::string line, text;
  for (int row = -1; std::getline(lines, line); ++row)
    text += (row == 30 || row == 31 || row == 100 ? line.substr(0, line.find(',') + 1) : line) + "\n";
  here.write("gaps.csv", text);
  ASSERT_EQ(here.run("fit gaps.csv --log --season 12 --set obs=0.02 --set level=0.03 --set slope=0.001 --set "
                     "season=0.005 "
                     "--json fit.json --quiet")
                .code,
            0);
  const Json flags = here.json("fit.json")["flags"];
  expect_close(flags, {{0, -0.6638036204, NAN},
                       {5, -0.4596392515, -1.414213039},
                       {12, -1.559113352, -0.2508019977},
                       {29, -2.341338, -2.330838285},
                       {32, -0.199471569, 0.4049630043},
                       {134, -3.232134849, -1.297099783},
                       {143, -0.5291388657, -0.5291388657}});
  EXPECT_TRUE(flags["t_of_values"][30].is_null());
}

TEST(Trials, Item16AnEventIsFlaggedOnce) {
  using apps::Flag;
  // An outlier at 20 with the jumps that it looks like; a jump at 60 over several rows with the outliers
  // around it.
  const apps::Flags flags = apps::find_flags(shocks(100, {{20, 9}, {59, 4}, {60, -5}}),
                                             shocks(100, {{20, 5}, {21, -6}, {59, -4}, {60, -8}, {61, -6}, {62, -5}}));
  ASSERT_EQ(flags.found.size(), 2u);
  EXPECT_EQ(flags.found[0].row, 20u);
  EXPECT_EQ(flags.found[0].kind, Flag::Kind::outlier);
  EXPECT_EQ(flags.found[1].row, 60u);
  EXPECT_EQ(flags.found[1].kind, Flag::Kind::level_shift);
  // At the last row nobody can tell them apart: it is called an outlier.
  const apps::Flags end = apps::find_flags(shocks(100, {{99, 5}}), shocks(100, {{99, 5}}));
  ASSERT_EQ(end.found.size(), 1u);
  EXPECT_EQ(end.found[0].kind, Flag::Kind::outlier);
  EXPECT_TRUE(apps::find_flags({}, {}).found.empty());
  EXPECT_EQ(apps::find_flags(shocks(10, {{3, 2.9}}), {}).threshold, 3);
  EXPECT_GT(apps::find_flags(shocks(100000, {}), shocks(100000, {})).threshold, 4.7);
}

TEST(Trials, Item16HalfAFlagInASeriesThatIsRight) {
  std::mt19937 random(16);
  std::normal_distribution<double> normal;
  constexpr int series = 400;
  std::size_t found = 0;
  for (int k = 0; k < series; ++k) {
    apps::ShockPath values = shocks(300, {}), level = values;
    for (double& v : values.size) v = normal(random);
    for (double& v : level.size) v = normal(random);
    found += apps::find_flags(values, level).found.size();
  }
  EXPECT_NEAR(static_cast<double>(found) / series, 0.5, 0.15);
}
