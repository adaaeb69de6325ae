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
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

/// Collects output in a temporary file beside `path`, which takes its name when commit() is called; without
/// that, nothing changes.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& path, std::string_view op);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  void write(std::span<const std::byte> bytes);
  std::uint64_t written() const { return written_; }
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
