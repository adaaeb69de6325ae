// Donated arguments: their memory becomes the results', and nothing is overwritten that somebody still reads.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

#include "backend/webgpu/device.hpp"
#include "backend/webgpu/memory.hpp"
#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

std::uint64_t place_of(const Array& a) { return ct::webgpu::memory_of(a).on_device(ct::webgpu::device()).offset; }
Array numbers(std::int64_t n) { return np::sin(np::arange(n, ct::f32)); }

class WebGpuDonation : public webgpu_tests::OnWebGpu {};

TEST_F(WebGpuDonation, TheResultTakesTheArgumentsPlace) {
  const auto step = ct::jit([](Array x, Array g) { return x - 0.1 * g; }, {.donate = {0}});
  const Array g = np::ones({100000});
  Array x = step(np::ones({100000}), g);
  const auto place = place_of(x);
  const auto arrays = ct::memory_stats();
  const auto before = ct::webgpu::device()->counts();
  ct::reset_peak_bytes();
  for (int k = 0; k < 5; ++k) x = step(x, g);
  EXPECT_EQ(place_of(x), place);
  EXPECT_EQ(ct::webgpu::device()->counts().used_bytes, before.used_bytes);
  EXPECT_EQ(ct::memory_stats().allocations, arrays.allocations) << "nothing new is needed";
  EXPECT_EQ(ct::memory_stats().peak_bytes, arrays.live_bytes) << "not even for a while";
  EXPECT_NEAR(x.to_vector<float>()[0], 0.4, 1e-6);
}

TEST_F(WebGpuDonation, DonatedArgumentsAreGoneAndTheirOldElementsToo) {
  const auto f = ct::jit([](Array x) { return x * 2; }, {.donate = {0}});
  const Array x = numbers(1000) + 0.5;
  const std::vector<float> before =
      x.to_vector<float>();  // the host has a copy, which must not be taken for the result
  ct::copy_to_host_async(x);
  const Array y = f(x);
  EXPECT_EQ(y.to_vector<float>()[7], 2 * before[7]);
  EXPECT_THROW((void)x.to_vector<float>(), ct::ValueError);
}

TEST_F(WebGpuDonation, MemoryThatIsSharedIsNotOverwritten) {
  const auto f = ct::jit([](Array x, Array y) { return x * 2 + np::flip(y); }, {.donate = {0}});
  const std::vector<float> expected = (numbers(1000) * 2 + np::flip(numbers(1000))).to_vector<float>();
  const Array x = ct::block_until_ready(numbers(1000));
  EXPECT_EQ(f(x, x).to_vector<float>(), expected);
}

/// Small steps in a row are one dispatch, whose threads are at different steps; large ones are dispatches of their own.
TEST_F(WebGpuDonation, ChangesNoResult) {
  const std::vector<std::pair<const char*, std::function<Array(Array)>>> programs{
      {"reversed", [](Array x) { return np::flip(x) + x; }},
      {"centred", [](Array x) { return x - np::mean(x); }},
      {"normalised", [](Array x) { return x / np::sqrt(np::sum(x * x)); }},
      {"twice", [](Array x) { return np::flip(np::flip(x) * np::sum(x)) + 1.0; }},
      {"routines", [](Array x) { return np::sort(-x) + np::cumsum(x) + x; }},
      {"scan",
       [](Array x) {
         return lax::scan([](Array c, Array v) { return std::pair{c * 0.5 + v, c + v}; }, np::zeros({}), np::flip(x))
             .second;
       }},
      {"loop",
       [](Array x) { return lax::fori_loop(0, 9, [](Array, Array c) { return np::roll(c, 1) * 0.5 + c; }, x); }},
      {"product", [](Array x) { return np::matmul(np::outer(x, x), x); }},
  };
  for (const auto& [name, f] : programs)
    for (const std::int64_t n : {5, 64, 700}) {
      SCOPED_TRACE(name);
      EXPECT_EQ(ct::jit(f, {.donate = {0}})(numbers(n)).to_vector<float>(), ct::jit(f)(numbers(n)).to_vector<float>())
          << n;
    }
}

TEST_F(WebGpuDonation, OneBufferForOneResultAndOfItsOwnType) {
  const auto f =
      ct::jit([](Array x) { return std::tuple{x + 1, x + 2, (x * 10).astype(ct::i32), (x * 0.5).astype(ct::f16)}; },
              {.donate = {0}});
  const auto [a, b, c, d] = f(np::ones({1000}));
  EXPECT_NE(place_of(a), place_of(b));
  EXPECT_EQ(a.to_vector<float>()[999], 2.f);
  EXPECT_EQ(b.to_vector<float>()[999], 3.f);
  EXPECT_EQ(c.to_vector<int>()[999], 10);
  EXPECT_EQ(d.to_vector<float>()[999], 0.5f);
}

TEST_F(WebGpuDonation, ATrainingLoopThatGivesUpItsState) {
  const auto step = [](std::pair<Array, Array> state, Array x) {
    const auto loss = [&](Array w) { return np::mean(np::square(np::tanh(np::matmul(x, w)) - 0.3)); };
    const Array m = state.second * 0.9 + ct::grad(loss)(state.first);
    return std::pair{state.first - 0.1 * m, m};
  };
  const auto run = [&](const auto& f) {
    std::pair state{np::full({64, 32}, 0.01f), np::zeros({64, 32})};
    const Array x = numbers(16 * 64).reshape({16, 64});
    for (int k = 0; k < 20; ++k) state = f(state, x);
    return state.first.to_vector<float>();
  };
  EXPECT_EQ(run(ct::jit(step, {.donate = {0}})), run(ct::jit(step)));
}

}  // namespace
