// Errors of special functions and statistics.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace sp = cotan::scipy::special;
namespace st = cotan::scipy::stats;

Array numbers() { return np::array({1.0, 2.0, 3.0}); }

TEST(ScipyErrors, DtypesOfSpecialFunctions) {
  const Array x = numbers(), whole = np::array({1, 2, 3});
  EXPECT_ERROR(TypeError, sp::ndtr(whole), "[ndtr] needs f32 or f64, got i32");
  EXPECT_ERROR(TypeError, sp::ndtri(whole), "[ndtri] needs f32 or f64, got i32");
  EXPECT_ERROR(TypeError, sp::log_ndtr(whole), "[log_ndtr] needs f32 or f64, got i32");
  EXPECT_ERROR(TypeError, sp::spence(x.astype(f16)), "[spence] needs f32 or f64, got f16");
  EXPECT_ERROR(ValueError, sp::polygamma(x, x), "[polygamma] the order is f32");
  EXPECT_ERROR(TypeError, lax::polygamma(whole, x), "[polygamma] the order is i32");
  EXPECT_ERROR(TypeError, lax::mulhi(x, x), "[mulhi] needs integers, got f32");
  EXPECT_ERROR(TypeError, lax::round(whole), "[round] needs floats, got i32");
}
TEST(ScipyErrors, NumbersOfSpecialFunctions) {
  const Array x = numbers();
  EXPECT_ERROR(ValueError, sp::multigammaln(x, -1), "[multigammaln] the size -1");
  EXPECT_ERROR(ValueError, sp::bernoulli(-1), "[bernoulli] the number -1 is negative");
  EXPECT_ERROR(ValueError, sp::bessel_jn(x, -1), "[bessel_jn] orders go from 0 to -1");
  EXPECT_ERROR(ValueError, lax::reduce_precision(x, 0, 3), "[reduce_precision] 0 bits of exponent");
  EXPECT_ERROR(ShapeError, sp::gammainc(x, np::ones({2})), "do not broadcast");
}
TEST(ScipyErrors, DerivativesThatNobodyKnows) {
  const auto of_a = [](Array a) { return sp::betainc(a, 2.0, 0.5); };
  EXPECT_ERROR(TransformError, grad(of_a)(Array(1.5)), "[betainc] has no derivative by this operand");
  const auto twice = [](Array a) { return lax::igamma(a, 2.0); };
  EXPECT_ERROR(TransformError, grad(grad(twice))(Array(1.5)), "[igamma_grad_a] has no derivative by this operand");
}
TEST(ScipyErrors, Distributions) {
  const Array x = numbers();
  EXPECT_ERROR(ShapeError, st::dirichlet::logpdf(x, np::ones({2, 2})), "[dirichlet.logpdf] alpha is f32[2,2]");
  EXPECT_ERROR(ShapeError, st::dirichlet::logpdf(x, np::ones({5})), "[dirichlet.logpdf] x is f32[3]");
  EXPECT_ERROR(ShapeError, st::multivariate_normal::logpdf(x, x, np::ones({2, 2})),
               "[multivariate_normal.logpdf] the mean is f32[3]");
  EXPECT_ERROR(ValueError, st::multinomial::logpmf(x, 6, x), "[multinomial.logpmf] counts are integers");
}
TEST(ScipyErrors, Samples) {
  const Array x = numbers();
  EXPECT_ERROR(ValueError, st::rankdata(x, "mean"), "[rankdata] there is no method 'mean'");
  EXPECT_ERROR(ValueError, st::sem(x, 0, 1, "raise"), "[sem] there is no nan_policy 'raise'");
  EXPECT_ERROR(ValueError, st::gaussian_kde(np::ones({1})), "[gaussian_kde] the dataset is f32[1,1]");
  EXPECT_ERROR(ValueError, st::gaussian_kde(x, "wide"), "[gaussian_kde] there is no bandwidth 'wide'");
  EXPECT_ERROR(ValueError, st::gaussian_kde(x, {}, np::ones({2})), "[gaussian_kde] the weights are f32[2]");
  const st::gaussian_kde kde(x), plane(np::array({{1.0, 2.0, 4.0}, {0.5, 3.0, 1.0}}));
  EXPECT_ERROR(ValueError, plane(x), "[gaussian_kde] the points are f32[3]");
  EXPECT_ERROR(ValueError, plane.integrate_box_1d(0.0, 1.0), "[gaussian_kde] integrate_box_1d is for one variable");
  EXPECT_ERROR(ValueError, kde.integrate_box_1d(x, 1.0), "[gaussian_kde] the bounds are f32[3]");
  EXPECT_ERROR(ValueError, kde.integrate_kde(plane), "[gaussian_kde] one estimate has 1 variables, the other 2");
  EXPECT_ERROR(ValueError, kde.integrate_gaussian(x, 1.0), "[gaussian_kde] the mean is f32[3]");
}

}  // namespace
