// Matrix products on the device against the reference: sizes around those of tiles, operands as they lie in
// memory, every way to cut a product up, and products among other things.
#include "backend/gpu/routines/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cstdlib>

#include "support/expect_error.hpp"

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;

namespace {

using Function = std::function<Array(const Arrays&)>;

struct OnDevice {
  explicit OnDevice(const char* name) { ct::default_device(name); }
  ~OnDevice() { ct::default_device(before.name()); }
  const ct::Device before = ct::default_device();
};
struct WithTile {
  explicit WithTile(const std::string& tile) {
    setenv("COTAN_WEBGPU_MATMUL", tile.c_str(), 1);
    ct::clear_caches();  // programs know their tiles
  }
  ~WithTile() {
    unsetenv("COTAN_WEBGPU_MATMUL");
    ct::clear_caches();
  }
};

/// Numbers in [-1, 1), or small integers of either sign.
Array noise(const ct::Shape& shape, ct::DType dtype = ct::f32, std::uint64_t seed = 1) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<double> v(static_cast<std::size_t>(n));
  std::uint64_t state = 12345 + seed;
  const bool whole = ct::is_integer(dtype), sign = dtype != ct::u8 && dtype != ct::u16 && dtype != ct::u32;
  for (double& e : v) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double u = static_cast<double>(state >> 40) / (1 << 24);
    e = whole ? std::floor((sign ? 2 * u - 1 : u) * 100) : 2 * u - 1;
  }
  return Array::from_host(v, shape).astype(dtype);
}

double epsilon(ct::DType dtype) { return dtype == ct::f16 ? 0x1p-11 : dtype == ct::bf16 ? 0x1p-8 : 0x1p-24; }

std::vector<double> values(const Array& a) {
  return ct::device_put(a, "reference").astype(ct::f64).to_vector<double>();
}

Array on_webgpu(const Function& f, const Arrays& inputs, bool is_matmul = true) {
  const OnDevice device("webgpu");
  Arrays there;
  for (const Array& a : inputs) there.push_back(ct::device_put(a, "webgpu"));
  const auto compiled = ct::jit([&](const Arrays& x) { return f(x); });
  const auto explanation = ct::explain(compiled, there);
  EXPECT_EQ(explanation.routines, 0) << "on the host";
  EXPECT_EQ(explanation.steps.find("matmul") != std::string::npos, is_matmul) << explanation.steps;
  return compiled(there);
}

/// `f` is linear in each input. In f64, and with the size of its terms, by which it may err.
void expect_product(const Function& f, const Arrays& inputs, std::int64_t depth, bool is_matmul = true) {
  const ct::DType dtype = inputs[0].dtype();
  const Array result = on_webgpu(f, inputs, is_matmul);
  ASSERT_EQ(result.dtype(), dtype);
  const OnDevice device("reference");
  const bool exact = ct::is_integer(dtype);
  Arrays plain, sizes;
  for (const Array& input : inputs) {
    const Array a = ct::device_put(input, "reference");
    plain.push_back(exact ? a : a.astype(ct::f64));
    sizes.push_back(exact ? a : np::abs(a.astype(ct::f64)));
  }
  const Array expected = f(plain);
  ASSERT_EQ(result.shape(), expected.shape());
  const auto got = values(result), want = values(expected), size = exact ? want : values(f(sizes));
  const double relative = 0x1p-24 * (8 + 4 * std::sqrt(static_cast<double>(depth)));
  int wrong = 0;
  for (std::size_t i = 0; i < got.size() && wrong < 3; ++i) {
    const double allowed = exact ? 0 : relative * size[i] + epsilon(dtype) * std::abs(want[i]);
    if (std::abs(got[i] - want[i]) <= allowed) continue;
    ++wrong;
    ADD_FAILURE() << "element " << i << " of " << got.size() << ": " << got[i] << ", not " << want[i];
  }
}

Array product(const Arrays& x) { return np::matmul(x[0], x[1]); }

/// Both ways to lie in memory, of both operands.
void expect_all_transposes(std::int64_t m, std::int64_t n, std::int64_t k, ct::DType dtype = ct::f32) {
  const bool is_matmul = k >= 16 && m * n * k > 1 << 17;
  for (const bool left : {false, true})
    for (const bool right : {false, true}) {
      SCOPED_TRACE(fmt::format("{} x {} x {}, transposed {} {}", m, n, k, left, right));
      const Arrays x{left ? noise({k, m}, dtype) : noise({m, k}, dtype),
                     right ? noise({n, k}, dtype, 2) : noise({k, n}, dtype, 2)};
      expect_product([=](const Arrays& a) { return np::matmul(left ? a[0].T() : a[0], right ? a[1].T() : a[1]); }, x, k,
                     is_matmul);
    }
}

TEST(WebGpuMatmul, SizesAroundTiles) {
  expect_all_transposes(65, 65, 65);
  for (const std::int64_t n : {64, 100, 128, 200, 513}) {
    SCOPED_TRACE(n);
    expect_product(product, {noise({n, n}), noise({n, n}, ct::f32, 2)}, n);
  }
}

TEST(WebGpuMatmul, SmallProductsAreFused) {
  for (const std::int64_t n : {1, 3, 16, 17}) expect_all_transposes(n, n, n);
}

TEST(WebGpuMatmul, UnequalSizes) {
  expect_all_transposes(17, 513, 65);
  for (const auto& [m, n, k] : {std::tuple{200, 16, 128}, {130, 100, 16}, {9, 300, 257}})
    expect_product(product, {noise({m, k}), noise({k, n}, ct::f32, 2)}, k);
}

TEST(WebGpuMatmul, SmallGridsSplitTheDepth) {
  expect_all_transposes(16, 16, 2048);
  expect_product(product, {noise({33, 3001}), noise({3001, 20}, ct::f32, 2)}, 3001);
  const auto f = ct::jit([](const Arrays& x) { return product(x); });
  const Arrays x{ct::device_put(noise({32, 8192}), "webgpu"), ct::device_put(noise({8192, 32}), "webgpu")};
  const OnDevice device("webgpu");
  const auto steps = ct::explain(f, x).steps;
  EXPECT_NE(steps.find("matmul parts"), std::string::npos) << steps;
}

TEST(WebGpuMatmul, VectorsAndNarrowMatrices) {
  expect_all_transposes(1, 700, 300);
  expect_all_transposes(513, 1, 513);
  expect_all_transposes(5, 400, 100);
  expect_all_transposes(3, 1000, 65);
  expect_all_transposes(1, 1, 200'000);
  expect_product(product, {noise({513, 300}), noise({300})}, 300);
  expect_product(product, {noise({300}), noise({300, 513})}, 300);
}

TEST(WebGpuMatmul, EveryTile) {
  const Arrays x{noise({150, 70}), noise({70, 140}, ct::f32, 2)};
  for (const char* tile :
       {"128x128x8,8x8", "128x128x8,8x8,prefetch", "128x128x8,8x8,two_buffers", "128x128x16,8x8,prefetch",
        "128x64x16,8x4,prefetch,unroll=16", "64x128x8,8x8,unroll=1,band=1", "64x64x16,8x8,two_buffers,unroll=2",
        "64x64x16,4x4", "32x32x16,4x4,prefetch,splits=3", "64x32x16,4x4,splits=64"}) {
    SCOPED_TRACE(tile);
    const WithTile scope(tile);
    expect_product(product, x, 70);
  }
}

TEST(WebGpuMatmul, LargeTilesTransposed) {
  const WithTile scope("128x128x8,8x8,prefetch");
  expect_all_transposes(150, 140, 70);
  expect_product(product, {noise({128, 64}), noise({64, 256}, ct::f32, 2)}, 64);
}

TEST(WebGpuMatmul, TilesAsText) {
  using cotan::gpu::MatmulTile;
  using cotan::gpu::parse_tile;
  MatmulTile tile;
  EXPECT_EQ(parse_tile(to_string(tile)), tile);
  tile = {.kind = MatmulTile::Kind::narrow,
          .rows = 4,
          .columns = 3,
          .depth = 64,
          .thread_rows = 1,
          .thread_columns = 1,
          .splits = 7};
  EXPECT_EQ(parse_tile(to_string(tile)), tile);
  EXPECT_THROW(parse_tile("128x128"), ct::ValueError);
  EXPECT_THROW(parse_tile("128x128x16,fast"), ct::ValueError);
  EXPECT_THROW(parse_tile("128x128x16,unroll=x"), ct::ValueError);
}

TEST(WebGpuMatmul, Batches) {
  expect_product(product, {noise({3, 65, 70}), noise({3, 70, 60}, ct::f32, 2)}, 70);
  expect_product(product, {noise({2, 3, 64, 48}), noise({3, 48, 64}, ct::f32, 2)}, 48);
  expect_product(product, {noise({5, 64, 64}), noise({64, 64}, ct::f32, 2)}, 64);
  expect_product(product, {noise({2, 1, 300}), noise({2, 300, 500}, ct::f32, 2)}, 300);
  // Broadcast: the same matrix for every batch.
  expect_product([](const Arrays& x) { return np::matmul(np::broadcast_to(x[0], {4, 64, 64}), x[1]); },
                 {noise({64, 64}), noise({4, 64, 64}, ct::f32, 2)}, 64);
  // Heads: batch axes that are not neighbours in memory.
  const auto heads = [](const Arrays& x) { return np::einsum("bqhd,bkhd->bhqk", {x[0], x[1]}); };
  expect_product(heads, {noise({2, 60, 3, 64}), noise({2, 70, 3, 64}, ct::f32, 2)}, 64);
}

TEST(WebGpuMatmul, SeveralAxes) {
  const auto free = [](const Arrays& x) { return np::einsum("iaj,jb->iab", {x[0], x[1]}); };
  expect_product(free, {noise({9, 17, 60}), noise({60, 33}, ct::f32, 2)}, 60);
  const auto transposed = [](const Arrays& x) { return np::einsum("aji,bj->aib", {x[0], x[1]}); };
  expect_product(transposed, {noise({9, 60, 17}), noise({33, 60}, ct::f32, 2)}, 60);
  const auto contracted = [](const Arrays& x) { return np::einsum("ijk,kbj->ib", {x[0], x[1]}); };
  expect_product(contracted, {noise({70, 12, 11}), noise({11, 65, 12}, ct::f32, 2)}, 132);
}

TEST(WebGpuMatmul, PartsOfLargerArrays) {
  const auto sliced = [](const Arrays& x) {
    return np::matmul(lax::slice(x[0], {3, 5}, {73, 69}), lax::slice(x[1], {1, 0}, {129, 140}, {2, 2}));
  };
  expect_product(sliced, {noise({80, 75}), noise({130, 141}, ct::f32, 2)}, 64);
  const auto flipped = [](const Arrays& x) { return np::matmul(np::flip(x[0], 1), np::flip(x[1], 0)); };
  expect_product(flipped, {noise({70, 64}), noise({64, 66}, ct::f32, 2)}, 64);
}

TEST(WebGpuMatmul, Types) {
  for (const ct::DType dtype : {ct::f16, ct::bf16, ct::i32, ct::u32, ct::i8, ct::u8, ct::i16, ct::u16}) {
    SCOPED_TRACE(ct::name(dtype));
    expect_product(product, {noise({40, 85}, dtype), noise({85, 41}, dtype, 2)}, 85);
    if (ct::itemsize(dtype) == 1) continue;
    expect_product(product, {noise({16, 2000}, dtype), noise({2000, 17}, dtype, 2)}, 2000);
    expect_product(product, {noise({300, 600}, dtype), noise({600, 1}, dtype, 2)}, 600);
  }
}

TEST(WebGpuMatmul, NotANumberStaysInItsRow) {
  std::vector<float> v(70 * 65, 1.0f);
  v[3 * 65 + 64] = NAN;
  v[5 * 65] = INFINITY;
  const auto got = values(on_webgpu(product, {Array::from_host(v, {70, 65}), np::ones({65, 66})}));
  for (std::size_t i = 0; i < 70; ++i)
    for (std::size_t j = 0; j < 66; ++j) {
      const double x = got[i * 66 + j];
      if (i == 3)
        EXPECT_TRUE(std::isnan(x));
      else
        EXPECT_EQ(x, i == 5 ? INFINITY : 65.0) << i << " " << j;
    }
}

/// Any function, within a tolerance of its own.
void expect_same(const Function& f, const Arrays& inputs, double tolerance) {
  const Array result = on_webgpu(f, inputs);
  const OnDevice device("reference");
  Arrays wide;
  for (const Array& a : inputs) wide.push_back(ct::device_put(a, "reference").astype(ct::f64));
  const auto got = values(result), want = values(f(wide));
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << i;
}

TEST(WebGpuMatmul, WithSomethingBeforeAndAfter) {
  const auto layer = [](const Arrays& x) { return np::tanh(np::matmul(np::sin(x[0]) * 2.0, x[1]) + x[2]); };
  expect_same(layer, {noise({70, 64}), noise({64, 65}, ct::f32, 2), noise({65}, ct::f32, 3)}, 1e-5);
  const auto chain = [](const Arrays& x) {
    return np::matmul(np::matmul(x[0], x[1]) * 0.1, np::matmul(x[1], x[0]).T());
  };
  expect_same(chain, {noise({64, 64}), noise({64, 64}, ct::f32, 2)}, 1e-4);
}

TEST(WebGpuMatmul, Gradients) {
  const auto f = [](const Array& a, const Array& b) { return np::sum(np::tanh(np::matmul(a, b) * 0.1)); };
  const auto gradient = [&](const Arrays& x) {
    const auto [da, db] = ct::grad<0, 1>(f)(x[0], x[1]);
    return np::concatenate({np::ravel(da), np::ravel(db)});
  };
  expect_same(gradient, {noise({70, 64}), noise({64, 65}, ct::f32, 2)}, 1e-5);
}

TEST(WebGpuMatmul, InsideLoops) {
  // The matrices of the steps, the carry, and the results are parts of larger arrays.
  const auto loop = [](const Arrays& x) {
    const auto [last, all] = lax::scan(
        [](const Array& carry, const Array& m) {
          const Array next = np::matmul(carry, m) * 0.15;
          return std::pair{next, np::sum(next, 0)};
        },
        x[0], x[1]);
    return np::concatenate({np::ravel(last), np::ravel(all)});
  };
  for (const std::int64_t steps : {1, 4, 5})
    expect_same(loop, {noise({64, 64}), noise({steps, 64, 64}, ct::f32, 2)}, 1e-4);
  // A product goes straight to its place among the results.
  const auto stacked = [](const Arrays& x) {
    return lax::scan([&](const Array& c, const Array& m) { return std::pair{c + 1.0, np::matmul(m, x[0]) * c}; },
                     np::sum(x[0]) * 0.0, x[1])
        .second;
  };
  expect_same(stacked, {noise({64, 64}), noise({3, 64, 64}, ct::f32, 2)}, 1e-4);
  const auto split = [](const Arrays& x) {
    return lax::scan(
               [](const Array& c, const Array& m) {
                 return std::pair{np::tanh(np::matmul(c, m) * 0.02 + np::matmul(c, m.T()) * 0.02), c};
               },
               x[0], x[1])
        .first;
  };
  const WithTile scope("32x32x16,4x4,prefetch,splits=4");
  expect_same(split, {noise({20, 128}), noise({3, 128, 128}, ct::f32, 2)}, 1e-4);
}

TEST(WebGpuMatmul, InsideBranchesAndWhile) {
  const auto branch = [](const Arrays& x) {
    return lax::cond(
        np::sum(x[0]) > 1e6, [&] { return np::matmul(x[0], x[1]); }, [&] { return np::matmul(x[1], x[0]) + 1.0; });
  };
  expect_same(branch, {noise({64, 64}), noise({64, 64}, ct::f32, 2)}, 1e-4);
  const auto until = [](const Arrays& x) {
    return lax::while_loop([](const Array& m) { return np::max(np::abs(m)) < 50.0; },
                           [&](const Array& m) { return np::matmul(m, x[1]) * 0.5; }, x[0]);
  };
  expect_same(until, {noise({64, 64}), noise({64, 64}, ct::f32, 2)}, 1e-4);
}

TEST(WebGpuMatmul, UnderVmap) {
  const auto mapped = [](const Arrays& x) {
    return ct::vmap([](const Array& a, const Array& b) { return np::matmul(a, b); })(x[0], x[1]);
  };
  expect_product(mapped, {noise({3, 64, 48}), noise({3, 48, 64}, ct::f32, 2)}, 48);
}

TEST(WebGpuMatmul, SameBitsEveryTime) {
  const Arrays x{noise({40, 3000}), noise({3000, 40}, ct::f32, 2)};
  const auto first = values(on_webgpu(product, x));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(values(on_webgpu(product, x)), first);
}

}  // namespace
