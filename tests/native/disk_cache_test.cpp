// The cache of compiled objects in COTAN_CACHE_DIR: a second start compiles nothing, and no file can do harm.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cotan/cotan.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend/native/executable.hpp"
#include "core/trace.hpp"

namespace ct = cotan;
namespace fs = std::filesystem;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;

namespace {

/// A fresh folder that COTAN_CACHE_DIR names as long as this lives.
class CacheFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("cotan_cache_test_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    use(folder_);
  }
  void TearDown() override {
    setenv("COTAN_CACHE_DIR", "off", 1);  // as tests have it
    fs::remove_all(folder_);
  }
  static void use(const fs::path& folder) { setenv("COTAN_CACHE_DIR", folder.c_str(), 1); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (fs::exists(folder_))
      for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path());
    return out;
  }
  fs::path folder_;
};

using Program = std::function<Arrays(std::span<const Array>)>;
const Program program = [](std::span<const Array> x) {
  return Arrays{np::exp(x[0] * 1.75) + np::sum(x[0]), np::sort(np::matmul(x[0], x[0].T()))};
};
/// Compiles `program` as a new start would; says whether it came from the disk.
bool comes_from_disk(const Program& f = program) {
  ct::clear_caches();
  const auto closed = ct::trace_to_jaxpr(f, {{ct::f32, {40, 40}, false}});
  const auto& executable = ct::native::executable_of(closed.jaxpr, ct::native::backend());
  const Array x = np::full({40, 40}, 0.01f);
  const Arrays got = executable.run(Arrays{x});
  const Arrays want = f(Arrays{x});
  EXPECT_LT(np::max(np::abs(got[0] - want[0])).item<float>(), 1e-4);
  return executable.code()->from_disk();
}
std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

using DiskCache = CacheFolder;

TEST_F(DiskCache, ASecondCompilationReadsTheFile) {
  EXPECT_FALSE(comes_from_disk());
  ASSERT_EQ(files().size(), 1u);
  const std::string written = contents(files()[0]);
  EXPECT_TRUE(comes_from_disk());
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(contents(files()[0]), written);
}
TEST_F(DiskCache, OtherProgramsAreOtherFiles) {
  EXPECT_FALSE(comes_from_disk());
  EXPECT_FALSE(comes_from_disk([](std::span<const Array> x) { return Arrays{np::exp(x[0] * 1.5)}; }));
  EXPECT_EQ(files().size(), 2u);
}
TEST_F(DiskCache, IsTheUsersOwnWithoutTheVariableAndCanBeSwitchedOff) {
  setenv("COTAN_CACHE_DIR", "off", 1);
  EXPECT_FALSE(comes_from_disk());
  EXPECT_FALSE(comes_from_disk());
  EXPECT_TRUE(files().empty());
  setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  unsetenv("COTAN_CACHE_DIR");
  EXPECT_FALSE(comes_from_disk());
  EXPECT_TRUE(comes_from_disk());
  setenv("COTAN_CACHE_DIR", "", 1);  // as if it were not set
  EXPECT_TRUE(comes_from_disk());
  unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(fs::is_directory(folder_ / "cotan"));
}
TEST_F(DiskCache, KeepsBothTheFirstCodeAndTheBest) {
  setenv("COTAN_FIRST_CODE", "quick", 1);
  EXPECT_FALSE(comes_from_disk());
  EXPECT_TRUE(comes_from_disk());
  EXPECT_EQ(files().size(), 1u);
  const auto closed = ct::trace_to_jaxpr(program, {{ct::f32, {40, 40}, false}});
  ct::clear_caches();
  const auto& executable = ct::native::executable_of(closed.jaxpr, ct::native::backend());
  const Array x = np::full({40, 40}, 0.01f);
  for (int k = 0; k < 2; ++k) executable.run(Arrays{x});
  ct::native::finish_background_compilation();
  EXPECT_FALSE(executable.code()->is_first());
  EXPECT_EQ(files().size(), 2u);
  ct::clear_caches();
  EXPECT_TRUE(comes_from_disk());
  unsetenv("COTAN_FIRST_CODE");
}
TEST_F(DiskCache, DamagedFilesAreIgnoredAndRewritten) {
  EXPECT_FALSE(comes_from_disk());
  ASSERT_EQ(files().size(), 1u);
  const fs::path path = files()[0];
  const std::string good = contents(path);
  std::string flipped = good, foreign = good, longer = good + "x";
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  foreign[0] = 'X';
  std::string other_key = good;
  other_key[9] = static_cast<char>(other_key[9] ^ 1);
  std::string huge_size = good;
  for (std::size_t k = 24; k < 32; ++k) huge_size[k] = '\xff';
  for (const auto& [what, bytes] : {std::pair<const char*, std::string>{"empty", ""},
                                    {"no whole header", good.substr(0, 20)},
                                    {"header alone", good.substr(0, 40)},
                                    {"truncated", good.substr(0, good.size() - 100)},
                                    {"a bit flipped", flipped},
                                    {"foreign", foreign},
                                    {"too long", longer},
                                    {"another key", other_key},
                                    {"a huge size", huge_size},
                                    {"text", "this is no object file, but long enough to have a header of one."}}) {
    SCOPED_TRACE(what);
    write(path, bytes);
    EXPECT_FALSE(comes_from_disk());
    EXPECT_EQ(contents(path), good) << "written again";
    EXPECT_TRUE(comes_from_disk());
  }
}
TEST_F(DiskCache, AFolderInTheFilesPlace) {
  EXPECT_FALSE(comes_from_disk());
  const fs::path path = files()[0];
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(comes_from_disk());
  EXPECT_FALSE(comes_from_disk());
  EXPECT_EQ(files().size(), 1u) << "no draft is left behind";
}
TEST_F(DiskCache, FoldersThatCannotBeWrittenAreNoError) {
  use("/proc/cotan/cache");
  EXPECT_FALSE(comes_from_disk());
  EXPECT_FALSE(comes_from_disk());
  write(folder_, "a file where the folder should be");
  use(folder_);
  EXPECT_FALSE(comes_from_disk());
  EXPECT_FALSE(comes_from_disk());
}
TEST_F(DiskCache, NewFoldersAreMade) {
  use(folder_ / "a" / "b");
  EXPECT_FALSE(comes_from_disk());
  EXPECT_TRUE(comes_from_disk());
}

// A real second start: hashes and orders must not depend on where a process has its memory.

namespace {

/// Programs of many kinds; how many of them were compiled and not read.
int compiled_programs() {
  const std::vector<Program> programs{
      program,
      [](std::span<const Array> x) {
        const Array e = np::exp(x[0] - np::max(x[0], 1, true));
        return Arrays{e / np::sum(e, 1, true), np::argmax(x[0], 0), np::var(x[0])};
      },
      [](std::span<const Array> x) {
        return Arrays{np::pad(np::flip(x[0]), {{1, 2}, {3, 0}}), np::concatenate({x[0], x[0].T()}, 1),
                      np::tril(x[0]) > 0};
      },
      [](std::span<const Array> x) {
        const auto loss = [](Array y) {
          return np::sum(np::sin(np::matmul(y, y)) *
                         lax::logistic(np::pad(y, {{0, 0}, {1, -1 + 1}})(ct::all, ct::range(0, 40))));
        };
        return Arrays{ct::grad(loss)(x[0])};
      },
      [](std::span<const Array> x) {
        return Arrays{x[0].astype(ct::bf16), x[0].astype(ct::i8), lax::lgamma(x[0] + 2), np::power(x[0], 1.5)};
      },
  };
  int compiled = 0;
  for (const auto& f : programs) compiled += !comes_from_disk(f);
  return compiled;
}

}  // namespace

/// Run by the test below, in a process of its own: exits with the number of programs that it had to compile.
TEST(DiskCacheStart, DISABLED_Child) { std::exit(compiled_programs()); }

TEST_F(DiskCache, ASecondStartCompilesNothing) {
  const std::string command =
      "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX " + fs::read_symlink("/proc/self/exe").string() +
      " --gtest_also_run_disabled_tests --gtest_filter=DiskCacheStart.DISABLED_Child > /dev/null 2>&1";
  const auto start = [&] { return WEXITSTATUS(std::system(command.c_str())); };
  EXPECT_EQ(start(), 5);
  EXPECT_EQ(files().size(), 5u);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(start(), 0);
  EXPECT_EQ(files().size(), 5u);
}
