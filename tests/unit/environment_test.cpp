// Environment variables: every one is in the table, and a value that it cannot have is an error.
#include "core/environment.hpp"

#include <gtest/gtest.h>

#include <cotan/cotan.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

namespace {

namespace environment = cotan::environment;

/// A variable that has a value as long as this lives.
class Set {
 public:
  Set(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Set() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Environment, FlagsAreOffForZero) {
  for (const char* off : {"", "0", "false", "no", "off"})
    EXPECT_FALSE((Set("COTAN_WEBGPU_CHECKED", off), environment::is_on("COTAN_WEBGPU_CHECKED"))) << off;
  for (const char* on : {"1", "true", "yes", "on"}) {
    const Set set("COTAN_WEBGPU_CHECKED", on);
    EXPECT_TRUE(environment::is_on("COTAN_WEBGPU_CHECKED")) << on;
  }
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const cotan::ValueError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Environment, ValuesThatAVariableCannotHaveAreErrors) {
  const Set flag("COTAN_VERIFY", "maybe"), number("COTAN_WEBGPU_SLAB_MB", "12x"), choice("COTAN_FIRST_CODE", "slow");
  EXPECT_EQ(error_of([] { environment::is_on("COTAN_VERIFY"); }),
            "[COTAN_VERIFY] is \"maybe\"; set it to one of 1, true, yes, on, 0, false, no, off, or unset it.");
  EXPECT_EQ(error_of([] { environment::number("COTAN_WEBGPU_SLAB_MB"); }),
            "[COTAN_WEBGPU_SLAB_MB] is \"12x\"; set it to a whole number of at least 1, or unset it.");
  EXPECT_EQ(error_of([] { environment::one_of("COTAN_FIRST_CODE", {"full", "quick"}); }),
            "[COTAN_FIRST_CODE] is \"slow\"; set it to one of full, quick, or unset it.");
  EXPECT_THROW(environment::text("COTAN_NO_SUCH_THING"), cotan::InternalError);
}

/// Nothing reads the environment but core/environment.cpp, which lists what it reads, and the two of the cache's place.
TEST(Environment, IsReadInOnePlace) {
  const std::filesystem::path root = std::filesystem::path(COTAN_SOURCE_DIR) / "src";
  const std::regex read(R"re(getenv\(([^)]*)\))re");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || entry.path().filename() == "environment.cpp") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (!std::regex_search(line, found, read)) continue;
      EXPECT_TRUE(found[1] == "\"HOME\"" || found[1] == "\"XDG_CACHE_HOME\"") << entry.path() << ": " << line;
    }
  }
}

}  // namespace
