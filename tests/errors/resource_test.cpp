// Empty handles, memory, devices, NaN checks.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

TEST(EmptyHandleErrors, EveryUse) {
  const Array e;
  EXPECT_ERROR(ValueError, e.shape(),
               "[array] this Array is empty (default-constructed or moved from); assign it before use.");
  EXPECT_ERROR(ValueError, e.dtype(), "this Array is empty");
  EXPECT_ERROR(ValueError, e + 1, "empty (default-constructed or moved from); assign it before use.");
  EXPECT_ERROR(ValueError, -e, "empty");
  EXPECT_ERROR(ValueError, np::sin(e), "empty");
  EXPECT_ERROR(ValueError, np::sum(e), "empty");
  EXPECT_ERROR(ValueError, np::matmul(e, e), "empty");
  EXPECT_ERROR(ValueError, np::concatenate({e}), "empty");
  EXPECT_ERROR(ValueError, np::where(e, 1, 2), "empty");
  EXPECT_ERROR(ValueError, e.item<float>(), "empty");
  EXPECT_ERROR(ValueError, e.to_vector<float>(), "empty");
  EXPECT_ERROR(ValueError, static_cast<bool>(e), "empty");
  EXPECT_ERROR(ValueError, e[0], "empty");
  EXPECT_ERROR(ValueError, e.at(0).set(1.0), "empty");
  EXPECT_ERROR(ValueError, e.reshape({1}), "empty");
  EXPECT_ERROR(ValueError, e.astype(f64), "empty");
  EXPECT_ERROR(ValueError, e.T(), "empty");
  EXPECT_ERROR(ValueError, e.device(), "empty");
  EXPECT_ERROR(ValueError, e.nbytes(), "empty");
  EXPECT_ERROR(ValueError, linalg::inv(e), "empty");
  EXPECT_ERROR(ValueError, lax::sort({e}), "empty");
  EXPECT_ERROR(ValueError, stop_gradient(e), "empty");
  EXPECT_ERROR(ValueError, device_put(e, "reference"), "empty");
  EXPECT_ERROR(ValueError, block_until_ready(e), "empty");
  EXPECT_ERROR(ValueError, is_ready(e), "empty");
  EXPECT_ERROR(ValueError, copy_to_host_async(e), "empty");
  EXPECT_ERROR(ValueError, np::ones({2}).at(0).set(e), "empty");
}
TEST(EmptyHandleErrors, TracersHaveNoElementsToCopy) {
  EXPECT_ERROR(
      ConcretizationError, jit([](Array x) {
        copy_to_host_async(x);
        return x;
      })(np::ones({2})),
      "[copy_to_host_async] the array has no elements under a transform; copy what the transformed function returns.");
}
TEST(EmptyHandleErrors, MovedFrom) {
  Array a = np::ones({2});
  const Array b = std::move(a);
  EXPECT_ERROR(ValueError, a + b, "moved from");  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(b.size(), 2);
}
TEST(EmptyHandleErrors, Printing) { EXPECT_NO_THROW(to_string(Array())); }

TEST(MemoryErrors, MoreBytesThanCanBeAddressed) {
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_ERROR(OutOfMemoryError, np::zeros({big, big, big}),
               "has more bytes than can be addressed; use a smaller shape.");
  EXPECT_ERROR(OutOfMemoryError, np::broadcast_to(1.0, {big, big}), "more bytes than can be addressed");
  EXPECT_ERROR(OutOfMemoryError, lax::iota(f64, {big, big}), "more bytes than can be addressed");
  EXPECT_ERROR(OutOfMemoryError, shape_dtype({big, big}), "[shape_dtype]", "more bytes than can be addressed");
  EXPECT_ERROR(OutOfMemoryError, Array::from_host(std::vector<float>(1), {big, big}), "[from_host]",
               "more bytes than can be addressed");
  EXPECT_EQ((np::zeros({big, big, 0}) + 1).T().size(), 0);
}
TEST(MemoryErrors, MoreBytesThanTheMachineHas) {
  EXPECT_ERROR(OutOfMemoryError, np::zeros({std::int64_t{1} << 45}),
               "[allocate] the device 'native' has no room for 140737488355328 bytes",
               "free arrays or work in smaller pieces.");
}
TEST(MemoryErrors, UnderJit) {
  EXPECT_ERROR(OutOfMemoryError,
               jit([](Array x) { return np::sum(np::broadcast_to(x, {1 << 22, 1 << 23})); })(Array(1.f)),
               "has no room for");
  EXPECT_ERROR(OutOfMemoryError, jit([](Array x) { return np::tile(x, {std::int64_t{1} << 62}); })(np::ones({8})),
               "more bytes than can be addressed");
}
TEST(MemoryErrors, SizesDoNotWrap) {
  const std::int64_t half = std::int64_t{1} << 32;  // half * half is 0 in 64 bits
  EXPECT_ERROR(ShapeError, np::zeros({0}).reshape({half, half}),
               "[reshape] f32[0] has 0 elements and cannot take shape (4294967296, 4294967296)");
  EXPECT_ERROR(ShapeError, jit([=](Array x) { return x.reshape({half, half}); })(np::zeros({0})),
               "[reshape] f32[0] has 0 elements");
  EXPECT_ERROR(OutOfMemoryError, make_jaxpr([=](Array x) { return np::broadcast_to(x, {half, half}); })(1.0),
               "[broadcast_to] f32[4294967296,4294967296] has more bytes than can be addressed");
}
TEST(MemoryErrors, ResultsOfOperations) {
  const Array v = np::ones({1 << 20});
  EXPECT_ERROR(OutOfMemoryError, np::outer(v, v), "has no room for");
  EXPECT_ERROR(OutOfMemoryError, np::repeat(v, std::int64_t{1} << 60), "[repeat]", "more bytes than can be addressed");
  EXPECT_ERROR(OutOfMemoryError, np::pad(v, {{std::int64_t{1} << 62, std::int64_t{1} << 62}}), "[pad]",
               "longer than can be addressed; pad less.");
  EXPECT_ERROR(OutOfMemoryError, random::bits(random::key(0), {1 << 30, 1 << 30, 1 << 10}),
               "more bytes than can be addressed");
  EXPECT_ERROR(ValueError, np::arange(std::int64_t{1} << 61),
               "[arange] would make 2.305843009213694e+18 elements; check start, stop and step.");
  EXPECT_ERROR(OutOfMemoryError, np::eye(std::int64_t{1} << 40), "more bytes than can be addressed");
}

TEST(DeviceErrors, Unknown) {
  EXPECT_ERROR(DeviceError, default_device("abacus"),
               "[device] there is no device 'abacus'; this build has: native, reference");
  EXPECT_ERROR(DeviceError, device_put(1.0, "tpu"), "[device] there is no device 'tpu'");
  EXPECT_EQ(default_device(), "native");
}

TEST(NanErrors, NameThePrimitive) {
  struct On {
    On() { debug_nans(true); }
    ~On() { debug_nans(false); }
  } on;
  const int line = __LINE__ + 1;
  const auto logarithm = [] { return np::log(Array(-1.f)); };
  EXPECT_ERROR(NanError, logarithm(), "[debug_nans] log made a NaN in its result f32[]",
               "resource_test.cpp:" + std::to_string(line), "its operands had none");
  EXPECT_ERROR(NanError, jit([](Array x) { return np::sqrt(x) + 1; })(np::array({1.f, -1.f})),
               "[debug_nans] sqrt made a NaN in its result f32[2]");
  EXPECT_ERROR(NanError, grad([](Array x) { return np::sqrt(x) * 0; })(Array(0.f)), "[debug_nans]", "made a NaN");
  EXPECT_ERROR(NanError, np::array({np::nan}) + 1, "[debug_nans] add made a NaN", "an operand had one already");
}
