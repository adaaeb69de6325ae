// A program as a process, in a folder of its own: cotan-dlm, or another one.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace programs {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

struct Outcome {
  int code;  ///< of the exit, or -1 after a crash
  std::string out, error;
  bool says(const std::string& words) const { return error.find(words) != std::string::npos; }
};

/// A folder to run the program in, removed with the object.
class Folder {
 public:
  explicit Folder(fs::path program = COTAN_DLM) : program_(std::move(program)) {
    std::string name = (fs::temp_directory_path() / (program_.filename().string() + "-XXXXXX")).string();
    folder_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() { fs::remove_all(folder_); }

  /// Runs the program there.
  Outcome run(const std::string& arguments, const std::string& input = "/dev/null") const {
    const std::string command = "cd '" + folder_.string() + "' && '" + program_.string() + "' " + arguments + " <" +
                                input + " >stdout.txt 2>stderr.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder_ / "stdout.txt"),
            contents(folder_ / "stderr.txt")};
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  Json json(const std::string& name) const { return Json::parse(contents(folder_ / name)); }
  /// The Nile, times a power of ten.
  void write_nile(const std::string& name, const std::string& power) const {
    std::istringstream lines(run("datasets nile").out);
    std::string line, text;
    for (bool first = true; std::getline(lines, line); first = false) text += line + (first ? "" : power) + "\n";
    write(name, text);
  }
  /// Refused with exit code 1 (or another one) and these words, in the grammar of all messages, within one
  /// line.
  void expect_refused(const std::string& arguments, const std::string& words, int code = 1) const {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.error;
    EXPECT_TRUE(o.says(words)) << arguments << "\n" << o.error;
    EXPECT_TRUE(o.error.starts_with(program_.filename().string() + ": [")) << o.error;
    EXPECT_EQ(std::count(o.error.begin(), o.error.end(), '\n'), 1) << o.error;
    EXPECT_NE(o.error.find_first_of(";:", o.error.find(']')), std::string::npos)
        << "it does not say what to do: " << o.error;
    EXPECT_TRUE(o.out.empty()) << o.out;
  }

  fs::path program_, folder_;
};

class Program : public testing::Test, public Folder {};

}  // namespace programs
