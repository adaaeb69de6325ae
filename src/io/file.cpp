#include "io/file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>

namespace cotan::io {

namespace fs = std::filesystem;

std::string file_of_message(const fs::path& path, std::string_view op) {
  return fmt::format("[{}] '{}'", op, path.string());
}

std::uint64_t size_of_file(const fs::path& path, const std::string& where) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) raise<IoError>("{}: no such file; check the path.", where);
  if (!fs::is_regular_file(status)) raise<IoError>("{}: not a regular file; give the path of a file.", where);
  const std::uint64_t size = fs::file_size(path, error);
  if (error) raise<IoError>("{}: cannot be examined: {}; check its rights.", where, error.message());
  return size;
}

InputFile::InputFile(const fs::path& path, std::string_view op)
    : where_(file_of_message(path, op)), size_(size_of_file(path, where_)) {
  stream_.open(path, std::ios::binary);
  if (!stream_) raise<IoError>("{}: cannot be opened: {}; check its rights.", where_, std::strerror(errno));
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
    raise<IoError>("{}: reading {} bytes from byte {} failed; check the disk.", where_, count, offset);
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
    : where_(file_of_message(path, op)), path_(path), temporary_(temporary_beside(path)) {
  if (fs::is_directory(path)) raise<IoError>("{}: is a directory; give the path of a file.", where_);
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_)
    raise<IoError>("{}: cannot be written: {}; check the path and its rights.", where_, std::strerror(errno));
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
void OutputFile::write_at_begin(std::span<const std::byte> bytes) {
  stream_.seekp(0);
  stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream_.seekp(0, std::ios::end);
  if (!stream_) fail("writing failed, perhaps the disk is full");
}
void OutputFile::close() {
  if (!stream_.is_open()) return;
  stream_.close();
  if (!stream_) fail("writing failed, perhaps the disk is full");
}
void OutputFile::commit() {
  close();
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) fail("cannot be replaced: " + error.message());
  committed_ = true;
}

}  // namespace cotan::io
