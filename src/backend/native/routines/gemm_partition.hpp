// Cuts a range into parts of nearly equal length.
#pragma once
#include <algorithm>
#include <cstdint>

namespace cotan::native {

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Partition {
  std::int64_t size, parts;

  /// As few parts as possible, none longer than `longest`.
  static Partition with_longest(std::int64_t size, std::int64_t longest) {
    return {size, std::max<std::int64_t>(1, ceil_divide(size, longest))};
  }
  std::int64_t begin(std::int64_t part) const { return part * size / parts; }
  std::int64_t length(std::int64_t part) const { return begin(part + 1) - begin(part); }
  std::int64_t longest() const { return ceil_divide(size, parts); }
};

}  // namespace cotan::native
