#include "support/run_tests.hpp"

#include <gtest/gtest.h>

#include <cotan/debug.hpp>
#include <cstdio>

namespace {

class LiveBufferCheck : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { before_ = live_buffers(); }

  // gtest calls this after the fixture is destroyed.
  void OnTestEnd(const testing::TestInfo&) override {
    EXPECT_EQ(live_buffers(), before_) << "live buffers after the test differ from those before it";
  }

  static auto live_buffers() -> decltype(cotan::memory_stats().live_buffers) {
    return cotan::memory_stats().live_buffers;
  }

  decltype(cotan::memory_stats().live_buffers) before_ = 0;
};

}  // namespace

int run_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new LiveBufferCheck);  // gtest owns it
  const int failed = RUN_ALL_TESTS();
  // A filter that matches nothing tests nothing.
  const auto& all = *testing::UnitTest::GetInstance();
  if (failed || all.test_to_run_count() > 0 || testing::GTEST_FLAG(list_tests)) return failed;
  std::fputs("no test matches the filter\n", stderr);
  return 1;
}
