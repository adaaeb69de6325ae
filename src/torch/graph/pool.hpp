// Memory of objects of which a step makes thousands and forgets them: each thread hands out again what ended on it.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace cotan::torch::detail {

/// Blocks of one size that ended on this thread.
template <std::size_t size>
class SpareBlocks {
 public:
  static void* take() {
    if (!first_) return ::operator new(size);
    Block* const block = first_;
    first_ = block->next;
    --count_;
    return block;
  }
  static void give(void* memory) {
    thread_local const AtExit at_exit;  // what ends after the thread's own goes back at once
    if (count_ == most || ended_) return ::operator delete(memory);
    first_ = new (memory) Block{first_};
    ++count_;
  }

 private:
  static constexpr std::size_t most = 16384;
  struct Block {
    Block* next;
  };
  static_assert(size >= sizeof(Block));
  struct AtExit {
    ~AtExit() {
      ended_ = true;
      while (first_) ::operator delete(std::exchange(first_, first_->next));
    }
  };
  static inline thread_local Block* first_ = nullptr;
  static inline thread_local std::size_t count_ = 0;
  static inline thread_local bool ended_ = false;
};

template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}
  T* allocate(std::size_t) { return static_cast<T*>(SpareBlocks<sizeof(T)>::take()); }
  void deallocate(T* memory, std::size_t) { SpareBlocks<sizeof(T)>::give(memory); }
  bool operator==(const PoolAllocator&) const = default;
};

/// std::make_shared in such memory.
template <class T, class... A>
std::shared_ptr<T> make_pooled(A&&... arguments) {
  return std::allocate_shared<T>(PoolAllocator<T>(), std::forward<A>(arguments)...);
}

}  // namespace cotan::torch::detail
