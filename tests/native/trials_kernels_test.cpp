// What was slow on the CPU and now takes another path through the compiler: transpositions in squares of registers,
// gamma functions and large angles as vector code, scatters in place, small products of doubles. Each against the
// reference device, at sizes that fit vectors and sizes that do not.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <functional>
#include <limits>
#include <random>
#include <string>

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

/// Positions times an odd number, small enough for every dtype to tell neighbours apart.
Array numbered(const ct::Shape& shape, ct::DType dtype) {
  std::int64_t n = 1;
  for (auto extent : shape) n *= extent;
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 37 % 101));
  const Array x = Array::from_host(values, shape);
  return dtype == ct::bool_ ? (x > 50.0) : x.astype(dtype);
}

/// Constants that functions make belong to it, too.
template <class F>
auto on_reference(const F& f) {
  const std::string before(ct::default_device().name());
  ct::default_device("reference");
  const auto result = f();
  ct::default_device(before);
  return result;
}

/// f on this device under jit, and on the reference device.
template <class F, class... A>
void expect_same(const F& f, const std::string& what, const A&... args) {
  const auto ours = ct::tree::leaves(ct::jit(f)(args...));
  const auto theirs = on_reference([&] { return ct::tree::leaves(f(ct::device_put(args, "reference")...)); });
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    ASSERT_EQ(ours[k].shape(), theirs[k].shape()) << what;
    const auto a = ours[k].template to_vector<double>(), b = theirs[k].template to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << what << ": element " << i << " is " << a[i] << ", not " << b[i];
  }
}

TEST(Trials, SlowTranspose) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {{0, 5},    {1, 1},    {1, 40},   {8, 8},
                                                                    {16, 16},  {15, 17},  {17, 33},  {64, 64},
                                                                    {65, 130}, {16, 100}, {100, 16}, {129, 31}};
  for (const auto& [rows, columns] : sizes)
    for (ct::DType dtype : {ct::f32, ct::f64, ct::i8, ct::bool_, ct::f16}) {
      const std::string what =
          std::to_string(rows) + " x " + std::to_string(columns) + " " + std::string(ct::name(dtype));
      const Array x = numbered({rows, columns}, dtype);
      expect_same([](const Array& a) { return a.T(); }, what, x);
      if (dtype == ct::bool_) continue;
      const Array y = numbered({columns, rows}, dtype), row = numbered({rows}, dtype);
      expect_same([](const Array& a, const Array& b, const Array& r) { return a.T() * b + r; }, what + ", fused", x, y,
                  row);
      expect_same([](const Array& a, const Array& b) { return std::pair{a.T() + 1, np::abs(b - a.T())}; },
                  what + ", two results", x, y);
      expect_same([](const Array& a) { return np::flip(a, 0).T() + np::flip(a, 1).T(); }, what + ", flipped", x);
      expect_same([](const Array& a) { return a(ct::all, ct::range(0, a.shape(1), 2)).T(); }, what + ", every other",
                  x);
      expect_same([](const Array& a) { return np::pad(a.T(), {{1, 2}, {3, 0}}); }, what + ", padded", x);
    }
  for (ct::Shape shape : {ct::Shape{3, 20, 34}, ct::Shape{5, 16, 16}, ct::Shape{2, 8, 9}, ct::Shape{7, 4, 70}}) {
    const Array x = numbered(shape, ct::f32);
    expect_same([](const Array& a) { return np::swapaxes(a, 1, 2); }, "last two", x);
    expect_same([](const Array& a) { return np::swapaxes(a, 0, 2) * 2.0; }, "ends", x);
    expect_same([](const Array& a) { return a.transpose({2, 0, 1}) + 0.5; }, "turned", x);
    expect_same([](const Array& a) { return a.transpose({1, 0, 2}); }, "first two", x);
  }
  for (std::int64_t n : {8, 16, 24}) {  // one square per matrix: no loop over lanes is left
    const Array x = numbered({50, n, n}, ct::f32);
    expect_same([](const Array& a) { return (a + np::swapaxes(a, 1, 2)) * 0.5; }, "symmetric", x);
  }
}

template <class T>
void expect_close(const std::vector<T>& points, const std::function<Array(const Array&)>& f, double ulps,
                  const std::string& what) {
  for (std::size_t count : {points.size(), std::size_t{1}, std::size_t{7}}) {
    const Array x =
        Array::from_host(std::vector<T>(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(count)));
    const auto a = ct::jit(f)(x).template to_vector<T>();
    const auto b = on_reference([&] { return f(ct::device_put(x, "reference")).template to_vector<T>(); });
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      const double unit = std::abs(std::nextafter(b[i], std::numeric_limits<T>::infinity()) - b[i]);
      EXPECT_LE(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])), ulps * unit)
          << what << " at " << points[i] << ": " << a[i] << ", not " << b[i];
    }
  }
}

template <class T>
std::vector<T> arguments(double low, double high, int count) {
  const T inf = std::numeric_limits<T>::infinity();
  std::vector<T> out = {T(0.5),
                        T(-0.5),
                        T(1.5),
                        T(-2.5),
                        T(0),
                        T(-0.0),
                        T(1),
                        T(2),
                        T(-1),
                        T(-2),
                        inf,
                        -inf,
                        T(1e-30),
                        T(-1e-30),
                        T(1e30),
                        T(3),
                        std::numeric_limits<T>::quiet_NaN(),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        -std::numeric_limits<T>::denorm_min(),
                        T(1.4616321449683622),
                        T(-2.4570247382208006),
                        T(-0.5040830082644554),
                        T(-1e-10),
                        T(20),
                        T(100),
                        T(-99.5)};
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> draw(low, high);
  for (int k = 0; k < count; ++k) out.push_back(static_cast<T>(draw(generator)));
  return out;
}

// The reference is within 2 ulp, expressions within 4 (tests/accuracy).
template <class T>
void gamma_functions() {
  for (const auto& points : {arguments<T>(-12, 12, 800), arguments<T>(0, 3, 300), arguments<T>(0, 1000, 200)}) {
    expect_close<T>(points, [](const Array& x) { return lax::lgamma(x); }, 5, "lgamma");
    expect_close<T>(points, [](const Array& x) { return lax::digamma(x); }, 5, "digamma");
  }
  for (int n : {1, 2, 3, 4, 6, 20, 25}) {
    expect_close<T>(
        arguments<T>(0, 40, 300), [n](const Array& x) { return lax::polygamma(n, x); }, 8 + 2 * n,
        "polygamma " + std::to_string(n));
    expect_close<T>(
        arguments<T>(-12, 0, 100), [n](const Array& x) { return lax::polygamma(n, x); }, 8 + 2 * n,
        "polygamma " + std::to_string(n) + " of negative numbers");
  }
  const auto slope = [](const Array& x) { return ct::grad([](const Array& a) { return np::sum(lax::lgamma(a)); })(x); };
  expect_close<T>(arguments<T>(0.1, 12, 100), slope, 5, "the derivative of lgamma");
}
TEST(Trials, SlowGammaFunctionsF32) { gamma_functions<float>(); }
TEST(Trials, SlowGammaFunctionsF64) { gamma_functions<double>(); }

template <class T>
void large_angles() {
  std::vector<T> points;
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> exponent(10, std::numeric_limits<T>::max_exponent - 1);
  for (int k = 0; k < 3000; ++k) points.push_back(static_cast<T>((k % 2 ? -1 : 1) * std::exp2(exponent(generator))));
  for (T x : {std::numeric_limits<T>::max(), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(),
              T(1e5), T(0)})
    points.push_back(x);
  expect_close<T>(points, [](const Array& x) { return np::sin(x); }, 4, "sin");
  expect_close<T>(points, [](const Array& x) { return np::cos(x); }, 4, "cos");
  expect_close<T>(points, [](const Array& x) { return np::tan(x); }, 5, "tan");
}
TEST(Trials, SlowLargeAnglesF32) { large_angles<float>(); }
TEST(Trials, SlowLargeAnglesF64) { large_angles<double>(); }

TEST(Trials, SlowScatters) {
  for (std::int64_t n : {1, 7, 300, 5000})
    for (std::int64_t count : {0, 1, 23, 24, 25, 1000}) {
      std::vector<std::int32_t> where;
      for (std::int64_t i = 0; i < count; ++i) where.push_back(static_cast<std::int32_t>(i * 7919 % (n + 3)) - 1);
      const Array x = numbered({n}, ct::f32), at = Array::from_host(where, {count}), u = numbered({count}, ct::f32);
      const std::string what = std::to_string(count) + " into " + std::to_string(n);
      // Into an argument, which must stay as it is, and into temporaries, which need not.
      expect_same([](const Array& a, const Array& i, const Array& v) { return std::pair{a.at(i).add(v), a + 1.0}; },
                  what, x, at, u);
      expect_same([](const Array& a, const Array& i, const Array& v) { return (a * 2.0).at(i).add(v); }, what, x, at,
                  u);
      expect_same(
          [](const Array& a, const Array& i, const Array& v) {
            const Array twice = a * 2.0;
            return std::pair{twice.at(i).add(v), twice};
          },
          what + ", kept", x, at, u);
      expect_same([](const Array& a, const Array& i,
                     const Array& v) { return (a * 2.0).at(i).add(v).at(i).max(v).at(0).set(5.0); },
                  what + ", three times", x, at, u);
      // The gradient of indexing is a scatter into zeros.
      expect_same([](const Array& a, const Array& i,
                     const Array& v) { return ct::grad([&](const Array& b) { return np::sum(b(i) * v); })(a); },
                  what + ", gradient", x, at, u);
    }
  // Updates that are a part of what is changed.
  const Array a = numbered({40}, ct::f32), b = numbered({60}, ct::f32);
  std::vector<std::int32_t> where;
  for (std::int32_t i = 0; i < 40; ++i) where.push_back(i * 13 % 100);
  expect_same(
      [](const Array& p, const Array& q, const Array& i) {
        const Array front = p * 2.0;
        return np::concatenate({front, q + 1.0}).at(i).set(front);
      },
      "a part of itself", a, b, Array::from_host(where, {40}));
  // Rows, more of them than are asked for ahead.
  const Array table = numbered({200, 19}, ct::f32), rows = numbered({40, 19}, ct::f32);
  expect_same([](const Array& t, const Array& i, const Array& r) { return (t - 1.0).at(i).add(r); }, "rows", table,
              Array::from_host(where, {40}), rows);
}

TEST(Trials, SlowSmallProducts) {
  for (ct::DType dtype : {ct::f32, ct::f64})
    for (std::int64_t n : {2, 3, 8, 9, 11, 12, 13, 15, 16, 17}) {
      const Array a = np::eye(n).astype(dtype) + numbered({n, n}, dtype) * 0.001, x = numbered({n, n}, dtype);
      const auto chain = [](const Array& p, Array q) {
        for (int k = 0; k < 3; ++k) q = np::matmul(p, q);
        return q;
      };
      const auto ours = ct::jit(chain)(a, x).to_vector<double>();
      const auto theirs = on_reference(
          [&] { return chain(ct::device_put(a, "reference"), ct::device_put(x, "reference")).to_vector<double>(); });
      const double unit = dtype == ct::f32 ? 0x1p-23 : 0x1p-52;
      for (std::size_t i = 0; i < ours.size(); ++i)
        ASSERT_NEAR(ours[i], theirs[i], 4 * static_cast<double>(n) * unit * std::abs(theirs[i])) << n << " " << i;
    }
}

Array softmax(const Array& x) {
  const Array e = np::exp(x - np::max(x, -1, true));
  return e / np::sum(e, -1, true);
}
Array layer_norm(const Array& x) { return (x - np::mean(x, -1, true)) * lax::rsqrt(np::var(x, -1, true) + 1e-5); }
std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

// One kernel, in which quotients are computed once each: exponentials and the cotangent's quotient stay in a row.
// Passes have several sums in flight, and large results go past the cache.
TEST(Trials, SlowSoftmaxGradient) {
  const auto gradient =
      ct::jit([](const Array& x, const Array& cotangent) { return ct::vjp(softmax, x).second(cotangent); });
  const Array large = np::zeros({4096, 1024});
  const ct::Explanation e = ct::explain(gradient, large, large);
  EXPECT_EQ(e.kernels, 1);
  EXPECT_EQ(count(e.steps, "(one row)"), 2u) << e.steps;
  EXPECT_NE(e.steps.find("unrolled 4"), std::string::npos) << e.steps;
  EXPECT_NE(e.steps.find("streaming stores"), std::string::npos) << e.steps;
  EXPECT_EQ(count(e.llvm_ir, "fdiv <"), 3u * 4u);  // of divisors that reciprocals do not suit
  const Array small = np::zeros({64, 1024});
  EXPECT_EQ(ct::explain(gradient, small, small).steps.find("streaming stores"), std::string::npos);
}

TEST(Trials, SlowRowsWithRests) {
  for (std::int64_t columns : {1, 3, 16, 17, 63, 64, 65, 130, 1000}) {
    const Array x = numbered({7, columns}, ct::f64) / 101.0, y = numbered({7, columns}, ct::f64) / 7.0;
    const auto check = [&](const auto& f) {
      const auto gradient = [&](const Array& x, const Array& y) { return std::get<0>(ct::vjp(f, x).second(y)); };
      const auto ours = ct::jit(gradient)(x, y).template to_vector<double>();
      const auto theirs = on_reference([&] {
        return gradient(ct::device_put(x, "reference"), ct::device_put(y, "reference")).template to_vector<double>();
      });
      for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], 1e-12 * (1 + std::abs(theirs[i])));
    };
    check(softmax);
    check(layer_norm);
  }
}

// What goes past the cache must not be read again by the kernel that wrote it, and has to be there for the next one.
TEST(Trials, SlowStreamedRows) {
  const std::int64_t rows = 4096, columns = 1024;
  const Array x = lax::broadcast_in_dim(np::arange(columns, ct::f32) / 1024.0, {rows, columns}, {1});
  const auto f = [](const Array& x) {
    const Array y = np::exp(x - np::max(x, 1, true));
    return std::pair{y, np::sum(y / np::sum(y, 1, true), 1)};
  };
  const auto [y, total] = ct::jit(f)(x);
  for (double t : total.to_vector<double>()) ASSERT_NEAR(t, 1, 1e-5);
  const auto values = y.to_vector<float>();
  for (std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1})
    for (std::int64_t k = 0; k < columns; ++k)
      ASSERT_NEAR(values[static_cast<std::size_t>(row * columns + k)],
                  std::exp(static_cast<float>(k + 1 - columns) / 1024), 1e-6);
}

// Rows are divided by what they share through its reciprocal, and the bits are those of a division.
template <class T>
void quotients_of_rows() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T tiny = std::numeric_limits<T>::denorm_min() * 100, huge = std::numeric_limits<T>::max() / 3;
  std::vector<T> divisors = {3,     -3,   0, -T(0),  inf,      -inf,    nan,    tiny,
                             -tiny, huge, 1, T(0.1), T(1e-30), T(1e30), T(0.7), 49};
  std::vector<T> row = {0, -T(0), 1, -1, inf, -inf, nan, tiny, huge, -huge, T(1e-30), T(1e30), 1 / T(3)};
  std::mt19937 random(1);
  std::uniform_real_distribution<double> mantissa(1, 2), exponent(-20, 20);
  while (row.size() < 150) row.push_back(static_cast<T>(mantissa(random) * std::exp2(exponent(random))));
  while (divisors.size() < 60) divisors.push_back(static_cast<T>(mantissa(random) * std::exp2(exponent(random))));
  const auto rows = static_cast<std::int64_t>(divisors.size()), columns = static_cast<std::int64_t>(row.size());
  std::vector<T> x, d;
  for (T divisor : divisors) {
    x.insert(x.end(), row.begin(), row.end());
    d.insert(d.end(), row.size(), divisor);
  }
  const auto quotient = ct::jit([](const Array& x, const Array& d) { return x / np::max(d, 1, true); });
  const auto ours =
      quotient(Array::from_host(x, {rows, columns}), Array::from_host(d, {rows, columns})).template to_vector<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T expected = x[i] / d[i];
    const bool same = ours[i] == expected && std::signbit(ours[i]) == std::signbit(expected);
    const T place =
        std::max(std::numeric_limits<T>::denorm_min(), std::abs(expected) * std::numeric_limits<T>::epsilon());
    const bool rounded = std::abs(x[i]) <= tiny && std::abs(ours[i] - expected) <= place;
    ASSERT_TRUE(same || rounded || (std::isnan(ours[i]) && std::isnan(expected)))
        << x[i] << " / " << d[i] << ": " << ours[i];
  }
}
TEST(Trials, SlowQuotientsOfRowsF32) { quotients_of_rows<float>(); }
TEST(Trials, SlowQuotientsOfRowsF64) { quotients_of_rows<double>(); }

/// Lines of the longest function.
std::size_t longest_function(const std::string& llvm_ir) {
  std::size_t longest = 0;
  for (std::size_t at = llvm_ir.find("\ndefine"); at != std::string::npos; at = llvm_ir.find("\ndefine", at + 1))
    longest = std::max(longest, count(llvm_ir.substr(at, llvm_ir.find("\n}", at) - at), "\n"));
  return longest;
}

// Products of small matrices in the body of a loop are written out only as far as LLVM is quick with them: code of
// 3,000 instructions in a row took three times as long to compile as the loop unrolled.
TEST(Trials, SlowAttentionGradientInAScan) {
  for (std::int64_t length : {8, 16}) {
    const auto layer = [length](const Array& x, const Array& w) {
      const Array q = np::matmul(x, w).reshape({2, length, 2, 16});
      return std::pair{x + ct::nn::dot_product_attention(q, q, q).reshape({2, length, 32}), 0.0};
    };
    const auto loss = [&](const Array& x, const Array& weights) {
      return np::sum(np::square(lax::scan(layer, x, weights).first));
    };
    const auto gradient = ct::grad<0, 1>(loss);
    const Array x = numbered({2, length, 32}, ct::f32) / 101.0, weights = numbered({4, 32, 32}, ct::f32) / 1010.0;
    EXPECT_LT(longest_function(ct::explain(ct::jit(gradient), x, weights).llvm_ir), 2500u);
    const auto ours = ct::tree::leaves(ct::jit(gradient)(x, weights));
    const auto theirs = on_reference([&] {
      return ct::tree::leaves(gradient(ct::device_put(x, "reference"), ct::device_put(weights, "reference")));
    });
    for (std::size_t k = 0; k < ours.size(); ++k) {
      const auto a = ours[k].to_vector<double>(), b = theirs[k].to_vector<double>();
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3 * (1 + std::abs(b[i]))) << k << " " << i;
    }
  }
}

}  // namespace
