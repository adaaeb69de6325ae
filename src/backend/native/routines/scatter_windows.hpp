// Where the windows of a scatter lie, and which of them can be written in parallel.
#pragma once
#include "backend/native/executable.hpp"

namespace cotan::native {

struct Window {
  std::int64_t operand, update;  ///< offsets of the first element
  std::int64_t key;              ///< windows with different keys never overlap; -1: outside of the operand
  /// For radix_sort, of small keys.
  friend std::uint8_t key_of(const Window& w) { return static_cast<std::uint8_t>(w.key); }
};

/// The elements of a window: `size` steps, each of which moves on by this many elements.
struct WindowLoop {
  std::int64_t size, operand, update;
  bool fixed;  ///< no index moves it: if all windows are cut the same way here, different pieces never meet
};

class Windows {
 public:
  explicit Windows(const RoutineCall& call);

  std::int64_t count() const { return count_; }
  std::int64_t size() const;  ///< elements of one window
  /// Outermost first; loops that are one in memory are joined, a loop of one step is left out.
  const std::vector<WindowLoop>& loops() const { return loops_; }

  /// Keys are below.
  std::int64_t keys() const { return keys_; }
  /// How many elements of the operand belong to a key: [key * n, (key + 1) * n); 0: they are scattered.
  std::int64_t elements_per_key() const { return elements_per_key_; }

  /// Writes windows begin … end, in their order.
  void find(std::int64_t begin, std::int64_t end, Window* out) const;

 private:
  /// One component of the index vectors.
  struct Component {
    std::int64_t last;    ///< the largest start that fits
    std::int64_t stride;  ///< in the operand
    std::int64_t key;     ///< what a step adds to the key
  };
  /// Windows, as nested loops like those within a window.
  struct Batch {
    std::int64_t size, operand, update, key;
  };

  template <class Index>
  void find(const Index* indices, std::int64_t begin, std::int64_t end, Window* out) const;

  DType index_type_;
  const std::byte* indices_;
  bool clip_;
  std::int64_t count_ = 1, keys_ = 1, elements_per_key_ = 0;
  std::vector<Component> components_;
  std::vector<Batch> batch_;
  std::vector<WindowLoop> loops_;
};

}  // namespace cotan::native
