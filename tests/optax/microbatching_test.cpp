// Functions of parts of a batch: their results are those of the whole batch.
#include <gtest/gtest.h>

#include "optax/problem.hpp"
#include "support/expect_error.hpp"

namespace problem {

using optax::AccumulationType;

TEST(OptaxMicrobatch, TheExampleOfOptax) {
  const auto f = [](const Array& x) { return std::pair{x + 1, np::sum(3 * x)}; };
  const auto parts =
      optax::microbatch(f, {.microbatch_size = 2, .accumulator = {AccumulationType::concat, AccumulationType::sum}});
  const auto [next, sum] = parts(np::array({1, 2, 3, 4}));
  EXPECT_TRUE(np::array_equal(next, np::array({2, 3, 4, 5})));
  EXPECT_EQ(sum.item<int>(), 30);
  EXPECT_EQ(sum.dtype(), ct::i32);
}

TEST(OptaxMicrobatch, GradientsOfTheWholeBatch) {
  const Array w = np::array({0.5, -1.0, 2.0}, ct::f64);
  const Array x = np::sin(np::arange(36, ct::f64)).reshape({3, 12}), y = np::cos(np::arange(12, ct::f64));
  const auto loss = [](const Array& weights, const std::pair<Array, Array>& batch) {
    return np::mean(np::square(np::matmul(weights, batch.first) - np::sin(batch.second)));
  };
  const auto swapped = [&](const Array& weights, const Array& xs, const Array& ys) { return loss(weights, {xs, ys}); };
  const auto whole = ct::grad(swapped)(w, x, y);
  for (const AccumulationType type : {AccumulationType::mean, AccumulationType::running_mean})
    for (const int size : {1, 4, 12}) {
      const auto in_parts = optax::microbatch(
          ct::grad(swapped), {.argnums = {1, 2}, .microbatch_size = size, .accumulator = type, .in_axes = {-1, 0}});
      EXPECT_TRUE(np::allclose(in_parts(w, x, y), whole, 1e-13, 1e-15).item<bool>()) << size;
      EXPECT_TRUE(np::allclose(ct::jit(in_parts)(w, x, y), whole, 1e-13, 1e-15).item<bool>()) << size;
    }
  // Differentiated itself: the loop is a scan.
  const auto by_parts = optax::microbatch(
      swapped, {.argnums = {1, 2}, .microbatch_size = 3, .accumulator = AccumulationType::mean, .in_axes = {1, 0}});
  EXPECT_TRUE(np::allclose(ct::grad(by_parts)(w, x, y), whole, 1e-13, 1e-15).item<bool>());
}

TEST(OptaxMicrobatch, FewerPartsThanThereAre) {
  // Part m has the examples m and m + 3.
  const Array x = np::array({1.0, 2.0, 3.0, 10.0, 20.0, 30.0}, ct::f64);
  const auto mean = [](const Array& v) { return np::mean(v); };
  const auto first = ct::jit([&](const Array& count, const Array& v) {
    return optax::microbatch(
        mean, {.microbatch_size = 2, .accumulator = AccumulationType::running_mean, .num_real_microbatches = count})(v);
  });
  EXPECT_DOUBLE_EQ(first(np::array(2), x).item<double>(), (1 + 10 + 2 + 20) / 4.0);
  EXPECT_DOUBLE_EQ(first(np::array(1), x).item<double>(), (1 + 10) / 2.0);
}

TEST(OptaxMicrobatch, OnesOwnWay) {
  const optax::Accumulator largest{
      .init = [](const Array& like) { return np::full(like.shape(), -np::inf, like.dtype()); },
      .update = [](const Array& carry, const Array& value, const Array&) { return np::maximum(carry, value); }};
  const auto f =
      optax::microbatch([](const Array& x) { return np::max(x); }, {.microbatch_size = 2, .accumulator = largest});
  EXPECT_EQ(f(np::array({1.0, 7.0, 3.0, 2.0})).item<float>(), 7.0f);
}

TEST(OptaxMicrobatch, WhatIsWrong) {
  const auto sum = [](const Array& x) { return np::sum(x); };
  const Array x = np::arange(6), empty = np::zeros({0, 2});
  const auto with = [&](const optax::MicrobatchOptions& o, const Array& a) { return optax::microbatch(sum, o)(a); };
  EXPECT_ERROR(ShapeError, with({.microbatch_size = 4}, x), "6 examples cannot be cut into parts of 4");
  EXPECT_ERROR(ShapeError, with({.microbatch_size = 1}, empty), "0 examples");
  EXPECT_ERROR(ValueError, with({.microbatch_size = 0}, x), "must be positive");
  EXPECT_ERROR(ValueError, with({.argnums = {1}, .microbatch_size = 2}, x), "argument 1 of 1");
  EXPECT_ERROR(ValueError, with({.argnums = {}, .microbatch_size = 2}, x), "argnums is empty");
  EXPECT_ERROR(ShapeError, with({.microbatch_size = 2, .in_axes = {1}}, x), "has no axis 1");
  EXPECT_ERROR(TypeError, with({.microbatch_size = 2, .accumulator = AccumulationType::mean}, x),
               "AccumulationType::sum");
  EXPECT_ERROR(ShapeError, with({.microbatch_size = 2, .accumulator = AccumulationType::concat}, x), "wants an axis");
  EXPECT_ERROR(TreeError,
               with({.microbatch_size = 2, .accumulator = {AccumulationType::sum, AccumulationType::sum}}, x),
               "2 accumulators are listed for 1 parts");
  const auto two = optax::microbatch([](const Array& a, const Array& b) { return np::sum(a) + np::sum(b); },
                                     {.argnums = {0, 1}, .microbatch_size = 2});
  EXPECT_ERROR(ShapeError, two(x, np::arange(4)), "6 and 4 examples");
}

}  // namespace problem
