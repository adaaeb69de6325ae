// Shapes and their strides.
#include <algorithm>

#include "ops/ops.hpp"

namespace cotan::ops {

Shape erase_axes(const Shape& shape, const Ints& axes) {
  Shape out;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(shape[i]);
  return out;
}
std::int64_t product(const Shape& shape) { return element_count(shape); }
Ints strides_of(const Shape& shape) {
  Ints out(shape.size());
  std::int64_t s = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    out[i] = s;
    s = static_cast<std::int64_t>(static_cast<std::uint64_t>(s) *
                                  static_cast<std::uint64_t>(shape[i]));  // of no use if it wraps: the array is empty
  }
  return out;
}

}  // namespace cotan::ops
