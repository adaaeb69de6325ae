// Arrays with elements added, taken away or replaced.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

void need_values(std::string_view op, const Array& a, std::string_view instead) {
  if (!indexing::has_value(a))
    raise<ConcretizationError>("[{}] {} has no value while the function is traced, and the shape depends on it; {}.",
                               op, indexing::describe_value(a), instead);
}

/// The integers of a range on an axis of `size`.
std::vector<std::int64_t> range_indices(const Range& range, std::int64_t size) {
  const Array axis = abstract_array({DType::bool_, {size}, false});
  const indexing::Item item = indexing::parse(axis, {Index(range, {})}, "range")[0];
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < item.count; ++i) out.push_back(item.start + i * item.stride);
  if (item.reversed) std::reverse(out.begin(), out.end());
  return out;
}
std::int64_t resolve_index(std::string_view op, std::int64_t i, std::int64_t size, bool at_end) {
  const std::int64_t highest = at_end ? size : size - 1;
  if (i < -size || i > highest)
    raise<IndexError>("[{}] index {} is out of range for an axis of size {}; it may be {} to {}.", op, i, size, -size,
                      highest);
  return i < 0 ? i + size : i;
}

}  // namespace

Array append(const ArrayLike& a, const ArrayLike& values, std::optional<int> axis) {
  if (!axis) return concatenate({ravel(a), ravel(values)}, 0);
  return concatenate({a.array(), values.array()}, *axis);
}

namespace {

/// Without these indices, each there once: works while they are not known.
Array without_unique(const Array& a, const Array& indices, int axis) {
  const std::int64_t n = a.shape()[axis];
  const Array flat = ravel(indices);
  const Array order = sort(clip(where(flat < 0, flat + n, flat), 0, n));
  const Array before = order - ops::iota(order.dtype(), order.shape(), 0);  // how many stay before each
  const Array kept = ops::iota(i32, {n - order.size()}, 0);
  const Array skipped = sum(expand_dims(kept, 0) >= expand_dims(before, 1), {.axis = 0, .dtype = i32});
  return take(a, kept + skipped, axis);
}

}  // namespace

Array delete_(const ArrayLike& given, const Places& places, std::optional<int> axis, bool assume_unique_indices) {
  const Array a = axis ? given.array() : ravel(given);
  const int at = axis ? resolve_axis(*axis, a.ndim(), "delete") : 0;
  const std::int64_t n = a.shape()[at];
  std::vector<bool> gone(static_cast<std::size_t>(n), false);
  if (places.index()) {
    const std::int64_t i = resolve_index("delete", *places.index(), n, false);
    const Array parts[] = {ops::slice_axis(a, at, 0, i), ops::slice_axis(a, at, i + 1, n)};
    return ops::concatenate(parts, at);
  }
  if (places.range()) {
    for (auto i : range_indices(*places.range(), n)) gone[static_cast<std::size_t>(i)] = true;
  } else {
    const Array& indices = places.array();
    if (assume_unique_indices && is_integer(indices.dtype())) return without_unique(a, indices, at);
    need_values("delete", indices, "say with assume_unique_indices that each index is there once");
    if (indices.dtype() == DType::bool_) {
      if (indices.shape() != Shape{n})
        raise<ShapeError>("[delete] the mask is {} for axis {} of {}; it must be as long.", indices.aval(), at,
                          a.aval());
      gone = indices.to_vector<bool>();
    } else if (is_integer(indices.dtype())) {
      for (auto i : indices.to_vector<std::int64_t>())
        gone[static_cast<std::size_t>(resolve_index("delete", i, n, false))] = true;
    } else {
      raise<TypeError>("[delete] the places are {}; give integers or bools.", indices.aval());
    }
  }
  std::vector<std::int32_t> kept;
  for (std::int64_t i = 0; i < n; ++i)
    if (!gone[static_cast<std::size_t>(i)]) kept.push_back(static_cast<std::int32_t>(i));
  return take(a, Array::from_host(kept), at);
}

Array insert(const ArrayLike& given, const Places& places, const ArrayLike& given_values, std::optional<int> axis) {
  const Array a = axis ? given.array() : ravel(given);
  const int at = axis ? resolve_axis(*axis, a.ndim(), "insert") : 0;
  const std::int64_t n = a.shape()[at];
  Shape shape = given_values->shape();
  if (static_cast<int>(shape.size()) < a.ndim()) shape.insert(shape.begin(), a.shape().size() - shape.size(), 1);
  Array values = ops::cast(ops::reshape(given_values, shape), a.dtype());
  Array indices = places.array();
  if (places.index()) indices = scalar(i32, resolve_index("insert", *places.index(), n, true));
  if (places.range()) {
    const auto list = range_indices(*places.range(), n);
    indices = Array::from_host(std::vector<std::int32_t>(list.begin(), list.end()));
  }
  if (indices.ndim() > 1 || !is_integer(indices.dtype()))
    raise<TypeError>("[insert] the places are {}; give an integer, a range, or a vector of integers.", indices.aval());
  if (indices.size() == 1) {
    if (indices.ndim() == 0) values = ops::move_axis(values, 0, at);
    indices = ops::broadcast_to(ops::reshape(indices, {}), {values.shape()[at]});
  }
  const Shape counts[] = {indices.shape(), {values.shape()[at]}};
  const std::int64_t added = broadcast_shapes("insert", counts)[0];
  indices = ops::cast(ops::broadcast_to(indices, {added}), i32);
  indices = clip(where(indices < 0, indices + n, indices), 0, n);
  // Places of the values in the result: each is moved on by those before it; where they are equal, in their order.
  const Array target = indices.at(argsort(indices)).add(ops::iota(i32, {added}, 0));
  const Array free = ops::full({n + added}, scalar(DType::bool_, 1)).at(target).set(false);
  const Array rest = nonzero(free, {.size = n})[0];
  Shape rows = a.shape(), total = a.shape();
  rows[at] = added;
  total[at] = n + added;
  std::vector<Index> head(static_cast<std::size_t>(at), Index(cotan::all, {}));
  const auto with = [&](const Array& out, const Array& where_to, const Array& x) {
    std::vector<Index> index = head;
    index.push_back(Index(where_to, {}));
    return IndexUpdate(out, index).set(x);
  };
  return with(with(zeros(total, a.dtype()), target, broadcast_to(values, rows)), rest, a);
}

Array trim_zeros(const ArrayLike& a, std::string_view trim, const Axes& axis) {
  need_values("trim_zeros", a, "call it outside jit and vmap");
  const auto has = [&](char lower, char upper) {
    return trim.find(lower) != trim.npos || trim.find(upper) != trim.npos;
  };
  const bool front = has('f', 'F'), back = has('b', 'B');
  Array out = a;
  for (int at : axis.resolve(a->ndim(), "trim_zeros")) {
    if (!front && !back) break;
    std::vector<int> others;
    for (int i = 0; i < a->ndim(); ++i)
      if (i != at) others.push_back(i);
    const std::vector<bool> set = (others.empty() ? not_equal(a, 0) : any(a, others)).to_vector<bool>();
    const auto first = std::find(set.begin(), set.end(), true);
    std::int64_t start = 0, stop = static_cast<std::int64_t>(set.size());
    if (first == set.end()) {
      stop = 0;
    } else {
      if (front) start = first - set.begin();
      if (back) stop = set.rend() - std::find(set.rbegin(), set.rend(), true);
    }
    out = ops::slice_axis(out, at, start, stop);
  }
  return out;
}

namespace {

/// The elements over and over, n of them.
Array cycled(const Array& values, std::int64_t n) { return resize(values, {n}); }

IndexMode write_mode(std::string_view op, std::string_view mode) {
  for (const auto& [name, index_mode] : {std::pair<std::string_view, IndexMode>{"drop", IndexMode::drop},
                                         {"fill", IndexMode::fill},
                                         {"clip", IndexMode::clip},
                                         {"promise_in_bounds", IndexMode::promise_in_bounds}})
    if (mode == name) return index_mode;
  raise<ValueError>("[{}] mode '{}' is unknown; use drop, clip, fill or promise_in_bounds.", op, mode);
}

}  // namespace

Array put(const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, std::string_view mode) {
  const std::int64_t n = a->size();
  if (!is_integer(indices->dtype()))
    raise<TypeError>("[put] the positions are {}; they must be integers, cast with astype(i32).", indices->aval());
  if (n == 0 || indices->size() == 0 || values->size() == 0) return a;
  Array at = ravel(indices);
  if (mode == "clip")
    at = clip(at, 0, n - 1);
  else if (mode == "wrap")
    at = mod(at, n);
  else if (mode != "drop")
    raise<ValueError>("[put] mode '{}' is unknown; use drop, clip or wrap.", mode);
  const Array x = ops::cast(cycled(values, at.size()), a->dtype());
  return ops::reshape(ravel(a).at(at).set(x, {.mode = IndexMode::drop}), a->shape());
}

Array put_along_axis(const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, int axis,
                     std::string_view mode) {
  if (a->ndim() != indices->ndim())
    raise<ShapeError>(
        "[put_along_axis] {} and the indices {} have different numbers of axes; reshape the indices with expand_dims.",
        a->aval(), indices->aval());
  const int along = resolve_axis(axis, a->ndim(), "put_along_axis");
  std::vector<Index> index;
  for (int i = 0; i < a->ndim(); ++i) {
    Shape shape(a->shape().size(), 1);
    shape[i] = a->shape()[i];
    index.push_back(i == along ? Index(indices.array(), {}) : Index(ops::iota(i32, shape, i), {}));
  }
  const Array x = ops::cast(broadcast_to(values, indices->shape()), a->dtype());
  return IndexUpdate(a, index).set(x, {.mode = write_mode("put_along_axis", mode)});
}
Array put_along_axis(const ArrayLike& a, const ArrayLike& indices, const ArrayLike& values, None,
                     std::string_view mode) {
  return ops::reshape(put_along_axis(ravel(a), indices, values, 0, mode), a->shape());
}

Array place(const ArrayLike& a, const ArrayLike& mask, const ArrayLike& values) {
  if (a->size() != mask->size())
    raise<ShapeError>("[place] the mask is {} for {}; it must have as many elements.", mask->aval(), a->aval());
  if (values->size() == 0) raise<ValueError>("[place] there are no values to place; give at least one.");
  if (a->size() == 0) return a;
  const Array set = ravel(mask->dtype() == DType::bool_ ? mask.array() : not_equal(mask, 0));
  const Array number = mod(maximum(cumsum(set) - 1, 0), values->size());
  const Array x = take(ops::cast(ravel(values), a->dtype()), number);
  return ops::reshape(ops::select(set, x, ravel(a)), a->shape());
}

Array fill_diagonal(const ArrayLike& a, const ArrayLike& value) {
  if (a->ndim() < 2) raise<ShapeError>("[fill_diagonal] {} is not a matrix; it needs at least 2 axes.", a->aval());
  const Shape& shape = a->shape();
  if (a->ndim() > 2 && !std::all_of(shape.begin(), shape.end(), [&](auto n) { return n == shape[0]; }))
    raise<ShapeError>("[fill_diagonal] the axes of {} differ in size; of more than 2 they must be equal.", a->aval());
  const std::int64_t n = *std::min_element(shape.begin(), shape.end());
  std::vector<Index> index;
  for (const Array& each : diag_indices(n, a->ndim(), {})) index.push_back(Index(each, {}));
  const Array x = ops::cast(value->ndim() == 0 ? value.array() : cycled(value, n), a->dtype());
  return IndexUpdate(a, index).set(x);
}

}  // namespace cotan::numpy
