#include "core/disk_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan {

namespace fs = std::filesystem;

namespace {

struct Header {
  std::array<char, 8> magic;
  std::uint64_t key[2];
  std::uint64_t size;
  std::uint64_t checksum;
};
constexpr std::array<char, 8> magic{'c', 'o', 't', 'a', 'n', 'o', 'b', '1'};

/// FNV-1a with a mixing step at the end.
std::uint64_t hash(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t h = 0xcbf29ce484222325ull ^ seed;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

struct Place {
  std::uint64_t key[2];
  fs::path path;
};
Place place_of(const fs::path& folder, std::string_view key, std::string_view ending) {
  Place p{{hash(key, 1), hash(key, 2)}, {}};
  p.path = folder / fmt::format("{:016x}{:016x}{}", p.key[0], p.key[1], ending);
  return p;
}

}  // namespace

bool write_file_whole(const fs::path& path, std::string_view head, std::string_view content) {
  static std::atomic<std::uint64_t> drafts{0};
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  // Under another name first: readers see a whole file or none.
  const fs::path draft = path.string() + fmt::format(".{}.{}", getpid(), ++drafts);
  {
    std::ofstream file(draft, std::ios::binary);
    file.write(head.data(), static_cast<std::streamsize>(head.size()));
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file.good()) {
      fs::remove(draft, error);
      return false;
    }
  }
  fs::rename(draft, path, error);
  if (!error) return true;
  fs::remove(draft, error);
  return false;
}

DiskStore::DiskStore(fs::path folder, std::string ending, std::uint64_t most_bytes)
    : folder_(std::move(folder)), ending_(std::move(ending)), most_bytes_(most_bytes) {}

std::optional<std::string> DiskStore::load(std::string_view key) const {
  const Place place = place_of(folder_, key, ending_);
  std::ifstream file(place.path, std::ios::binary);
  Header header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  std::error_code error;
  const auto on_disk = fs::file_size(place.path, error);
  if (error || header.magic != magic || std::memcmp(header.key, place.key, sizeof place.key) != 0 ||
      header.size + sizeof header != on_disk)
    return std::nullopt;
  std::string value(header.size, '\0');
  if (!file.read(value.data(), static_cast<std::streamsize>(value.size()))) return std::nullopt;
  if (hash(value, 3) != header.checksum) return std::nullopt;
  if (most_bytes_) fs::last_write_time(place.path, fs::file_time_type::clock::now(), error);  // it is in use
  return value;
}

bool DiskStore::store(std::string_view key, std::string_view value) {
  if (most_bytes_) make_room(value.size() + sizeof(Header));
  const Place place = place_of(folder_, key, ending_);
  const Header header{magic, {place.key[0], place.key[1]}, value.size(), hash(value, 3)};
  return write_file_whole(place.path, {reinterpret_cast<const char*>(&header), sizeof header}, value);
}

void DiskStore::make_room(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes_ && *bytes_ + bytes <= most_bytes_) {
    *bytes_ += bytes;
    return;
  }
  // Other processes may have added and removed files: count again.
  struct File {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uint64_t all = bytes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != ending_) continue;
    const File file{entry.last_write_time(error), entry.file_size(error), entry.path()};
    if (error) continue;  // gone already
    all += file.bytes;
    files.push_back(file);
  }
  if (all > most_bytes_) {
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
    // A quarter is freed at once, so that not every write has to clean up.
    const std::uint64_t enough = most_bytes_ / 4 * 3;
    for (const File& file : files) {
      if (all <= enough) break;
      if (fs::remove(file.path, error)) all -= file.bytes;
    }
  }
  bytes_ = all;
}

std::optional<fs::path> chosen_cache_folder() {
  const auto folder = environment::text("COTAN_CACHE_DIR");
  return folder && *folder != "off" ? std::optional<fs::path>(*folder) : std::nullopt;
}

std::optional<fs::path> cache_folder() {
  if (environment::text("COTAN_CACHE_DIR")) return chosen_cache_folder();
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "cotan";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "cotan";
  return std::nullopt;
}

}  // namespace cotan
