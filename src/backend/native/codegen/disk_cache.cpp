#include "backend/native/codegen/disk_cache.hpp"

#include "core/disk_store.hpp"

namespace cotan::native {

namespace {

std::string key_of(std::string_view source, std::string_view machine) {
  std::string key(machine);
  key += '\0';
  return key += source;
}
/// The variable may change between programs.
std::optional<DiskStore> objects() {
  const auto folder = chosen_cache_folder();
  if (!folder) return std::nullopt;
  return std::optional<DiskStore>(std::in_place, *folder, ".o");
}

}  // namespace

bool disk_cache_enabled() { return chosen_cache_folder().has_value(); }

std::optional<std::string> read_cached_object(std::string_view source, std::string_view machine) {
  const auto store = objects();
  return store ? store->load(key_of(source, machine)) : std::nullopt;
}

void write_cached_object(std::string_view source, std::string_view machine, std::string_view object) {
  if (auto store = objects()) store->store(key_of(source, machine), object);
}

}  // namespace cotan::native
