// What the case table cannot say of cotan::lax: functions of several arrays, barriers, platforms, names.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST(Lax, ReduceOfSeveralArrays) {
  // Where the largest is, and the largest: one function of pairs.
  const auto larger = [](const std::vector<Array>& a, const std::vector<Array>& b) {
    const Array second = b[0] > a[0];
    return std::vector<Array>{np::where(second, b[0], a[0]), np::where(second, b[1], a[1])};
  };
  const Array x = np::array({{1.f, 5.f, 2.f}, {7.f, 0.f, 7.f}}), at = lax::iota(ct::i32, {2, 3}, 1);
  const std::vector<Array> first{np::array(-np::inf).astype(ct::f32), np::array(-1)};
  const auto out = ct::jit([&](Array x) { return lax::reduce({x, at}, first, larger, {1}); })(x);
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{5, 7}));
  EXPECT_EQ(out[1].to_vector<int>(), (std::vector<int>{1, 0}));
  const auto windows = lax::reduce_window({x, at}, first, larger, {1, 2}, {.padding = {{0, 0}, {1, 0}}});
  EXPECT_EQ(windows[0].to_vector<float>(), (std::vector<float>{1, 5, 5, 7, 7, 7}));
  EXPECT_EQ(windows[1].to_vector<int>(), (std::vector<int>{0, 1, 1, 0, 0, 2}));
}

TEST(Lax, ReductionsWithNamesAreRecognized) {
  const Array x = np::ones({4, 6});
  const auto program = [&](auto f) { return ct::make_jaxpr(f)(x).str(); };
  EXPECT_NE(program([](Array x) { return lax::reduce(x, 0.0, lax::add, {1}); }).find("reduce_sum"), std::string::npos);
  EXPECT_NE(program([](Array x) {
              return lax::reduce(x, 1.0, [](Array a, Array b) { return b * a; }, {0});
            }).find("reduce_prod"),
            std::string::npos);
  const std::string pooled =
      program([](Array x) { return lax::reduce_window(x, -np::inf, np::maximum, {2, 2}, {.window_strides = {2, 2}}); });
  EXPECT_EQ(count(pooled, "reduce_window_max"), 1);
  EXPECT_EQ(pooled.find("window_patches"), std::string::npos);
}

TEST(Lax, DerivativesOfAnyReduction) {
  // JAX has none of these in reverse mode.
  const Array x = np::array({0.5, -1.0, 2.0, 0.25}, ct::f64);
  const auto sum = [](Array x) { return lax::reduce(x, -np::inf, np::logaddexp, {0}); };
  const auto windows = [](Array x) { return np::sum(lax::reduce_window(x, 1.0, lax::mul, {2})); };
  const Array soft = np::exp(x) / np::sum(np::exp(x));
  EXPECT_TRUE(np::allclose(ct::grad(sum)(x), soft, 1e-12).item<bool>());
  EXPECT_TRUE(np::allclose(ct::grad(windows)(x), np::array({-1.0, 2.5, -0.75, 2.0}, ct::f64), 1e-12).item<bool>());
}

TEST(Lax, BarriersStay) {
  const Array x = np::ones({64});
  const auto f = [](Array x) {
    const Array y = np::sin(x);
    return lax::optimization_barrier(np::sin(x)) + lax::optimization_barrier(y * 2.0);
  };
  const auto compiled = ct::jit(f);
  EXPECT_EQ(count(ct::make_jaxpr(compiled)(x).simplified().str(), "optimization_barrier"), 2);
  const ct::Explanation e = ct::explain(compiled, x);
  EXPECT_GE(e.kernels + e.routines, 4) << e.text();  // nothing is computed across
  EXPECT_TRUE(np::allclose(compiled(x), np::sin(x) * 3.0, 1e-5).item<bool>());
  const auto both = lax::optimization_barrier({x, x * 2.0});
  EXPECT_EQ(both.size(), 2u);
}

TEST(Lax, PlatformsChooseWhereTheyRun) {
  const auto f = [](Array x) {
    return lax::platform_dependent(
        {{"native", [](const Array& a) { return a + 1.0; }}, {"reference", [](const Array& a) { return a + 2.0; }}},
        [](const Array& a) { return a; }, x);
  };
  const auto compiled = ct::jit(f);
  for (const char* device : {"native", "reference"}) {
    const Array x = ct::device_put(np::zeros({2}), device);
    const float want = std::string(device) == "native" ? 1.f : 2.f;
    EXPECT_EQ(f(x).to_vector<float>()[0], want) << device;
    EXPECT_EQ(compiled(x).to_vector<float>()[1], want) << device;
    EXPECT_EQ(ct::vmap(f)(x).to_vector<float>()[1], want) << device;
  }
}

TEST(Lax, CompositesHaveNames) {
  const auto f = lax::composite([](Array x) { return np::sin(x) * x; }, "my.op", 2);
  const Array x = np::array({1.0, 2.0}, ct::f64);
  EXPECT_NE(ct::make_jaxpr([&](Array x) { return f(x); })(x).str().find("my.op.2"), std::string::npos);
  EXPECT_TRUE(np::allclose(f(x), np::sin(x) * x).item<bool>());
}

TEST(Lax, TangentsAreRoundedWithTheirValues) {
  const auto f = [](Array x) { return np::sum(lax::reduce_precision(x, 5, 2) * 1.2345); };
  EXPECT_EQ(ct::grad(f)(np::array({1.1, 2.3}, ct::f64)).to_vector<double>(), (std::vector<double>{1.25, 1.25}));
}

TEST(Lax, RngUniformIsInRange) {
  const Array x = lax::rng_uniform(2.0f, 3.0f, {100}), y = lax::rng_uniform(2.0f, 3.0f, {100});
  EXPECT_GE(np::min(x).item<float>(), 2.f);
  EXPECT_LT(np::max(x).item<float>(), 3.f);
  EXPECT_FALSE(np::all(x == y).item<bool>());
  EXPECT_EQ(lax::broadcast_shapes({{2, 1}, {3}}), (ct::Shape{2, 3}));
}
