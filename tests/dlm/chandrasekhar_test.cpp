// Item 14 of the trials: likelihoods by vectors are those of the filter, with their derivatives.
#include "dlm/chandrasekhar.hpp"

#include "dlm/support.hpp"
#include "support/nightly.hpp"

namespace dlm_tests {
namespace {

using dlm::AutoRegression, dlm::Harmonics, dlm::Regression, dlm::Seasonal, dlm::Spline, dlm::Trend;

struct Invariant {
  const char* name;
  dlm::Model model;
  dlm::Parameters parameters;
  std::int64_t n = 150;
};
dlm::Parameters with_phi(dlm::Parameters p, std::vector<double> phi) {
  p["phi"] = Array::from_host(phi);
  return p;
}
std::vector<Invariant> invariant_models() {
  const dlm::Parameters trend = numbers({{"obs", 1}, {"level", .3}, {"slope", .02}});
  const auto more = [&](std::initializer_list<std::pair<const char*, double>> list) {
    dlm::Parameters out = numbers(list);
    out.insert(trend.begin(), trend.end());
    return out;
  };
  // Those that may be wrong: without noise of some kind, or where the first steps tell little.
  return {
      {"level", {{Trend{0}}}, numbers({{"obs", 1}, {"level", .3}})},
      {"level without noise", {{Trend{0}}}, numbers({{"obs", 1}, {"level", 1e-9}})},
      {"almost no error", {{Trend{0}}}, numbers({{"obs", 1e-5}, {"level", 1}})},
      {"trend", {{Trend{1}}}, trend},
      {"curvature", {{Trend{2}}}, more({{"curvature", .001}})},
      {"season", {{Trend{1}, Seasonal{7}}}, more({{"season", .1}})},
      {"season that stays", {{Trend{1}, Seasonal{12}}}, more({{"season", 1e-8}})},
      {"harmonics", {{Trend{0}, Harmonics{7.5, 3, {"season"}}}}, numbers({{"obs", 1}, {"level", .3}, {"season", .05}})},
      {"all harmonics",
       {{Trend{0}, Harmonics{8, 4, {"season"}}}},
       numbers({{"obs", 1}, {"level", .3}, {"season", .05}})},
      {"a long wave", {{Trend{1}, Harmonics{45, 1, {"season"}}}}, more({{"season", .01}}), 300},
      {"spline", {{Spline{}}}, numbers({{"obs", 1}, {"spline", .1}})},
      {"autoregression", {{AutoRegression{3}}}, with_phi(numbers({{"obs", 1}, {"ar", .5}}), {.5, -.3, .2})},
      {"level and autoregression",
       {{Trend{0}, AutoRegression{2}}},
       with_phi(numbers({{"obs", 1}, {"level", .2}, {"ar", .5}}), {1.2, -.6})},
      {"all", {{Trend{1}, Seasonal{7}, AutoRegression{2}}}, with_phi(more({{"season", .1}, {"ar", .5}}), {.7, .1})},
  };
}

TEST(Trials, Item14_LikelihoodsByVectorsAreThoseOfTheFilter) {
  for (const Invariant& c : invariant_models()) {
    std::vector<Array> series{with_gaps(wavy_series(c.n), {0, 2, 77})};
    if (is_nightly() || c.model.blocks.size() == 1) series.push_back(wavy_series(c.n));
    for (const Array& y : series) {
      const auto opening = dlm::opening_of(c.model, c.parameters, y);
      ASSERT_TRUE(opening) << c.name;
      std::vector<std::string> names;
      for (const auto& [name, value] : c.parameters) names.push_back(name);
      const std::int64_t steps = dlm::state_space(c.model, c.parameters, y).diffuse_steps;
      const auto space = [&](const Array& theta) {
        dlm::StateSpace s = dlm::state_space(c.model, dlm::constrained(c.model, theta, names), y);
        s.diffuse_steps = steps;
        return s;
      };
      const auto by_vectors = [&](const Array& theta) { return dlm::minus2_log_likelihood(space(theta), *opening); };
      const auto by_matrices = [&](const Array& theta) { return dlm::minus2_log_likelihood(space(theta), y); };
      const auto all = [](const auto& f, const Array& theta) {
        return ct::jit(
            [&](const Array& t) { return std::pair{ct::value_and_grad(f)(t), ct::optim::hessian_of(f, t)}; })(theta);
      };
      const Array theta = dlm::unconstrained(c.model, c.parameters, names);
      const auto [ours, our_H] = all(by_vectors, theta);
      const auto [theirs, their_H] = all(by_matrices, theta);
      const auto gaps = np::sum(np::isnan(y)).item<std::int64_t>();
      EXPECT_LE(error_of(ours.first, theirs.first), 1e-9) << c.name << ", gaps: " << gaps;
      EXPECT_LE(error_of(ours.second, theirs.second), 1e-7) << c.name << ", gaps: " << gaps;
      EXPECT_LE(error_of(our_H, their_H), 1e-6) << c.name << ", gaps: " << gaps;
    }
  }
}
TEST(Trials, Item14_MatricesUntilCovariancesAreSmall) {
  const auto first = [](const dlm::Model& model, const dlm::Parameters& p, const Array& y) {
    const auto opening = dlm::opening_of(model, p, y);
    return opening ? opening->settling : -1;
  };
  const dlm::Parameters p = numbers({{"obs", 1}, {"level", .3}, {"season", .1}});
  const Array y = wavy_series(200);
  EXPECT_EQ(first({{Trend{0}, Seasonal{12}}}, p, y), 0);
  // Three steps see a small part of a wave: its size is known badly for a while.
  EXPECT_GT(first({{Trend{0}, Harmonics{60, 1, {"season"}}}}, p, y), 3);
  EXPECT_EQ(first({{AutoRegression{2}}}, with_phi({{"ar", np::ones({}, ct::f64)}}, {.5, .2}), y), 0);
  // By the filter: what changes from step to step, a first state of its own, many gaps, what is never seen.
  dlm::Model uneven{{Trend{0}}}, weighted{{Trend{0}}};
  for (int t = 0; t < 200; ++t) uneven.times.push_back(t + (t > 50 ? 1 : 0));
  weighted.scale = 1.0 + np::arange(200, ct::f64);
  const dlm::Parameters level = numbers({{"obs", 1}, {"level", .3}});
  EXPECT_EQ(first(uneven, level, y), -1);
  EXPECT_EQ(first(weighted, level, y), -1);
  EXPECT_EQ(first({{Trend{0}, Regression{np::cos(np::arange(200, ct::f64))}}}, level, y), -1);
  EXPECT_EQ(first(toolbox({{Trend{0}}}), level, y), -1);
  EXPECT_EQ(first({{Trend{0}}}, level, with_gaps(y, {1, 2, 3, 4, 5, 6, 7, 8})), -1);
  EXPECT_EQ(first({{Trend{0}, Seasonal{50}}}, p, np::where(np::arange(200) % 50 == 7, NAN, y)), -1);
}
/// Searches over the coefficients of long autoregressions did not end within 500 iterations.
TEST(Trials, Item14_LongAutoregressionsConverge) {
  constexpr int order = 25;
  std::vector<double> phi(order, 0.0);
  phi[0] = .4, phi[1] = .15, phi[10] = -.15, phi[24] = .25;
  const dlm::Parameters drawn = with_phi(numbers({{"obs", .3}, {"ar", 1}}), phi);
  const dlm::StateSpace s = dlm::state_space({{AutoRegression{order}}}, drawn, np::zeros({1}, ct::f64));
  const Array y = np::squeeze(dlm::simulate(s, 400, ct::random::key(3)).y, -1);
  const dlm::Estimate e = dlm::estimate({{Trend{0}, AutoRegression{order}}}, y, {.standard_errors = false});
  EXPECT_TRUE(e.converged.item<bool>());
  EXPECT_LT(e.iterations.item<std::int64_t>(), 200);
  // Not worse than what the series was drawn from.
  const dlm::StateSpace truth = dlm::state_space({{Trend{0}, AutoRegression{order}}}, drawn, y);
  EXPECT_LT(e.value.item<double>(), dlm::minus2_log_likelihood(truth, y).item<double>());
}

}  // namespace
}  // namespace dlm_tests
