#include "backend/native/codegen/disk_cache.hpp"

#include <memory>

#include "core/disk_store.hpp"

namespace cotan::native {

namespace {

std::string key_of(std::string_view source, std::string_view machine) {
  std::string key(machine);
  key += '\0';
  return key += source;
}
/// Not kept: the variable may change between programs.
std::shared_ptr<DiskStore> objects() {
  constexpr std::uint64_t most_bytes = 256 << 20;
  static std::mutex& mutex = *new std::mutex;
  static auto& store = *new std::shared_ptr<DiskStore>;  // the background may come late
  const std::scoped_lock lock(mutex);
  const auto folder = cache_folder();
  if (!folder)
    store.reset();
  else if (!store || store->folder() != *folder)
    store = std::make_shared<DiskStore>(*folder, ".o", most_bytes);
  return store;
}

}  // namespace

std::optional<std::string> read_cached_object(std::string_view source, std::string_view machine) {
  const auto store = objects();
  return store ? store->load(key_of(source, machine)) : std::nullopt;
}

void write_cached_object(std::string_view source, std::string_view machine, std::string_view object) {
  if (const auto store = objects()) store->store(key_of(source, machine), object);
}

}  // namespace cotan::native
