#include "support/in_children.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <sstream>
#include <stdexcept>

namespace {

/// "first last pipe": set in a child only.
constexpr const char* seeds_variable = "COTAN_TEST_CHILD";
constexpr unsigned longest_seconds = 300;  ///< for one seed

void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(to, text.data() + at, text.size() - at);
    if (n <= 0) std::_Exit(3);
    at += static_cast<std::size_t>(n);
  }
}

/// Each seed is announced before it is worked on; a fault follows as its length and its text.
[[noreturn]] void be_child(const char* seeds, const std::function<std::string(std::uint64_t)>& work,
                           std::size_t most_faults) {
  std::istringstream in(seeds);
  std::uint64_t first = 0, last = 0;
  int to = -1;
  in >> first >> last >> to;
  unsetenv(seeds_variable);
  for (std::uint64_t seed = first; seed < last && most_faults > 0; ++seed) {
    write_all(to, "seed " + std::to_string(seed) + "\n");
    alarm(longest_seconds);
    const std::string fault = work(seed);
    if (fault.empty()) continue;
    write_all(to, "fault " + std::to_string(fault.size()) + "\n" + fault);
    --most_faults;
  }
  write_all(to, "done\n");
  std::_Exit(0);
}

/// Starts this executable again for the current test; gives back where it reports.
std::pair<pid_t, int> start(std::uint64_t first, std::uint64_t last) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) throw std::runtime_error("in_children: no pipe");
  // This test, whatever shard it is in. All memory is taken before there are two processes.
  std::vector<std::string> variables{std::string(seeds_variable) + "=" + std::to_string(first) + " " +
                                     std::to_string(last) + " " + std::to_string(ends[1])};
  for (char** v = environ; *v; ++v)
    if (!std::string_view(*v).starts_with("GTEST_")) variables.emplace_back(*v);
  std::vector<char*> environment;
  for (std::string& v : variables) environment.push_back(v.data());
  environment.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("in_children: no process");
  if (child == 0) {
    fcntl(ends[1], F_SETFD, 0);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);  // gtest's own words; what is wrong goes to stderr
    execle("/proc/self/exe", "tests", filter.c_str(), static_cast<char*>(nullptr), environment.data());
    std::_Exit(4);
  }
  close(ends[1]);
  return {child, ends[0]};
}

std::string read_all(int from) {
  std::string out;
  char part[4096];
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0;) out.append(part, static_cast<std::size_t>(n));
  close(from);
  return out;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "hangs: no answer within " + std::to_string(longest_seconds) + " s\n";
  if (WIFSIGNALED(status)) return std::string("crashes: ") + strsignal(WTERMSIG(status)) + "\n";
  return "ends the process with exit status " + std::to_string(WEXITSTATUS(status)) + "\n";
}

/// One child after the other, as long as seeds are left.
std::vector<Finding> one_by_one(std::uint64_t first, std::uint64_t last, std::size_t most_findings) {
  std::vector<Finding> out;
  while (first < last && out.size() < most_findings) {
    const auto [child, from] = start(first, last);
    std::istringstream report(read_all(from));
    int status = 0;
    waitpid(child, &status, 0);
    std::uint64_t seed = first;
    bool done = false;
    for (std::string word; report >> word;) {
      if (word == "seed") {
        report >> seed;
      } else if (word == "fault") {
        std::size_t size = 0;
        report >> size;
        std::string fault(size, '\0');
        report.ignore(1);
        report.read(fault.data(), static_cast<std::streamsize>(size));
        out.push_back({seed, std::move(fault)});
      } else {
        done = true;
      }
    }
    if (done) break;
    out.push_back({seed, how_it_ended(status)});
    first = seed + 1;
  }
  return out;
}

std::uint64_t children_at_once() {
  const char* n = std::getenv("COTAN_TEST_CHILDREN");
  return n ? std::max<std::uint64_t>(std::strtoull(n, nullptr, 10), 1) : 1;
}

}  // namespace

std::vector<Finding> in_children(std::uint64_t count, const std::function<std::string(std::uint64_t)>& work,
                                 std::size_t most_findings) {
  if (const char* seeds = std::getenv(seeds_variable)) be_child(seeds, work, most_findings);
  const std::uint64_t children = children_at_once();
  std::vector<std::future<std::vector<Finding>>> pieces;
  for (std::uint64_t k = 0; k < children; ++k)
    pieces.push_back(
        std::async(std::launch::async, one_by_one, count * k / children, count * (k + 1) / children, most_findings));
  std::vector<Finding> out;
  for (auto& piece : pieces)
    for (Finding& f : piece.get())
      if (out.size() < most_findings) out.push_back(std::move(f));
  return out;
}
