// Special functions and distributions where JAX has no answer to compare with, or where loops once had no end.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cotan/cotan.hpp>
#include <limits>

namespace {

namespace np = cotan::numpy;
namespace sp = cotan::scipy::special;
namespace st = cotan::scipy::stats;
using cotan::Array;

constexpr double inf = std::numeric_limits<double>::infinity();

Array f64(std::vector<double> values) { return Array::from_host(values); }
double slope(const std::function<Array(const Array&)>& f, double at) {
  return cotan::grad([&](const Array& x) { return f(x); })(Array(at).astype(cotan::f64)).item<double>();
}

TEST(TrialsSpecial, ZetaTakesFewStepsForEveryExponent) {
  const auto begin = std::chrono::steady_clock::now();
  const Array s = f64({1e7, 1e10, 1e30, 1e10 + 1, 3, inf, 1e10}), q = f64({1.5, 1.5, 3, -0.25, -1e10 + 0.5, 2, 1});
  const std::vector<double> value = sp::zeta(s, q).to_vector<double>();
  EXPECT_EQ(value[0], 0);
  EXPECT_EQ(value[1], 0);
  EXPECT_EQ(value[2], 0);
  EXPECT_FALSE(std::isfinite(value[3]));
  EXPECT_TRUE(std::isnan(value[4]));
  EXPECT_EQ(value[5], 0);
  EXPECT_EQ(value[6], 1);
  EXPECT_EQ(slope([](const Array& x) { return sp::zeta(x, 1.5); }, 1e10), 0);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

TEST(TrialsSpecial, IncompleteGammaOfLargeShapes) {
  const auto begin = std::chrono::steady_clock::now();
  // Next to x = a: 1/2 + 1/(3 sqrt(2 pi a)).
  const std::vector<double> p =
      sp::gammainc(f64({2e8, 1e10, 1e30, 1e30}), f64({2e8, 1e10, 1e30, 2e30})).to_vector<double>();
  EXPECT_NEAR(p[0], 0.5 + 1 / (3 * std::sqrt(2 * M_PI * 2e8)), 1e-13);
  EXPECT_NEAR(p[1], 0.5 + 1 / (3 * std::sqrt(2 * M_PI * 1e10)), 1e-14);
  EXPECT_NEAR(p[2], 0.5, 1e-15);
  EXPECT_EQ(p[3], 1);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

TEST(TrialsSpecial, PolygammaOfManyDerivativesEnds) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(sp::polygamma(1000000001, f64({1})).item<double>(), inf);
  EXPECT_NEAR(sp::polygamma(1001, f64({368})).item<double>(), 0.452065577151, 1e-12);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

TEST(TrialsSpecial, PolygammaOfHighOrders) {
  struct Known {  // by mpmath
    int n;
    double x, value;
  };
  const Known known[] = {
      {22, 1, -1.1240008617808912e+21},      {22, 7.5, -8.9144807097612083},      {22, 40, -3.7788982987960488e-16},
      {22, 100, -5.6926164209301104e-25},    {22, -3.25, 7.9094519667650484e+34}, {100, 1, -9.3326215443944153e+157},
      {100, 7.5, -3.8798725271054952e+69},   {100, 40, -0.00015834291085306513},  {100, 100, -1.4771021691741669e-44},
      {100, -3.25, 5.9987778449433916e+218}, {150, 40, -7.1849165737443045e+20},  {150, 100, -7.3581753925282812e-40}};
  for (const auto& [n, x, value] : known)
    EXPECT_NEAR(cotan::lax::polygamma(n, f64({x})).item<double>() / value, 1, 4e-15) << n << " " << x;
}

TEST(TrialsSpecial, LargeShapesContinueTheSeries) {
  // On both sides of the shape from which on the other formula holds values, slopes and those of samples go on.
  for (const double deviations : {-3.0, -0.5, 0.0, 0.01, 2.0}) {
    const auto at = [&](double a) { return std::pair{f64({a}), f64({a + deviations * std::sqrt(a)})}; };
    const auto [a, x] = at(0.99999999e8);
    const auto [b, y] = at(1.00000001e8);
    EXPECT_NEAR(sp::gammainc(a, x).item<double>(), sp::gammainc(b, y).item<double>(), 1e-11) << deviations;
    const double ratio = cotan::lax::random_gamma_grad(a, x).item<double>();
    EXPECT_NEAR(ratio, cotan::lax::random_gamma_grad(b, y).item<double>(), 1e-10) << deviations;
    const auto by_a = [](const Array& shape, const Array& where) {
      return cotan::grad([&](const Array& v) { return np::sum(sp::gammainc(v, where)); })(shape).item<double>();
    };
    EXPECT_NEAR(by_a(a, x) / by_a(b, y), 1, 1e-7) << deviations;
  }
}

TEST(TrialsStats, TailsOfCauchyAndGumbel) {
  const auto near = [](const Array& value, double expected) {
    EXPECT_NEAR(value.item<double>(), expected, 1e-12 * std::abs(expected));
  };
  near(st::cauchy::logcdf(f64({-1e300})), -std::log(M_PI) - 300 * std::log(10));
  near(st::cauchy::logsf(f64({1e300})), -std::log(M_PI) - 300 * std::log(10));
  EXPECT_EQ(slope([](const Array& x) { return st::cauchy::logcdf(x); }, -inf), 0);
  EXPECT_EQ(slope([](const Array& x) { return st::cauchy::logcdf(x); }, -1e10), 1e-10);
  near(st::gumbel_r::logsf(f64({1e5})), -1e5);
  EXPECT_EQ(slope([](const Array& x) { return st::gumbel_r::logsf(x); }, 1e5), -1);
}

TEST(TrialsStats, GennormIsSmoothAtItsMiddle) {
  // As steep as the density is high; JAX has NaN.
  EXPECT_NEAR(slope([](const Array& x) { return st::gennorm::cdf(x, 2.0); }, 0), 1 / std::sqrt(M_PI), 1e-15);
  EXPECT_EQ(slope([](const Array& x) { return st::gennorm::cdf(x, 2.0); }, inf), 0);
}

}  // namespace
