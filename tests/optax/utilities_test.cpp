// tree_utils, averages, gradients scaled and clipped by example, distributions.
#include <gtest/gtest.h>

#include "optax/problem.hpp"
#include "support/expect_error.hpp"

namespace problem {

namespace tu = optax::tree_utils;

namespace {
bool close(const Array& a, const Array& b) { return np::allclose(a, b, 1e-12, 1e-12).item<bool>(); }
}  // namespace

TEST(OptaxTreeUtils, Arithmetic) {
  const Params x = start(ct::f64), y = numbers([](double i) { return 1 + i; }, ct::f64);
  EXPECT_TRUE(close(tu::tree_add(x, y).weight, x.weight + y.weight));
  EXPECT_TRUE(close(tu::tree_sub(x, y).bias, x.bias - y.bias));
  EXPECT_TRUE(close(tu::tree_mul(x, y).conv, x.conv * y.conv));
  EXPECT_TRUE(close(tu::tree_div(x, y).conv, x.conv / y.conv));
  EXPECT_TRUE(close(tu::tree_scale(2.0, x).conv, 2 * x.conv));
  EXPECT_TRUE(close(tu::tree_add_scale(x, 0.5, y).bias, x.bias + 0.5 * y.bias));
  EXPECT_TRUE(close(tu::tree_where(np::ones({}, ct::bool_), x, y).bias, x.bias));
  EXPECT_DOUBLE_EQ(tu::tree_sum(y).item<double>(), 27 * 28 / 2);
  EXPECT_DOUBLE_EQ(tu::tree_vdot(y, y).item<double>(), 27 * 28 * 55 / 6);
  EXPECT_DOUBLE_EQ(tu::tree_norm(y, 2, true).item<double>(), 27 * 28 * 55 / 6);
  EXPECT_DOUBLE_EQ(tu::tree_norm(y, 1).item<double>(), 27 * 28 / 2);
  EXPECT_DOUBLE_EQ(tu::tree_norm(tu::tree_scale(-1.0, y), np::inf).item<double>(), 27);
  EXPECT_DOUBLE_EQ(tu::tree_max(y).item<double>(), 27);
  EXPECT_DOUBLE_EQ(tu::tree_min(y).item<double>(), 1);
  EXPECT_EQ(tu::tree_size(y), 27);
  EXPECT_TRUE(tu::tree_allclose(x, x).item<bool>());
  EXPECT_FALSE(tu::tree_allclose(x, y).item<bool>());
  EXPECT_DOUBLE_EQ(tu::tree_max(tu::tree_clip(y, 2.0, 5.0)).item<double>(), 5);
  EXPECT_DOUBLE_EQ(tu::tree_min(tu::tree_clip(y, 2.0)).item<double>(), 2);
  EXPECT_EQ(tu::tree_zeros_like(y, ct::f32).bias.dtype(), ct::f32);
  EXPECT_DOUBLE_EQ(tu::tree_sum(tu::tree_ones_like(y)).item<double>(), 27);
  EXPECT_EQ(tu::tree_cast(y, ct::bf16).bias.dtype(), ct::bf16);
  EXPECT_EQ(tu::tree_cast_like(tu::tree_cast(y, ct::bf16), y).bias.dtype(), ct::f64);
  EXPECT_EQ(tu::tree_batch_shape(y, {2}).weight.shape(), (ct::Shape{2, 4, 3}));
  EXPECT_DOUBLE_EQ(tu::tree_norm(std::vector<Array>{}).item<double>(), 0);
  EXPECT_ERROR(ValueError, tu::tree_norm(y, 3), "[tree_norm]");
  EXPECT_ERROR(TreeError, tu::tree_vdot(std::vector<Array>{y.bias}, std::vector<Array>{}), "[tree_vdot]");
}

TEST(OptaxTreeUtils, DtypesAndMoments) {
  const std::pair mixed{np::ones({2}, ct::f32), np::ones({2}, ct::bf16)};
  EXPECT_ERROR(TypeError, tu::tree_dtype(mixed), "[tree_dtype]");
  EXPECT_EQ(tu::tree_dtype(mixed, tu::MixedDtypes::highest), ct::f32);
  EXPECT_EQ(tu::tree_dtype(mixed, tu::MixedDtypes::lowest), ct::bf16);
  EXPECT_EQ(tu::tree_dtype(mixed, tu::MixedDtypes::promote), ct::f32);
  const Array g = np::array({1.0, -2.0}, ct::f64), m = np::array({0.5, 0.5}, ct::f64);
  EXPECT_TRUE(close(tu::tree_update_moment(g, m, 0.9, 2), np::array({0.55, 0.85}, ct::f64)));
  EXPECT_TRUE(close(tu::tree_update_infinity_moment(g, m, 0.9, 0.1), np::array({1.1, 2.1}, ct::f64)));
  EXPECT_TRUE(close(tu::tree_bias_correction(m, 0.9, 2), m / 0.19));
  EXPECT_TRUE(close(optax::bias_correction(m, 0.0, 1), m));
  const auto keys = tu::tree_split_key_like(ct::random::key(0), mixed);
  EXPECT_TRUE(np::array_equal(keys.second, ct::random::split(ct::random::key(0))[1]).item<bool>());
  EXPECT_TRUE(np::array_equal(tu::tree_unwrap_random_key_data(keys).first, keys.first).item<bool>());
  EXPECT_TRUE(ct::tree::leaves(optax::init_empty_state()).empty());
  const auto draw = [](const Array& key, const ct::Shape& shape, ct::DType dtype) {
    return ct::random::normal(key, shape, dtype);
  };
  EXPECT_EQ(tu::tree_random_like(ct::random::key(0), mixed, draw).second.dtype(), ct::bf16);
}

TEST(OptaxUtilities, Averages) {
  const std::pair a{np::ones({2}), np::zeros({3})}, b{np::zeros({2}), np::ones({3})};
  EXPECT_FLOAT_EQ(optax::incremental_update(a, b, 0.25).second[0].item<float>(), 0.75);
  EXPECT_FLOAT_EQ(optax::periodic_update(a, b, 6, 3).first[0].item<float>(), 1);
  EXPECT_FLOAT_EQ(optax::periodic_update(a, b, 7, 3).first[0].item<float>(), 0);
  EXPECT_FLOAT_EQ(optax::global_norm(std::pair{3 * np::ones({1}), 4 * np::ones({1})}).item<float>(), 5);
}

TEST(OptaxUtilities, GradientsByExample) {
  const Array w = np::array({{3., 0.}, {0., 0.5}, {0., 0.}}, ct::f64), b = np::array({4., 0., 0.}, ct::f64);
  const auto [sums, clipped] = optax::per_example_global_norm_clip({w, b}, 1.0);
  EXPECT_TRUE(close(sums[0], np::array({0.6, 0.5}, ct::f64)));
  EXPECT_TRUE(close(sums[1], Array(0.8)));
  EXPECT_EQ(clipped.item<int>(), 1);
  const auto [by_layer, counts] = optax::per_example_layer_norm_clip({w, b}, std::sqrt(2.0));
  EXPECT_TRUE(close(by_layer[0], np::array({1.0, 0.5}, ct::f64)));
  EXPECT_EQ(counts[1].item<int>(), 1);
  const auto [by_size, unused] = optax::per_example_layer_norm_clip({w, b}, std::sqrt(3.0), false);
  EXPECT_TRUE(close(by_size[1], Array(1.0)));
  EXPECT_ERROR(ShapeError, optax::per_example_global_norm_clip({np::ones({2}), np::ones({3})}, 1.0), "first axis");
  EXPECT_DOUBLE_EQ(
      ct::grad([](const Array& x) { return np::sum(optax::scale_gradient(x, 0.5) * x); })(np::array({2.0}, ct::f64))[0]
          .item<double>(),
      3);
}

TEST(OptaxUtilities, Distributions) {
  const auto normal = optax::multi_normal(np::array({0.0, 1.0}, ct::f64), np::array({0.0, std::log(2.0)}, ct::f64));
  EXPECT_EQ(normal.sample({5}, ct::random::key(0)).shape(), (ct::Shape{5, 2}));
  EXPECT_NEAR(normal.log_prob(np::array({1.0, 3.0}, ct::f64)).item<double>(), -1 - std::log(2 * np::pi) - std::log(2.0),
              1e-12);
  const auto entropy = optax::make_fenchel_young_loss([](const Array& s) { return np::logsumexp(s); });
  const Array scores = np::array({{1., 2., 0.}, {0., -1., 3.}}, ct::f64),
              targets = np::eye(3, {}, 0, ct::f64)(ct::range(2));
  EXPECT_TRUE(close(entropy(scores, targets), optax::softmax_cross_entropy(scores, targets)));
}

TEST(OptaxUtilities, AveragesOfScheduleFree) {
  const auto opt = optax::contrib::schedule_free_sgd({.learning_rate = 0.3});
  Array x = np::full({2}, 5.0, ct::f64);
  auto state = opt.init(x);
  for (int i = 0; i < 200; ++i) {
    const auto [updates, next] = opt.update(2.0 * x, state, x);
    x = optax::apply_updates(x, updates);
    state = next;
  }
  EXPECT_LT(std::abs(optax::contrib::schedule_free_eval_params(state, x)[0].item<double>()), 0.05);
  EXPECT_ERROR(ValueError, optax::contrib::schedule_free_eval_params(optax::State{}, x), "schedule_free");
}

}  // namespace problem
