// Array as a value: construction, host copies, scalars, assignment, casts, devices.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <limits>

namespace np = cotan::numpy;
using namespace cotan;

namespace {

template <class T>
class HostTypes : public testing::Test {};
using AllHostTypes = testing::Types<bool, char, std::int8_t, std::int16_t, std::int32_t, std::int64_t, long long,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, unsigned long long,
                                    float16, bfloat16, float, double, long double>;
TYPED_TEST_SUITE(HostTypes, AllHostTypes);

}  // namespace

TYPED_TEST(HostTypes, RoundTrip) {
  using T = TypeParam;
  std::vector<T> host;
  for (int i = 0; i < 6; ++i) host.push_back(static_cast<T>(static_cast<float>(i % 2)));
  const Array a = Array::from_host(host, {2, 3});
  EXPECT_EQ(a.dtype(), dtype_of<T>());
  EXPECT_EQ(a.shape(), (Shape{2, 3}));
  EXPECT_EQ(a.nbytes(), 6 * itemsize(a.dtype()));
  EXPECT_FALSE(a.weak_type());
  const std::vector<T> back = a.template to_vector<T>();
  ASSERT_EQ(back.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<float>(back[i]), static_cast<float>(i % 2));
  EXPECT_EQ(a.template to_vector<double>(), (std::vector<double>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(a(0, 1).template item<int>(), 1);
  EXPECT_EQ(Array::from_host(std::vector<T>{}).shape(), (Shape{0}));
}

TEST(Array, FromSpanCopies) {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  const Array a = Array::from_host(std::span<const float>(v), {2, 3});
  v[0] = 100;
  EXPECT_EQ(a.to_vector<float>()[0], 1.f);
}
TEST(Array, Literals) {
  EXPECT_EQ(np::array({1, 2}).dtype(), i32);
  EXPECT_EQ(np::array({1, 2.5}).dtype(), f32);
  EXPECT_EQ(np::array({true, false}).dtype(), bool_);
  EXPECT_EQ(np::array({{1.f, 2.f}, {3.f, 4.f}}).shape(), (Shape{2, 2}));
  EXPECT_EQ(np::array({{{1}}, {{2}}}).shape(), (Shape{2, 1, 1}));
  EXPECT_EQ(np::array({0.1, 0.2}, f64).to_vector<double>(), (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(np::array({1, 300}, u8).to_vector<int>(), (std::vector<int>{1, 44}));
  EXPECT_EQ(np::array({std::int64_t{1} << 53 | 1}, i64).to_vector<std::int64_t>()[0], (std::int64_t{1} << 53) | 1);
  const Array row = np::arange(2);
  EXPECT_EQ(np::array({row, row + 2}).to_vector<int>(), (std::vector<int>{0, 1, 2, 3}));
}
TEST(Array, WeakScalars) {
  const Array a = 2.5;
  EXPECT_TRUE(a.weak_type());
  EXPECT_EQ(a.ndim(), 0);
  EXPECT_EQ(a.size(), 1);
  EXPECT_EQ(a.item<double>(), 2.5);
  EXPECT_EQ(Array(7).item<int>(), 7);
  EXPECT_EQ(Array(std::uint64_t{1} << 63).dtype(), u64);
  EXPECT_EQ(Array(std::int64_t{1} << 40).dtype(), i64);
  EXPECT_FALSE(a.astype(f32).weak_type());
}
TEST(Array, Item) {
  EXPECT_EQ(np::array({{3.75}}).item<float>(), 3.75f);
  EXPECT_EQ(np::array({{3.75}}).item<int>(), 3);
  EXPECT_EQ(np::array({2.0}).item<bool>(), true);
  EXPECT_TRUE(static_cast<bool>(np::array({1})));
  EXPECT_FALSE(static_cast<bool>(np::zeros({1, 1})));
}
TEST(Array, CopiesShareAndDestroy) {
  const auto before = memory_stats().live_buffers;
  {
    const Array a = np::ones({100});
    Array b = a, c = b;
    b = Array();
    EXPECT_EQ(memory_stats().live_buffers, before + 1);
    EXPECT_FALSE(b.defined());
    EXPECT_TRUE(c.defined());
  }
  EXPECT_EQ(memory_stats().live_buffers, before);
}
TEST(Array, CompoundAssignmentMakesANewArray) {
  Array a = np::ones({2});
  const Array b = a;
  a += 1;
  a *= 3;
  a -= np::array({1.f, 2.f});
  a /= 2;
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{2.5, 2}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{1, 1}));
}
TEST(Array, Casts) {
  const Array x = np::array({-1.5, 0.0, 2.7, 300.0});
  EXPECT_EQ(x.astype(i32).to_vector<int>(), (std::vector<int>{-1, 0, 2, 300}));
  EXPECT_EQ(x.astype(bool_).to_vector<int>(), (std::vector<int>{1, 0, 1, 1}));
  EXPECT_EQ(np::array({np::nan}).astype(i32).to_vector<int>()[0], 0);
  EXPECT_EQ(np::array({1e20}).astype(i32).to_vector<int>()[0], std::numeric_limits<int>::max());
  EXPECT_EQ(np::array({-1}).astype(u8).to_vector<int>()[0], 255);
}
TEST(Array, MethodsAsFunctions) {
  const Array a = np::arange(6, f32).reshape({2, 3});
  EXPECT_EQ(a.T().shape(), (Shape{3, 2}));
  EXPECT_EQ(a.transpose({1, 0}).to_vector<float>(), a.T().to_vector<float>());
  EXPECT_EQ(a.flatten().shape(), (Shape{6}));
  EXPECT_EQ(a.sum(0).to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(a.sum({0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(a.prod(1).to_vector<float>(), (std::vector<float>{0, 60}));
  EXPECT_EQ(a.max().item<float>(), 5.f);
  EXPECT_EQ(a.min(-1).to_vector<float>(), (std::vector<float>{0, 3}));
  EXPECT_EQ(a.mean().item<float>(), 2.5f);
  EXPECT_EQ(a.reshape({1, 6}).squeeze().shape(), (Shape{6}));
  EXPECT_EQ(a.shape(-1), 3);
}
TEST(Array, ZeroDimensionalAndZeroSized) {
  const Array s = np::zeros({}), e = np::zeros({2, 0, 3});
  EXPECT_EQ(s.size(), 1);
  EXPECT_EQ(e.size(), 0);
  EXPECT_EQ(e.nbytes(), 0u);
  EXPECT_EQ(np::sum(e).item<float>(), 0.f);
  EXPECT_EQ(np::prod(e).item<float>(), 1.f);
  EXPECT_EQ(np::sum(e, 1).shape(), (Shape{2, 3}));
  EXPECT_EQ((e + 1).shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(np::matmul(np::zeros({2, 0}), np::zeros({0, 3})).to_vector<float>(), std::vector<float>(6, 0.f));
  EXPECT_EQ(np::concatenate({np::zeros({0}), np::ones({2})}).shape(), (Shape{2}));
  EXPECT_EQ(np::sort(np::zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(s.T().ndim(), 0);
  EXPECT_TRUE(e.to_vector<float>().empty());
}

TEST(Device, TheReference) {
  const auto all = devices();
  EXPECT_NE(std::find_if(all.begin(), all.end(), [](const Device& d) { return d == "reference"; }), all.end());
  const Array a = np::ones({2});
  EXPECT_EQ(a.device(), default_device());
  default_device("reference");
  EXPECT_EQ(default_device(), "reference");
  EXPECT_EQ(device_put(a, "reference").to_vector<float>(), a.to_vector<float>());
  default_device("native");  // the tests after this one expect it
  EXPECT_EQ(block_until_ready(a).size(), 2);
}
