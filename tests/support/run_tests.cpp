#include "support/run_tests.hpp"

#include <gtest/gtest.h>

#include <cotan/debug.hpp>

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
  return RUN_ALL_TESTS();
}
