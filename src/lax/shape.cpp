// lax: helpers of shapes, slices by number, and the optimization barrier.
#include <cotan/lax.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

Shape broadcast_shapes(const std::vector<Shape>& shapes) { return numpy::broadcast_shapes("broadcast_shapes", shapes); }

Array broadcast_to_rank(const ArrayLike& a, int rank) {
  if (a->ndim() > rank)
    raise<ShapeError>("[broadcast_to_rank] {} has more than {} axes; ask for at least as many.", a->aval(), rank);
  Shape shape(static_cast<std::size_t>(rank - a->ndim()), 1);
  shape.insert(shape.end(), a->shape().begin(), a->shape().end());
  return ops::reshape(a, shape);
}

Array broadcast(const ArrayLike& a, const std::vector<std::int64_t>& sizes) {
  Shape shape = sizes;
  shape.insert(shape.end(), a->shape().begin(), a->shape().end());
  checked_bytes({a->dtype(), shape, false}, "broadcast");
  return ops::broadcast_to(a, shape);
}
Array broadcast_like(const ArrayLike& a, const ArrayLike& like) { return ops::broadcast_to(a, like->shape()); }

Array collapse(const ArrayLike& a, int start, std::optional<int> stop) {
  const int n = a->ndim();
  const auto at = [&](int i) { return i < 0 ? i + n : i; };
  const int from = at(start), to = stop ? at(*stop) : n;
  if (from < 0 || from > to || to > n)
    raise<IndexError>(
        "[collapse] axes {} to {} are not a run of axes of {}; give the first, and the one after the last.", start, to,
        a->aval());
  if (from == to) return a;
  const Shape& shape = a->shape();
  const auto axis = [&](int i) { return shape.begin() + i; };
  Shape out(shape.begin(), axis(from));
  out.push_back(ops::product(Shape(axis(from), axis(to))));
  out.insert(out.end(), axis(to), shape.end());
  return ops::reshape(a, out);
}

Array broadcasted_iota(DType dtype, const Shape& shape, int dimension, const std::source_location& where) {
  return iota(dtype, shape, dimension, where);
}

std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& sizes, int axis) {
  const int along = numpy::resolve_axis(axis, a->ndim(), "split");
  std::int64_t sum = 0;
  for (auto size : sizes) {
    if (size < 0) raise<ValueError>("[split] sizes {} are not all positive or 0.", describe(sizes));
    sum += size;
  }
  if (sum != a->shape()[along])
    raise<ShapeError>("[split] sizes {} add up to {}, but axis {} of {} has {}; they must be equal.", describe(sizes),
                      sum, along, a->aval(), a->shape()[along]);
  Arrays out;
  std::int64_t at = 0;
  for (auto size : sizes) {
    out.push_back(ops::slice_axis(a, along, at, at + size));
    at += size;
  }
  return out;
}

Array index_in_dim(const ArrayLike& a, std::int64_t index, int axis, bool keepdims) {
  const int along = numpy::resolve_axis(axis, a->ndim(), "index_in_dim");
  const std::int64_t size = a->shape()[along], at = index < 0 ? index + size : index;
  if (at < 0 || at >= size)
    raise<IndexError>("[index_in_dim] index {} is out of range for axis {} of {}; give one in [-{}, {}).", index, along,
                      a->aval(), size, size);
  const Array slice = ops::slice_axis(a, along, at, at + 1);
  return keepdims ? slice : ops::reshape(slice, ops::erase_axes(a->shape(), {along}));
}

std::vector<Array> optimization_barrier(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  return arrays.empty() ? arrays : bind(ops::optimization_barrier_p, arrays);
}
Array optimization_barrier(const Array& a, const std::source_location& where) {
  return optimization_barrier(ArrayList({a}, where))[0];
}

}  // namespace cotan::lax
