#include "backend/native/runtime/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

// Sanitizers must see every free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COTAN_KEEP_BLOCKS 0
#else
#define COTAN_KEEP_BLOCKS 1
#endif

namespace cotan::native {

std::size_t physical_memory() {
  static const auto bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

namespace {

constexpr std::size_t alignment = 64, huge_page = std::size_t{2} << 20;
constexpr std::size_t small = 4096;  ///< below: kept per thread
constexpr std::size_t most_small_blocks = 64;

std::atomic<std::size_t> given_out{0};  ///< bytes of blocks that are not small, in use now

/// Blocks come in sizes of which at most an eighth is unused, so that kept ones fit again.
std::size_t block_size(std::size_t bytes) {
  if (bytes <= 8 * alignment) return (bytes + alignment - (bytes ? 1 : 0)) / alignment * alignment;
  const std::size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

std::byte* from_system(std::size_t size) {
  auto* data = static_cast<std::byte*>(
      std::aligned_alloc(size >= huge_page ? huge_page : alignment,
                         size >= huge_page ? (size + huge_page - 1) / huge_page * huge_page : size));
  if (data && size >= huge_page) madvise(data, size, MADV_HUGEPAGE);
  return data;
}

/// Large blocks that are free, shared by all threads.
class Kept {
 public:
  std::byte* take(std::size_t size) {
    std::lock_guard lock(mutex_);
    const auto at = free_.find(size);
    if (at == free_.end() || at->second.empty()) return nullptr;
    std::byte* data = at->second.back();
    at->second.pop_back();
    bytes_ -= size;
    return data;
  }
  bool give(std::byte* data, std::size_t size) {
    std::lock_guard lock(mutex_);
    if (bytes_ + size > physical_memory() / 8) return false;
    free_[size].push_back(data);
    bytes_ += size;
    return true;
  }
  void clear() {
    std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : free_)
      for (std::byte* b : blocks) std::free(b);
    free_.clear();
    bytes_ = 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<std::byte*>> free_;
  std::size_t bytes_ = 0;
};
Kept& kept() {
  static Kept& k = *new Kept;
  return k;
}

/// Small blocks, per thread: no lock.
struct SmallBlocks {
  std::vector<std::byte*> free[small / alignment + 1];
  bool alive = true;
  ~SmallBlocks() {
    alive = false;
    for (auto& list : free)
      for (std::byte* b : list) std::free(b);
  }
};
thread_local SmallBlocks small_blocks;

}  // namespace

std::byte* allocate_host(std::size_t bytes) {
  // Linux promises memory it does not have: refuse what can never fit instead of being killed later.
  if (bytes > physical_memory()) return nullptr;
  const std::size_t size = block_size(bytes);
  if (size > small && given_out.fetch_add(size, std::memory_order_relaxed) + size > physical_memory()) {
    given_out.fetch_sub(size, std::memory_order_relaxed);
    return nullptr;
  }
#if COTAN_KEEP_BLOCKS
  if (size <= small) {
    auto& list = small_blocks.free[size / alignment];
    if (small_blocks.alive && !list.empty()) {
      std::byte* data = list.back();
      list.pop_back();
      return data;
    }
  } else if (std::byte* data = kept().take(size)) {
    return data;
  }
#endif
  std::byte* data = from_system(size);
  if (!data) {
    trim_host();
    data = from_system(size);
  }
  if (!data && size > small) given_out.fetch_sub(size, std::memory_order_relaxed);
  return data;
}

void release_host(std::byte* data, std::size_t bytes) {
  const std::size_t size = block_size(bytes);
  if (size > small) given_out.fetch_sub(size, std::memory_order_relaxed);
#if COTAN_KEEP_BLOCKS
  if (size <= small) {
    auto& list = small_blocks.free[size / alignment];
    if (small_blocks.alive && list.size() < most_small_blocks) {
      list.push_back(data);
      return;
    }
  } else if (kept().give(data, size)) {
    return;
  }
#endif
  std::free(data);
}

void trim_host() { kept().clear(); }

}  // namespace cotan::native
