// Samplers on arguments that do not fit.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

#include "support/expect_error.hpp"

namespace {

using namespace cotan;
namespace np = cotan::numpy;

Array key() { return random::key(0); }
Array ones(const Shape& shape, DType dtype = f32) { return np::ones(shape, dtype); }

TEST(SamplerErrors, Key) {
  EXPECT_ERROR(TypeError, random::gamma(np::ones({2}), 1.0), "[random.gamma] the key is f32[2]; it must be u32[2]");
  EXPECT_ERROR(TypeError, random::poisson(random::split(key()), 1.0), "[random.poisson] the key is u32[2,2]");
  EXPECT_ERROR(ValueError, random::choice(Array(), 3), "[random.choice] the key is an empty Array");
  EXPECT_ERROR(TypeError, random::key(ones({2}, i32)), "[random.key] the seed is i32[2]; it must be one integer");
  EXPECT_ERROR(TypeError, random::key(ones({}, f32)), "[random.key] the seed is f32[]");
}

TEST(SamplerErrors, Shapes) {
  EXPECT_ERROR(ShapeError, random::gamma(key(), ones({3}), Shape{2}), "[random.gamma] a of shape (3,)", "(2,)");
  EXPECT_ERROR(ShapeError, random::beta(key(), ones({3}), ones({2})), "random.beta", "(3,)", "(2,)");
  EXPECT_ERROR(ShapeError, random::triangular(key(), ones({2}), 1, 2, Shape{3}),
               "[random.triangular] left of shape (2,)");
  EXPECT_ERROR(ShapeError, random::poisson(key(), 1.0, Shape{-1}), "[random.poisson] shape (-1,) has a negative size");
  EXPECT_ERROR(ShapeError, random::dirichlet(key(), 1.0), "[random.dirichlet] alpha is", "it must have an axis");
  EXPECT_ERROR(ShapeError, random::dirichlet(key(), ones({2, 3}), Shape{5}), "[random.dirichlet] the batch of alpha");
  EXPECT_ERROR(ShapeError, random::multivariate_normal(key(), ones({3}), ones({2, 2})),
               "[random.multivariate_normal] mean is f32[3] and cov f32[2,2]; they must be [..., n] and [..., n, n]");
  EXPECT_ERROR(ShapeError, random::multivariate_normal(key(), ones({2, 3}), ones({3, 3}), Shape{5}),
               "[random.multivariate_normal] the batch of mean of shape (2,)");
  EXPECT_ERROR(ShapeError, random::multinomial(key(), 3, 1.0), "[random.multinomial] p is", "an axis of outcomes");
  EXPECT_ERROR(ShapeError, random::ball(key(), -1), "[random.ball] -1 dimensions");
  EXPECT_ERROR(ShapeError, random::ball(key(), 2, ones({2})), "[random.ball] p is f32[2]; it must be one number");
  EXPECT_ERROR(ShapeError, random::orthogonal(key(), -2), "[random.orthogonal] -2 rows");
}

TEST(SamplerErrors, Dtypes) {
  EXPECT_ERROR(TypeError, random::gamma(key(), 1.0, {}, i32), "[random.gamma] dtype i32 is not a floating-point one");
  EXPECT_ERROR(TypeError, random::poisson(key(), 1.0, {}, f32), "[random.poisson] dtype f32 is not an integer one");
  EXPECT_ERROR(TypeError, random::geometric(key(), 0.5, {}, f32), "[random.geometric] dtype f32 is not an integer");
  EXPECT_ERROR(TypeError, random::rademacher(key(), {2}, u8), "[random.rademacher] dtype u8 does not hold -1");
  EXPECT_ERROR(TypeError, random::orthogonal(key(), 2, {}, i32), "[random.orthogonal] dtype i32 is not a floating");
  EXPECT_ERROR(TypeError, random::beta(key(), ones({}, f64), 1.0), "[random.beta] a is f64[], and the draws are f32");
  EXPECT_ERROR(TypeError, random::t(key(), ones({}, c64)), "[random.t] df is c64[]");
}

TEST(SamplerErrors, Probabilities) {
  const Array p = np::array({0.5, 0.2}), negative = np::array({1.5, -0.5}), one = np::array({1.0, 0.0});
  EXPECT_ERROR(ValueError, random::choice(key(), 2, {}, {.p = p}), "[random.choice] probabilities sum to 0.7");
  EXPECT_ERROR(ValueError, random::choice(key(), 2, {}, {.p = negative}), "[random.choice] a probability is -0.5");
  EXPECT_ERROR(ShapeError, random::choice(key(), 3, {}, {.p = p}), "[random.choice] p is f32[2]", "3 slices");
  EXPECT_ERROR(ValueError, random::choice(key(), 2, {2}, {.replace = false, .p = one}),
               "[random.choice] 2 draws without replacement, but only 1 probabilities are above 0");
  EXPECT_ERROR(ValueError, random::multinomial(key(), 5, p), "[random.multinomial] probabilities sum to 0.7");
}

TEST(SamplerErrors, Draws) {
  EXPECT_ERROR(ValueError, random::choice(key(), 3, {2, 2}, {.replace = false}),
               "[random.choice] 4 draws without replacement from 3 slices");
  EXPECT_ERROR(ValueError, random::choice(key(), 0, {2}), "[random.choice] there are 0 slices to draw from");
  EXPECT_ERROR(ShapeError, random::choice(key(), ones({})), "[random.choice] f32[] has no axis to draw from");
  EXPECT_ERROR(ValueError, random::categorical(key(), ones({3}), -1, Shape{4}, false),
               "[random.categorical] 4 draws without replacement from 3 classes");
  EXPECT_ERROR(ShapeError, random::categorical(key(), ones({1, 3}), -1, Shape{2, 2}, false),
               "[random.categorical] shape (2, 2) does not end with that of the batch, (1,); give one that does");
  EXPECT_ERROR(ValueError, random::bernoulli(key(), 0.5, {}, random::Mode::highest),
               "[random.bernoulli] there is no Mode::highest");
}

}  // namespace
