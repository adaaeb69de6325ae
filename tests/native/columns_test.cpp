// Results whose columns are computed side by side, as the parts of complex numbers are: each is stored where it
// belongs.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace ct = cotan;
namespace np = cotan::numpy;
using ct::Array;

namespace {

/// jit on this device against evaluation one by one on the reference, bit for bit.
template <class F, class... A>
void expect_same(F f, const A&... args) {
  const std::vector<Array> got = ct::tree::leaves(ct::jit(f)(args...));
  const std::vector<Array> want = ct::tree::leaves(f(ct::device_put(args, "reference")...));
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    EXPECT_EQ(got[k].shape(), want[k].shape());
    EXPECT_TRUE(np::array_equal(ct::device_put(got[k], "reference"), want[k])) << k;
  }
}
Array numbers(const ct::Shape& shape, ct::DType dtype = ct::f32) {
  std::int64_t n = 1;
  for (const auto d : shape) n *= d;
  return (np::arange(n) % 251).astype(dtype).reshape(shape);
}

}  // namespace

// Lengths around multiples of vectors, so that masks are needed; and long ones, which go past the cache.
TEST(Columns, OfAnyLength) {
  for (const std::int64_t n : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 100, 8191, 70000, 5000001}) {
    const Array x = numbers({n}), y = numbers({n}) * 0.5f;
    expect_same([](const Array& a, const Array& b) { return np::stack({a + b, a - b}, -1); }, x, y);
    const auto e = ct::explain([](const Array& a, const Array& b) { return np::stack({a + b, a - b}, -1); }, x, y);
    EXPECT_EQ(e.kernels, 1) << n;
  }
}
TEST(Columns, OfAnyDtypeAndNumber) {
  for (const ct::DType t : {ct::f64, ct::f16, ct::bf16, ct::i8, ct::i32, ct::i64, ct::u16, ct::bool_}) {
    const Array x = numbers({3, 37}, t), y = numbers({3, 37}, t);
    expect_same([](const Array& a, const Array& b) { return np::stack({np::flip(a, 1), b | b, a}, -1); },
                t == ct::f64 || t == ct::f16 || t == ct::bf16 ? x.astype(ct::i16) : x,
                t == ct::f64 || t == ct::f16 || t == ct::bf16 ? y.astype(ct::i16) : y);
    expect_same([](const Array& a, const Array& b) { return np::stack({np::where(a > b, a, b), b}, -1); }, x, y);
  }
}
TEST(Columns, GivenOutInOtherShapesAndTwice) {
  const Array x = numbers({5, 6}), y = numbers({5, 6}) * 2.0f;
  expect_same([](const Array& a, const Array& b) { return np::stack({a * b, a + b}, -1).reshape({12, 5}); }, x, y);
  expect_same(
      [](const Array& a, const Array& b) {
        const Array both = np::stack({a * b, a + b}, -1);
        return std::tuple{both, both.reshape({60}), both, np::sum(both)};
      },
      x, y);
  expect_same(
      [](const Array& a, const Array& b) {
        const Array both = np::stack({a * b, a + b}, -1), flat = both.reshape({3, 20});
        return std::tuple{flat, flat, flat * 2.0f};
      },
      x, y);
}
TEST(Columns, OfArgumentsConstantsAndParts) {
  const Array x = numbers({9}), y = numbers({9}) * 2.0f;
  expect_same([](const Array& a, const Array& b) { return np::stack({a, b}, -1); }, x, y);
  expect_same([](const Array& a, const Array& b) { return np::stack({a + b, a * 0.0f}, -1); }, x, y);
  expect_same([](const Array& a, const Array& b) { return np::stack({a, a, b, a * b}, -1); }, x, y);
  expect_same(
      [](const Array& a, const Array& b) {
        const Array sum = np::cumsum(a);
        return std::tuple{np::stack({sum, sum * b}, -1), sum};
      },
      x, y);
}
