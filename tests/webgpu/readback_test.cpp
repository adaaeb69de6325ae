// Reading without waiting: copy_to_host_async and is_ready.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <thread>

#include "backend/webgpu/device.hpp"
#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

/// Long enough that nobody could have waited for it by accident.
Array slow(const Array& x) {
  return lax::fori_loop(0, 3000, [](Array, Array c) { return np::sin(c) + 0.001; }, x);
}

class WebGpuReadback : public webgpu_tests::OnWebGpu {};

TEST_F(WebGpuReadback, StartsWithoutWaitingAndGivesTheValues) {
  const auto f = ct::jit(slow);
  const Array x = np::ones({4096});
  const std::vector<float> expected = f(x).to_vector<float>();
  bool returned_early = false;  // a quick device may be done before we look, but not always
  for (int tries = 0; tries < 50 && !returned_early; ++tries) {
    const Array y = f(x);
    ct::copy_to_host_async(y);
    returned_early = !ct::is_ready(y);
    const auto reads = ct::webgpu::device()->counts().readbacks;
    EXPECT_EQ(y.to_vector<float>(), expected);
    EXPECT_EQ(ct::webgpu::device()->counts().readbacks, reads) << "one copy, which was on its way";
    EXPECT_TRUE(ct::is_ready(y));
  }
  EXPECT_TRUE(returned_early);
}

TEST_F(WebGpuReadback, ReadyComesByItself) {
  const Array y = ct::jit(slow)(np::ones({1000}));
  while (!ct::is_ready(y)) std::this_thread::yield();
  EXPECT_EQ(y.to_vector<float>().size(), 1000u);
  const Array z = ct::block_until_ready(ct::jit(slow)(np::ones({1000})));
  EXPECT_TRUE(ct::is_ready(z));
}

TEST_F(WebGpuReadback, OverlapsWithLaterCalls) {
  const auto f = ct::jit([](Array x) { return np::cumsum(np::sin(x)) * 2.0; });
  std::vector<Array> inputs, results;
  std::vector<std::vector<float>> expected;
  for (int k = 0; k < 20; ++k) {
    inputs.push_back(np::arange(2000, ct::f32) * (0.001f * static_cast<float>(k + 1)));
    expected.push_back(f(inputs.back()).to_vector<float>());
  }
  for (const Array& x : inputs) {
    results.push_back(f(x));
    ct::copy_to_host_async(results.back());
    ct::copy_to_host_async(results.back());  // is no second copy
    (void)f(x + 1.0);                        // its memory is given out again while the copies are on their way
  }
  for (std::size_t k = results.size(); k-- > 0;) EXPECT_EQ(results[k].to_vector<float>(), expected[k]) << "call " << k;
}

TEST_F(WebGpuReadback, NarrowTypesAreConverted) {
  const Array x = (np::arange(100, ct::f32) * 0.5).astype(ct::f16), b = np::arange(100, ct::i32) > 50;
  ct::copy_to_host_async(x);
  ct::copy_to_host_async(b);
  EXPECT_EQ(x.to_vector<float>()[7], 3.5f);
  EXPECT_EQ(b.to_vector<int>()[51], 1);
}

TEST_F(WebGpuReadback, ArraysThatGoBeforeTheirCopyLeaveNothingBehind) {
  const auto f = ct::jit([](Array x) { return np::cos(x); });
  const Array x = np::ones({50000});
  (void)f(x).to_vector<float>();
  ct::webgpu::device()->synchronize();
  const auto before = ct::webgpu::device()->counts();
  const auto arrays = ct::memory_stats();
  for (int k = 0; k < 300; ++k) {
    const Array y = f(x);
    ct::copy_to_host_async(y);
  }
  ct::webgpu::device()->synchronize();
  const auto after = ct::webgpu::device()->counts();
  EXPECT_EQ(after.used_bytes, before.used_bytes);
  EXPECT_EQ(after.slab_bytes, before.slab_bytes);
  EXPECT_EQ(ct::memory_stats().live_buffers, arrays.live_buffers);
  EXPECT_EQ(f(x).to_vector<float>(), np::cos(x).to_vector<float>());
}

TEST_F(WebGpuReadback, ACopyOfALostDeviceIsAnError) {
  const Array y = ct::jit([](Array x) { return x * 3.0; })(np::ones({10}));
  ct::copy_to_host_async(y);
  ct::webgpu::device()->lose();
  EXPECT_THROW((void)y.to_vector<float>(), ct::DeviceError);
  EXPECT_THROW((void)y.to_vector<float>(), ct::DeviceError) << "and stays one";
  EXPECT_EQ((np::ones({2}) + 1.0).to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST_F(WebGpuReadback, OtherDevicesAreAlwaysReady) {
  ct::default_device("native");
  const Array x = np::ones({3}) * 2.0;
  EXPECT_TRUE(ct::is_ready(x));
  ct::copy_to_host_async(x);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

/// One thread reads what another computes with: neither may hold what the other waits for.
TEST_F(WebGpuReadback, ReadingAndCallingAtTheSameTime) {
  const auto f = ct::jit([](Array x) { return np::sin(x) + 0.5; });
  Array x = np::ones({256});
  for (int k = 0; k < 200; ++k) {
    const Array y = f(x);
    std::thread reader([&] { (void)y.to_vector<float>(); });
    x = f(y);
    reader.join();
  }
  EXPECT_EQ(x.to_vector<float>().size(), 256u);
}

}  // namespace
