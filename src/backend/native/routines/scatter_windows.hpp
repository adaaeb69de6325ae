// Where the windows of a scatter lie, and which of them can be written in parallel.
#pragma once
#include <optional>

#include "backend/native/routines/routine_call.hpp"

namespace cotan::native {

struct Window {
  std::int64_t operand, update;  ///< offsets of the first element
  std::int64_t key;              ///< windows with different keys never overlap; -1: outside of the operand
};

/// The elements of a window: `size` steps, each of which moves on by this many elements.
struct WindowLoop {
  std::int64_t size, operand, update;
  bool fixed;  ///< no index moves it: if all windows are cut the same way here, different pieces never meet
};

/// Windows of one element whose index vectors have one component.
struct ElementWindows {
  DType index_type;  ///< i32 or i64
  const std::byte* indices;
  std::int64_t count;
  bool clip;
  std::int64_t last;             ///< the largest index that is inside
  std::int64_t operand, update;  ///< steps from one index, or window, to the next
};

class Windows {
 public:
  explicit Windows(const RoutineCall& call);

  std::int64_t count() const { return count_; }
  std::int64_t size() const;  ///< elements of one window
  /// Outermost first; loops that are one in memory are joined, a loop of one step is left out.
  const std::vector<WindowLoop>& loops() const { return loops_; }

  std::int64_t keys() const { return keys_; }  ///< the largest key and one

  std::optional<ElementWindows> as_elements() const;
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
  std::int64_t count_ = 1, keys_ = 1;
  std::vector<Component> components_;
  std::vector<Batch> batch_;
  std::vector<WindowLoop> loops_;
};

}  // namespace cotan::native
