// Attention in shaders that store no scores: values and gradients against the native device, dispatches, memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cstdlib>
#include <limits>

#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace nn = cotan::nn;
using ct::Array;
using ct::Arrays;

class WebGpuAttention : public webgpu_tests::OnWebGpu {};

Array waves(const ct::Shape& shape, float phase) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = std::sin(0.7f * static_cast<float>(i) + phase) + 0.3f * std::sin(0.013f * static_cast<float>(i));
  return Array::from_host(v, shape);
}

/// NaN equals NaN; differences are relative to the largest element that is wanted.
void expect_near(const Array& got, const Array& want, double tolerance, const std::string& what) {
  const std::vector<float> g = got.astype(ct::f32).to_vector<float>(), w = want.astype(ct::f32).to_vector<float>();
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  double largest = 1;
  for (float x : w)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (std::isinf(w[i]) && g[i] == w[i]) continue;
    ASSERT_NEAR(g[i], w[i], tolerance * largest) << what << ", element " << i;
  }
}

struct Sizes {
  std::int64_t batch, queries, keys, heads, key_heads, width;
  std::string text() const {
    return fmt::format("B={} T={} S={} N={} K={} H={}", batch, queries, keys, heads, key_heads, width);
  }
};
Arrays operands(const Sizes& s) {
  return {waves({s.batch, s.queries, s.heads, s.width}, 0), waves({s.batch, s.keys, s.key_heads, s.width}, 1),
          waves({s.batch, s.keys, s.key_heads, s.width}, 2)};
}
Arrays on_native(const Arrays& x) {
  Arrays out;
  for (const Array& a : x) out.push_back(ct::device_put(a, "native"));
  return out;
}

/// After query, key and value: a bias and a mask, where there are.
struct Which {
  bool bias = false, mask = false, causal = false;
};
Array attend(const Arrays& x, const Which& which) {
  nn::AttentionOptions options{.is_causal = which.causal};
  std::size_t next = 3;
  if (which.bias) options.bias = x[next++];
  if (which.mask) options.mask = x[next++] > 0.0;
  return nn::dot_product_attention(x[0], x[1], x[2], options);
}
/// The output and the gradients of all operands, for a cotangent with no pattern.
Arrays forwards_and_backwards(const Arrays& x, const Which& which) {
  const auto f = [&](const Arrays& in) { return attend(in, which); };
  const auto run = ct::jit([&](const Arrays& in) {
    const auto [y, pull_back] = ct::vjp(f, in);
    Arrays out{y};
    const auto [gradients] =
        pull_back(np::sin(np::reshape(np::arange(y.size(), ct::f32), y.shape()) * 1.3).astype(y.dtype()));
    out.insert(out.end(), gradients.begin(), gradients.end());
    return out;
  });
  return run(x);
}
void compare(const Arrays& x, const Which& which, double tolerance, const std::string& what) {
  const Arrays got = forwards_and_backwards(x, which), want = forwards_and_backwards(on_native(x), which);
  for (std::size_t k = 0; k < got.size(); ++k)
    expect_near(got[k], want[k], tolerance, fmt::format("{}, result {}", what, k));
}

TEST_F(WebGpuAttention, AnySizes) {
  for (const Sizes& s :
       {Sizes{1, 1, 1, 1, 1, 1}, Sizes{2, 3, 17, 2, 2, 4}, Sizes{1, 17, 3, 4, 2, 8}, Sizes{1, 64, 65, 2, 1, 20},
        Sizes{1, 130, 65, 2, 1, 8}, Sizes{1, 17, 130, 1, 1, 64}, Sizes{1, 3, 17, 1, 1, 128}, Sizes{3, 3, 64, 2, 2, 1}})
    compare(operands(s), {.causal = s.queries > 17}, 2e-6, s.text());
}

TEST_F(WebGpuAttention, BiasesAndMasks) {
  Arrays x = operands({2, 35, 50, 4, 2, 8});
  x.push_back({});
  bool causal = false;
  for (const ct::Shape& shape : {ct::Shape{2, 4, 35, 50}, {1, 4, 1, 50}, {35, 50}, {2, 1, 35, 1}}) {
    x[3] = waves(shape, 3);
    causal = !causal;
    const std::string what = fmt::format("{} axes, causal {}", shape.size(), causal);
    if (shape.size() == 4) compare(x, {.bias = true, .causal = causal}, 2e-6, "bias, " + what);
    if (shape.size() == 2) compare(x, {.mask = true, .causal = causal}, 2e-6, "mask, " + what);
  }
  x.push_back(waves({1, 1, 35, 50}, 4));
  compare(x, {.bias = true, .mask = true, .causal = true}, 2e-6, "both");
}

/// Queries that see no key get the mean of all values, those that come later too; biases of -inf are no mask.
TEST_F(WebGpuAttention, QueriesThatSeeNothing) {
  const Sizes s{1, 70, 100, 2, 1, 8};
  Arrays x = operands(s);
  x.push_back(np::where(np::reshape(np::arange(70), {70, 1}) % 3 == 0, -1.0, waves({70, 100}, 1)));
  compare(x, {.mask = true, .causal = true}, 2e-6, "mask");
  const float infinity = std::numeric_limits<float>::infinity();
  x.back() = np::where(np::reshape(np::arange(70), {70, 1}) % 3 == 0, -infinity, waves({70, 100}, 1));
  compare(x, {.bias = true, .causal = true}, 2e-6, "-inf");
}

TEST_F(WebGpuAttention, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {nan, infinity, -infinity})
    for (const std::size_t operand : {0u, 1u, 2u}) {
      Arrays x = operands({1, 20, 40, 2, 2, 8});
      x[operand] = x[operand].at(0, 7, 1, 3).set(bad);
      compare(x, {}, 2e-6, fmt::format("{} in operand {}", bad, operand));
    }
  // Scores of some hundreds, which are themselves rounded to 2e-5.
  Arrays x = operands({1, 20, 40, 2, 2, 8});
  x[0] = x[0] * 100.0;
  compare(x, {}, 2e-4, "large scores");
}

TEST_F(WebGpuAttention, Halves) {
  for (const auto& [dtype, tolerance] : {std::pair{ct::f16, 1e-3}, {ct::bf16, 8e-3}}) {
    Arrays x = operands({2, 33, 40, 4, 2, 16});
    for (Array& a : x) a = a.astype(dtype);
    compare(x, {.causal = true}, tolerance, fmt::format("{}", ct::name(dtype)));
  }
}

TEST_F(WebGpuAttention, ViewsAreNotCopied) {
  // Heads as slices of one product, in another order of axes.
  const auto f = [](const Array& all) {
    const Array heads = np::transpose(np::reshape(all, {2, 40, 2, 3, 8}), {3, 0, 1, 2, 4});
    return nn::dot_product_attention(heads[0], heads[1], heads[2], {.is_causal = true});
  };
  const Array x = waves({2, 40, 48}, 0);
  EXPECT_EQ(ct::explain(ct::jit(f), x).dispatches, 1);
  expect_near(ct::jit(f)(x), ct::jit(f)(ct::device_put(x, "native")), 2e-6, "views");
}

TEST_F(WebGpuAttention, FewDispatchesAndNoScoresInMemory) {
  const Sizes s{2, 512, 512, 4, 4, 16};
  const Arrays x = operands(s);
  const std::int64_t one = 4 * x[0].size(), scores = 4 * s.batch * s.heads * s.queries * s.keys;
  const auto f = [](const Arrays& in) { return attend(in, {.causal = true}); };
  const auto forward = ct::explain(ct::jit(f), x);
  EXPECT_EQ(forward.dispatches, 1);
  EXPECT_NE(forward.steps.find("attention 512x512x16"), std::string::npos) << forward.steps;
  EXPECT_LT(forward.peak_bytes, 5 * one);
  const auto loss = [&](const Arrays& in) { return np::sum(np::square(f(in))); };
  const auto both = ct::explain(ct::jit(ct::value_and_grad(loss)), x);
  // Forwards, the output times its cotangent, keys, queries; the loss is a long sum, which is two.
  EXPECT_LE(both.dispatches, 6) << both.steps;
  const Arrays few = operands({1, 64, 64, 2, 2, 16});
  EXPECT_LE(ct::explain(ct::jit(ct::value_and_grad(loss)), few).dispatches, 5);
  EXPECT_NE(both.steps.find("attention_backward keys"), std::string::npos) << both.steps;
  EXPECT_LT(both.peak_bytes, 10 * one);
  EXPECT_LT(both.peak_bytes, scores);
}

TEST_F(WebGpuAttention, UnderTransforms) {
  const Arrays x{waves({3, 2, 9, 4, 8}, 0), waves({2, 12, 2, 8}, 1), waves({3, 2, 12, 2, 8}, 2), waves({4, 1, 12}, 3)};
  const auto one = [](const Array& q, const Array& k, const Array& v, const Array& bias) {
    return nn::dot_product_attention(q, k, v, {.bias = bias, .is_causal = true});
  };
  const auto loss = [&](const Array& q, const Array& k, const Array& v, const Array& bias) {
    return np::sum(np::sin(one(q, k, v, bias)));
  };
  const auto batched = ct::jit(ct::vmap(one, {.in_axes = {0, ct::none, 0, ct::none}}));
  const auto gradients = ct::jit(ct::vmap(ct::grad<0, 1, 2, 3>(loss), {.in_axes = {0, ct::none, 0, ct::none}}));
  const Arrays n = on_native(x);
  EXPECT_EQ(ct::explain(batched, x[0], x[1], x[2], x[3]).dispatches, 1)
      << ct::explain(batched, x[0], x[1], x[2], x[3]).text();
  expect_near(batched(x[0], x[1], x[2], x[3]), batched(n[0], n[1], n[2], n[3]), 2e-6, "vmap");
  const auto [gq, gk, gv, gb] = gradients(x[0], x[1], x[2], x[3]);
  const auto [wq, wk, wv, wb] = gradients(n[0], n[1], n[2], n[3]);
  expect_near(gq, wq, 5e-6, "vmap of grad, query");
  expect_near(gk, wk, 5e-6, "vmap of grad, key");
  expect_near(gv, wv, 5e-6, "vmap of grad, value");
  expect_near(gb, wb, 5e-6, "vmap of grad, bias");
  // Derivatives of derivatives, and forward mode.
  const auto along = [&](const Array& q, const Array& k, const Array& v, const Array& bias) {
    const auto f = [&](const Array& a) { return loss(a, k, v, bias); };
    return np::sum(np::square(ct::grad(f)(q)));
  };
  const auto second = ct::jit(ct::grad<0, 1>(along));
  const auto [s0, s1] = second(x[0][0], x[1], x[2][0], x[3]);
  const auto [w0, w1] = second(n[0][0], n[1], n[2][0], n[3]);
  expect_near(s0, w0, 1e-5, "second derivative, query");
  expect_near(s1, w1, 1e-5, "second derivative, key");
  const auto forward = ct::jit([&](const Array& q, const Array& k, const Array& v) {
    return ct::jvp([&](const Array& a) { return nn::dot_product_attention(a, k, v, {.is_causal = true}); },
                   std::tuple{q}, std::tuple{np::cos(q)})
        .second;
  });
  expect_near(forward(x[0][0], x[1], x[2][0]), forward(n[0][0], n[1], n[2][0]), 5e-6, "jvp");
  // In a loop it is what it is made of.
  const auto looped = ct::jit([](const Array& q, const Array& k) {
    return ct::lax::scan([&](const Array& c,
                             const Array& row) { return std::pair{nn::dot_product_attention(c, k, k) + row, row}; },
                         q, np::stack({q, q}))
        .first;
  });
  expect_near(looped(x[0][0], x[1]), looped(n[0][0], n[1]), 5e-6, "in a loop");
}

/// Other tiles than the rules': threads of a row that are one subgroup ask each other, as on a GPU.
TEST_F(WebGpuAttention, OtherTiles) {
  for (const char* tile : {"8x2x8,4x2x8", "3x3x16,2x3x4"}) {
    setenv("COTAN_WEBGPU_ATTENTION", tile, 1);
    ct::clear_caches();
    Arrays x = operands({1, 37, 50, 2, 1, 12});
    x.push_back(waves({37, 50}, 5));
    compare(x, {.mask = true, .causal = true}, 2e-6, tile);
  }
  unsetenv("COTAN_WEBGPU_ATTENTION");
  ct::clear_caches();
}

}  // namespace
