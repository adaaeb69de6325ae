// Draws against their distributions, with fixed seeds: Kolmogorov's and Smirnov's distance of continuous ones,
// frequencies of discrete ones, moments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cotan/cotan.hpp>

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace r = cotan::random;
namespace stats = cotan::scipy::stats;

constexpr std::int64_t n = 20000;

/// The largest distance of the draws' distribution from uniform numbers, once their quantiles are there; about
/// sqrt(n) times it is above 1.95 once in a thousand.
void expect_uniform(const char* what, const Array& quantiles) {
  std::vector<double> q = np::sort(np::ravel(quantiles)).astype(f64).to_vector<double>();
  const auto count = static_cast<double>(q.size());
  double distance = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto place = static_cast<double>(i);
    distance = std::max({distance, q[i] - place / count, (place + 1) / count - q[i]});
  }
  EXPECT_LT(distance * std::sqrt(count), 1.95) << what;
}

const Shape draws{n};
Array key(std::uint64_t seed) { return r::key(seed); }
Array wide(double x) { return np::full({}, x, f64); }

/// Frequencies of 0, 1, … in draws against their probabilities; what is above counts as one class.
void expect_frequencies(const char* what, const Array& drawn, const Array& probabilities) {
  const std::vector<double> p = probabilities.astype(f64).to_vector<double>();
  std::vector<double> seen(p.size() + 1), expected = p;
  for (double k : np::ravel(drawn).astype(f64).to_vector<double>()) {
    ASSERT_GE(k, 0) << what;
    ++seen[std::min(static_cast<std::size_t>(k), p.size())];
  }
  double rest = 1;
  for (double x : p) rest -= x;
  expected.push_back(std::max(rest, 0.0));
  const auto count = static_cast<double>(drawn.size());
  double chi2 = 0;
  int classes = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (expected[k] * count < 5) continue;
    chi2 += (seen[k] - expected[k] * count) * (seen[k] - expected[k] * count) / (expected[k] * count);
    ++classes;
  }
  // Above this about once in a thousand.
  EXPECT_LT(chi2, classes + 4.5 * std::sqrt(2.0 * classes)) << what << ", " << classes << " classes";
}
Array below(std::int64_t count) { return np::arange(count).astype(f64); }

TEST(RandomDistributions, GammaVariates) {
  for (double a : {0.1, 0.9, 1.0, 4.5, 300.0}) {
    expect_uniform("gamma", stats::gamma::cdf(r::gamma(key(1), wide(a), draws, f64), a));
    expect_uniform("loggamma", stats::gamma::cdf(np::exp(r::loggamma(key(2), wide(a), draws, f64)), a));
  }
  expect_uniform("f32", stats::gamma::cdf(r::gamma(key(3), 0.4, draws, f32), 0.4));
  // Beside large ones, in one block of elements.
  const Array shapes = np::linspace(0.05, 30, n).astype(f64);
  expect_uniform("many shapes", stats::gamma::cdf(r::gamma(key(4), shapes, {}, f64), shapes));
}

TEST(RandomDistributions, OfGammaVariates) {
  expect_uniform("beta", stats::beta::cdf(r::beta(key(1), wide(0.6), wide(2.5), draws, f64), 0.6, 2.5));
  expect_uniform("chisquare", stats::chi2::cdf(r::chisquare(key(2), wide(3), draws, f64), 3.0));
  // F's quantiles are beta's.
  const Array f = r::f(key(3), wide(4), wide(7), draws, f64), share = 4.0 * f / (4.0 * f + 7.0);
  expect_uniform("f", stats::beta::cdf(share, 2.0, 3.5));
  const Array t = r::t(key(4), wide(5), draws, f64), tail = 0.5 * stats::beta::cdf(5.0 / (5.0 + t * t), 2.5, 0.5);
  expect_uniform("t", np::where(t > 0, 1.0 - tail, tail));
  const Array point = r::dirichlet(key(5), np::array({0.5, 1.0, 2.5}).astype(f64), draws, f64);
  expect_uniform("dirichlet", stats::beta::cdf(np::take(point, 2, 1), 2.5, 1.5));
  EXPECT_LT(np::max(np::abs(np::sum(point, 1) - 1.0)).item<double>(), 1e-14);
  expect_uniform("generalized normal",
                 stats::gennorm::cdf(r::generalized_normal(key(6), wide(1.5), draws, f64), wide(1.5)));
  // The radius of a point of the ball, to the power of its dimensions, is uniform.
  const Array ball = r::ball(key(7), 3, wide(2), draws, f64);
  expect_uniform("ball", np::power(np::sum(np::square(ball), 1), 1.5));
}

TEST(RandomDistributions, Continuous) {
  expect_uniform("cauchy", stats::cauchy::cdf(r::cauchy(key(1), draws, f64)));
  expect_uniform("logistic", stats::logistic::cdf(r::logistic(key(2), draws, f64)));
  expect_uniform("pareto", stats::pareto::cdf(r::pareto(key(3), wide(2.5), draws, f64), 2.5));
  expect_uniform("rayleigh", 1.0 - np::exp(-0.5 * np::square(r::rayleigh(key(4), wide(1), draws, f64))));
  expect_uniform("weibull",
                 1.0 - np::exp(-np::power(r::weibull_min(key(5), wide(2), wide(1.5), draws, f64) / 2.0, 1.5)));
  expect_uniform("lognormal", stats::norm::cdf(np::log(r::lognormal(key(6), wide(0.5), draws, f64)) / 0.5));
  expect_uniform("maxwell", stats::gamma::cdf(0.5 * np::square(r::maxwell(key(7), draws, f64)), 1.5));
  const Array x = r::wald(key(8), wide(1.5), draws, f64), root = np::sqrt(1.0 / x);
  expect_uniform("wald", stats::norm::cdf(root * (x / 1.5 - 1.0)) +
                             std::exp(2 / 1.5) * stats::norm::cdf(-(root * (x / 1.5 + 1.0))));
  const Array y = r::triangular(key(9), wide(-1), wide(0.5), wide(2), draws, f64);
  expect_uniform("triangular", np::where(y < 0.5, np::square(y + 1.0) / 4.5, 1.0 - np::square(2.0 - y) / 4.5));
  for (r::Mode mode : {r::Mode::high, r::Mode::highest})
    expect_uniform("gumbel", stats::gumbel_r::cdf(r::gumbel(key(10), draws, f32, mode)));
}

TEST(RandomDistributions, Counts) {
  const Array k = below(60);
  for (double rate : {0.3, 4.0, 9.9, 10.0, 35.0})
    expect_frequencies("poisson", r::poisson(key(1), rate, draws), stats::poisson::pmf(k, wide(rate)));
  for (const auto& [tries, p] : {std::pair{5, 0.3}, {50, 0.1}, {55, 0.5}, {58, 0.9}})
    expect_frequencies("binomial", r::binomial(key(2), tries, wide(p), draws, f64), stats::binom::pmf(k, tries, p));
  expect_frequencies("geometric", r::geometric(key(3), wide(0.2), draws) - 1, 0.2 * np::power(0.8, k));
  const Array p = np::array({0.1, 0.2, 0.3, 0.4}).astype(f64);
  const Array counts = r::multinomial(key(4), 20, p, {.shape = Shape{n, 4}, .dtype = f64});
  EXPECT_TRUE(np::all(np::sum(counts, 1) == 20.0).item<bool>());
  expect_frequencies("multinomial", np::take(counts, 2, 1), stats::binom::pmf(below(21), 20, 0.3));
}

TEST(RandomDistributions, Choices) {
  const Array p = np::array({0.1, 0.2, 0.3, 0.4}).astype(f64);
  expect_frequencies("choice", r::choice(key(1), 4, draws, {.p = p}), p);
  expect_frequencies("uniform choice", r::choice(key(2), 5, draws), np::full({5}, 0.2, f64));
  // First draws without replacement have the probabilities, and no row draws anything twice.
  const Array keys = r::split(key(3), 4000);
  const Array rows = vmap([&](const Array& k) { return r::choice(k, 4, {3}, {.replace = false, .p = p}); })(keys);
  expect_frequencies("first of three", np::take(rows, 0, 1), p);
  const Array sorted = np::sort(rows, 1);
  EXPECT_TRUE(np::all(np::take(sorted, 0, 1) < np::take(sorted, 1, 1)).item<bool>());
  EXPECT_TRUE(np::all(np::take(sorted, 1, 1) < np::take(sorted, 2, 1)).item<bool>());
}

TEST(RandomDistributions, Matrices) {
  const Array q = r::orthogonal(key(1), 4, {100}, f64);
  const Array product = np::matmul(np::matrix_transpose(q), q);
  EXPECT_LT(np::max(np::abs(product - np::eye(4).astype(f64))).item<double>(), 1e-13);
  const Array cov = np::array({{2.0, 0.6}, {0.6, 0.5}}).astype(f64), mean = np::array({1.0, -2.0}).astype(f64);
  for (auto method : {r::CovarianceRoot::cholesky, r::CovarianceRoot::eigh, r::CovarianceRoot::svd}) {
    const Array x = r::multivariate_normal(key(2), mean, cov, draws, f64, method);
    const Array centred = x - mean;
    expect_uniform("distance", 1.0 - np::exp(-0.5 * np::sum(centred * np::matmul(centred, linalg::inv(cov)), 1)));
  }
}

TEST(RandomDistributions, Edges) {
  const auto number = [](const Array& a) { return a.item<double>(); };
  EXPECT_TRUE(std::isnan(number(r::gamma(key(1), wide(-1), {}, f64))));
  EXPECT_TRUE(std::isnan(number(r::gamma(key(1), wide(std::nan("")), {}, f64))));
  EXPECT_EQ(number(r::gamma(key(1), wide(0), {}, f64)), 0.0);
  EXPECT_EQ(number(r::loggamma(key(1), wide(0), {}, f64)), -np::inf);
  EXPECT_EQ(r::poisson(key(1), -1.0).item<int>(), -1);
  EXPECT_EQ(r::poisson(key(1), 0.0).item<int>(), 0);
  // JAX never ends on these.
  EXPECT_EQ(number(r::binomial(key(1), wide(np::inf), wide(0), {}, f64)), np::inf);
  EXPECT_EQ(number(r::binomial(key(1), 10, wide(1), {}, f64)), 10.0);
  EXPECT_EQ(number(r::binomial(key(1), 10, wide(0), {}, f64)), 0.0);
  EXPECT_TRUE(std::isnan(number(r::binomial(key(1), 10, wide(1.5), {}, f64))));
  EXPECT_TRUE(std::isnan(number(r::binomial(key(1), -1, wide(0.5), {}, f64))));
  EXPECT_EQ(r::gamma(key(1), np::zeros({0, 3}), {}, f32).shape(), (Shape{0, 3}));
  EXPECT_EQ(r::choice(key(1), np::ones({2, 3}), {0}).shape(), (Shape{0, 3}));
}

/// The first draws of many are the draws of few: blocks of elements have no say in them.
TEST(RandomDistributions, DoNotDependOnBlocks) {
  const Array a = np::linspace(0.1, 8, 2000).astype(f64);
  const auto draw = jit([](const Array& k, const Array& shape) { return r::gamma(k, shape, {}, f64); });
  const Array whole = draw(key(1), a);
  for (std::int64_t count : {1, 100, 511, 512, 1025})
    EXPECT_TRUE(np::array_equal(draw(key(1), a(range(0, count))), whole(range(0, count)))) << count;
}

}  // namespace
