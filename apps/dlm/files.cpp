// A path is checked by opening it; a file that was not there before is removed again.
#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "errors.hpp"

namespace apps {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, const char* reason) {
  complain<InputError>("[{}] it cannot be written: {}; give another path, or make the folder first.", path, reason);
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) cannot_write(path, "it is a folder");
  const bool there = fs::exists(path, ignored);
  errno = 0;
  std::ofstream file(path, std::ios::app);
  if (!file) cannot_write(path, errno ? std::strerror(errno) : "unknown reason");
  file.close();
  if (!there) fs::remove(path, ignored);
}

void write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) cannot_write("standard output", "it is closed or full");
    return;
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) cannot_write(path, errno ? std::strerror(errno) : "unknown reason");
}

}  // namespace apps
