// One option by name alone: g++ 12 took {.ddof = 1} for a list of axes where the list was a std::initializer_list.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

namespace np = cotan::numpy;
using cotan::Array;

namespace {

Array numbers() { return np::array({{1.0, 2.0, 9.0}, {3.0, 4.0, 5.0}}, cotan::f64); }
void expect_number(const Array& a, double want) {
  EXPECT_EQ(a.shape(), cotan::Shape{});
  EXPECT_DOUBLE_EQ(a.item<double>(), want);
}
const cotan::Shape kept{1, 1};

}  // namespace

TEST(TrialsOptions, OneAlone) {
  const Array a = numbers();
  expect_number(np::std(a, {.ddof = 1}), std::sqrt(40.0 / 5));
  expect_number(np::var(a, {.ddof = 1}), 8);
  expect_number(np::var(a, {.correction = 1}), 8);
  expect_number(np::nanvar(a, {.ddof = 1}), 8);
  expect_number(np::sum(a, {.initial = 1}), 25);
  expect_number(np::prod(a, {.initial = 1}), 1080);
  expect_number(np::max(a, {.initial = 1}), 9);
  expect_number(np::min(a, {.initial = 0}), 0);
}

TEST(TrialsOptions, AxesThatAreKept) {
  const Array a = numbers();
  EXPECT_EQ(np::sum(a, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::prod(a, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::mean(a, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::max(a, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::any(a > 0.0, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::all(a > 0.0, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::nansum(a, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::nanmean(a, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::quantile(a, 0.5, {.keepdims = true}).shape(), kept);
  EXPECT_EQ(np::percentile(a, 50.0, {.keepdims = true}).shape(), kept);
}

TEST(TrialsOptions, ListsOfAxes) {
  const Array a = numbers();
  expect_number(np::sum(a, {0, 1}), 24);
  expect_number(np::sum(a, {0, -1}), 24);
  expect_number(np::sum(a, {}), 24);
  EXPECT_EQ(np::sum(a, {1}).shape(), cotan::Shape{2});
  EXPECT_EQ(np::sum(a, {.axis = {1}}).shape(), cotan::Shape{2});
  EXPECT_EQ(np::sum(a, {.axis = {0, 1}, .keepdims = true}).shape(), kept);
  EXPECT_EQ(np::sum(np::ones({2, 3, 4, 5}), {3, 1, 0}).shape(), cotan::Shape{4});
  const std::vector<int> axes{0, 1};
  expect_number(np::sum(a, axes), 24);
}
