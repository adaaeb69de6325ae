#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "io/file.hpp"

namespace cotan::io {

MappedFile::MappedFile(const std::filesystem::path& path, std::string_view op) : where_(file_of_message(path, op)) {
  const std::uint64_t size = size_of_file(path, where_);
  if (size == 0) return;  // which cannot be mapped
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) raise<IoError>("{}: cannot be opened: {}; check its rights.", where_, std::strerror(errno));
  void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  close(file);
  if (at == MAP_FAILED)
    raise<IoError>("{}: cannot be mapped: {}; copy it to another disk.", where_, std::strerror(error));
  bytes_ = {static_cast<const std::byte*>(at), size};
}
MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace cotan::io
