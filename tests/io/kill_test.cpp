// A writer that is killed leaves a whole file, at whatever moment.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cotan/io.hpp>
#include <cotan/numpy.hpp>
#include <cstdlib>
#include <thread>

#include "io/files.hpp"

namespace np = cotan::numpy;
using namespace cotan;

namespace {

constexpr const char* writer_variable = "COTAN_TEST_WRITER";  ///< where to write: set in a child only
constexpr int steps = 1'000'000;

/// Weights that all hold the number of the step.
void write_for_ever(const std::string& folder) {
  for (int step = 1; step < steps; ++step) {
    const std::map<std::string, Array> weights{{"a", np::full({300, 300}, step)}, {"b", np::full({50'000}, step)}};
    save_safetensors(folder + "/w.safetensors", weights, {{"step", std::to_string(step)}});
    save_safetensors_sharded(folder + "/sharded", weights, 1000, {{"step", std::to_string(step)}});
  }
}

pid_t start_writer(const std::string& folder) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
  std::vector<std::string> variables{std::string(writer_variable) + "=" + folder};
  for (char** v = environ; *v; ++v)
    if (!std::string_view(*v).starts_with("GTEST_")) variables.emplace_back(*v);
  std::vector<char*> environment;
  for (std::string& v : variables) environment.push_back(v.data());
  environment.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);  // gtest's own words
    execle("/proc/self/exe", "tests", filter.c_str(), static_cast<char*>(nullptr), environment.data());
    std::_Exit(4);
  }
  return child;
}

/// The step that all of the weights are of.
void expect_one_step(const Safetensors& file) {
  const int step = std::stoi(file.metadata().at("step"));
  for (const auto& [name, array] : file.all())
    EXPECT_TRUE(np::all(array == step).item<bool>()) << name << " of step " << step;
}

}  // namespace

TEST(Kill, LeavesWholeWeights) {
  if (const char* folder = std::getenv(writer_variable)) return write_for_ever(folder);
  const test::Folder folder;
  int sharded = 0;
  for (int kill_at = 0; kill_at < 12; ++kill_at) {
    const pid_t child = start_writer(folder.path("").string());
    ASSERT_GT(child, 0);
    while (!test::fs::exists(folder.path("w.safetensors"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(40'000 + 7919 * kill_at));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    expect_one_step(Safetensors(folder.path("w.safetensors")));
    // Shards have an index, or are not taken for a checkpoint.
    if (!test::fs::exists(folder.path("sharded/model.safetensors.index.json"))) continue;
    expect_one_step(Safetensors(folder.path("sharded")));
    ++sharded;
  }
  EXPECT_GT(sharded, 0);
}
