// The native convolution against its definition, on random problems: layouts, turned kernels, strides,
// dilations, padding, cropping and groups; and the same bits for any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <memory>
#include <numeric>
#include <random>

#include "backend/native/routines/conv_problem.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/typed.hpp"

namespace {

using cotan::native::ConvAxis;
using cotan::native::Convolution;
using cotan::native::ConvSpatialAxis;
using Ints = std::vector<std::int64_t>;

struct Random {
  std::mt19937_64 engine;
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  template <class T>
  std::vector<T> values(std::int64_t count) {
    std::vector<T> out(count);
    for (T& v : out) v = static_cast<T>(between(-1000, 1000)) / T(500);
    return out;
  }
  /// Dense strides of axes of these sizes that lie in memory in a random order.
  Ints strides(const Ints& sizes) {
    Ints order(sizes.size()), out(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine);
    std::int64_t stride = 1;
    for (auto axis : order) {
      out[axis] = stride;
      stride *= sizes[axis];
    }
    return out;
  }
};

/// How much the axes of a random problem may vary.
struct Limits {
  std::int64_t spatial_axes, groups, batch, features, size, window;
  bool images = false;  ///< dense, rows contiguous, windows that slide by one step; else layouts are random
};

struct Problem {
  Convolution geometry;
  std::int64_t lhs_size, rhs_size, out_size;
  std::int64_t rhs_begin = 0;  // of the first element, which is not the lowest where axes run backwards
};

Problem random_problem(Random& random, const Limits& limits) {
  Convolution c;
  c.groups.size = random.between(1, limits.groups);
  c.batch.size = random.between(1, limits.batch);
  c.in_features.size = random.between(1, limits.features);
  c.out_features.size = random.between(1, limits.features);
  // Sizes of lhs: group, batch, features, …; of the kernel: group, out, in, …; of the result: group, batch,
  // out, ….
  Ints lhs = {c.groups.size, c.batch.size, c.in_features.size},
       rhs = {c.groups.size, c.out_features.size, c.in_features.size},
       out = {c.groups.size, c.batch.size, c.out_features.size};
  const std::int64_t axes = random.between(0, limits.spatial_axes);
  for (std::int64_t i = 0; i < axes; ++i) {
    ConvSpatialAxis a{};
    a.lhs_size = random.between(1, limits.size);
    a.window = random.between(1, limits.window);
    a.stride = limits.images ? 1 : random.between(1, 3);
    a.lhs_dilation = random.between(0, 1) ? 1 : random.between(1, 4);
    a.rhs_dilation = random.between(0, 1) ? 1 : random.between(1, 3);
    a.padding_low = random.between(-1, 3);
    const std::int64_t padded = (a.lhs_size - 1) * a.lhs_dilation + 1 + a.padding_low + random.between(-1, 3);
    const std::int64_t room = padded - ((a.window - 1) * a.rhs_dilation + 1);
    a.out_size = room < 0 ? 0 : room / a.stride + 1;
    c.spatial.push_back(a);
    lhs.push_back(a.lhs_size);
    rhs.push_back(a.window);
    out.push_back(a.out_size);
  }
  const auto strides = [&](const Ints& sizes) {
    return limits.images ? cotan::ops::strides_of(sizes) : random.strides(sizes);
  };
  const Ints lhs_strides = strides(lhs), rhs_strides = strides(rhs), out_strides = strides(out);
  c.groups = {c.groups.size, lhs_strides[0], rhs_strides[0], out_strides[0]};
  c.batch = {c.batch.size, lhs_strides[1], 0, out_strides[1]};
  c.in_features = {c.in_features.size, lhs_strides[2], rhs_strides[2], 0};
  c.out_features = {c.out_features.size, 0, rhs_strides[1], out_strides[2]};
  const auto product = [](const Ints& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  };
  Problem p{c, product(lhs), product(rhs), product(out)};
  for (std::size_t i = 0; i < c.spatial.size(); ++i) {
    ConvSpatialAxis& a = p.geometry.spatial[i];
    a.lhs = lhs_strides[3 + i], a.rhs = rhs_strides[3 + i], a.out = out_strides[3 + i];
    if (random.between(0, 1)) {
      p.rhs_begin += (a.window - 1) * a.rhs;
      a.rhs = -a.rhs;
    }
  }
  return p;
}

/// Adds the products of one group, image and pair of features, along spatial axis `axis` and those after it.
template <class T>
void accumulate(const Convolution& c, std::size_t axis, const T* lhs, const T* rhs, double* out) {
  if (axis == c.spatial.size()) {
    *out += static_cast<double>(*lhs) * static_cast<double>(*rhs);
    return;
  }
  const ConvSpatialAxis& a = c.spatial[axis];
  for (std::int64_t place = 0; place < a.out_size; ++place)
    for (std::int64_t tap = 0; tap < a.window; ++tap) {
      const std::int64_t spread = place * a.stride + tap * a.rhs_dilation - a.padding_low;
      if (spread < 0 || spread % a.lhs_dilation != 0 || spread / a.lhs_dilation >= a.lhs_size) continue;
      accumulate(c, axis + 1, lhs + spread / a.lhs_dilation * a.lhs, rhs + tap * a.rhs, out + place * a.out);
    }
}
template <class T>
std::vector<double> by_definition(const Problem& p, const T* lhs, const T* rhs) {
  const Convolution& c = p.geometry;
  std::vector<double> out(p.out_size, 0.0);
  for (std::int64_t g = 0; g < c.groups.size; ++g)
    for (std::int64_t n = 0; n < c.batch.size; ++n)
      for (std::int64_t o = 0; o < c.out_features.size; ++o)
        for (std::int64_t i = 0; i < c.in_features.size; ++i)
          accumulate(c, 0, lhs + g * c.groups.lhs + n * c.batch.lhs + i * c.in_features.lhs,
                     rhs + g * c.groups.rhs + o * c.out_features.rhs + i * c.in_features.rhs,
                     out.data() + g * c.groups.out + n * c.batch.out + o * c.out_features.out);
  return out;
}

template <class T>
void expect_as_defined(Random& random, const Limits& limits, double tolerance) {
  const Problem p = random_problem(random, limits);
  const std::vector<T> lhs = random.values<T>(p.lhs_size), rhs = random.values<T>(p.rhs_size);
  const std::vector<double> expected = by_definition(p, lhs.data(), rhs.data() + p.rhs_begin);
  std::vector<T> out(p.out_size, T(77)), again = out;
  const int threads = cotan::num_threads();
  cotan::native::conv(p.geometry, lhs.data(), rhs.data() + p.rhs_begin, out.data());
  cotan::set_num_threads(threads == 1 ? 3 : 1);
  cotan::native::conv(p.geometry, lhs.data(), rhs.data() + p.rhs_begin, again.data());
  cotan::set_num_threads(threads);
  EXPECT_EQ(out, again);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(static_cast<double>(out[i]), expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
}

}  // namespace

TEST(NativeConv, SmallProblems) {
  Random random{std::mt19937_64(1)};
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    expect_as_defined<float>(random, {3, 3, 3, 4, 6, 4}, 2e-5);
    expect_as_defined<double>(random, {3, 3, 3, 4, 6, 4}, 1e-13);
    if (HasFatalFailure()) return;
  }
}
TEST(NativeConv, BlocksAndSlices) {
  Random random{std::mt19937_64(2)};
  for (int i = 0; i < 16; ++i) {
    SCOPED_TRACE(i);
    expect_as_defined<float>(random, {2, 2, 6, 40, 40, 6}, 1e-3);
    expect_as_defined<double>(random, {1, 1, 60, 70, 90, 60}, 1e-11);
    if (HasFatalFailure()) return;
  }
}
TEST(NativeConv, ShiftedImages) {
  Random random{std::mt19937_64(4)};
  for (int i = 0; i < 25; ++i) {
    SCOPED_TRACE(i);
    expect_as_defined<float>(random, {2, 2, 3, 60, 30, 4, true}, 1e-3);
    expect_as_defined<double>(random, {2, 1, 2, 300, 14, 5, true}, 1e-11);
    if (HasFatalFailure()) return;
  }
}
TEST(NativeConv, AsThePrimitive) {
  using cotan::native::StridedOperand;
  Random random{std::mt19937_64(3)};
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const std::int64_t axes = random.between(0, 3), features = random.between(1, 3);
    cotan::ops::ConvParams c;
    (random.between(0, 1) ? c.batch_group_count : c.feature_group_count) = random.between(1, 3);
    for (Ints* spec : {&c.lhs_spec, &c.rhs_spec, &c.out_spec}) {
      spec->resize(2 + axes);
      std::iota(spec->begin(), spec->end(), 0);
      std::shuffle(spec->begin(), spec->end(), random.engine);
    }
    cotan::Shape lhs(2 + axes), rhs(2 + axes);
    lhs[c.lhs_spec[0]] = random.between(1, 2) * c.batch_group_count;
    lhs[c.lhs_spec[1]] = features * c.feature_group_count;
    rhs[c.rhs_spec[0]] = random.between(1, 3) * c.groups();
    rhs[c.rhs_spec[1]] = features;
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      lhs[c.lhs_spec[2 + axis]] = random.between(2, 6);
      rhs[c.rhs_spec[2 + axis]] = random.between(1, 3);
      c.window_strides.push_back(random.between(1, 3));
      c.lhs_dilation.push_back(random.between(1, 2));
      c.rhs_dilation.push_back(random.between(1, 2));
      c.padding_low.push_back(random.between(-1, 2));
      c.padding_high.push_back(random.between(-1, 2));
    }
    const auto array = [&](const cotan::Shape& shape) {
      const auto size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
      return 4.0 * cotan::Array::from_host(random.values<double>(size), shape);
    };
    constexpr cotan::DType dtypes[] = {cotan::f64, cotan::f32, cotan::f16, cotan::bf16,
                                       cotan::i8,  cotan::i32, cotan::u16, cotan::bool_};
    for (cotan::DType dtype : dtypes) {
      const cotan::Array x = array(lhs).astype(dtype), w = array(rhs).astype(dtype),
                         expected = cotan::ops::conv_general_dilated(x, w, c);
      const auto dense = [](const cotan::Array& a) {
        return StridedOperand{a.shape(), cotan::ops::strides_of(a.shape())};
      };
      const double tolerance = dtype == cotan::f16    ? 1e-2
                               : dtype == cotan::bf16 ? 1e-1
                               : dtype == cotan::f32  ? 1e-4
                                                      : 1e-12;
      cotan::dispatch(dtype, [&]<class T>() {
        const auto out = std::make_unique<T[]>(expected.size());
        cotan::native::conv(conv_problem(c, dense(x), dense(w), dense(expected)), cotan::data<T>(x), cotan::data<T>(w),
                            out.get());
        for (std::int64_t j = 0; j < expected.size(); ++j)
          ASSERT_NEAR(static_cast<double>(out[j]), static_cast<double>(cotan::data<T>(expected)[j]), tolerance)
              << dtype << ", element " << j;
      });
      if (HasFatalFailure()) return;
    }
  }
}
TEST(NativeConv, Empty) {
  Convolution c;
  c.spatial = {{.lhs_size = 0, .window = 2, .out_size = 3, .padding_low = 2, .lhs = 1, .rhs = 1, .out = 1}};
  const float kernel[] = {1, 2};
  std::vector<float> out(3, 77.0f);
  cotan::native::conv<float>(c, nullptr, kernel, out.data());
  EXPECT_EQ(out, std::vector<float>(3, 0.0f));
  c.in_features.size = 0;
  out.assign(3, 77.0f);
  cotan::native::conv<float>(c, nullptr, kernel, out.data());
  EXPECT_EQ(out, std::vector<float>(3, 0.0f));
  c.batch.size = 0;
  cotan::native::conv<float>(c, nullptr, kernel, nullptr);
}
