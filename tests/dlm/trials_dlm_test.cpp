// Items 3 to 5 of the trials: exact diffuse likelihoods, stationary starts, predictions that do not look ahead.
#include "dlm/nile.hpp"
#include "dlm/support.hpp"

namespace dlm_tests {
namespace {

using dlm::AutoRegression, dlm::FirstState, dlm::Harmonics, dlm::Regression, dlm::Seasonal, dlm::Spline, dlm::Trend;

/// A model of statsmodels', by the names of its variances.
struct Diffuse {
  const char* name;
  dlm::Model model;
  std::vector<std::string> sd;
  std::vector<int> order = {};  ///< of their states in ours, where it is another; -1: another parametrisation
  int phi = 0;

  std::string path(const char* field) const { return std::string("diffuse/") + name + "/" + field; }
  Array y() const { return golden(path("y")); }
  dlm::Parameters parameters() const {
    const std::vector<double> values = golden(path("params")).to_vector<double>();
    dlm::Parameters p;
    for (std::size_t k = 0; k < sd.size(); ++k) p[sd[k]] = np::full({}, std::sqrt(values[k]), ct::f64);
    if (phi) p["phi"] = Array::from_host(std::vector<double>(values.end() - phi, values.end()));
    return p;
  }
};
std::vector<Diffuse> diffuse_models() {
  return {{"local_level", {{Trend{0}}}, {"obs", "level"}},
          {"local_linear_trend", {{Trend{1}}}, {"obs", "level", "slope"}},
          {"smooth_trend", {{Trend{1, {"", "slope"}}}}, {"obs", "slope"}},
          {"seasonal", {{Trend{0}, Seasonal{12}}}, {"obs", "level", "season"}},
          {"harmonics", {{Trend{1}, Harmonics{12, 3, {"season"}}}}, {"obs", "level", "slope", "season"}},
          {"autoregression", {{Trend{1}, AutoRegression{2}}}, {"obs", "level", "slope", "ar"}, {0, 1, 2, -1}, 2},
          {"regression", {{Trend{1}, Regression{golden("diffuse/regression/X")}}}, {"obs", "level", "slope"}},
          {"gaps", {{Trend{1}, Seasonal{4}, AutoRegression{1}}}, {"obs", "level", "slope", "season", "ar"}, {}, 1}};
}
Array jitted_fit(const dlm::StateSpace& s, const Array& y, Array dlm::Fit::* field,
                 Algorithm algorithm = Algorithm::sequential) {
  return ct::jit(
      [=](const dlm::StateSpace& s, const Array& y) { return dlm::fit(s, y, {.algorithm = algorithm}).*field; })(s, y);
}

TEST(Trials, Item3LikelihoodsOfStatsmodels) {
  for (const Diffuse& c : diffuse_models()) {
    const Array y = c.y();
    const dlm::StateSpace s = dlm::state_space(c.model, c.parameters(), y);
    ASSERT_TRUE(s.D0.has_value());
    const auto estimated = static_cast<std::int64_t>(c.sd.size()) + c.phi;
    const dlm::Criteria ours = dlm::criteria(s, y, estimated);
    EXPECT_NEAR(ours.log_likelihood.item<double>(), golden(c.path("loglik")).item<double>(), 1e-8) << c.name;
    EXPECT_NEAR(ours.aic.item<double>(), golden(c.path("aic")).item<double>(), 1e-8) << c.name;
    EXPECT_NEAR(ours.bic.item<double>(), golden(c.path("bic")).item<double>(), 1e-8) << c.name;
    // The steps are found on the host; looked for at each step they are the same, and so is every algorithm.
    dlm::StateSpace at_each = s;
    at_each.diffuse_steps = 0;
    const double lik = -2 * golden(c.path("loglik")).item<double>();
    EXPECT_NEAR(dlm::minus2_log_likelihood(at_each, y, Algorithm::sequential, true).item<double>(), lik, 1e-8)
        << c.name;
    for (Algorithm algorithm : algorithms)
      EXPECT_NEAR(dlm::minus2_log_likelihood(s, y, algorithm, true).item<double>(), lik, 1e-7)
          << c.name << " " << name_of(algorithm);
  }
}
/// Adding a constant to the series changes nothing, scaling it only the Jacobian.
TEST(Trials, Item3LikelihoodsAreInvariant) {
  for (const Diffuse& c : diffuse_models()) {
    const Array y = c.y();
    const dlm::Parameters p = c.parameters();
    const auto lik = [&](const dlm::Parameters& p, const Array& y) {
      return dlm::minus2_log_likelihood(dlm::state_space(c.model, p, y), y).item<double>();
    };
    const double plain = lik(p, y);
    EXPECT_NEAR(lik(p, y + 1e6), plain, 1e-6 * std::abs(plain)) << c.name;
    const dlm::StateSpace s = dlm::state_space(c.model, p, y);
    const double values = np::sum((~np::isnan(y)).astype(ct::f64)).item<double>() - static_cast<double>(s.D0->shape(1));
    for (double scale : {1e6, 1e-6}) {
      dlm::Parameters scaled = p;
      for (const std::string& name : c.sd) scaled[name] = scale * p.at(name);
      EXPECT_NEAR(lik(scaled, scale * y), plain + 2 * values * std::log(scale), 1e-6 * std::abs(plain))
          << c.name << " " << scale;
    }
  }
}
TEST(Trials, Item3EstimatesAreInvariant) {
  const Array y = golden("diffuse/local_level/y");
  for (const dlm::Model& model : {dlm::Model{{Trend{1}}}, dlm::Model{{Trend{0}, Seasonal{12}}}}) {
    const dlm::Estimate plain = dlm::estimate(model, y), moved = dlm::estimate(model, y + 1000.0);
    EXPECT_NEAR(plain.criteria.aic.item<double>(), moved.criteria.aic.item<double>(), 1e-6);
    EXPECT_NEAR(plain.criteria.bic.item<double>(), moved.criteria.bic.item<double>(), 1e-6);
    EXPECT_NEAR(plain.criteria.log_likelihood.item<double>(),
                -0.5 * (plain.value.item<double>() + 90 * std::log(2 * M_PI)), 1e-9);
  }
}
TEST(Trials, Item3StatesOfStatsmodels) {
  for (const Diffuse& c : diffuse_models()) {
    const Array y = c.y();
    const dlm::StateSpace s = dlm::state_space(c.model, c.parameters(), y);
    const Array x = golden(c.path("x")), xstd = golden(c.path("xstd")), unknown = golden(c.path("unknown"));
    const Array seen = ~np::isnan(y), nothing = np::logical_and(unknown > 0, seen),
                compared = np::logical_and(unknown == 0, seen);
    for (Algorithm algorithm : algorithms) {
      // What they share, the diffuse steps, are of this many models; the others take long to compile.
      if (algorithm != Algorithm::sequential && s.x0.shape(0) > 2 && std::string(c.name) != "gaps") continue;
      const dlm::Fit f = ct::jit(
          [=](const dlm::StateSpace& s, const Array& y) { return dlm::fit(s, y, {.algorithm = algorithm}); })(s, y);
      for (std::int64_t k = 0; k < x.shape(1); ++k) {
        if (!c.order.empty() && c.order[static_cast<std::size_t>(k)] < 0) continue;
        EXPECT_LE(error_of(f.x(ct::all, k), x(ct::all, k)), 1e-8)
            << c.name << " state " << k << " " << name_of(algorithm);
        EXPECT_LE(error_of(f.xstd(ct::all, k), xstd(ct::all, k)), 1e-7)
            << c.name << " state " << k << " " << name_of(algorithm);
      }
      // Predictions, and none where there can be none.
      const Array yhat = np::squeeze(f.yhat, -1), sd = np::sqrt(np::squeeze(f.Cp, {-2, -1}));
      EXPECT_TRUE(np::all(np::isnan(yhat) | ~nothing).item<bool>()) << c.name;
      EXPECT_TRUE(np::all(np::isinf(sd) | ~nothing).item<bool>()) << c.name;
      EXPECT_LE(error_of(np::where(compared, yhat, 0.0), np::where(compared, golden(c.path("predicted")), 0.0)), 1e-8)
          << c.name;
      EXPECT_LE(error_of(np::where(compared, sd, 0.0), np::where(compared, golden(c.path("predicted_sd")), 0.0)), 1e-8)
          << c.name;
    }
  }
}
/// A constant goes into the level, and nowhere else.
TEST(Trials, Item3FitsAreInvariant) {
  for (const Diffuse& c : diffuse_models()) {
    const Array y = c.y();
    const dlm::StateSpace s = dlm::state_space(c.model, c.parameters(), y),
                          t = dlm::state_space(c.model, c.parameters(), y + 1e6);
    const Array level = 1e6 * (np::arange(s.x0.shape(0)) == 0).astype(ct::f64);
    EXPECT_LE(error_of(jitted_fit(t, y + 1e6, &dlm::Fit::x) - level, jitted_fit(s, y, &dlm::Fit::x)), 1e-7) << c.name;
    EXPECT_LE(error_of(jitted_fit(t, y + 1e6, &dlm::Fit::xstd), jitted_fit(s, y, &dlm::Fit::xstd)), 1e-12) << c.name;
    if (std::string(c.name) == "regression") continue;  // it has no future
    EXPECT_LE(error_of(dlm::forecast(t, y + 1e6, 5).y - 1e6, dlm::forecast(s, y, 5).y), 1e-8) << c.name;
    EXPECT_LE(error_of(dlm::forecast(t, y + 1e6, 5).ystd, dlm::forecast(s, y, 5).ystd), 1e-12) << c.name;
  }
}
/// The limit of a first state that is known ever less.
TEST(Trials, Item3DiffuseIsTheLimitOfAWideStart) {
  const Array base = golden("diffuse/gaps/y");
  const auto wide = [](dlm::StateSpace s, double variance) {
    s.C0 = s.C0 + variance * np::matmul(*s.D0, np::swapaxes(*s.D0, -1, -2));
    s.D0 = std::nullopt;
    return s;
  };
  // Two series with correlated errors, parts of them missing from the start, and steps of uneven length.
  dlm::Model uneven{{Trend{1}, Harmonics{7.5, 1, {"season"}}, AutoRegression{1}}};
  for (int t = 0; t < 90; ++t) uneven.times.push_back(t + 0.3 * (t % 3));
  dlm::Parameters p = numbers({{"obs", 1}, {"level", .6}, {"slope", .1}, {"season", .2}, {"ar", .5}});
  p["phi"] = Array::from_host(std::vector<double>{.6});
  const dlm::StateSpace one = dlm::state_space(uneven, p, base);
  const dlm::StateSpace other =
      dlm::state_space({{Trend{0}}}, numbers({{"obs", 1}, {"level", .6}}), with_gaps(base, {0, 1, 2, 3, 4, 5}));
  const Array correlation = Array::from_host(std::vector<double>{1, .5, .5, 1}, {2, 2});
  const dlm::StateSpace both = dlm::together({one, other}, correlation);
  const Array pair = np::stack({base, with_gaps(base + 3.0, {0, 1, 2, 3, 4, 5})}, 1);
  for (const auto& [s, y] : {std::pair{one, base}, {both, pair}}) {
    const double d = static_cast<double>(s.D0->shape(1)), variance = 1e7;
    const dlm::StateSpace known = wide(s, variance);
    for (bool at_each : {false, true}) {
      dlm::StateSpace diffuse = s;
      if (at_each) diffuse.diffuse_steps = 0;
      const double limit = dlm::minus2_log_likelihood(known, y).item<double>() - d * std::log(variance);
      EXPECT_NEAR(dlm::minus2_log_likelihood(diffuse, y).item<double>(), limit, 1e-3);
      const dlm::Smoothed exact = dlm::smooth(diffuse, y), nearly = dlm::smooth(known, y, Algorithm::square_root);
      EXPECT_LE(error_of(exact.x, nearly.x), 1e-4);
      EXPECT_LE(error_of(exact.C, nearly.C), 1e-4);
      const Array end = exact.predicted.x[-1], end_C = exact.predicted.C[-1];
      EXPECT_LE(error_of(end, nearly.predicted.x[-1]), 1e-4);
      EXPECT_LE(error_of(end_C, nearly.predicted.C[-1]), 1e-4);
    }
  }
}
/// What nothing tells about stays unknown; the rest is what it is without it.
TEST(Trials, Item3WhatIsNeverSeenIsUnknown) {
  const std::int64_t n = 60;
  Array y = wavy_series(n);
  const Array day = np::arange(n) % 7;
  y = np::where(day == 5, NAN, y);  // never a Saturday
  const dlm::StateSpace s = dlm::state_space({{Trend{0}, Seasonal{7}}}, numbers({{"obs", 1}, {"level", .3}}), y);
  EXPECT_EQ(s.diffuse_steps, n);
  const dlm::Fit f = ct::jit([](const dlm::StateSpace& s, const Array& y) { return dlm::fit(s, y); })(s, y);
  EXPECT_TRUE(std::isfinite(f.lik.item<double>()));
  // A level and a Saturday cannot be told apart, but their sum on another day can.
  EXPECT_TRUE(np::all(np::isinf(f.xstd(ct::all, 0))).item<bool>());
  const Array seen = ~np::isnan(y), later = np::arange(n) > 6;
  EXPECT_TRUE(np::all(np::isfinite(np::squeeze(f.yhat, -1)) | ~(seen & later)).item<bool>());
  EXPECT_TRUE(np::all(np::isnan(np::squeeze(f.yhat, -1)) | seen).item<bool>());
  // Against a model of six effects without that day.
  Array x = np::zeros({n, 6}, ct::f64);
  for (int k = 0; k < 6; ++k) x = x.at(ct::all, k).set(((np::arange(n) % 7) == (k == 5 ? 6 : k)).astype(ct::f64));
  const dlm::StateSpace r = dlm::state_space({{Trend{0}, Regression{x}}}, numbers({{"obs", 1}, {"level", .3}}), y);
  const Array effects = np::squeeze(dlm::fit(r, y).yhat, -1), season = np::squeeze(f.yhat, -1);
  EXPECT_LE(error_of(np::where(seen & later, season, 0.0), np::where(seen & later, effects, 0.0)), 1e-8);
}
TEST(Trials, Item3DerivativesOfTheDiffuseLikelihood) {
  for (const Diffuse& c : diffuse_models()) {
    const Array y = c.y();
    std::vector<std::string> names = c.sd;
    if (c.phi) names.push_back("phi");
    const Array theta = dlm::unconstrained(c.model, c.parameters(), names);
    for (bool at_each : {false, true}) {
      const std::int64_t steps = at_each ? 0 : dlm::state_space(c.model, c.parameters(), y).diffuse_steps;
      const auto f = [&](const Array& t) {
        dlm::StateSpace s = dlm::state_space(c.model, dlm::constrained(c.model, t, names), y);
        s.diffuse_steps = steps;
        return dlm::minus2_log_likelihood(s, y);
      };
      const auto value = ct::jit(f);
      const auto gradient = ct::jit(ct::grad(f));
      const Array g = gradient(theta), H = ct::jit([&](const Array& t) { return ct::optim::hessian_of(f, t); })(theta);
      const double h = 1e-5;
      const std::int64_t d = theta.shape()[0];
      for (std::int64_t k = 0; k < d; ++k) {
        const Array step = h * (np::arange(d) == k).astype(ct::f64);
        const double slope = ((value(theta + step) - value(theta - step)) / (2 * h)).item<double>();
        EXPECT_NEAR(g[k].item<double>(), slope, 1e-6 * std::max(std::abs(slope), 1.0)) << c.name << " " << k;
        const Array row = (gradient(theta + step) - gradient(theta - step)) / (2 * h);
        EXPECT_LE(np::max(np::abs(H[k] - row)).item<double>(),
                  1e-5 * np::maximum(np::max(np::abs(H)), 1.0).item<double>())
            << c.name << " " << k;
      }
    }
  }
}
TEST(Trials, Item3InSinglePrecision) {
  for (const Diffuse& c : diffuse_models()) {
    const Place single{"native", ct::f32};
    const Array y = c.y();
    const dlm::StateSpace s = single.put(dlm::state_space(c.model, c.parameters(), y));
    const double lik = ct::jit([](const dlm::StateSpace& s, const Array& y) {
                         return dlm::minus2_log_likelihood(s, y, Algorithm::sequential, true);
                       })(s, single.put(y))
                           .item<float>();
    EXPECT_NEAR(-0.5 * lik, golden(c.path("loglik")).item<double>(), 2e-4 * 200) << c.name;
    EXPECT_LE(error_of(jitted_fit(s, single.put(y), &dlm::Fit::level),
                       jitted_fit(dlm::state_space(c.model, c.parameters(), y), y, &dlm::Fit::level)),
              5e-4)
        << c.name;
  }
}
TEST(Trials, Item3TheToolboxKeepsItsLikelihood) {
  dlm::Model model{{Trend{0}}};
  model.first = FirstState::toolbox;
  const dlm::Estimate toolbox = dlm::estimate(model, nile());
  EXPECT_LE(toolbox.value.item<double>(), 1095.7831);
  EXPECT_GT(toolbox.value.item<double>(), 1095.78);
  // Durbin and Koopman's book: 15099 and 1469.1. log L as statsmodels counts its constants.
  const dlm::Estimate exact = dlm::estimate({{Trend{0}}}, nile());
  EXPECT_NEAR(std::pow(exact.parameters.at("obs").item<double>(), 2), 15099, 2);
  EXPECT_NEAR(std::pow(exact.parameters.at("level").item<double>(), 2), 1469.1, 0.5);
  EXPECT_NEAR(exact.criteria.log_likelihood.item<double>(), -633.4645636, 1e-6);
}

TEST(Trials, Item4AutoregressionsStartStationary) {
  dlm::Parameters p = numbers({{"obs", 1}, {"ar", .5}});
  p["phi"] = Array::from_host(std::vector<double>{.5, -.3, .2});
  const Array y = wavy_series(40);
  const dlm::StateSpace s = dlm::state_space({{AutoRegression{3}}}, p, y);
  EXPECT_FALSE(s.D0.has_value());
  EXPECT_LE(error_of(np::matmul(np::matmul(s.G, s.C0), np::swapaxes(s.G, 0, 1)) + s.W, s.C0), 1e-14);
  // Near a unit root, where terms add up for long.
  for (double phi : {0.999999, -0.999999}) {
    p["phi"] = Array::from_host(std::vector<double>{phi, 0, 0});
    const double variance = dlm::state_space({{AutoRegression{3}}}, p, y).C0(0, 0).item<double>();
    EXPECT_NEAR(variance * (1 - phi * phi) / .25, 1, 1e-9);
  }
  // In steps of any length it is the same process.
  dlm::Model uneven{{AutoRegression{1}}};
  for (int t = 0; t < 40; ++t) uneven.times.push_back(1.5 * t);
  p["phi"] = Array::from_host(std::vector<double>{.8});
  EXPECT_NEAR(dlm::state_space(uneven, p, y).C0(0, 0).item<double>(), .25 / .36, 1e-12);
  p["phi"] = Array::from_host(std::vector<double>{1.01});
  try {
    dlm::state_space({{Trend{0}, AutoRegression{1}}}, p, y);
    FAIL();
  } catch (const ct::ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("'phi' = 1.01 are not those of a stationary process"), std::string::npos)
        << e.what();
  }
  const Array traced = ct::jit([&](const Array& phi) {
    return dlm::state_space({{AutoRegression{1}}}, {{"ar", np::ones({}, ct::f64)}, {"phi", phi}}, y).C0;
  })(np::full({1}, 1.01, ct::f64));
  EXPECT_TRUE(np::all(np::isnan(traced)).item<bool>());
}

TEST(Trials, Item5PredictionsDoNotLookAhead) {
  for (const Diffuse& c : diffuse_models()) {
    const Array y = c.y(), later = np::arange(90) >= 20, changed = np::where(later, y + 30.0, y);
    const dlm::StateSpace s = dlm::state_space(c.model, c.parameters(), y),
                          t = dlm::state_space(c.model, c.parameters(), changed);
    for (Array dlm::Fit::* field :
         {&dlm::Fit::yhat, &dlm::Fit::resid0, &dlm::Fit::resid2, &dlm::Fit::xf, &dlm::Fit::Cp}) {
      const auto before = [&](const dlm::StateSpace& s, const Array& y) {
        return np::nan_to_num(jitted_fit(s, y, field))(ct::range(0, 20));
      };
      EXPECT_TRUE(np::array_equal(before(s, y), before(t, changed)).item<bool>()) << c.name;
    }
  }
}

}  // namespace
}  // namespace dlm_tests
