#include "backend/webgpu/pipeline_cache.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "core/disk_store.hpp"
#include "core/error.hpp"

namespace cotan::webgpu {

namespace {

constexpr std::uint64_t most_bytes = 256u << 20;

std::atomic<std::uint64_t> found{0}, missed{0}, stored{0}, failed{0};

/// Dawn asks twice, for the size and for the bytes, and the file may be another one by then: the answer is kept.
struct Answer {
  const void* store = nullptr;
  std::string key;
  std::optional<std::string> value;
};

std::size_t load(const void* key, std::size_t key_bytes, void* value, std::size_t value_bytes, void* from) {
  auto& store = *static_cast<DiskStore*>(from);
  const std::string_view wanted(static_cast<const char*>(key), key_bytes);
  thread_local Answer last;
  if (!value || last.store != from || last.key != wanted) {
    last = {from, std::string(wanted), store.load(wanted)};
    (last.value ? found : missed)++;
  }
  if (!last.value) return 0;
  const std::size_t bytes = last.value->size();
  if (!value) return bytes;
  if (value_bytes >= bytes) std::memcpy(value, last.value->data(), bytes);
  last = {};
  return value_bytes >= bytes ? bytes : 0;
}

void store(const void* key, std::size_t key_bytes, const void* value, std::size_t value_bytes, void* to) {
  auto& store = *static_cast<DiskStore*>(to);
  if (store.store({static_cast<const char*>(key), key_bytes}, {static_cast<const char*>(value), value_bytes})) {
    ++stored;
    return;
  }
  if (failed++ == 0)
    std::fprintf(
        stderr,
        "[webgpu] compiled pipelines cannot be kept in '%s'; set COTAN_CACHE_DIR to a folder that can be written "
        "to, or to off.\n",
        store.folder().c_str());
}

}  // namespace

WGPUChainedStruct* pipeline_cache_descriptor() {
  const auto folder = cache_folder();
  if (!folder || !api().is_dawn) return nullptr;
  struct Kept {
    DiskStore store;
    WGPUDawnCacheDeviceDescriptor descriptor{};
    explicit Kept(const std::filesystem::path& folder) : store(folder, ".pipeline", most_bytes) {}
  };
  // One for each folder and never freed: Dawn's threads may call late.
  static std::mutex mutex;
  static auto& all = *new std::map<std::filesystem::path, std::unique_ptr<Kept>>;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Kept>& kept = all[*folder / "pipelines"];
  if (!kept) kept = std::make_unique<Kept>(*folder / "pipelines");
  WGPUDawnCacheDeviceDescriptor& d = kept->descriptor;
  d.chain.sType = WGPUSType_DawnCacheDeviceDescriptor;
  d.isolationKey = view("cotan");
  d.loadDataFunction = load;
  d.storeDataFunction = store;
  d.functionUserdata = &kept->store;
  return &d.chain;
}

PipelineCacheCounts pipeline_cache_counts() { return {found, missed, stored, failed}; }

}  // namespace cotan::webgpu
