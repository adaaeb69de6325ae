// Kernels that are bound by memory against the reference: rows in registers and in loops, read one by one and in fours,
// by few threads and by many; columns; transposes in tiles.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <limits>

#include "support/nightly.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
using ct::Array;
using ct::Arrays;

namespace {

using Function = std::function<Array(const Array&)>;

Array waves(const ct::Shape& shape, bool with_rare_values = false) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i % 100003) + 1) * 3);
  if (with_rare_values) {
    v[v.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    v[v.size() / 3] = std::numeric_limits<float>::infinity();
    v[v.size() / 5] = -std::numeric_limits<float>::infinity();
  }
  return Array::from_host(v, shape);
}

std::vector<double> on(const char* device, const Function& f, const Array& x) {
  const ct::Device before = ct::default_device();
  ct::default_device(device);
  const Array y = ct::jit(f)(ct::device_put(x, device));
  std::vector<double> out = ct::device_put(y, "reference").astype(ct::f64).to_vector<double>();
  ct::default_device(before.name());
  return out;
}

/// `terms`: how many numbers are summed for each result.
void expect_same(const Function& f, const Array& x, double terms, const std::string& what) {
  const auto expected = on("native", f, x), got = on("webgpu", f, x);
  ASSERT_EQ(expected.size(), got.size()) << what;
  const double tolerance = 3e-7 * (8 + std::sqrt(terms));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      ASSERT_EQ(std::isnan(expected[i]), std::isnan(got[i])) << what << " at " << i << ": " << got[i];
      if (std::isinf(expected[i])) {
        ASSERT_EQ(expected[i], got[i]) << what << " at " << i;
      }
    } else {
      ASSERT_NEAR(expected[i], got[i], tolerance * (1 + std::abs(expected[i]) + std::sqrt(terms)))
          << what << " at " << i;
    }
  }
}

Array softmax(const Array& x) {
  const Array e = np::exp(x - np::max(x, -1, true));
  return e / np::sum(e, -1, true);
}
Array layer_norm(const Array& x) {
  const Array c = x - np::mean(x, -1, true);
  return c / np::sqrt(np::mean(c * c, -1, true) + 1e-5f) * np::cos(np::arange(x.shape().back(), ct::f32)) + 0.5f;
}
Array gradient_of(const Function& f, const Array& x) { return std::get<0>(ct::vjp(f, x).second(np::cos(x) + 0.25f)); }

const std::vector<ct::Shape>& row_shapes() {
  static const std::vector<ct::Shape> shapes = {{3, 1},      {5, 3},     {7, 4},    {3, 64},   {300, 16},
                                                {9, 1000},   {9, 1001},  {5, 1024}, {3, 5000}, {600, 132},
                                                {2, 100000}, {4, 3, 20}, {1, 1023}};
  return shapes;
}

TEST(WebGpuRows, SoftmaxAndItsGradient) {
  for (const ct::Shape& shape : row_shapes()) {
    const std::string what = fmt::format("{}", fmt::join(shape, " x "));
    expect_same(softmax, waves(shape), static_cast<double>(shape.back()), what);
    expect_same([](const Array& x) { return gradient_of(softmax, x); }, waves(shape), static_cast<double>(shape.back()),
                what + ", gradient");
  }
}

TEST(WebGpuRows, LayerNormAndItsGradient) {
  for (const ct::Shape& shape : row_shapes()) {
    if (shape.back() == 1) continue;  // 0 / sqrt(0 + 1e-5)
    const std::string what = fmt::format("{}", fmt::join(shape, " x "));
    expect_same(layer_norm, waves(shape), static_cast<double>(shape.back()), what);
    expect_same([](const Array& x) { return gradient_of(layer_norm, x); }, waves(shape),
                static_cast<double>(shape.back()), what + ", gradient");
  }
}

TEST(WebGpuRows, ReductionsOfAllKindsWithRareValues) {
  const std::vector<std::pair<const char*, std::function<Array(const Array&, int)>>> kinds = {
      {"sum", [](const Array& x, int axis) { return np::sum(x, axis); }},
      {"max", [](const Array& x, int axis) { return np::max(x, axis); }},
      {"min", [](const Array& x, int axis) { return np::min(x, axis); }},
      {"argmax", [](const Array& x, int axis) { return np::argmax(x, axis); }},
      {"argmin", [](const Array& x, int axis) { return np::argmin(x, axis); }},
      {"any", [](const Array& x, int axis) { return np::any(x > 2.999f, axis); }},
      {"all", [](const Array& x, int axis) { return np::all(x < 2.999f, axis); }},
      {"count", [](const Array& x, int axis) { return np::sum((x > 0.f).astype(ct::i32), axis); }},
      {"half", [](const Array& x, int axis) { return np::max(x.astype(ct::f16), axis); }}};
  for (const auto& [name, f] : kinds)
    for (const ct::Shape& shape :
         {ct::Shape{6, 5}, {40, 36}, {1000, 33}, {33, 1000}, {7, 5000}, {5000, 7}, {20000, 1}, {1, 20000}})
      for (int axis : {0, 1})
        expect_same([&f = f, axis](const Array& x) { return f(x, axis); }, waves(shape, true),
                    static_cast<double>(shape[static_cast<std::size_t>(axis)]),
                    fmt::format("{} along {} of {}", name, axis, fmt::join(shape, " x ")));
}

TEST(WebGpuRows, ArraysThatDoNotBeginAtMultiplesOfFour) {
  for (std::int64_t first : {1, 2, 3, 4})
    for (std::int64_t n : {64, 65, 1000, 4096}) {
      const Array x = waves({9, n + first});
      const auto part = [&](const Array& whole) { return ct::lax::slice(whole, {0, first}, {9, n + first}); };
      const std::string what = fmt::format("from {}, {} elements", first, n);
      expect_same([&](const Array& a) { return softmax(part(a)); }, x, static_cast<double>(n), what);
      expect_same([&](const Array& a) { return np::sum(part(a), 0); }, x, 9, what);
      expect_same([&](const Array& a) { return np::sum(np::concatenate({part(a), a}, 1), 1); }, x,
                  static_cast<double>(2 * n), what);
    }
}

TEST(WebGpuRows, RowsAndTheirResultsTogether) {
  // What a later pass reads of an earlier one is both stored and used.
  const Function f = [](const Array& x) {
    const Array c = x - np::mean(x, -1, true), v = np::sum(c * c, -1);
    return np::concatenate({(c / (v.reshape({x.shape()[0], 1}) + 1.f)).reshape({-1}), v, c.reshape({-1})}, 0);
  };
  for (const ct::Shape& shape : {ct::Shape{5, 12}, {600, 128}, {7, 1000}})
    expect_same(f, waves(shape), static_cast<double>(shape[1]), fmt::format("{}", fmt::join(shape, " x ")));
}

TEST(WebGpuRows, SumsOfEverything) {
  for (std::int64_t n : {5, 4096, 65536, 65537, 300001, 1 << 20})
    expect_same([](const Array& x) { return np::sum(x * x); }, waves({n}), static_cast<double>(n),
                fmt::format("{}", n));
  for (const ct::Shape& shape : {ct::Shape{70000, 5}, {3000, 130}, {40, 50, 60}})
    expect_same([](const Array& x) { return np::sum(x, 0); }, waves(shape), static_cast<double>(shape[0]),
                fmt::format("{}", fmt::join(shape, " x ")));
}

TEST(WebGpuRows, SumsAreTheSameEveryTime) {
  const Array x = waves({400, 3000});
  const Function f = [](const Array& a) {
    return np::concatenate({np::sum(a, 0), np::sum(a, 1), np::sum(a).reshape({1})}, 0);
  };
  const auto first = on("webgpu", f, x);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(first, on("webgpu", f, x));
}

TEST(WebGpuRows, TransposesInTiles) {
  for (const ct::Shape& shape : {ct::Shape{300, 300}, {256, 512}, {1000, 77}, {33, 4000}, {17, 5000}, {20000, 5}})
    expect_same([](const Array& x) { return np::transpose(x) * 2.f; }, waves(shape), 1,
                fmt::format("{}", fmt::join(shape, " x ")));
  for (const ct::Shape& shape : {ct::Shape{5, 130, 120}, {40, 3, 600}, {3, 70, 40, 20}}) {
    const int last = static_cast<int>(shape.size()) - 1;
    expect_same([&](const Array& x) { return np::swapaxes(x, 0, last); }, waves(shape), 1, "first and last");
    expect_same([&](const Array& x) { return np::swapaxes(x, last - 1, last); }, waves(shape), 1, "the last two");
  }
  // What is read across goes through tiles, what is read along does not, and comparisons are tiles of bool.
  expect_same(
      [](const Array& x) {
        return np::where(np::transpose(x) > x, np::transpose(x) + x, np::flip(np::transpose(x), 0));
      },
      waves({290, 290}), 1, "several");
}

TEST(WebGpuRows, RunningResults) {
  const std::vector<std::pair<const char*, std::function<Array(const Array&, int, bool)>>> kinds = {
      {"cumsum", [](const Array& x, int axis, bool reverse) { return ct::lax::cumsum(x, axis, reverse); }},
      {"cumprod",
       [](const Array& x, int axis, bool reverse) { return ct::lax::cumprod(1.f + 0.001f * x, axis, reverse); }},
      {"cummax", [](const Array& x, int axis, bool reverse) { return ct::lax::cummax(x, axis, reverse); }},
      {"cummin of integers", [](const Array& x, int axis,
                                bool reverse) { return ct::lax::cummin((x * 1000.f).astype(ct::i32), axis, reverse); }},
      {"cumsum of bytes", [](const Array& x, int axis, bool reverse) {
         return ct::lax::cumsum((x * 20.f).astype(ct::i8), axis, reverse);
       }}};
  for (const auto& [name, f] : kinds)
    for (const ct::Shape& shape : {ct::Shape{20000}, {16384, 1}, {50, 400}, {3, 7001}, {17, 1024}})
      for (bool reverse : {false, true}) {
        const int axis = shape.back() == 1 || shape.size() == 1 ? 0 : 1;
        expect_same([&f = f, axis, reverse](const Array& x) { return f(x, axis, reverse); }, waves(shape),
                    static_cast<double>(shape[static_cast<std::size_t>(axis)]),
                    fmt::format("{}{} of {}", name, reverse ? ", reversed," : "", fmt::join(shape, " x ")));
      }
  for (const ct::Shape& shape : {ct::Shape{2, 100000}, {1100000, 1}})
    expect_same([&](const Array& x) { return ct::lax::cumsum(x, shape[1] == 1 ? 0 : 1); }, waves(shape), 1e5,
                "many tiles");
  expect_same([](const Array& x) { return ct::lax::cummax(x, 0); }, waves({30000}, true), 1, "with rare values");
  expect_same([](const Array& x) { return ct::grad([](const Array& a) { return np::sum(np::cumsum(a) * a); })(x); },
              waves({20000}), 20000, "gradient");
}

TEST(WebGpuRows, LongSorts) {
  for (std::int64_t n :
       is_nightly() ? std::vector<std::int64_t>{3000, 8192, 30001} : std::vector<std::int64_t>{30001}) {
    const std::string what = fmt::format("{} elements", n);
    const Array x = waves({n}, true);
    expect_same([](const Array& a) { return np::sort(a); }, x, 0, what);
    expect_same([](const Array& a) { return np::argsort(a); }, x, 0, what + ", positions");
    // Many are equal: they stay in the order they are in.
    expect_same([](const Array& a) { return np::argsort((a * 5.f).astype(ct::i32)); }, waves({n}), 0,
                what + ", integers");
    expect_same([](const Array& a) { return np::argsort((a * a).astype(ct::u8)); }, waves({n}), 0, what + ", bytes");
    expect_same([](const Array& a) { return np::argsort(a > 0.f); }, waves({n}), 0, what + ", bool");
    expect_same([](const Array& a) { return np::sort(a.astype(ct::bf16)); }, x, 0, what + ", halves");
    expect_same([](const Array& a) { return ct::lax::top_k(a, 100).first; }, x, 0, what + ", the largest");
    expect_same([](const Array& a) { return np::lexsort({a, (a * 3.f).astype(ct::i32)}); }, waves({n}), 0,
                what + ", two keys");
  }
  // In a loop, where it is a network.
  expect_same(
      [](const Array& a) {
        return ct::lax::fori_loop(0, 2, [](const Array&, const Array& v) { return np::sort(v * -1.f); }, a);
      },
      waves({9000}), 0, "in a loop");
}

}  // namespace
