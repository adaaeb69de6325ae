#include "support/run_tests.hpp"

#include <gtest/gtest.h>

#include <cotan/debug.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "support/nightly.hpp"

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

/// Leaves out what the file lists, a pattern a line.
void leave_out(const std::string& list) {
  std::ifstream in(list);
  if (!in) {
    std::fprintf(stderr, "there is no %s; it lists what is left to nightly runs\n", list.c_str());
    std::exit(1);
  }
  std::string& filter = testing::GTEST_FLAG(filter);
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') filter += (filter.find('-') == filter.npos ? "-" : ":") + line;
}

}  // namespace

int run_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // What ctest runs is less than all: tests/nightly.txt says what, and why.
  if (const char* list = std::getenv("COTAN_TESTS_LEFT_OUT"); list && *list && !is_nightly()) leave_out(list);
  testing::UnitTest::GetInstance()->listeners().Append(new LiveBufferCheck);  // gtest owns it
  const int failed = RUN_ALL_TESTS();
  // A filter that matches nothing tests nothing.
  const auto& all = *testing::UnitTest::GetInstance();
  if (failed || all.test_to_run_count() > 0 || testing::GTEST_FLAG(list_tests)) return failed;
  std::fputs("no test matches the filter\n", stderr);
  return 1;
}
