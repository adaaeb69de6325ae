// A folder for the files of one test, and reading and writing them whole.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace test {

namespace fs = std::filesystem;

inline std::string golden_file(const std::string& name) { return COTAN_SOURCE_DIR "/tests/golden/io/" + name; }

inline std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

class Folder {
 public:
  Folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("cotan_io_" + std::string(test->test_suite_name()) + "_" + test->name() +
                                           "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~Folder() { fs::remove_all(folder_); }
  Folder(const Folder&) = delete;
  fs::path path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name).string();
  }
  /// How many files there are.
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

 private:
  fs::path folder_;
};

}  // namespace test
