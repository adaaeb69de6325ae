// NumPy's sorting.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

Array sort(const ArrayLike& a, int axis, bool descending, bool stable) {
  const int along = resolve_axis(axis, a->ndim(), "sort");
  const Array sorted = lax::sort({a}, along, 1, stable)[0];
  return descending ? ops::rev(sorted, {along}) : sorted;
}
Array sort(const ArrayLike& a, None, bool descending, bool stable) { return sort(ravel(a), 0, descending, stable); }

Array argsort(const ArrayLike& a, int axis, bool descending, bool stable, DType dtype) {
  if (!is_integer(dtype)) raise<TypeError>("[argsort] indices cannot be {}; give an integer dtype.", dtype);
  const int along = resolve_axis(axis, a->ndim(), "argsort");
  const Array positions = ops::iota(dtype, a->shape(), along);
  if (!descending) return lax::sort({a, positions}, along, 1, stable)[1];
  // Reversed before and after, so that equal elements keep their order.
  return ops::rev(lax::sort({ops::rev(a, {along}), ops::rev(positions, {along})}, along, 1, stable)[1], {along});
}
Array argsort(const ArrayLike& a, None, bool descending, bool stable, DType dtype) {
  return argsort(ravel(a), 0, descending, stable, dtype);
}

Array lexsort(const ArrayList& list, int axis) {
  const std::vector<Array>& keys = list;
  if (keys.empty()) raise<ValueError>("[lexsort] got no keys; give at least one.");
  const int along = resolve_axis(axis, keys[0].ndim(), "lexsort");
  std::vector<Array> operands(keys.rbegin(), keys.rend());
  operands.push_back(ops::iota(i32, keys[0].shape(), along));
  return lax::sort(operands, along, static_cast<int>(keys.size())).back();
}

namespace {

/// `kth` counted from the start of an axis of that size.
std::int64_t resolve_place(std::string_view op, int kth, const Array& a, int axis) {
  const std::int64_t size = a.shape()[axis];
  if (kth < -size || kth >= size)
    raise<IndexError>("[{}] place {} is out of range for axis {} of {}; it may be {} to {}.", op, kth, axis, a.aval(),
                      -size, size - 1);
  return kth < 0 ? kth + size : kth;
}

}  // namespace

// The order of the two parts is JAX's: the smaller ones rise, the larger ones fall, their indices rise.
Array partition(const ArrayLike& a, int kth, int axis) {
  const int along = resolve_axis(axis, a->ndim(), "partition");
  const std::int64_t k = resolve_place("partition", kth, a, along), n = a->shape()[along];
  const Array sorted = sort(a, along);
  const Array parts[] = {ops::slice_axis(sorted, along, 0, k + 1),
                         ops::rev(ops::slice_axis(sorted, along, k + 1, n), {along})};
  return ops::concatenate(parts, along);
}
Array argpartition(const ArrayLike& a, int kth, int axis) {
  const int along = resolve_axis(axis, a->ndim(), "argpartition");
  const std::int64_t k = resolve_place("argpartition", kth, a, along), n = a->shape()[along];
  const Array order = argsort(a, along);
  const Array parts[] = {ops::slice_axis(order, along, 0, k + 1), sort(ops::slice_axis(order, along, k + 1, n), along)};
  return ops::concatenate(parts, along);
}

}  // namespace cotan::numpy
