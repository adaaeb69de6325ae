// Filters and smoothers against textbook recursions in NumPy and against statsmodels, by every algorithm.
#include "dlm/support.hpp"

namespace dlm_tests {
namespace {

using dlm::AutoRegression, dlm::Harmonics, dlm::Regression, dlm::Seasonal, dlm::Spline, dlm::Trend;

class DlmGolden : public AtPlace {
 protected:
  /// In f32, states that little is known about at first lose digits, most by associative scans.
  double tolerance(Algorithm algorithm, double exact) const {
    return place().exact() ? exact : algorithm == Algorithm::sequential ? 2e-5 : 5e-4;
  }
  void check_all(const std::string& name, const dlm::StateSpace& model, const Array& y);
};

/// Everything that a smoother gives, against the recursions.
void DlmGolden::check_all(const std::string& name, const dlm::StateSpace& model, const Array& y) {
  for (Algorithm algorithm : algorithms_at(place(), model)) {
    const auto run = ct::jit([=](const dlm::StateSpace& m, const Array& y) {
      return std::pair{dlm::smooth(m, y, algorithm), dlm::minus2_log_likelihood(m, y, algorithm)};
    });
    const auto [s, lik] = run(place().put(model), place().put(y));
    EXPECT_EQ(s.x.device().name(), place().device);
    const std::pair<const char*, Array> fields[] = {{"xf", s.predicted.x},
                                                    {"Cf", s.predicted.C},
                                                    {"v", s.predicted.v},
                                                    {"S", s.predicted.S},
                                                    {"lik", lik},
                                                    {"x", s.x},
                                                    {"C", s.C}};
    for (const auto& [field, ours] : fields)
      EXPECT_LE(error_of(ours, golden(name + "/" + field)), tolerance(algorithm, 1e-9))
          << name << "/" << field << ", " << name_of(algorithm);
  }
}

TEST_P(DlmGolden, SeveralSeriesWithMissingParts) {
  const auto g = [](const char* field) { return golden(std::string("several/") + field); };
  check_all("several", {g("G"), g("F"), g("W"), g("V"), g("x0"), g("C0")}, g("y"));
}
TEST_P(DlmGolden, TrendOfOrder2) {
  const Array y = golden("order2/y");
  check_all("order2",
            dlm::state_space(toolbox({{Trend{2}}}),
                             numbers({{"obs", .8}, {"level", .5}, {"slope", .1}, {"curvature", .02}}), y),
            y);
}
TEST_P(DlmGolden, Spline) {
  const Array y = golden("spline/y");
  check_all("spline", dlm::state_space(toolbox({{Spline{}}}), numbers({{"obs", 1.1}, {"spline", .3}}), y), y);
}
TEST_P(DlmGolden, RegressionAndChangingErrors) {
  const Array y = golden("regression/y");
  dlm::Model model{{Trend{1}, Regression{golden("regression/X")}}};
  model.scale = golden("regression/scale");
  check_all("regression", dlm::state_space(toolbox(model), numbers({{"obs", .9}, {"level", .6}, {"slope", .1}}), y), y);
}
TEST_P(DlmGolden, UnevenSteps) {
  const Array y = golden("uneven/y");
  dlm::Model model{{Trend{1}, Harmonics{7.5, 1, {"season"}}, AutoRegression{1}}};
  model.times = golden("uneven/times").to_vector<double>();
  dlm::Parameters p = numbers({{"obs", 1}, {"level", .7}, {"slope", .2}, {"season", .15}, {"ar", .5}});
  p["phi"] = Array::from_host(std::vector<double>{.8});
  check_all("uneven", dlm::state_space(toolbox(model), p, y), y);
}

TEST_P(DlmGolden, EveryFieldOfAFit) {
  const Array y = golden("fit/y");
  dlm::Parameters p = numbers({{"obs", .9}, {"level", .5}, {"slope", .1}, {"season", .3}, {"ar", .7}});
  p["phi"] = Array::from_host(std::vector<double>{.6});
  const dlm::StateSpace s = dlm::state_space(toolbox({{Trend{1}, Seasonal{4}, AutoRegression{1}}}), p, y);
  for (Algorithm algorithm : algorithms_at(place(), s)) {
    const dlm::Fit f = ct::jit([=](const dlm::StateSpace& s, const Array& y) {
      return dlm::fit(s, y, {.algorithm = algorithm});
    })(place().put(s), place().put(y));
    const std::pair<const char*, Array> fields[] = {{"x0", f.x0},
                                                    {"C0", f.C0},
                                                    {"x", f.x},
                                                    {"C", f.C},
                                                    {"xstd", f.xstd},
                                                    {"xf", f.xf},
                                                    {"Cf", f.Cf},
                                                    {"Cp", f.Cp},
                                                    {"yhat", f.yhat},
                                                    {"level", f.level},
                                                    {"ystd", f.ystd},
                                                    {"resid0", f.resid0},
                                                    {"resid", f.resid},
                                                    {"resid2", f.resid2},
                                                    {"nobs", f.nobs},
                                                    {"lik", f.lik},
                                                    {"lik_full", f.lik_full},
                                                    {"ssy", f.ssy},
                                                    {"s2", f.s2},
                                                    {"mse", f.mse},
                                                    {"mape", f.mape}};
    for (const auto& [field, ours] : fields) {
      const Array theirs = golden(std::string("fit/") + field), same = np::reshape(Place::back(ours), theirs.shape());
      EXPECT_TRUE(np::array_equal(np::isnan(same), np::isnan(theirs)).item<bool>()) << field;
      EXPECT_LE(error_of(np::nan_to_num(same), np::nan_to_num(theirs)), tolerance(algorithm, 1e-8))
          << field << ", " << name_of(algorithm);
    }
  }
}

/// Whole steps are the same as missing values, for every block.
TEST_P(DlmGolden, UnevenWholeStepsAreGaps) {
  const std::vector<double> times{0, 1, 2, 5, 6, 10, 11, 12, 13, 17, 18, 19, 25};
  const Array all = wavy_series(26);
  std::vector<double> kept;
  Array gapped = np::full({26}, NAN, ct::f64);
  for (double t : times) {
    kept.push_back(all[static_cast<std::int64_t>(t)].item<double>());
    gapped = gapped.at(static_cast<int>(t)).set(all[static_cast<std::int64_t>(t)]);
  }
  const Array few = Array::from_host(kept),
              at = Array::from_host(std::vector<std::int64_t>(times.begin(), times.end()));
  const std::vector<dlm::Block> blocks[] = {{Trend{0}},
                                            {Trend{1}},
                                            {Trend{2}},
                                            {Trend{1}, Seasonal{4}},
                                            {Trend{0}, Harmonics{6, 3}},
                                            {Trend{0}, AutoRegression{1}},
                                            {Trend{0}, AutoRegression{3}},
                                            {Spline{}}};
  for (const auto& b : blocks) {
    dlm::Model even{b}, uneven{b};
    // The larger ones take long on software drivers, and in f32 a predicted covariance of the last autoregression has
    // no root.
    if (!place().exact() && even.states() > 2) continue;
    even.x0 = uneven.x0 = np::ones({even.states()}, ct::f64);
    even.C0 = uneven.C0 = 10.0 * np::eye(even.states(), {}, 0, ct::f64);
    uneven.times = times;
    const dlm::Parameters p = dlm::default_start(even, all);
    const auto smoothed = ct::jit([](const dlm::StateSpace& s, const Array& y) { return dlm::smooth(s, y).x; });
    const Array a = Place::back(smoothed(place().put(dlm::state_space(even, p, gapped)), place().put(gapped)));
    const Array c = smoothed(place().put(dlm::state_space(uneven, p, few)), place().put(few));
    EXPECT_LE(error_of(c, np::take(a, at, 0)), tolerance(Algorithm::sequential, 1e-9)) << even.state_names().back();
  }
}

struct Agreement {
  const char* name;
  dlm::Model model;
  std::vector<const char*> sd;
  bool has_phi = false;
};
TEST_P(DlmGolden, AgreesWithStatsmodels) {
  const Array X = golden("statsmodels/regression/X");
  const Agreement cases[] = {
      {"local_level", {{Trend{0}}}, {"obs", "level"}},
      {"local_linear_trend", {{Trend{1}}}, {"obs", "level", "slope"}},
      {"seasonal", {{Trend{1}, Seasonal{12}}}, {"obs", "level", "slope", "season"}},
      {"harmonics", {{Trend{0}, Harmonics{12, 2, {"season"}}}}, {"obs", "level", "season"}},
      {"autoregression", {{Trend{0}, AutoRegression{1}}}, {"obs", "level", "ar"}, true},
      {"regression", {{Trend{0}, Regression{X}}}, {"obs", "level"}},
  };
  for (const Agreement& c : cases) {
    const std::string name = std::string("statsmodels/") + c.name + "/";
    const Array y = golden(name + "y");
    const std::vector<double> variances = golden(name + "params").to_vector<double>();
    dlm::Parameters p;
    for (std::size_t k = 0; k < c.sd.size(); ++k) p[c.sd[k]] = np::full({}, std::sqrt(variances[k]), ct::f64);
    if (c.has_phi) p["phi"] = Array::from_host(std::vector<double>{variances.back()});
    dlm::Model model = c.model;
    model.x0 = golden(name + "x0");
    model.C0 = golden(name + "C0");
    const dlm::StateSpace s = dlm::state_space(model, p, y);
    for (Algorithm algorithm : algorithms_at(place(), s)) {
      const auto run = ct::jit([=](const dlm::StateSpace& s, const Array& y) {
        const dlm::Smoothed smoothed = dlm::smooth(s, y, algorithm);
        return std::tuple{dlm::minus2_log_likelihood(s, y, algorithm, true), smoothed.x, smoothed.C};
      });
      const auto [lik, x, C] = run(place().put(s), place().put(y));
      EXPECT_LE(error_of(-0.5 * lik, golden(name + "loglik")), tolerance(algorithm, 1e-9))
          << c.name << " " << name_of(algorithm);
      EXPECT_LE(error_of(x, golden(name + "x")), tolerance(algorithm, 1e-8)) << c.name << " " << name_of(algorithm);
      EXPECT_LE(error_of(C, golden(name + "C")), tolerance(algorithm, 1e-8)) << c.name << " " << name_of(algorithm);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, DlmGolden, ::testing::ValuesIn(places), [](const auto& info) { return name_of(info); });

}  // namespace
}  // namespace dlm_tests
