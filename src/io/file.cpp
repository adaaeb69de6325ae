#include "io/file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>

namespace cotan::io {

namespace fs = std::filesystem;

InputFile::InputFile(const fs::path& path, std::string_view op) : where_(fmt::format("[{}] '{}'", op, path.string())) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) raise<IoError>("{}: no such file; check the path.", where_);
  if (!fs::is_regular_file(status)) raise<IoError>("{}: not a regular file; give the path of a file.", where_);
  size_ = fs::file_size(path, error);
  if (error) raise<IoError>("{}: cannot be examined: {}.", where_, error.message());
  stream_.open(path, std::ios::binary);
  if (!stream_) raise<IoError>("{}: cannot be opened: {}.", where_, std::strerror(errno));
}

Bytes InputFile::read(std::uint64_t offset, std::uint64_t count) {
  if (offset > size_ || count > size_ - offset)
    raise<IoError>("{}: truncated: {} bytes are needed from byte {}, the file has {}; write or download it again.",
                   where_, count, offset, size_);
  Bytes out(count);
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count));
  if (static_cast<std::uint64_t>(stream_.gcount()) != count)
    raise<IoError>("{}: reading {} bytes from byte {} failed.", where_, count, offset);
  return out;
}

namespace {

/// A name that no other writer, thread or process uses.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<std::uint64_t> counter{0};
  static const std::uint64_t process = std::random_device{}() * 0x100000000ull + std::random_device{}();
  fs::path out = path;
  out += fmt::format(".{:016x}-{}.tmp", process, counter++);
  return out;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path, std::string_view op)
    : where_(fmt::format("[{}] '{}'", op, path.string())), path_(path), temporary_(temporary_beside(path)) {
  if (fs::is_directory(path)) raise<IoError>("{}: is a directory; give the path of a file.", where_);
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_) raise<IoError>("{}: cannot be written: {}.", where_, std::strerror(errno));
}
OutputFile::~OutputFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}
void OutputFile::fail(std::string_view what) const { raise<IoError>("{}: {}; the file is unchanged.", where_, what); }
void OutputFile::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail("writing failed, perhaps the disk is full");
  written_ += bytes.size();
}
void OutputFile::commit() {
  stream_.close();
  if (!stream_) fail("writing failed, perhaps the disk is full");
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) fail("cannot be replaced: " + error.message());
  committed_ = true;
}

}  // namespace cotan::io
