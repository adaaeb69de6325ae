// cotan::flatten_util: lists of arrays as one vector, and back.
#include <cotan/flatten_util.hpp>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::flatten_util::detail {

Layout layout_of(const std::vector<Array>& leaves) {
  Layout out;
  for (const Array& a : leaves) out.leaves.push_back(a.aval());
  if (leaves.empty()) return out;
  out.dtype = numpy::result_type(leaves).dtype;
  for (const Array& a : leaves) out.mixed |= a.dtype() != out.dtype;
  return out;
}

Array raveled(const std::vector<Array>& leaves, const Layout& layout) {
  if (leaves.empty()) return numpy::zeros({0}, layout.dtype);
  Arrays parts;
  for (const Array& a : leaves) parts.push_back(ops::reshape(ops::cast(a, layout.dtype), {a.size()}));
  return ops::concatenate(parts, 0);
}

std::vector<Array> unraveled(const Array& vector, const Layout& layout) {
  std::int64_t size = 0;
  for (const AbstractValue& leaf : layout.leaves) size += leaf.size();
  if (vector.shape() != Shape{size})
    raise<ShapeError>("[unravel] the vector is {}, but the tree has {} elements; give as many.", vector.aval(), size);
  if (layout.mixed && vector.dtype() != layout.dtype)
    raise<TypeError>("[unravel] the vector is {}, but was {} when the tree was raveled; give that dtype.",
                     vector.aval(), layout.dtype);
  Arrays out;
  std::int64_t at = 0;
  for (const AbstractValue& leaf : layout.leaves) {
    const Array part = ops::reshape(ops::slice_axis(vector, 0, at, at + leaf.size()), leaf.shape);
    out.push_back(layout.mixed ? ops::cast(part, leaf.dtype) : part);
    at += leaf.size();
  }
  return out;
}

}  // namespace cotan::flatten_util::detail
