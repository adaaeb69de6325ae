// Temporary memory of the matrix products: one buffer per thread that grows as needed and is used again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/error.hpp"

namespace cotan::native {

/// `count` elements, not initialised, aligned to cache lines. Takes the thread's buffer for as long as it
/// lives; a second one on the same thread gets memory of its own.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count) : block_(std::move(kept())) {
    const auto bytes = (static_cast<std::size_t>(count) * sizeof(T) + alignment - 1) / alignment * alignment;
    if (bytes <= block_.bytes) return;
    block_ = {};  // first, so that both are never held at once
    block_.data.reset(std::aligned_alloc(alignment, bytes));
    if (!block_.data)
      raise<OutOfMemoryError>("[dot] cannot allocate {} bytes of scratch memory; use smaller matrices.", bytes);
    block_.bytes = bytes;
  }
  ~Scratch() {
    if (block_.bytes > kept().bytes && block_.bytes <= most_kept) kept() = std::move(block_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return static_cast<T*>(block_.data.get()); }

 private:
  static constexpr std::size_t alignment = 64, most_kept = std::size_t{64} << 20;

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  struct Block {
    std::unique_ptr<void, Free> data;
    std::size_t bytes = 0;
    Block() = default;
    Block(Block&& other) noexcept : data(std::move(other.data)), bytes(std::exchange(other.bytes, 0)) {}
    Block& operator=(Block&& other) noexcept {
      data = std::move(other.data), bytes = std::exchange(other.bytes, 0);
      return *this;
    }
  };
  /// Shared by all element types.
  static Block& kept() {
    thread_local Block block;
    return block;
  }
  Block block_;
};

}  // namespace cotan::native
