// Profiles of the device: times of kernels by its own clock, in the trace and in explain.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "backend/webgpu/timeline.hpp"
#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace fs = std::filesystem;
using ct::Array;

bool has_clock() {
  const auto& device = ct::webgpu::device()->capabilities();
  if (!device.timestamps)
    std::cout << "the driver '" << device.name << "' has no timestamp queries: host events only\n";
  return device.timestamps;
}

std::size_t count(const ct::Profile& p, std::string_view category) {
  return static_cast<std::size_t>(std::count_if(p.events().begin(), p.events().end(),
                                                [&](const ct::ProfileEvent& e) { return e.category == category; }));
}

Array two_kernels(const Array& x) { return np::cumsum(np::sin(x)) / np::sum(x * x); }

class WebGpuProfile : public webgpu_tests::OnWebGpu {};

TEST_F(WebGpuProfile, HostAndDeviceEventsOfACall) {
  const auto f = ct::jit(two_kernels);
  const Array x = np::ones({5000});
  const int dispatches = ct::explain(f, x).dispatches;
  ct::clear_caches();
  ct::Profile profile;
  const Array y = ct::jit(two_kernels)(x);
  (void)y.to_vector<float>();
  profile.stop();
  for (const char* category : {"trace", "compile", "call", "readback"})
    EXPECT_GE(count(profile, category), 1u) << category;
  for (const ct::ProfileEvent& e : profile.events()) {
    EXPECT_GE(e.duration_ns, 0) << e.name;
    EXPECT_EQ(e.category == "kernel", e.track.starts_with("webgpu: ")) << e.track;
  }
  if (!has_clock()) {
    EXPECT_EQ(count(profile, "kernel"), 0u);
    ASSERT_EQ(profile.notes().size(), 1u);
    EXPECT_NE(profile.notes()[0].find("no timestamp queries"), std::string::npos);
    return;
  }
  EXPECT_EQ(count(profile, "kernel"), static_cast<std::size_t>(dispatches));
  for (const ct::ProfileEvent& e : profile.events()) {
    if (e.category != "kernel") continue;
    EXPECT_FALSE(e.name.empty());
    std::set<std::string> details;
    for (const auto& [name, value] : e.details) details.insert(name);
    EXPECT_EQ(details, (std::set<std::string>{"bytes", "groups", "threads"}));
  }
  EXPECT_NE(profile.text().find("kernel"), std::string::npos) << profile.text();
}

TEST_F(WebGpuProfile, NothingIsRecordedOrTimedWithoutAProfile) {
  const auto f = ct::jit([](Array x) { return np::cos(x) * 3.25; });
  const Array x = np::ones({100});
  (void)f(x).to_vector<float>();
  EXPECT_EQ(ct::explain(f, x).times, "");
  ct::Profile profile;
  profile.stop();
  (void)f(x).to_vector<float>();
  EXPECT_EQ(profile.events().size(), 0u);
}

TEST_F(WebGpuProfile, ExplainShowsTheTimesOfProfiledCalls) {
  const auto f = ct::jit(two_kernels);
  const Array x = np::ones({4000});  // of no other test: equal programs share their times
  {
    ct::Profile profile;
    for (int k = 0; k < 3; ++k) (void)f(x);
  }
  const ct::Explanation e = ct::explain(f, x);
  if (!has_clock()) {
    EXPECT_EQ(e.times, "");
    return;
  }
  EXPECT_NE(e.times.find("3 profiled calls"), std::string::npos) << e.times;
  EXPECT_EQ(std::count(e.times.begin(), e.times.end(), '\n'), 2 + e.dispatches) << e.times;
  EXPECT_NE(e.text().find(e.times), std::string::npos);
  std::cout << e.times;
}

/// A query set has 4,096 queries, which is 2,048 dispatches: here are more in one submission.
TEST_F(WebGpuProfile, MoreDispatchesThanAQuerySetHolds) {
  constexpr std::int64_t steps = 2600;
  const auto f = ct::jit([](Array x) {
    const auto body = [](Array c, Array) { return std::pair{np::matmul(c, c) * 0.01 + 0.001, Array(0.f)}; };
    return ct::lax::scan(body, x, np::zeros({steps})).first;
  });
  const Array x = np::ones({64, 64}) * 0.5;
  const int dispatches = ct::explain(f, x).dispatches;
  ASSERT_GT(dispatches, 2048) << "too few to tell";
  const std::vector<float> expected = f(x).to_vector<float>();
  ct::Profile profile;
  const std::vector<float> got = f(x).to_vector<float>();
  profile.stop();
  EXPECT_EQ(got, expected);
  if (has_clock()) {
    EXPECT_EQ(count(profile, "kernel"), static_cast<std::size_t>(dispatches));
  }
}

TEST(WebGpuTimes, RoundedOnesAreTold) {
  EXPECT_EQ(ct::gpu::coarse_step_ns(0x1234'0000'0000u | 0x5'0000u), 0x1'0000u) << "as Dawn rounds by itself";
  EXPECT_EQ(ct::gpu::coarse_step_ns(0x1234'0000'0020u), std::nullopt);
  EXPECT_EQ(ct::gpu::coarse_step_ns(0), std::nullopt) << "nothing was measured yet";
}

TEST_F(WebGpuProfile, KernelsOfADeviceThatIsLostAreANote) {
  const auto f = ct::jit(two_kernels);
  const Array x = np::ones({500});
  (void)f(x).to_vector<float>();
  ct::Profile profile;
  (void)f(x);
  ct::webgpu::device()->lose();
  profile.stop();
  EXPECT_GE(count(profile, "call"), 1u);
  if (has_clock()) {
    EXPECT_GE(count(profile, "kernel") + profile.notes().size(), 1u);
  }
}

/// COTAN_TRACE in a process of its own, whose last act is to write the file.
TEST_F(WebGpuProfile, TheEnvironmentTracesAWholeProcess) {
  const fs::path file = fs::temp_directory_path() / ("cotan_trace_" + std::to_string(getpid()) + ".json");
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX COTAN_TRACE=" + file.string() + " " +
                              self.string() +
                              " --gtest_filter=WebGpuProfile.ExplainShowsTheTimesOfProfiledCalls >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(file);
  const auto trace = nlohmann::json::parse(in);
  fs::remove(file);
  std::size_t kernels = 0, calls = 0;
  for (const auto& e : trace.at("traceEvents")) {
    kernels += e.value("cat", "") == "kernel";
    calls += e.value("cat", "") == "call";
    if (e.at("ph") != "X") continue;
    EXPECT_TRUE(e.at("ts").is_number() && e.at("dur").is_number());
  }
  EXPECT_GE(calls, 3u);
  if (has_clock()) {
    EXPECT_GE(kernels, calls);
  }
}

}  // namespace
