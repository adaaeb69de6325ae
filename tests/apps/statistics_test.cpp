// Tests and distributions of cotan-dlm against SciPy's and statsmodels' numbers.
#include "../../apps/dlm/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace apps;

namespace {

std::vector<double> sample() {
  std::vector<double> out;
  for (int i = 0; i < 60; ++i) out.push_back(((i * i * 7 + 3 * i) % 23) / 5.0 - 2);
  return out;
}

void expect_relative(double value, double wanted) { EXPECT_NEAR(value / wanted, 1, 1e-9) << value; }

TEST(Distributions, ChiSquareTail) {
  expect_relative(chi_square_tail(13.2, 9), 0.15376333779556464);
  expect_relative(chi_square_tail(1e-3, 1), 0.9747728793699604);
  expect_relative(chi_square_tail(200, 50), 7.857610724654791e-20);
  EXPECT_EQ(chi_square_tail(0, 3), 1);
  EXPECT_TRUE(std::isnan(chi_square_tail(std::numeric_limits<double>::infinity(), 3)));
}

TEST(Distributions, FTail) {
  expect_relative(f_tail(0.6129, 33, 33), 0.9175383118402448);
  expect_relative(f_tail(3.5, 4, 60), 0.012361783942149467);
  expect_relative(f_tail(1, 2, 2), 0.5);
  EXPECT_EQ(f_tail(0, 2, 2), 1);
}

TEST(ResidualTests, AgreeWithStatsmodels) {
  const TestResult correlation = ljung_box(sample(), 8, 1), normality = jarque_bera(sample()),
                   variance = heteroscedasticity(sample());
  EXPECT_NEAR(correlation.statistic, 23.8941772, 1e-6);
  EXPECT_NEAR(correlation.p_value, 2.38730130e-03, 1e-9);
  expect_relative(normality.statistic, 2.9817243856362774);
  expect_relative(normality.p_value, 0.2251784245987211);
  expect_relative(variance.statistic, 1.10613810741688);
  expect_relative(variance.p_value, 0.823757005563136);
  EXPECT_EQ(ljung_box(sample(), 8, 3).degrees, 6);  // of three parameters, one is a scale
}

TEST(ResidualTests, SayNothingOfTooFewValues) {
  for (const std::vector<double>& few : {std::vector<double>{}, {1.0}, {1.0, 1.0, 1.0}, {NAN, NAN, NAN, NAN, NAN}}) {
    EXPECT_TRUE(std::isnan(ljung_box(few, 5, 1).p_value));
    EXPECT_TRUE(std::isnan(jarque_bera(few).p_value));
    EXPECT_TRUE(std::isnan(heteroscedasticity(few).p_value));
  }
  EXPECT_TRUE(std::isnan(jarque_bera(std::vector<double>(20, 3.0)).p_value));
  EXPECT_TRUE(std::isnan(heteroscedasticity(std::vector<double>(20, 0.0)).p_value));
}

}  // namespace
