// Profile: events of the host, the trace's file, several profiles at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cotan/cotan.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace fs = std::filesystem;

std::vector<std::string> categories(const Profile& p) {
  std::vector<std::string> out;
  for (const ProfileEvent& e : p.events()) out.push_back(e.category);
  return out;
}
bool has(const Profile& p, const std::string& category) {
  const auto all = categories(p);
  return std::find(all.begin(), all.end(), category) != all.end();
}

TEST(Profile, RecordsTracingCompilingAndCalling) {
  const auto f = jit([](Array x) { return np::sin(x) * 1.03125; });
  const Array x = np::ones({7});
  Profile first;
  (void)f(x);
  first.stop();
  for (const char* category : {"trace", "compile", "call"})
    EXPECT_TRUE(has(first, category)) << category << "\n" << first.text();
  Profile second;
  (void)f(x);
  second.stop();
  EXPECT_EQ(categories(second), std::vector<std::string>{"call"}) << "nothing is traced or compiled again";
  second.stop();  // is nothing more
}

TEST(Profile, ProfilesMayOverlap) {
  Profile outer;
  {
    ProfileSpan before("before");
  }
  Profile inner;
  {
    ProfileSpan both("both");
  }
  inner.stop();
  {
    ProfileSpan after("after");
  }
  outer.stop();
  {
    ProfileSpan none("none");
  }
  ASSERT_EQ(inner.events().size(), 1u);
  EXPECT_EQ(inner.events()[0].name, "both");
  ASSERT_EQ(outer.events().size(), 3u);
  EXPECT_EQ(outer.events()[2].name, "after");
}

TEST(Profile, ThreadsHaveTracksOfTheirOwn) {
  Profile profile;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) ProfileSpan span("work");
    });
  for (auto& t : threads) t.join();
  profile.stop();
  EXPECT_EQ(profile.events().size(), 400u);
  std::set<std::string> tracks;
  for (const ProfileEvent& e : profile.events()) tracks.insert(e.track);
  EXPECT_EQ(tracks.size(), 4u);
}

TEST(Profile, TheTraceIsJsonThatViewersRead) {
  const fs::path file = fs::temp_directory_path() / ("cotan_profile_" + std::to_string(getpid()) + ".json");
  {
    Profile profile(file.string());
    ProfileSpan span("a \"quoted\"\\ name\n");
  }
  std::ifstream in(file);
  const auto trace = nlohmann::json::parse(in);
  fs::remove(file);
  int spans = 0;
  for (const auto& e : trace.at("traceEvents")) {
    for (const char* key : {"ph", "name", "pid", "tid"}) EXPECT_TRUE(e.contains(key)) << e;
    spans += e.at("ph") == "X" && e.at("name") == "a \"quoted\"\\ name\n";
  }
  EXPECT_EQ(spans, 1);
}

TEST(Profile, AFileThatCannotBeWrittenIsAnErrorOnlyInStop) {
  Profile profile("/nowhere/at/all.json");
  try {
    profile.stop();
    FAIL();
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find("'/nowhere/at/all.json' cannot be written"), std::string::npos) << e.what();
  }
  testing::internal::CaptureStderr();
  {
    Profile silent("/nowhere/at/all.json");
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cannot be written"), std::string::npos);
}

}  // namespace
