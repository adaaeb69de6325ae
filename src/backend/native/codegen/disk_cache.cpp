#include "backend/native/codegen/disk_cache.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.hpp"

namespace cotan::native {

namespace {

namespace fs = std::filesystem;

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
  fs::path path;
  std::uint64_t key[2];
};
Place place_of(std::string_view source, std::string_view machine) {
  Place p;
  p.key[0] = hash(source, hash(machine, 1));
  p.key[1] = hash(source, hash(machine, 2));
  p.path = fs::path(std::getenv("COTAN_CACHE_DIR")) / fmt::format("{:016x}{:016x}.o", p.key[0], p.key[1]);
  return p;
}

}  // namespace

bool disk_cache_enabled() {
  const char* folder = std::getenv("COTAN_CACHE_DIR");
  return folder && *folder;
}

std::optional<std::string> read_cached_object(std::string_view source, std::string_view machine) {
  if (!disk_cache_enabled()) return std::nullopt;
  const Place place = place_of(source, machine);
  std::ifstream file(place.path, std::ios::binary);
  Header header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  std::error_code error;
  const auto on_disk = fs::file_size(place.path, error);
  if (error || header.magic != magic || std::memcmp(header.key, place.key, sizeof place.key) != 0 ||
      header.size + sizeof header != on_disk)
    return std::nullopt;
  std::string object(header.size, '\0');
  if (!file.read(object.data(), static_cast<std::streamsize>(object.size()))) return std::nullopt;
  if (hash(object, 3) != header.checksum) return std::nullopt;
  return object;
}

void write_cached_object(std::string_view source, std::string_view machine, std::string_view object) {
  if (!disk_cache_enabled()) return;
  const Place place = place_of(source, machine);
  std::error_code error;
  fs::create_directories(place.path.parent_path(), error);
  // Under another name first: readers see a whole file or none.
  const fs::path draft = place.path.string() + fmt::format(".{}.{}", getpid(), static_cast<const void*>(&error));
  {
    std::ofstream file(draft, std::ios::binary);
    const Header header{magic, {place.key[0], place.key[1]}, object.size(), hash(object, 3)};
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(object.data(), static_cast<std::streamsize>(object.size()));
    if (!file.good()) {
      file.close();
      fs::remove(draft, error);
      return;
    }
  }
  fs::rename(draft, place.path, error);
  if (error) fs::remove(draft, error);
}

}  // namespace cotan::native
