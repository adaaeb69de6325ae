// A file as memory: pages are read when they are looked at.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace cotan::io {

/// A whole file, mapped for reading. It must not be cut off by others while it is mapped: reading what is gone ends the
/// process, as with every mapped file. Replacing it by a rename, as OutputFile does, is fine.
class MappedFile {
 public:
  /// Errors begin with "[op] 'path'".
  MappedFile(const std::filesystem::path& path, std::string_view op);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept : where_(std::move(other.where_)), bytes_(std::exchange(other.bytes_, {})) {}
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::span<const std::byte> bytes_;
};

}  // namespace cotan::io
