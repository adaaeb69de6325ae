// Item 16 of the trials: seasons that a series seems to have are suggested, never taken; noise and walks have
// none.
#include <fmt/format.h>

#include <functional>
#include <random>

#include "../../apps/dlm/season_search.hpp"
#include "program.hpp"

using namespace programs;

namespace {

struct Axis {
  apps::DateForm form;
  double step;
  std::size_t rows;
};
constexpr Axis monthly{apps::DateForm::month, 1, 144}, quarterly{apps::DateForm::quarter, 1, 80},
    weekly{apps::DateForm::day, 7, 260}, daily{apps::DateForm::day, 1, 1200},
    hourly{apps::DateForm::second, 3600, 1000}, counted{apps::DateForm::none, 1, 200};

std::vector<apps::SeasonEvidence> seasons_of(const Axis& axis, const std::function<double(std::size_t)>& value) {
  apps::Series s;
  s.form = axis.form;
  s.step = axis.step;
  for (std::size_t i = 0; i < axis.rows; ++i) {
    s.time.push_back(24000 + static_cast<double>(i) * axis.step);
    s.y.push_back(value(i));
  }
  return find_seasons(s, s.y);
}
double wave(std::size_t i, double period) { return std::sin(2 * M_PI * static_cast<double>(i) / period); }

}  // namespace

TEST(Trials, Item16NoiseAndWalksHaveNoSeason) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const Axis& axis : {monthly, quarterly, weekly, daily, hourly, counted}) {
    double state = 0, before = 0;
    const std::vector<std::pair<const char*, std::function<double(std::size_t)>>> processes = {
        {"white noise", [&](std::size_t) { return normal(random); }},
        {"random walk", [&](std::size_t) { return state += normal(random); }},
        {"autoregression", [&](std::size_t) { return state = 0.8 * state + normal(random); }},
        {"walk with a drift and noise",
         [&](std::size_t) { return (state += 0.3 + normal(random)) + 2 * normal(random); }},
        {"slow cycle", [&](std::size_t) {
           const double next = 1.6 * state - 0.75 * before + normal(random);
           before = state;
           return state = next;
         }}};
    for (const auto& [name, process] : processes) {
      int found = 0;
      for (int k = 0; k < 200; ++k) {
        state = before = 0;
        found += !seasons_of(axis, process).empty();
      }
      RecordProperty(fmt::format("{}_{}", name, axis.rows), found);
      // A cycle that comes and goes looks like a season now and then in a short series.
      EXPECT_LE(found, name == std::string("slow cycle") ? 4 : 2)
          << name << ", " << axis.rows << " rows: false suggestions in 200 series";
    }
  }
}

TEST(Trials, Item16SeasonsOfTheCalendarAreFound) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  double walk = 0;
  const auto noisy = [&](double season) { return (walk += 0.3 * normal(random)) + normal(random) + season; };
  const auto options = [&](const Axis& axis, const std::function<double(std::size_t)>& season) {
    std::string out;
    for (const apps::SeasonEvidence& e : seasons_of(axis, [&](std::size_t i) { return noisy(season(i)); }))
      out += e.option() + ";";
    return out;
  };
  EXPECT_EQ(options(monthly, [](std::size_t i) { return 2 * wave(i, 12) + wave(i, 4); }), "--season 12;");
  EXPECT_EQ(options(quarterly, [](std::size_t i) { return 2 * wave(i, 4); }), "--season 4;");
  EXPECT_EQ(options(daily, [](std::size_t i) { return i % 7 == 2 ? 3.0 : 0.0; }), "--season 7;");
  EXPECT_EQ(options(daily, [](std::size_t i) { return (i % 7 == 2 ? 3.0 : 0.0) + 12 * wave(i, 365.25); }),
            "--season 7;--season 365.25 --harmonics 1;");
  EXPECT_EQ(options(hourly, [](std::size_t i) { return 3 * wave(i, 24); }), "--season 24;");
  EXPECT_EQ(options(weekly, [](std::size_t i) { return 4 * wave(i, 365.25 / 7); }), "--season 52.179 --harmonics 1;");
  EXPECT_EQ(options(counted, [](std::size_t i) { return i % 9 == 3 ? 5.0 : 0.0; }), "--season 9;")
      << "by its autocorrelation";
}

TEST(Trials, Item16ASeasonIsSuggestedNotTaken) {
  const Folder here;
  const Outcome o = here.run("fit airline --log --json a.json");
  ASSERT_EQ(o.code, 0) << o.error;
  EXPECT_NE(o.out.find("note: --season 12 seems to fit: what repeats makes up 8"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("season of 12 steps"), std::string::npos) << o.out;
  const Json fit = here.json("a.json");
  EXPECT_EQ(fit["suggested_seasons"][0]["option"], "--season 12");
  EXPECT_LT(fit["suggested_seasons"][0]["p_value"].get<double>(), 1e-10);
  EXPECT_EQ(fit["model"]["states"], 2);
  EXPECT_EQ(here.run("fit nile --order 0").out.find("seems to fit"), std::string::npos);
  EXPECT_EQ(here.run("fit airline --log --season 12").out.find("seems to fit"), std::string::npos);
}
