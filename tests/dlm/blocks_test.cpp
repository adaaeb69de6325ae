// Item 14 of the trials: products that leave zeros of G out are those of the whole of G, and a smoother that keeps one
// state of each block of steps is the one that keeps all.
#include "dlm/observe.hpp"
#include "dlm/support.hpp"

namespace dlm_tests {
namespace {

using dlm::AutoRegression, dlm::Band, dlm::Harmonics, dlm::Regression, dlm::Seasonal, dlm::Spline, dlm::Trend;
using dlm::operator|;

Array without_order(std::int64_t rows, std::int64_t columns) {
  return np::reshape(np::sin(np::square(1.0 + np::arange(rows * columns, ct::f64))), {rows, columns});
}
/// A part of G with numbers wherever these bands allow one.
Array part_with(int bands, std::int64_t size) {
  const Array row = np::expand_dims(np::arange(size), -1), column = np::arange(size);
  const auto has = [&](Band b) { return (bands & static_cast<int>(b)) != 0; };
  Array there = np::zeros({size, size}, ct::bool_);
  if (has(Band::any)) there = there | (row >= 0);
  if (has(Band::diagonal)) there = there | (row == column);
  if (has(Band::above)) there = there | (row + 1 == column);
  if (has(Band::below)) there = there | (row == column + 1);
  if (has(Band::first_row)) there = there | (row == 0);
  if (has(Band::first_column)) there = there | (column == 0);
  return np::where(there, without_order(size, size), 0.0);
}
dlm::StateSpace with_parts(const std::vector<std::pair<int, int>>& parts) {
  dlm::StateSpace s;
  int m = 0;
  for (const auto& [size, bands] : parts) m += size;
  s.G = np::zeros({m, m}, ct::f64);
  s.x0 = np::zeros({m}, ct::f64);
  int first = 0;
  for (const auto& [size, bands] : parts) {
    s.G = s.G.at(ct::range(first, first + size), ct::range(first, first + size)).set(part_with(bands, size));
    s.bands.insert(s.bands.end(), {size, bands});
    first += size;
  }
  return s;
}

dlm::Smoothed smoothed(const dlm::StateSpace& s, const Array& y) {
  return ct::jit([](const dlm::StateSpace& s, const Array& y) { return dlm::smooth(s, y); })(s, y);
}

TEST(Trials, Item14_ProductsByBandsAreThoseOfTheMatrix) {
  // Parts as blocks have them: no place is in two bands at once.
  const std::vector<std::vector<std::pair<int, int>>> matrices = {
      {{8, 0 | Band::diagonal}},
      {{8, Band::diagonal | Band::above}},
      {{9, Band::diagonal | Band::above | Band::below}},
      {{7, Band::below | Band::first_row}},
      {{7, Band::above | Band::first_column}},
      {{6, 0 | Band::any}},
      {{1, 0 | Band::diagonal},
       {2, Band::diagonal | Band::above},
       {6, Band::below | Band::first_row},
       {3, 0 | Band::any}},
      {{5, Band::above | Band::first_column},
       {1, Band::below | Band::first_row},
       {1, Band::above | Band::first_column}},
  };
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    const dlm::StateSpace s = with_parts(matrices[k]);
    const std::int64_t m = s.x0.shape(0);
    const dlm::Transition transition(s);
    const Array& G = s.G;
    const Array X = without_order(m, 3), x = X(ct::all, 1), root = without_order(m, m);
    const Array C = np::matmul(root, dlm::transposed(root));
    EXPECT_LE(error_of(transition.times(G, X), np::matmul(G, X)), 1e-14) << k;
    EXPECT_LE(error_of(transition.times_transposed(G, X), np::matmul(dlm::transposed(G), X)), 1e-14) << k;
    EXPECT_LE(error_of(transition.times_vector(G, x), np::matmul(G, x)), 1e-14) << k;
    EXPECT_LE(error_of(transition.transposed_times_vector(G, x), np::matmul(x, G)), 1e-14) << k;
    EXPECT_LE(error_of(transition.around(G, C), dlm::sandwich(G, C)), 1e-14) << k;
    EXPECT_LE(error_of(transition.around_transposed(G, C), dlm::sandwich(dlm::transposed(G), C)), 1e-14) << k;
  }
}

/// Are these the bands of each kind of block?
TEST(Trials, Item14_ModelsByBandsAreThoseOfTheMatrix) {
  const std::int64_t n = 70;
  const Array y = with_gaps(wavy_series(n), {5, 30, 31});
  dlm::Parameters p = numbers({{"obs", 1}, {"level", .3}, {"slope", .05}, {"curvature", .01}, {"season", .2}});
  p.merge(numbers({{"spline", .1}, {"ar", .4}, {"effects", .1}}));
  p["phi"] = Array::from_host(std::vector<double>{.5, -.3, .2, .1, -.1, .2});
  const std::vector<dlm::Model> models = {
      {{Trend{2}, Seasonal{7}}},
      {{Trend{1}, Harmonics{12, 6, {"season"}}}},
      {{AutoRegression{6}}},
      {{Spline{}, AutoRegression{6}, Regression{without_order(n, 2), "effects"}}},
  };
  for (std::size_t k = 0; k < models.size(); ++k) {
    dlm::Parameters own;
    for (const dlm::ParameterInfo& info : dlm::parameters_of(models[k])) own[info.name] = p.at(info.name);
    dlm::StateSpace by_bands = dlm::state_space(models[k], own, y), whole = by_bands;
    ASSERT_FALSE(by_bands.bands.empty());
    whole.bands.clear();
    const auto value_and_slope = [&](const dlm::StateSpace& s) {
      return ct::jit([&](const dlm::StateSpace& s, const Array& scale) {
        return ct::value_and_grad([&](const Array& a) {
          dlm::StateSpace t = s;
          t.W = a * s.W;
          t.G = s.G + (a - 1.0) * 0.01 * s.G;
          return dlm::minus2_log_likelihood(t, y);
        })(scale);
      })(s, np::ones({}, ct::f64));
    };
    const auto [value, slope] = value_and_slope(by_bands);
    const auto [true_value, true_slope] = value_and_slope(whole);
    EXPECT_LE(error_of(value, true_value), 1e-12) << k;
    EXPECT_LE(error_of(slope, true_slope), 1e-9) << k;
    const dlm::Smoothed ours = smoothed(by_bands, y), theirs = smoothed(whole, y);
    EXPECT_LE(error_of(ours.x, theirs.x), 1e-10) << k;
    EXPECT_LE(error_of(ours.C, theirs.C), 1e-10) << k;
  }
}

/// In one block of all steps, and in many of which the last one is not full.
TEST(Trials, Item14_TheSmootherInBlocksIsTheOneThatKeepsAll) {
  for (std::int64_t n : {130, 1500}) {
    const Array y = with_gaps(wavy_series(n), {3, 50, 51, 88});
    const dlm::Model model{{Trend{1}, Seasonal{55}}};
    const dlm::Parameters p = numbers({{"obs", 1}, {"level", .3}, {"slope", .02}, {"season", .1}});
    const dlm::StateSpace s = dlm::state_space(model, p, y);
    const std::int64_t m = s.x0.shape(0);
    const bool in_blocks = dlm::kept_steps(s, n - s.diffuse_steps).steps() != 0;
    EXPECT_EQ(in_blocks, n == 1500);
    // Everything, the trend, the season; and the slope by itself.
    const Array states = np::arange(m), one = np::ones({m}, ct::f64);
    const Array trend = (states < 2).astype(ct::f64), slope = np::expand_dims((states == 1).astype(ct::f64), 0);
    const Array parts = np::stack({one, trend, 1.0 - trend});
    const dlm::Decomposition d =
        ct::jit([&](const dlm::StateSpace& s, const Array& y) { return dlm::decompose(s, y, parts, slope); })(s, y);
    const dlm::Smoothed all = smoothed(s, y);
    EXPECT_LE(error_of(d.x, all.x), 1e-9) << n;
    const Array Z = parts * s.F;
    const auto deviations = [&](const Array& rows) {
      return np::sqrt(np::diagonal(dlm::sandwich(rows, all.C), 0, -2, -1));
    };
    EXPECT_LE(error_of(np::squeeze(d.part, -1), np::matmul(all.x, dlm::transposed(Z))), 1e-9) << n;
    EXPECT_LE(error_of(np::squeeze(d.part_sd, -1), deviations(Z)), 1e-9) << n;
    EXPECT_LE(error_of(*d.other, np::matmul(all.x, dlm::transposed(slope))), 1e-9) << n;
    EXPECT_LE(error_of(*d.other_sd, deviations(slope)), 1e-9) << n;
    const Array ahead = np::squeeze(dlm::times(s.F, all.predicted.x), -1),
                sd = np::sqrt(np::squeeze(all.predicted.S, {-2, -1}));
    const Array known = np::isfinite(sd);
    const auto error_where_known = [&](const Array& ours, const Array& theirs) {
      return error_of(np::where(known, np::squeeze(ours, -1), 0.0), np::where(known, theirs, 0.0));
    };
    EXPECT_LE(error_where_known(d.yhat, ahead), 1e-9) << n;
    EXPECT_LE(error_where_known(d.yhat_sd, sd), 1e-9) << n;
    EXPECT_TRUE(np::all(np::isnan(np::squeeze(d.yhat, -1)) == ~known).item<bool>()) << n;
    EXPECT_LE(error_of(d.lik, dlm::minus2_log_likelihood(s, y)), 1e-11) << n;
    EXPECT_LE(error_of(d.last_sd, np::sqrt(np::diagonal(all.C[-1]))), 1e-9) << n;
  }
}

}  // namespace
}  // namespace dlm_tests
