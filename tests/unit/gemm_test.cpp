// Matrix products of the native back end: every element type, odd sizes and strides, against a plain triple
// loop; and the same bits for every number of threads.
#include "backend/native/routines/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include "backend/native/runtime/thread_pool.hpp"

using namespace cotan;
using cotan::native::Matrix;

namespace {

template <class T>
constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool is_real = is_half<T> || std::is_floating_point_v<T>;

/// Sums of halves are exact enough in double; integers are summed as unsigned, where wrapping is defined.
template <class T>
using Sum = std::conditional_t<is_real<T>, double, std::uint64_t>;

template <class T>
Sum<T> widen(T x) {
  if constexpr (is_half<T>)
    return static_cast<float>(x);
  else
    return static_cast<Sum<T>>(x);
}

template <class T>
std::vector<T> random_elements(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> elements(count);
  for (T& x : elements) {
    if constexpr (is_real<T>)
      x = static_cast<T>(std::uniform_real_distribution<float>(-1, 1)(generator));
    else
      x = static_cast<T>(generator());
  }
  return elements;
}

enum class Layout { rows, padded_rows, columns, every_other, rows_backwards };

/// A matrix with storage of its own; no element outside of it belongs to the storage, so that sanitizers see
/// reads that go too far.
template <class T>
struct TestMatrix {
  std::int64_t rows, columns;
  std::vector<T> storage;
  std::int64_t offset = 0, row_stride, column_stride;

  TestMatrix(std::int64_t rows, std::int64_t columns, Layout layout, unsigned seed) : rows(rows), columns(columns) {
    const std::int64_t padding = layout == Layout::padded_rows ? 3 : 0;
    row_stride = layout == Layout::columns ? 1 : columns + padding;
    column_stride = layout == Layout::columns ? rows : 1;
    if (layout == Layout::every_other) row_stride *= 2, column_stride *= 2;
    const bool empty = rows == 0 || columns == 0;
    const std::int64_t count = empty ? 0 : (rows - 1) * row_stride + (columns - 1) * column_stride + 1;
    storage = random_elements<T>(count, seed);
    if (layout == Layout::rows_backwards && !empty) {
      offset = (rows - 1) * row_stride;
      row_stride = -row_stride;
    }
  }
  T* data() { return storage.data() + offset; }
  T& operator()(std::int64_t i, std::int64_t j) { return data()[i * row_stride + j * column_stride]; }
  Matrix<T> view() { return {data(), row_stride, column_stride}; }
  Matrix<const T> const_view() { return {data(), row_stride, column_stride}; }
};

template <class T>
void expect_close(T actual, Sum<T> expected, Sum<T> magnitude, const std::string& where) {
  if constexpr (is_real<T>) {
    const double epsilon = std::is_same_v<T, double>     ? 0x1p-52
                           : std::is_same_v<T, float>    ? 0x1p-23
                           : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                         : 0x1p-11;
    const double tolerance = is_half<T> ? epsilon * std::abs(expected) + 1e-5 * magnitude + 1e-7
                                        : 2 * epsilon * (std::sqrt(magnitude) * 4 + magnitude);
    ASSERT_NEAR(widen(actual), expected, tolerance) << where;
  } else {
    ASSERT_EQ(actual, static_cast<T>(expected)) << where;
  }
}

template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout_a, Layout layout_b, Layout layout_c,
           bool accumulate) {
  TestMatrix<T> a(m, k, layout_a, 1), b(k, n, layout_b, 2), c(m, n, layout_c, 3);
  TestMatrix<T> before = c;
  native::gemm<T>(m, n, k, a.const_view(), b.const_view(), c.view(), accumulate);
  const std::string where = testing::PrintToString(std::tuple(m, n, k, int(layout_a), int(layout_b), int(layout_c)));
  const std::int64_t step = std::max<std::int64_t>(1, m * n / 20011);  // large results are only sampled
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = i % step; j < n; j += step) {
      Sum<T> sum = accumulate ? widen(before(i, j)) : Sum<T>(0), magnitude = 1;
      for (std::int64_t p = 0; p < k; ++p) {
        const Sum<T> term = widen(a(i, p)) * widen(b(p, j));
        sum += term;
        if constexpr (is_real<T>) magnitude += std::abs(term);
      }
      expect_close(c(i, j), sum, magnitude, where);
      if (testing::Test::HasFatalFailure()) return;
      before(i, j) = c(i, j);
    }
  if (step > 1) return;
  // What lies between the elements of C is not C's.
  for (std::size_t i = 0; i < c.storage.size(); ++i)
    ASSERT_EQ(0, std::memcmp(&c.storage[i], &before.storage[i], sizeof(T))) << where;
}

template <class T>
class Gemm : public testing::Test {};
using Types = testing::Types<float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Gemm, Types);

}  // namespace

TYPED_TEST(Gemm, SmallSizes) {
  for (std::int64_t m : {1, 2, 5, 8, 9, 17})
    for (std::int64_t n : {1, 3, 8, 15, 16, 20, 33, 50, 65})
      for (std::int64_t k : {1, 2, 7, 31})
        for (bool accumulate : {false, true})
          check<TypeParam>(m, n, k, Layout::rows, Layout::rows, Layout::rows, accumulate);
}
TYPED_TEST(Gemm, Layouts) {
  const Layout all[] = {Layout::rows, Layout::padded_rows, Layout::columns, Layout::every_other,
                        Layout::rows_backwards};
  for (Layout a : all)
    for (Layout b : all)
      for (Layout c : all)
        for (auto [m, n, k] : {std::tuple{13, 37, 29}, {1, 41, 23}, {35, 1, 70}, {1, 1, 50}, {3, 2, 1}})
          check<TypeParam>(m, n, k, a, b, c, (m + n) % 2 == 0);
}
TYPED_TEST(Gemm, SeveralBlocks) {
  check<TypeParam>(67, 261, 1100, Layout::rows, Layout::rows, Layout::rows, false);
  check<TypeParam>(270, 111, 530, Layout::columns, Layout::columns, Layout::rows, true);
  check<TypeParam>(150, 300, 90, Layout::rows, Layout::columns, Layout::columns, false);
}
/// Sizes that are cut, packed or transposed in each of the ways that there are.
TEST(GemmLarge, EveryWay) {
  using enum Layout;
  for (bool accumulate : {false, true}) {
    check<float>(530, 830, 700, rows, rows, rows, accumulate);
    check<double>(600, 210, 520, columns, rows, rows, accumulate);
    check<std::int32_t>(600, 260, 530, columns, rows, rows, accumulate);
    check<float>(19, 2111, 600, rows, columns, rows, accumulate);
    check<float>(300, 4001, 1100, rows, columns, rows, accumulate);
    check<double>(5, 307, 400, rows, columns, rows, accumulate);
    check<float>(305, 10, 70, columns, rows, rows, accumulate);
    check<double>(305, 3, 70, columns, rows, padded_rows, accumulate);
    check<float>(9, 7703, 40, rows, columns, rows, accumulate);
    check<float>(7703, 9, 40, rows, columns, rows, accumulate);
    check<std::uint64_t>(3000, 1, 300, columns, rows, padded_rows, accumulate);
    check<float>(3000, 1, 300, columns, every_other, every_other, accumulate);
  }
}
TYPED_TEST(Gemm, EmptySizes) {
  using T = TypeParam;
  T c[4] = {T(1), T(2), T(3), T(4)};
  const auto c_values = [&] { return std::vector<double>{double(c[0]), double(c[1]), double(c[2]), double(c[3])}; };
  const Matrix<const T> none{nullptr, 0, 0};
  native::gemm<T>(0, 2, 3, none, none, {c, 2, 1});
  native::gemm<T>(2, 0, 3, none, none, {c, 2, 1});
  native::gemm<T>(2, 2, 0, none, none, {c, 2, 1}, true);
  EXPECT_EQ(c_values(), (std::vector<double>{1, 2, 3, 4}));
  native::gemm<T>(2, 2, 0, none, none, {c, 2, 1});
  EXPECT_EQ(c_values(), (std::vector<double>{0, 0, 0, 0}));
}
TYPED_TEST(Gemm, Batches) {
  using T = TypeParam;
  constexpr std::int64_t batch = 37, m = 5, n = 18, k = 7;
  std::vector<T> a = random_elements<T>(batch * m * k, 1), b = random_elements<T>(k * n, 2);
  std::vector<T> all(batch * m * n), one(m * n);
  native::batched_gemm<T>(batch, {m * k, 0, m * n}, m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, {all.data(), n, 1});
  for (std::int64_t i = 0; i < batch; ++i) {
    native::gemm<T>(m, n, k, {a.data() + i * m * k, k, 1}, {b.data(), n, 1}, {one.data(), n, 1});
    ASSERT_EQ(0, std::memcmp(one.data(), all.data() + i * m * n, m * n * sizeof(T))) << i;
  }
  native::batched_gemm<T>(0, {0, 0, 0}, m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, {all.data(), n, 1});
}

/// The same bits for 1, 2 and 3 threads.
TYPED_TEST(Gemm, ThreadsDoNotShow) {
  using T = TypeParam;
  const int threads_before = num_threads();
  for (auto [m, n, k] : {std::tuple{128, 10, 512},
                         {200, 300, 600},
                         {1, 5000, 300},
                         {3000, 1, 500},
                         {2, 3, 70000},
                         {1, 1, 300000},
                         {1, 20, 50000}})
    for (bool transposed : {false, true}) {
      const Layout layout = transposed ? Layout::columns : Layout::rows;
      TestMatrix<T> a(m, k, layout, 1), b(k, n, layout, 2), c(m, n, Layout::rows, 3);
      std::vector<T> first;
      for (int threads : {1, 2, 3}) {
        set_num_threads(threads);
        native::gemm<T>(m, n, k, a.const_view(), b.const_view(), c.view());
        if (threads == 1) first = c.storage;
        EXPECT_EQ(0, std::memcmp(first.data(), c.storage.data(), first.size() * sizeof(T))) << m << " " << n;
      }
    }
  set_num_threads(threads_before);
}

TEST(GemmValues, NansAndInfinitiesPropagate) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (std::int64_t n : {1, 3, 20, 100}) {
    std::vector<float> a(n * n, 0.f), b(n * n, 1.f), c(n * n);
    b[0] = nan;
    native::gemm<float>(n, n, n, {a.data(), n, 1}, {b.data(), n, 1}, {c.data(), n, 1});
    EXPECT_TRUE(std::isnan(c[0])) << n;
    b[0] = 1, a[0] = infinity;
    native::gemm<float>(n, n, n, {a.data(), n, 1}, {b.data(), n, 1}, {c.data(), n, 1});
    EXPECT_EQ(c[0], infinity) << n;
  }
}
TEST(GemmValues, BooleansAreAndAndOr) {
  bool a[] = {true, false, false, false}, b[] = {true, true, false, true}, c[4];
  native::gemm<bool>(2, 2, 2, {a, 2, 1}, {b, 2, 1}, {c, 2, 1});
  EXPECT_TRUE(c[0] && c[1] && !c[2] && !c[3]);
}
TEST(GemmValues, HalvesRoundOnce) {
  // 2048 + 1 + 1 is 2050 in float; step by step in float16 it would stay 2048.
  const std::vector<float16> a{float16(2048), float16(1), float16(1)}, b{float16(1), float16(1), float16(1)};
  float16 c;
  native::gemm<float16>(1, 1, 3, {a.data(), 3, 1}, {b.data(), 1, 1}, {&c, 1, 1});
  EXPECT_EQ(static_cast<float>(c), 2050.f);
}
TEST(GemmValues, HalfConversionsOfEveryValue) {
  // A product with 1 gives every half back, whatever the conversions do with subnormals, infinities and NaN.
  const auto round_trip = []<class T>(T one) {
    std::vector<T> a(65536), c(65536);
    for (int i = 0; i < 65536; ++i) a[i].bits = static_cast<std::uint16_t>(i);
    native::gemm<T>(65536, 1, 1, {a.data(), 1, 1}, {&one, 1, 1}, {c.data(), 1, 1});
    for (int i = 0; i < 65536; ++i) {
      const float expected = static_cast<float>(a[i]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(static_cast<float>(c[i]))) << i;
      else
        ASSERT_EQ(static_cast<float>(c[i]), expected) << i;
    }
  };
  round_trip(float16(1));
  round_trip(bfloat16(1));
}
TEST(ThreadPool, RunsEveryChunkOnceAndRethrows) {
  const int threads_before = num_threads();
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    std::vector<int> runs(100);
    native::parallel_for(100, [&](std::int64_t chunk) { ++runs[chunk]; });
    EXPECT_EQ(runs, std::vector<int>(100, 1));
    EXPECT_THROW(native::parallel_for(10,
                                      [](std::int64_t chunk) {
                                        if (chunk == 3) throw ValueError("chunk");
                                      }),
                 ValueError);
  }
  set_num_threads(threads_before);
  EXPECT_THROW(set_num_threads(0), ValueError);
}
