// Files for the readers and writers here: whole reads bounded by the file's size, writes that appear at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace cotan::io {

using Bytes = std::vector<std::byte>;

/// "[op] 'path'": how messages about a file begin.
std::string file_of_message(const std::filesystem::path& path, std::string_view op);
/// Raises IoError where there is no such file, or something else is in its place.
std::uint64_t size_of_file(const std::filesystem::path& path, const std::string& where);

/// An open file that is read at offsets; every read is checked against its size first.
class InputFile {
 public:
  /// `op` and the path open every message: "[load_npy] 'x.npy': …".
  InputFile(const std::filesystem::path& path, std::string_view op);
  std::uint64_t size() const { return size_; }
  /// Raises IoError("… is truncated …") where the file ends before offset + count.
  Bytes read(std::uint64_t offset, std::uint64_t count);
  Bytes read_all() { return read(0, size_); }
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::uint64_t size_;
  std::ifstream stream_;
};

/// Collects output in a temporary file beside `path`, which takes its name when commit() is called; without
/// that, nothing changes.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, std::string_view op);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  void write(std::span<const std::byte> bytes);
  /// Writes over what was written first, such as a header that has the size of what followed.
  void write_at_begin(std::span<const std::byte> bytes);
  std::uint64_t written() const { return written_; }
  /// All is with the system, still under the temporary name: several files can be made before any appears.
  void close();
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what) const;
  std::string where_;
  std::filesystem::path path_, temporary_;
  std::ofstream stream_;
  std::uint64_t written_ = 0;
  bool committed_ = false;
};

}  // namespace cotan::io
