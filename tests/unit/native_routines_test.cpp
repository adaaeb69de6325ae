// The native routines against the evaluation rules of their primitives: cumulative operations, sorting,
// scatters and small decompositions, at sizes that are cut into chunks and at those that are not; and the
// same bits for any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/device.hpp>
#include <cstring>
#include <functional>
#include <random>

#include "core/backend.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"
#include "ops/fft.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/ops.hpp"
#include "unit/random_arrays.hpp"

namespace {

using namespace cotan;
namespace np = numpy;
using random_arrays::Integer;
using random_arrays::Values;

random_arrays::Source& source() {
  static random_arrays::Source s(17, find_backend("native"));
  return s;
}
Integer between(Integer lo, Integer hi) { return source().between(lo, hi); }
Array random_array(DType dtype, const Shape& shape, Values values = Values::plain) {
  return source().array(dtype, shape, values);
}
Array indices(DType dtype, const Shape& shape, Integer lo, Integer hi) {
  return source().indices(dtype, shape, lo, hi);
}

/// The results with each number of threads.
std::vector<Arrays> run_native(const Primitive& p, const Arrays& args, const Params& params,
                               std::initializer_list<int> threads) {
  const auto program = jit([&](const std::vector<Array>& x) { return std::vector<Array>(bind(p, x, params)); });
  const int before = num_threads();
  std::vector<Arrays> out;
  for (int n : threads) {
    set_num_threads(n);
    out.push_back(program(std::vector<Array>(args)));
  }
  set_num_threads(before);
  return out;
}
Arrays run_native(const Primitive& p, const Arrays& args, const Params& params) {
  return run_native(p, args, params, {2})[0];
}

std::size_t bytes(const Array& a) { return static_cast<std::size_t>(a.size()) * itemsize(a.dtype()); }

void expect_same_bits(const Arrays& a, const Arrays& b, const std::string& what) {
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_TRUE(bytes(a[k]) == 0 || std::memcmp(data<char>(a[k]), data<char>(b[k]), bytes(a[k])) == 0)
        << what << ", result " << k;
}

/// Equal up to a relative error; NaN is NaN, and zeros have their signs.
void expect_close(const Array& actual, const Array& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.aval().str(), expected.aval().str()) << what;
  dispatch(expected.dtype(), [&]<class T>() {
    for (Integer i = 0; i < expected.size(); ++i) {
      const auto a = static_cast<double>(static_cast<Compute<T>>(data<T>(actual)[i])),
                 e = static_cast<double>(static_cast<Compute<T>>(data<T>(expected)[i]));
      const bool same = (std::isnan(a) && std::isnan(e)) || (a == e && std::signbit(a) == std::signbit(e));
      const bool near = std::isfinite(e) && tolerance > 0 && std::abs(a - e) <= tolerance * (1 + std::abs(e));
      ASSERT_TRUE(same || near) << what << ": " << a << " instead of " << e << " at " << i << " of "
                                << expected.aval().str();
    }
  });
}

void check(const Primitive& p, const Arrays& args, const Params& params, double tolerance = 0, std::string what = {}) {
  what = std::string(p.name) + " " + args[0].aval().str() + " " + what;
  Arrays expected;
  {
    TraceScope scope(eval_trace());
    expected = p.eval(p, args, params);
  }
  const std::vector<Arrays> actual = run_native(p, args, params, {1, 2, 3});
  ASSERT_EQ(actual[0].size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) expect_close(actual[0][k], expected[k], tolerance, what);
  expect_same_bits(actual[1], actual[0], what);
  expect_same_bits(actual[2], actual[0], what);
}

struct Lines {
  Shape shape;
  Integer axis;
};

TEST(NativeRoutines, CumulativeOperations) {
  const std::vector<Lines> cases = {{{0}, 0},         {{1}, 0},           {{9}, 0},         {{40000}, 0},
                                    {{5, 33000}, 1},  {{33000, 5}, 0},    {{3000, 17}, 1},  {{3000, 4}, 1},
                                    {{300, 2500}, 0}, {{2, 5000, 40}, 1}, {{70000, 2}, 0},  {{40, 3}, 0},
                                    {{2, 0, 3}, 1},   {{2, 0, 3}, 2},     {{9, 3000, 3}, 1}};
  const Primitive* all[] = {&ops::cumsum_p, &ops::cumprod_p,      &ops::cummax_p,
                            &ops::cummin_p, &ops::cumlogsumexp_p, &ops::linear_recurrence_p};
  for (const Primitive* p : all)
    for (DType dtype : {f32, f64, bf16, i32, u8}) {
      const bool rounds = p == &ops::cumsum_p || p == &ops::cumlogsumexp_p;
      const double tolerance = !rounds || !is_floating(dtype) ? 0 : dtype == f64 ? 1e-12 : dtype == f32 ? 3e-7 : 8e-3;
      if (p == &ops::cumlogsumexp_p && !is_floating(dtype)) continue;
      for (const Lines& c : cases)
        for (bool reverse : {false, true}) {
          // One dtype at all sizes is enough.
          if (dtype != f32 && (ops::product(c.shape) > 50000 || reverse)) continue;
          const Values values = between(0, 2) == 0 ? Values::special : Values::plain;
          Arrays args = {random_array(dtype, c.shape, values)};
          if (p == &ops::linear_recurrence_p) args.push_back(random_array(dtype, c.shape, values));
          check(*p, args, {{"axis", c.axis}, {"reverse", reverse}}, tolerance, reverse ? "reverse" : "");
        }
    }
}

TEST(NativeRoutines, CumulativeSumOfOnesIsExact) {
  // Ones: every prefix is an integer that f32 holds exactly, whatever is cut where.
  const Integer n = 100003;
  const Array ones = numpy::ones({n}, f32);
  const auto sums = jit([](const Array& x) { return numpy::cumsum(x); })(ones).to_vector<float>();
  for (Integer i = 0; i < n; ++i) ASSERT_EQ(sums[i], static_cast<float>(i + 1));
}

TEST(NativeRoutines, Sort) {
  const DType dtypes[] = {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
  const std::vector<Lines> cases = {{{0}, 0},       {{1}, 0},          {{48}, 0},       {{49}, 0},
                                    {{2100}, 0},    {{70001}, 0},      {{33, 60}, 0},   {{33, 60}, 1},
                                    {{2, 0, 3}, 1}, {{2, 300, 19}, 1}, {{40000, 2}, 0}, {{3, 40000}, 1}};
  const auto params = [](Integer axis, Integer keys) {
    return Params{{"dimension", axis}, {"num_keys", keys}, {"is_stable", true}};
  };
  for (DType dtype : dtypes)
    for (const Lines& c : cases) {
      const auto values = static_cast<Values>(between(0, 2));
      const Array x = random_array(dtype, c.shape, values), with = random_array(dtypes[between(0, 12)], c.shape),
                  position = lax::iota(i32, c.shape, static_cast<int>(c.axis)),
                  second = random_array(dtypes[between(0, 12)], c.shape, Values::few);
      check(ops::sort_p, {x}, params(c.axis, 1));
      check(ops::sort_p, {x, position}, params(c.axis, 1), 0, "with positions");
      if (ops::product(c.shape) > 10000 && dtype != f32) continue;
      for (Integer keys = 1; keys <= 3; ++keys)
        check(ops::sort_p, {second, x, with}, params(c.axis, keys), 0, "by several keys");
    }
}

TEST(NativeRoutines, SortKeepsTheBitsOfEqualElements) {
  // Zeros of both signs are equal, and so are all NaN: they come in the order that they had.
  std::vector<float> x(50000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? -0.0f : std::bit_cast<float>(0x7fc00000u + static_cast<unsigned>(i));
    if (i % 7 == 0) x[i] = static_cast<float>(i % 11) - 5;
  }
  const Array a = Array::from_host(x);
  const Params params{{"dimension", Integer{0}}, {"num_keys", Integer{1}}, {"is_stable", true}};
  Arrays expected;
  {
    TraceScope scope(eval_trace());
    expected = ops::sort_p.eval(ops::sort_p, std::vector<Array>{a}, params);
  }
  expect_same_bits(run_native(ops::sort_p, {a}, params), expected, "sort");
  const Array positions = lax::iota(i32, {static_cast<Integer>(x.size())});
  expect_same_bits({run_native(ops::sort_p, {a, positions}, params)[0]}, expected, "sort with positions");
}

TEST(NativeRoutines, TopK) {
  for (DType dtype : {bool_, i8, i32, u64, bf16, f32, f64})
    for (const Shape& shape : {Shape{1}, Shape{50}, Shape{20, 300}, Shape{100000}, Shape{3, 40000}})
      for (Integer k : {0, 1, 3, 100, 20000}) {
        if (k > shape.back()) continue;
        check(ops::top_k_p, {random_array(dtype, shape, static_cast<Values>(between(0, 2)))}, {{"k", k}});
      }
}

TEST(NativeRoutines, ScattersOfAnyLayout) {
  const Primitive* all[] = {&ops::scatter_p, &ops::scatter_add_p, &ops::scatter_mul_p, &ops::scatter_min_p,
                            &ops::scatter_max_p};
  const DType dtypes[] = {bool_, i8, i32, u64, f16, bf16, f32, f64}, index_dtypes[] = {i32, i64, u8, i8, u64};
  for (int round = 0; round < 400; ++round) {
    const bool large = round % 4 == 0;
    Shape operand, batch;
    for (Integer axis = between(0, 3); axis > 0; --axis) operand.push_back(large ? between(1, 60) : between(1, 5));
    for (Integer axis = between(0, 2); axis > 0; --axis) batch.push_back(large ? between(1, 90) : between(0, 4));
    if (large && !operand.empty()) operand[between(0, static_cast<Integer>(operand.size()) - 1)] *= 20;
    // Each axis of the operand is one of: within windows, within windows that indices move, indexed, batch.
    Ints window_axes, inserted, indexed, operand_batching, index_batching, sizes;
    for (Integer axis = 0; axis < static_cast<Integer>(operand.size()); ++axis) {
      const Integer role = between(0, 3);
      if (role == 0) sizes.push_back(between(0, 2) ? operand[axis] : between(0, operand[axis]));
      if (role == 1) sizes.push_back(between(1, operand[axis]));
      if (role == 3 && operand_batching.size() < batch.size()) {
        batch[operand_batching.size()] = operand[axis];
        index_batching.push_back(static_cast<Integer>(operand_batching.size()));
        operand_batching.push_back(axis);
      } else if (role >= 2) {
        inserted.push_back(axis);
      }
      if (role == 1 || (!inserted.empty() && inserted.back() == axis)) indexed.push_back(axis);
    }
    std::shuffle(indexed.begin(), indexed.end(), source().engine());
    // Windows are the last axes of the updates, or mixed with the others.
    Shape updates = batch;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const auto least = window_axes.empty() ? Integer{0} : window_axes.back() + 1;
      const Integer at =
          round % 2 ? static_cast<Integer>(updates.size()) : between(least, static_cast<Integer>(updates.size()));
      updates.insert(updates.begin() + at, sizes[k]);
      window_axes.push_back(at);
    }
    Shape index_shape = batch;
    index_shape.push_back(static_cast<Integer>(indexed.size()));
    if (ops::product(updates) > 200000 || ops::product(operand) > 200000) continue;
    const DType dtype = dtypes[between(0, 7)];
    const char* const modes[] = {ops::mode_clip, ops::mode_fill_or_drop, ops::mode_promise_in_bounds};
    check(*all[between(0, 4)],
          {random_array(dtype, operand), indices(index_dtypes[between(0, 4)], index_shape, -2, large ? 100 : 6),
           random_array(dtype, updates)},
          {{"update_window_dims", window_axes},
           {"inserted_window_dims", inserted},
           {"scatter_dims_to_operand_dims", indexed},
           {"operand_batching_dims", operand_batching},
           {"scatter_indices_batching_dims", index_batching},
           {"mode", std::string(modes[between(0, 2)])},
           {"unique_indices", false}},
          0, "updates " + describe(updates));
  }
}

TEST(NativeRoutines, ScatterOfManyRows) {
  const Params rows{{"update_window_dims", Ints{1}},
                    {"inserted_window_dims", Ints{0}},
                    {"scatter_dims_to_operand_dims", Ints{0}},
                    {"operand_batching_dims", Ints{}},
                    {"scatter_indices_batching_dims", Ints{}},
                    {"mode", std::string(ops::mode_fill_or_drop)},
                    {"unique_indices", false}};
  for (const Primitive* p : {&ops::scatter_p, &ops::scatter_add_p, &ops::scatter_max_p})
    for (DType dtype : {f32, bf16})
      check(*p, {random_array(dtype, {3000, 48}), indices(i32, {5000, 1}, -10, 3010), random_array(dtype, {5000, 48})},
            rows);
}

TEST(NativeRoutines, ScatterOfManyElements) {
  const Primitive* all[] = {&ops::scatter_p, &ops::scatter_add_p, &ops::scatter_mul_p, &ops::scatter_max_p};
  for (const Primitive* p : all)
    for (const Integer count : {5000, 150000})  // the second are sums in parts
      for (const Integer places : {1, 60, 9000})
        for (DType dtype : {f32, bf16, i32, bool_})
          for (DType index : {i32, i64}) {
            const bool inside = between(0, 1), in_order = between(0, 1), clip = between(0, 1);
            Array at = indices(index, {count, 1}, inside ? 0 : -2, inside ? places - 1 : places + 2);
            if (in_order) at = np::sort(at, 0);
            const bool rounds = p == &ops::scatter_add_p && is_floating(dtype) && count > 5000;
            // Sums of bf16 round at every step, in parts at smaller values: only few values have one result.
            if (rounds && dtype == bf16) continue;
            check(*p,
                  {random_array(dtype, {places}, Values::few), at,
                   random_array(dtype, {count}, rounds ? Values::plain : Values::special)},
                  {{"update_window_dims", Ints{}},
                   {"inserted_window_dims", Ints{0}},
                   {"scatter_dims_to_operand_dims", Ints{0}},
                   {"operand_batching_dims", Ints{}},
                   {"scatter_indices_batching_dims", Ints{}},
                   {"mode", std::string(clip ? ops::mode_clip : ops::mode_fill_or_drop)},
                   {"unique_indices", false}},
                  rounds ? 1e-4 : 0, std::to_string(count) + (in_order ? " in order" : ""));
          }
}

/// Zeros that nothing else is added to keep their signs, also in parts.
TEST(NativeRoutines, ScatterAddKeepsSignsOfZeros) {
  const Array zeros = np::full({100}, -0.0), at = np::arange(200000) % 50;
  const Array sums = jit([](const Array& a, const Array& i, const Array& v) { return a.at(i).add(v); })(
      zeros, at, np::full({200000}, -0.0));
  for (const float x : sums.to_vector<float>()) EXPECT_TRUE(x == 0 && std::signbit(x));
}

/// A transform of n numbers up to 2: results are about sqrt(n), and errors some roundings of that, in small results
/// too.
double fft_tolerance(DType dtype, Integer n) {
  return (dtype == f64 ? 4e-15 : 2e-6) * std::sqrt(static_cast<double>(n));
}

TEST(NativeRoutines, FourierTransforms) {
  const std::vector<Lines> cases = {{{256}, 0},         {{1024}, 0},       {{65536}, 0},          {{3 * 256}, 0},
                                    {{5 * 7 * 256}, 0}, {{20480}, 0},      {{30, 512}, 1},        {{2, 3, 16384}, 2},
                                    {{256, 16}, 0},     {{3, 300, 32}, 1}, {{2, 1029, 3, 16}, 1}, {{512, 48}, 0}};
  for (const Lines& c : cases)
    for (DType dtype : {f32, f64}) {
      const Integer n = c.shape[static_cast<std::size_t>(c.axis)];
      const std::vector<double> tables = ops::fft_tables(ops::fft_plan(n));
      const Array re = random_array(dtype, c.shape), im = random_array(dtype, c.shape),
                  constants = Array::from_host(tables).astype(dtype);
      const std::string what = "axis " + std::to_string(c.axis);
      check(ops::fft_p, {re, im, constants}, {{"axis", c.axis}}, fft_tolerance(dtype, n), what);
      for (bool swapped : {false, true})
        check(ops::fft_pairs_p, {re, im}, {{"axis", c.axis}, {"swapped", swapped}}, fft_tolerance(dtype, n), what);
    }
}

/// Complex arrays, and parts of them, are read and written where they lie.
TEST(NativeRoutines, FourierTransformsOfComplexArrays) {
  using Function = std::function<Array(const Array&)>;
  const std::pair<std::string, Function> all[] = {
      {"fft", [](const Array& x) { return fft::fft(x); }},
      {"ifft", [](const Array& x) { return fft::ifft(x); }},
      {"of every other", [](const Array& x) { return fft::fft(lax::slice(x, {0, 0}, {512, 1024}, {1, 2})); }},
      {"of a transpose", [](const Array& x) { return fft::fft(np::transpose(x)); }},
      {"the other way round", [](const Array& x) { return fft::fft(np::flip(x, 1)); }},
      {"along columns", [](const Array& x) { return fft::fft(x, {.axis = 0}); }},
      {"two axes", [](const Array& x) { return fft::fft2(x); }},
      {"there and back", [](const Array& x) { return fft::ifft(fft::fft(x) * 2.0); }},
      {"of real numbers", [](const Array& x) { return fft::rfft(np::real(x)); }},
      {"real part", [](const Array& x) { return np::real(fft::fft(x)); }},
      {"the result twice", [](const Array& x) {
         const Array y = fft::fft(x);
         return y + np::conj(y) * 3.0;
       }}};
  const Array x = lax::complex(random_array(f32, {512, 1024}), random_array(f32, {512, 1024}));
  for (const auto& [name, f] : all) {
    const Array ours = jit(f)(x);
    default_device("reference");
    const Array theirs = f(device_put(x, "reference"));
    default_device("native");
    expect_close(np::real(ours), device_put(np::real(theirs), "native"), fft_tolerance(f32, x.size()), name);
    expect_close(np::imag(ours), device_put(np::imag(theirs), "native"), fft_tolerance(f32, x.size()), name);
  }
}

/// A aᵀ + I, some of them spoiled.
Array positive_definite(DType dtype, const Shape& shape, bool spoil) {
  auto [array, buffer] = allocate(find_backend("native"), {dtype, shape, false});
  const Integer n = shape.back(), count = n == 0 ? 0 : array.size() / (n * n);
  const auto fill = [&, &memory = buffer]<class T>(T) {
    T* const a = reinterpret_cast<T*>(memory->data());
    std::vector<double> g(static_cast<std::size_t>(n * n));
    for (Integer m = 0; m < count; ++m) {
      for (double& x : g) x = static_cast<double>(between(-1000, 1000)) / 1000;
      for (Integer i = 0; i < n; ++i)
        for (Integer j = 0; j < n; ++j) {
          double sum = i == j;
          for (Integer k = 0; k < n; ++k) sum += g[i * n + k] * g[j * n + k];
          a[(m * n + i) * n + j] = static_cast<T>(sum);
        }
      constexpr double bad[] = {NAN, -5, 0};
      if (spoil && between(0, 3) == 0) {
        const Integer i = between(0, n - 1);
        a[(m * n + i) * n + i] = static_cast<T>(bad[between(0, 2)]);
      }
    }
  };
  dtype == f32 ? fill(float()) : fill(double());
  return array;
}

TEST(NativeRoutines, DecompositionsOfSmallAndLargerMatrices) {
  for (DType dtype : {f32, f64})
    for (Integer n : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20})
      for (const Shape& batch : {Shape{}, Shape{0}, Shape{9}, Shape{2, 50}}) {
        if (dtype == f64 && n != 3 && n != 8) continue;
        Shape square = batch;
        square.insert(square.end(), {n, n});
        const double tolerance = dtype == f32 ? 1e-3 : 1e-10;
        for (bool spoil : {false, true}) {
          check(ops::cholesky_p, {positive_definite(dtype, square, spoil && n > 0)}, {}, tolerance);
          check(ops::lu_p, {positive_definite(dtype, square, spoil && n > 0)}, {}, tolerance);
        }
        check(ops::eigh_p, {positive_definite(dtype, square, false)}, {{"lower", true}});
        for (Integer sides : {0, 1, 3, 15})
          for (int options = 0; options < (sides == 0 ? 1 : 8); ++options) {
            const bool left = options & 1;
            Shape shape = batch;
            shape.insert(shape.end(), {left ? n : sides, left ? sides : n});
            check(ops::triangular_solve_p, {positive_definite(dtype, square, false), random_array(dtype, shape)},
                  {{"left_side", left},
                   {"lower", (options & 2) != 0},
                   {"transpose_a", (options & 4) != 0},
                   {"unit_diagonal", false}},
                  tolerance * 10);
          }
      }
}

TEST(NativeRoutines, LuPivotsOnTheFirstLargestElement) {
  const Array a = Array::from_host(std::vector<double>{1, 2, 3, -1, 5, 6, 1, 8, 10}, {1, 3, 3});
  const Arrays out = run_native(ops::lu_p, {a}, {});
  EXPECT_EQ(out[1].to_vector<int>(), (std::vector<int>{0, 1, 2}));
  const Array singular = numpy::zeros({5, 2, 2}, f64);
  for (double x : run_native(ops::lu_p, {singular}, {})[0].to_vector<double>()) EXPECT_EQ(x, 0);
}

}  // namespace
