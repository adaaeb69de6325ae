// Operators, indexing and functional updates by sample; the case table has the rest.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <limits>

namespace np = cotan::numpy;
using namespace cotan;

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int>;
Array m34() { return np::arange(12, f32).reshape({3, 4}); }
Floats floats(const Array& a) { return a.to_vector<float>(); }
Ints ints(const Array& a) { return a.to_vector<int>(); }

}  // namespace

TEST(Operators, Arithmetic) {
  const Array a = np::array({1.f, 2.f}), b = np::array({4.f, -8.f});
  EXPECT_EQ(floats(a + b), (Floats{5, -6}));
  EXPECT_EQ(floats(a - b), (Floats{-3, 10}));
  EXPECT_EQ(floats(a * b), (Floats{4, -16}));
  EXPECT_EQ(floats(b / a), (Floats{4, -4}));
  EXPECT_EQ(floats(b % 3), (Floats{1, 1}));  // the sign of the divisor, as in Python
  EXPECT_EQ(floats(-a), (Floats{-1, -2}));
  EXPECT_EQ(floats(+a), (Floats{1, 2}));
  EXPECT_EQ(floats(1.5 + a), (Floats{2.5, 3.5}));
  EXPECT_EQ(floats(2 / a), (Floats{2, 1}));
}
TEST(Operators, ComparisonAndBits) {
  const Array a = np::array({1, 2, 3});
  EXPECT_EQ(ints(a < 2), (Ints{1, 0, 0}));
  EXPECT_EQ(ints(a <= 2), (Ints{1, 1, 0}));
  EXPECT_EQ(ints(a > 2), (Ints{0, 0, 1}));
  EXPECT_EQ(ints(a >= 2), (Ints{0, 1, 1}));
  EXPECT_EQ(ints(a == 2), (Ints{0, 1, 0}));
  EXPECT_EQ(ints(a != 2), (Ints{1, 0, 1}));
  EXPECT_EQ(ints(a & 1), (Ints{1, 0, 1}));
  EXPECT_EQ(ints(a | 4), (Ints{5, 6, 7}));
  EXPECT_EQ(ints(a ^ 1), (Ints{0, 3, 2}));
  EXPECT_EQ(ints(a << 2), (Ints{4, 8, 12}));
  EXPECT_EQ(ints(a >> 1), (Ints{0, 1, 1}));
  EXPECT_EQ(ints(~a), (Ints{-2, -3, -4}));
  EXPECT_EQ(ints(~(a > 1)), (Ints{1, 0, 0}));
}
TEST(Operators, Broadcasting) {
  const Array column = np::array({{1.f}, {2.f}}), row = np::array({10.f, 20.f});
  EXPECT_EQ(floats(column + row), (Floats{11, 21, 12, 22}));
  EXPECT_EQ((np::ones({2, 1, 3}) * np::ones({4, 1})).shape(), (Shape{2, 4, 3}));
}

TEST(Indexing, Basic) {
  const Array a = m34();
  EXPECT_EQ(floats(a[1]), (Floats{4, 5, 6, 7}));
  EXPECT_EQ(a(1, 2).item<float>(), 6.f);
  EXPECT_EQ(a(-1, -1).item<float>(), 11.f);
  EXPECT_EQ(floats(a(all, 1)), (Floats{1, 5, 9}));
  EXPECT_EQ(floats(a(0, range(1, 4, 2))), (Floats{1, 3}));
  EXPECT_EQ(floats(a(range(none, none, -1), 0)), (Floats{8, 4, 0}));
  EXPECT_EQ(floats(a(range(-2, none), 0)), (Floats{4, 8}));
  EXPECT_EQ(a(newaxis, ellipsis, 0, newaxis).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(a(range(5, 9)).shape(), (Shape{0, 4}));
  EXPECT_EQ(a().shape(), a.shape());
}
TEST(Indexing, Arrays) {
  const Array a = m34(), i = np::array({2, 0});
  EXPECT_EQ(floats(a(i, 1)), (Floats{9, 1}));
  EXPECT_EQ(floats(a(i, i)), (Floats{10, 0}));
  EXPECT_EQ(a(all, np::array({{0, 1}, {2, 3}})).shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(floats(a[np::array({7, -1})][0]), (Floats{8, 9, 10, 11}));  // reads clip
  EXPECT_EQ(floats(a[a > 9]), (Floats{10, 11}));
}
TEST(Updates, Functional) {
  const Array a = np::zeros({3, 2});
  EXPECT_EQ(floats(a.at(1).set(5.0)), (Floats{0, 0, 5, 5, 0, 0}));
  EXPECT_EQ(floats(a.at(1, all).add(np::array({1.f, 2.f}))), (Floats{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(floats(a), Floats(6, 0.f));
  const Array ones = np::ones({3}), i = np::array({0, 0, 2});
  EXPECT_EQ(floats(ones.at(i).add(1.0)), (Floats{3, 1, 2}));
  EXPECT_EQ(floats(ones.at(i).multiply(3.0)), (Floats{9, 1, 3}));
  EXPECT_EQ(floats(ones.at(i).subtract(1.0)), (Floats{-1, 1, 0}));
  EXPECT_EQ(floats(ones.at(i).divide(2.0)), (Floats{0.25, 1, 0.5}));
  EXPECT_EQ(floats(ones.at(1).min(0.5)), (Floats{1, 0.5, 1}));
  EXPECT_EQ(floats(ones.at(range(1, none)).max(2.0)), (Floats{1, 2, 2}));
  EXPECT_EQ(floats(ones.at(np::array({5})).set(9.0)), (Floats{1, 1, 1}));  // writes outside are dropped
  EXPECT_EQ(ones.at(np::array({5})).get({.mode = IndexMode::fill, .fill_value = 7}).item<float>(), 7.f);
}
TEST(Updates, Gradients) {
  const auto f = [](Array x) { return np::sum(x.at(1).set(0.0) * x[0]); };
  EXPECT_EQ(floats(grad(f)(np::array({2.f, 3.f, 4.f}))), (Floats{8, 0, 2}));
}

TEST(Diagonals, OffsetsFarOutside) {
  const int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
  EXPECT_EQ(np::sum(np::tri(3, 3, most)).item<float>(), 9.f);
  EXPECT_EQ(np::sum(np::tri(3, 3, least)).item<float>(), 0.f);
  EXPECT_EQ(floats(np::triu(np::ones({2, 2}), least)), Floats(4, 1.f));
  EXPECT_EQ(floats(np::tril(np::ones({2, 2}), least)), Floats(4, 0.f));
  EXPECT_EQ(np::diag(np::ones({2, 2}), least).size(), 0);
  EXPECT_EQ(np::diag(np::ones({2, 2}), most).size(), 0);
  EXPECT_THROW(np::diag(np::ones({2}), most), OutOfMemoryError);
  EXPECT_THROW(np::diag(np::ones({2}), least), OutOfMemoryError);
}
