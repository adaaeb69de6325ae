// Estimation, forecasts, streaming, drawing, and what is said about bad input.
#include "dlm/nile.hpp"
#include "dlm/support.hpp"

namespace dlm_tests {
namespace {

using ct::optim::Method;
using dlm::AutoRegression, dlm::Harmonics, dlm::Regression, dlm::Seasonal, dlm::Spline, dlm::Trend;

TEST(DlmEstimate, NileByEveryMethod) {
  for (Method method : {Method::lbfgs, Method::newton, Method::adam}) {
    dlm::EstimateOptions options;
    options.minimize.method = method;
    if (method == Method::adam) options.minimize.max_iterations = 3000;
    const dlm::Estimate level = dlm::estimate(toolbox({{Trend{0}}}), nile(), options);
    EXPECT_LE(level.value.item<double>(), 1095.7831);
    EXPECT_TRUE(level.converged.item<bool>());
    EXPECT_NEAR(level.parameters.at("obs").item<double>(), 122.886, 0.01);
    EXPECT_NEAR(level.parameters.at("level").item<double>(), 38.30, 0.01);
    if (method == Method::adam) continue;  // it creeps towards a slope without noise
    const dlm::Estimate trend = dlm::estimate(toolbox({{Trend{1}}}), nile(), options);
    EXPECT_LE(trend.value.item<double>(), 1104.9056);
  }
}
TEST(DlmEstimate, StandardErrorsFromTheHessian) {
  // statsmodels and the delta method on variances give the same to the digits shown: se(σ) = se(σ²) / 2σ.
  const dlm::Estimate e = dlm::estimate({{Trend{0}}}, nile());
  EXPECT_NEAR(e.standard_errors.at("obs").item<double>(), 12.8, 0.1);
  EXPECT_NEAR(e.standard_errors.at("level").item<double>(), 16.7, 0.1);
}
TEST(DlmEstimate, SeveralStartsAreNoWorse) {
  const Array y = wavy_series(60);
  const dlm::Model model{{Trend{1}, Harmonics{11.4, 1, {"season"}}, AutoRegression{1}}};
  const double one = dlm::estimate(model, y, {.standard_errors = false}).value.item<double>();
  const double four = dlm::estimate(model, y, {.starts = 4, .standard_errors = false}).value.item<double>();
  EXPECT_LE(four, one + 1e-6);
}
TEST(DlmEstimate, SomeParametersTiedAndFixed) {
  dlm::EstimateOptions options;
  options.free = {"obs"};
  options.start = numbers({{"level", 38.3}});
  const dlm::Estimate e = dlm::estimate({{Trend{0}}}, nile(), options);
  EXPECT_NEAR(e.parameters.at("level").item<double>(), 38.3, 1e-12);
  EXPECT_NEAR(e.parameters.at("obs").item<double>(), 122.9, 0.1);
  EXPECT_EQ(e.standard_errors.size(), 1u);
  const dlm::Model tied{{Trend{1, {"w", "w"}}}};
  EXPECT_EQ(dlm::parameters_of(tied).size(), 2u);
  EXPECT_EQ(dlm::estimate(tied, nile()).parameters.size(), 2u);
}
TEST(DlmEstimate, PriorsPullTheEstimate) {
  dlm::EstimateOptions options;
  options.penalty = [](const dlm::Parameters& p) { return np::square(np::log(p.at("level") / 5.0) / 0.01); };
  EXPECT_NEAR(dlm::estimate({{Trend{0}}}, nile(), options).parameters.at("level").item<double>(), 5.0, 0.1);
}
TEST(DlmEstimate, ProgressIsTheSameSearch) {
  dlm::EstimateOptions options;
  const dlm::Estimate whole = dlm::estimate({{Trend{0}}}, nile(), options);
  int calls = 0;
  options.progress = [&](std::int64_t, double) { ++calls; };
  const dlm::Estimate pieces = dlm::estimate({{Trend{0}}}, nile(), options);
  EXPECT_GT(calls, 1);
  EXPECT_NEAR(pieces.value.item<double>(), whole.value.item<double>(), 1e-9);
  EXPECT_EQ(pieces.evaluations.item<int>(), whole.evaluations.item<int>());
}
TEST(DlmEstimate, RegressorsAndTimesAreInTheLikelihood) {
  const std::int64_t n = 80;
  const Array x = np::cos(1.3 * np::arange(n, ct::f64)), y = wavy_series(n) + 4.0 * x;
  dlm::Model with{{Trend{0}, Regression{x}}}, without{{Trend{0}}};
  EXPECT_LT(dlm::estimate(with, y).value.item<double>(), dlm::estimate(without, y).value.item<double>() - 50);
  dlm::Model uneven{{Trend{1}}};
  for (std::int64_t t = 0; t < n; ++t)
    uneven.times.push_back(static_cast<double>(t) + static_cast<double>(t % 3) * 0.2);
  EXPECT_TRUE(dlm::estimate(uneven, y).converged.item<bool>());
}
TEST(DlmEstimate, StationaryWhateverTheVector) {
  const dlm::Model model{{Trend{0}, AutoRegression{3}}};
  const std::vector<std::string> names{"phi"};
  const Array theta = Array::from_host(std::vector<double>{2.0, -1.5, 0.7});
  const dlm::Parameters p = dlm::constrained(model, theta, names);
  EXPECT_LE(error_of(dlm::unconstrained(model, p, names), theta), 1e-12);
  // The process settles: its companion matrix shrinks.
  const Array G = dlm::state_space(model, p, nile()).G(ct::range(1, 4), ct::range(1, 4));
  EXPECT_LT(np::max(np::abs(ct::linalg::matrix_power(G, 200))).item<double>(), 1e-3);
}

TEST(DlmForecast, GoesOnFromTheEnd) {
  const Array y = nile();
  const dlm::StateSpace s = dlm::state_space({{Trend{1}}}, numbers({{"obs", 120}, {"level", 40}, {"slope", 1}}), y);
  const dlm::Forecast f = dlm::forecast(s, y, 5);
  EXPECT_EQ(f.y.shape(), (ct::Shape{5, 1}));
  const dlm::Filtered filtered = dlm::filter(s, y);
  // The first step is the filter's next prediction.
  dlm::State state = dlm::first_state(s);
  for (std::int64_t t = 0; t < y.shape()[0]; ++t) state = ct::jit(dlm::update)(s, state, y[t]);
  EXPECT_LE(error_of(f.x[0], state.x), 1e-12);
  EXPECT_LE(error_of(f.C[0], state.C), 1e-12);
  for (int h = 1; h < 5; ++h) EXPECT_GT(f.ystd(h, 0).item<double>(), f.ystd(h - 1, 0).item<double>());
  EXPECT_THROW(dlm::forecast(s, y, 0), ct::ValueError);
}
TEST(DlmForecast, TakesFutureRegressorsAndTimes) {
  const Array y = wavy_series(30), x = np::arange(35, ct::f64);
  dlm::Model model{{Trend{0}, Regression{x}}};
  const dlm::Parameters p = numbers({{"obs", 1}, {"level", .1}});
  EXPECT_EQ(dlm::forecast(dlm::state_space(model, p, y, 35), y, 5).y.shape()[0], 5);
  EXPECT_THROW(dlm::state_space(model, p, y, 36), ct::ShapeError);
  dlm::Model uneven{{Trend{1}}};
  for (int t = 0; t < 32; ++t) uneven.times.push_back(t < 30 ? t : 30 + 4 * (t - 29));
  const dlm::Forecast far = dlm::forecast(dlm::state_space(uneven, p, y, 32), y, 2);
  EXPECT_GT(far.ystd(1, 0).item<double>(), far.ystd(0, 0).item<double>());
}
TEST(DlmStream, IsTheBatch) {
  const Array y = with_gaps(wavy_series(40), {7, 8});
  const dlm::StateSpace s =
      dlm::state_space({{Trend{1}, Seasonal{4}}}, numbers({{"obs", 1}, {"level", .3}, {"season", .1}}), y);
  const dlm::Filtered batch = ct::jit([](const dlm::StateSpace& s, const Array& y) { return dlm::filter(s, y); })(s, y);
  const auto next = ct::jit(dlm::update);
  dlm::State state = dlm::first_state(s);
  for (std::int64_t t = 0; t < 40; ++t) {
    EXPECT_LE(error_of(state.x, batch.x[t]), 1e-12) << t;
    const Array C = np::where(np::isinf(batch.C[t]), 0.0, batch.C[t]);
    EXPECT_EQ(np::any(np::isinf(batch.C[t])).item<bool>(), np::any(*state.D != 0).item<bool>()) << t;
    EXPECT_LE(error_of(np::where(np::isinf(batch.C[t]), 0.0, state.C), C), 1e-12) << t;
    state = next(s, state, y[t]);
  }
  EXPECT_NEAR(state.minus2_log.item<double>(), dlm::minus2_log_likelihood(s, y).item<double>(), 1e-9);
}

TEST(DlmDraw, StatesHaveTheSmoothedDistribution) {
  const Array y = with_gaps(wavy_series(15), {4, 5});
  const dlm::StateSpace s = dlm::state_space({{Trend{1}}}, numbers({{"obs", 1}, {"level", .5}, {"slope", .1}}), y);
  const std::int64_t many = 20000;
  const Array keys = ct::random::split(ct::random::key(3), many);
  const Array draws = ct::jit(ct::vmap([&](const Array& key) { return dlm::draw_states(s, y, key); }))(keys);
  const dlm::Smoothed exact = dlm::smooth(s, y);
  const Array sd = np::sqrt(np::diagonal(exact.C, 0, -2, -1));
  const Array off = np::abs(np::mean(draws, 0) - exact.x) / sd;
  EXPECT_LT(np::max(off).item<double>(), 5 / std::sqrt(static_cast<double>(many)));
  EXPECT_LT(np::max(np::abs(np::std(draws, 0) / sd - 1)).item<double>(), 0.03);
}
TEST(DlmDraw, SimulatedSeriesFollowTheModel) {
  const dlm::StateSpace s =
      dlm::state_space(toolbox({{Trend{0}}}), numbers({{"obs", 2}, {"level", .5}}), np::ones({3}, ct::f64));
  const dlm::Drawn d = dlm::simulate(s, 20000, ct::random::key(1));
  EXPECT_NEAR(np::std(d.x(ct::range(1, ct::none)) - d.x(ct::range(0, -1))).item<double>(), .5, .01);
  EXPECT_NEAR(np::std(d.y - d.x).item<double>(), 2, .04);
}
TEST(DlmDraw, GibbsAgreesWithTheLikelihood) {
  const dlm::GibbsDraws draws = dlm::gibbs({{Trend{0}}}, nile(), ct::random::key(5), {.samples = 3000, .burn_in = 500});
  const Array obs = draws.parameters.at("obs"), level = draws.parameters.at("level");
  EXPECT_EQ(obs.shape(), (ct::Shape{3000}));
  EXPECT_NEAR(np::median(obs).item<double>(), 122, 8);
  EXPECT_NEAR(np::median(level).item<double>(), 40, 12);
  EXPECT_TRUE(np::all(np::isfinite(level)).item<bool>());
}

TEST(DlmErrors, SayWhatToDo) {
  const Array y = wavy_series(10);
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const ct::Error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const auto expect = [&](auto&& f, const char* part) {
    EXPECT_NE(message(f).find(part), std::string::npos) << message(f);
  };
  const dlm::Parameters none;
  expect([&] { dlm::state_space({{Trend{3}}}, none, y); }, "orders are 0");
  expect([&] { dlm::state_space({{Seasonal{1}}}, none, y); }, "at least 2");
  expect([&] { dlm::state_space({{Harmonics{12, 7}}}, none, y); }, "there are 1 to 6");
  expect([&] { dlm::state_space({{AutoRegression{1}}}, none, y); }, "coefficients 'phi'");
  expect([&] { dlm::state_space({{Trend{0}}}, numbers({{"lvel", 1}}), y); }, "it has obs, level");
  expect([&] { dlm::state_space({{Trend{0}}}, none, np::ones({3, 2}, ct::f64)); }, "one series");
  expect([&] { dlm::state_space({{Regression{np::ones({4}, ct::f64)}}}, none, y); }, "for each step");
  dlm::Model backwards{{Trend{0}}};
  backwards.times = {0, 1, 1, 2, 3, 4, 5, 6, 7, 8};
  expect([&] { dlm::state_space(backwards, none, y); }, "must increase");
  dlm::Model fractions{{Seasonal{4}}};
  for (int t = 0; t < 10; ++t) fractions.times.push_back(t * 0.5);
  expect([&] { dlm::state_space(fractions, none, y); }, "whole numbers of steps");
  dlm::StateSpace s = dlm::state_space({{Trend{1}}}, numbers({{"obs", 1}}), y);
  expect([&] { dlm::fit({}, y); }, "the model has no G");
  expect([&] { dlm::fit(s, np::ones({2, 2, 2}, ct::f64)); }, "[steps]");
  expect([&] { dlm::fit(s, np::ones({5, 3}, ct::f64)); }, "F is");
  s.W = s.W.astype(ct::f32);
  expect([&] { dlm::fit(s, y); }, "one dtype");
  expect([&] { dlm::estimate({{Trend{0}}}, y, {.free = {"nothing"}}); }, "has no parameter 'nothing'");
}
TEST(DlmErrors, NothingToSee) {
  // All missing: the prior is all that is known, and the likelihood is 1.
  const Array y = np::full({5}, NAN, ct::f64);
  const dlm::StateSpace s = dlm::state_space(toolbox({{Trend{0}}}), numbers({{"obs", 1}, {"level", 1}}), y);
  for (Algorithm algorithm : algorithms) {
    const dlm::Smoothed f = dlm::smooth(s, y, algorithm);
    EXPECT_TRUE(np::all(np::isfinite(f.x)).item<bool>());
    EXPECT_EQ(dlm::minus2_log_likelihood(s, y, algorithm).item<double>(), 0.0);
  }
  // A constant series has no best standard deviation above zero; the search must still end.
  const dlm::Estimate e = dlm::estimate({{Trend{0}}}, np::full({20}, 7.0, ct::f64));
  EXPECT_TRUE(std::isfinite(e.parameters.at("level").item<double>()));
  // Huge and tiny numbers: the same estimate, scaled.
  const double one = dlm::estimate({{Trend{0}}}, nile()).parameters.at("level").item<double>();
  for (double scale : {1e12, 1e-12}) {
    const double scaled = dlm::estimate({{Trend{0}}}, scale * nile()).parameters.at("level").item<double>();
    EXPECT_NEAR(scaled / scale, one, 1e-2) << scale;
  }
}

}  // namespace
}  // namespace dlm_tests
