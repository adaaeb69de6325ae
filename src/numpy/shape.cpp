// Shape and movement of elements: views and concatenations.
#include <algorithm>
#include <cotan/numpy.hpp>
#include <numeric>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

Array reshape(const ArrayLike& a, const Shape& shape) {
  Shape sizes = shape, given;
  std::int64_t* open = nullptr;
  for (auto& d : sizes) {
    if (d == -1 && open)
      raise<ShapeError>("[reshape] shape {} leaves two sizes open; only one may be -1.", describe(shape));
    if (d < -1) raise<ShapeError>("[reshape] shape {} has a negative size; only one size may be -1.", describe(shape));
    if (d == -1)
      open = &d;
    else
      given.push_back(d);
  }
  if (open) {
    const std::int64_t known = element_count(given);
    if (known == 0 || a->size() % known != 0)
      raise<ShapeError>("[reshape] {} has {} elements, which do not divide into shape {}; give every size.", a->aval(),
                        a->size(), describe(shape));
    *open = a->size() / known;
  }
  return ops::reshape(a, sizes);
}
Array ravel(const ArrayLike& a) { return ops::reshape(a, {a->size()}); }

Array transpose(const ArrayLike& a, const std::vector<int>& axes) {
  const int n = a->ndim();
  Ints permutation;
  if (axes.empty()) {
    for (int i = n - 1; i >= 0; --i) permutation.push_back(i);
  } else {
    if (static_cast<int>(axes.size()) != n)
      raise<ShapeError>("[transpose] {} axes are given for {}, which has {}; name each axis once.", axes.size(),
                        a->aval(), n);
    for (int axis : Axes(axes).resolve(n, "transpose")) permutation.push_back(axis);
  }
  return ops::transpose(a, permutation);
}
Array permute_dims(const ArrayLike& a, const std::vector<int>& axes) {
  if (static_cast<int>(axes.size()) != a->ndim())
    raise<ShapeError>("[permute_dims] {} axes are given for {}, which has {}; name each axis once.", axes.size(),
                      a->aval(), a->ndim());
  return transpose(a, axes);
}
Array matrix_transpose(const ArrayLike& a) {
  if (a->ndim() < 2) raise<ShapeError>("[matrix_transpose] {} is not a matrix; it needs at least 2 axes.", a->aval());
  return swapaxes(a, -2, -1);
}
Array swapaxes(const ArrayLike& a, int axis1, int axis2) {
  Ints permutation(a->ndim());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[resolve_axis(axis1, a->ndim(), "swapaxes")],
            permutation[resolve_axis(axis2, a->ndim(), "swapaxes")]);
  return ops::transpose(a, permutation);
}
Array moveaxis(const ArrayLike& a, const Axes& source, const Axes& destination) {
  const int n = a->ndim();
  const std::vector<int> from = source.resolve(n, "moveaxis"), to = destination.resolve(n, "moveaxis");
  if (from.size() != to.size())
    raise<ValueError>("[moveaxis] {} source axes and {} destinations; give one destination per source.", from.size(),
                      to.size());
  Ints permutation(n, -1);
  for (std::size_t i = 0; i < from.size(); ++i) permutation[to[i]] = from[i];
  int next = 0;
  for (auto& p : permutation) {
    if (p != -1) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    p = next++;
  }
  return ops::transpose(a, permutation);
}

Array expand_dims(const ArrayLike& a, const Axes& axis) {
  if (!axis.given()) raise<ValueError>("[expand_dims] needs an axis; give where the new axes go.");
  const int n = a->ndim() + static_cast<int>(axis.list().size());
  const std::vector<int> added = axis.resolve(n, "expand_dims");
  Shape shape;
  auto next = a->shape().begin();
  for (int i = 0; i < n; ++i) shape.push_back(std::find(added.begin(), added.end(), i) != added.end() ? 1 : *next++);
  return ops::reshape(a, shape);
}
Array squeeze(const ArrayLike& a, const Axes& axis) {
  const Shape& from = a->shape();
  Ints gone;
  if (axis.given()) {
    for (int i : axis.resolve(a->ndim(), "squeeze")) {
      if (from[i] != 1)
        raise<ShapeError>("[squeeze] axis {} of {} has size {}; only axes of size 1 can be taken away.", i, a->aval(),
                          from[i]);
      gone.push_back(i);
    }
  } else {
    for (int i = 0; i < a->ndim(); ++i)
      if (from[i] == 1) gone.push_back(i);
  }
  return ops::reshape(a, ops::erase_axes(from, gone));
}

Array broadcast_to(const ArrayLike& a, const Shape& shape) {
  checked_bytes({a->dtype(), shape, false}, "broadcast_to");
  return ops::broadcast_to(a, shape);
}
std::vector<Array> broadcast_arrays(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  const Shape shape = broadcast_shapes("broadcast_arrays", arrays);
  std::vector<Array> out;
  for (const Array& a : arrays) out.push_back(ops::broadcast_to(a, shape));
  return out;
}

namespace {

void check_not_empty(std::string_view op, const std::vector<Array>& arrays) {
  if (arrays.empty()) raise<ValueError>("[{}] got no arrays; give at least one.", op);
}
Array joined(std::string_view op, const Arrays& arrays, int axis) {
  check_not_empty(op, arrays);
  for (const Array& a : arrays) {
    if (a.ndim() == 0) raise<ShapeError>("[{}] 0-d arrays have no axis to join along; use np::stack.", op);
    if (a.ndim() != arrays[0].ndim())
      raise<ShapeError>("[{}] {} and {} have different numbers of axes; reshape one with expand_dims.", op,
                        arrays[0].aval(), a.aval());
  }
  const int at = resolve_axis(axis, arrays[0].ndim(), op);
  for (const Array& a : arrays)
    for (int i = 0; i < a.ndim(); ++i)
      if (i != at && a.shape()[i] != arrays[0].shape()[i])
        raise<ShapeError>("[{}] shapes {} and {} differ in axis {}; only axis {} may differ.", op,
                          describe(arrays[0].shape()), describe(a.shape()), i, at);
  return ops::concatenate(cast_all(arrays, result_type(arrays)), at);
}

}  // namespace

Array concatenate(const ArrayList& arrays, int axis) { return joined("concatenate", arrays, axis); }
Array stack(const ArrayList& list, int axis) {
  const std::vector<Array>& arrays = list;
  check_not_empty("stack", arrays);
  const int at = resolve_axis(axis, arrays[0].ndim() + 1, "stack");
  Arrays rows;
  for (const Array& a : arrays) {
    if (a.shape() != arrays[0].shape())
      raise<ShapeError>("[stack] shapes {} and {} differ; all arrays must have one shape.", describe(arrays[0].shape()),
                        describe(a.shape()));
    rows.push_back(expand_dims(a, at));
  }
  return joined("stack", rows, at);
}
Array hstack(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  check_not_empty("hstack", arrays);
  Arrays parts;
  for (const Array& a : arrays) parts.push_back(atleast_1d(a));
  return joined("hstack", parts, parts[0].ndim() == 1 ? 0 : 1);
}
Array vstack(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  Arrays parts;
  for (const Array& a : arrays) parts.push_back(atleast_2d(a));
  return joined("vstack", parts, 0);
}
Array column_stack(const ArrayList& list) {
  const std::vector<Array>& arrays = list;
  Arrays parts;
  for (const Array& a : arrays) parts.push_back(a.ndim() < 2 ? ops::reshape(a, {a.size(), 1}) : a);
  return joined("column_stack", parts, 1);
}

std::vector<Array> split(const ArrayLike& a, int sections, int axis) {
  const int at = resolve_axis(axis, a->ndim(), "split");
  const std::int64_t size = a->shape()[at];
  if (sections < 1 || size % sections != 0)
    raise<ShapeError>("[split] axis {} of {} does not divide into {} equal parts; give the indices to split at.", at,
                      a->aval(), sections);
  std::vector<Array> out;
  const std::int64_t each = size / sections;
  for (std::int64_t i = 0; i < sections; ++i) out.push_back(ops::slice_axis(a, at, i * each, (i + 1) * each));
  return out;
}
std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& indices, int axis) {
  const int at = resolve_axis(axis, a->ndim(), "split");
  const std::int64_t size = a->shape()[at];
  // Bounds as in Python slices: negative ones count from the end, those outside are clipped.
  const auto bound = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size); };
  std::vector<Array> out;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    const std::int64_t stop = i < indices.size() ? bound(indices[i]) : size;
    out.push_back(ops::slice_axis(a, at, start, std::max(start, stop)));
    start = stop;
  }
  return out;
}
std::vector<Array> split(const ArrayLike& a, std::initializer_list<std::int64_t> indices, int axis) {
  return split(a, std::vector<std::int64_t>(indices), axis);
}
std::vector<Array> unstack(const ArrayLike& a, int axis) {
  if (a->ndim() == 0) raise<ShapeError>("[unstack] a 0-d array has no axis to take apart; use np::atleast_1d.");
  const int at = resolve_axis(axis, a->ndim(), "unstack");
  const Shape row = ops::erase_axes(a->shape(), {at});
  std::vector<Array> out;
  for (std::int64_t i = 0; i < a->shape()[at]; ++i) out.push_back(ops::reshape(ops::slice_axis(a, at, i, i + 1), row));
  return out;
}

Array flip(const ArrayLike& a, const Axes& axis) {
  const std::vector<int> axes = axis.resolve(a->ndim(), "flip");
  return ops::rev(a, Ints(axes.begin(), axes.end()));
}
Array fliplr(const ArrayLike& a) {
  if (a->ndim() < 2) raise<ShapeError>("[fliplr] {} has no second axis; use flip.", a->aval());
  return flip(a, 1);
}
Array flipud(const ArrayLike& a) {
  if (a->ndim() < 1) raise<ShapeError>("[flipud] a 0-d array has no axis to flip; use np::atleast_1d.");
  return flip(a, 0);
}
Array rot90(const ArrayLike& a, int k, int axis1, int axis2) {
  const std::vector<int> plane = Axes{axis1, axis2}.resolve(a->ndim(), "rot90");
  switch (((k % 4) + 4) % 4) {
    case 0:
      return a;
    case 1:
      return swapaxes(flip(a, plane[1]), plane[0], plane[1]);
    case 2:
      return flip(a, plane);
    default:
      return flip(swapaxes(a, plane[0], plane[1]), plane[1]);
  }
}
Array roll(const ArrayLike& a, std::int64_t shift, std::optional<int> axis) {
  if (!axis) return ops::reshape(roll(ravel(a), shift, 0), a->shape());
  const int at = resolve_axis(*axis, a->ndim(), "roll");
  const std::int64_t size = a->shape()[at];
  if (size == 0) return a;
  const std::int64_t cut = (size - shift % size) % size;
  if (cut == 0) return a;
  const Array parts[] = {ops::slice_axis(a, at, cut, size), ops::slice_axis(a, at, 0, cut)};
  return ops::concatenate(parts, at);
}

namespace {

void check_repeats(std::string_view op, std::int64_t n) {
  if (n < 0) raise<ValueError>("[{}] cannot repeat {} times; give 0 or more.", op, n);
}
std::int64_t repeated_size(std::string_view op, std::int64_t size, std::int64_t times) {
  if (__builtin_mul_overflow(size, times, &size))
    raise<OutOfMemoryError>("[{}] an axis {} times as long has more bytes than can be addressed; repeat it less.", op,
                            times);
  return size;
}

}  // namespace

Array tile(const ArrayLike& a, const std::vector<std::int64_t>& reps) {
  Shape shape = a->shape();
  Ints times = reps;
  const std::size_t n = std::max(shape.size(), times.size());
  shape.insert(shape.begin(), n - shape.size(), 1);
  times.insert(times.begin(), n - times.size(), 1);
  // One new axis in front of each, filled by broadcasting and merged by reshaping.
  Shape spread, merged;
  Ints dims;
  for (std::size_t i = 0; i < n; ++i) {
    check_repeats("tile", times[i]);
    spread.insert(spread.end(), {times[i], shape[i]});
    dims.push_back(static_cast<std::int64_t>(2 * i + 1));
    merged.push_back(repeated_size("tile", shape[i], times[i]));
  }
  const Array x = ops::reshape(a, shape);
  return merged == shape ? x : ops::reshape(ops::broadcast_in_dim(x, spread, dims), merged);
}
Array repeat(const ArrayLike& a, std::int64_t repeats, std::optional<int> axis) {
  check_repeats("repeat", repeats);
  if (!axis) return repeat(ravel(a), repeats, 0);
  const int at = resolve_axis(*axis, a->ndim(), "repeat");
  if (repeats == 1) return a;
  Shape spread = a->shape(), merged = a->shape();
  spread.insert(spread.begin() + at + 1, repeats);
  merged[at] = repeated_size("repeat", merged[at], repeats);
  Ints dims;
  for (int i = 0; i < a->ndim(); ++i) dims.push_back(i <= at ? i : i + 1);
  return ops::reshape(ops::broadcast_in_dim(a, spread, dims), merged);
}

Array atleast_1d(const ArrayLike& a) { return a->ndim() >= 1 ? a.array() : ops::reshape(a, {1}); }
Array atleast_2d(const ArrayLike& a) { return a->ndim() >= 2 ? a.array() : ops::reshape(a, {1, a->size()}); }

// pad -------------------------------------------------------------------------------------------

namespace {

/// Which element of an axis of size n stands at position i of the padded axis, counted from its start.
using SourceOf = std::int64_t (*)(std::int64_t i, std::int64_t n);

std::int64_t floor_mod(std::int64_t a, std::int64_t n) { return (a % n + n) % n; }
std::int64_t edge_source(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }
std::int64_t wrap_source(std::int64_t i, std::int64_t n) { return floor_mod(i, n); }
std::int64_t reflect_source(std::int64_t i, std::int64_t n) {
  if (n == 1) return 0;
  const std::int64_t at = floor_mod(i, 2 * (n - 1));
  return at < n ? at : 2 * (n - 1) - at;
}
std::int64_t symmetric_source(std::int64_t i, std::int64_t n) {
  const std::int64_t at = floor_mod(i, 2 * n);
  return at < n ? at : 2 * n - 1 - at;
}

/// Cuts the padded axis into runs of sources that step by 1, -1 or 0: slices, reversed slices and repeats.
Array pad_axis(const Array& a, int axis, std::int64_t before, std::int64_t after, SourceOf source) {
  const std::int64_t n = a.shape()[axis], end = n + after;
  Arrays parts;
  for (std::int64_t i = -before; i < end;) {
    const std::int64_t first = source(i, n);
    std::int64_t last = first, step = 2, next = i + 1;
    for (; next < end; ++next) {
      const std::int64_t at = source(next, n), change = at - last;
      if (change > 1 || change < -1 || (step != 2 && change != step)) break;
      step = change;
      last = at;
    }
    const Array run = ops::slice_axis(a, axis, std::min(first, last), std::max(first, last) + 1);
    if (step == -1)
      parts.push_back(ops::rev(run, {axis}));
    else if (step == 0)
      parts.push_back(repeat(run, next - i, axis));
    else
      parts.push_back(run);
    i = next;
  }
  return ops::concatenate(parts, axis);
}

}  // namespace

Array pad(const ArrayLike& a, const std::vector<std::pair<std::int64_t, std::int64_t>>& width, std::string_view mode,
          const ArrayLike& value) {
  std::vector<std::pair<std::int64_t, std::int64_t>> widths = width;
  if (width.size() == 1) widths.assign(a->ndim(), width[0]);
  if (static_cast<int>(widths.size()) != a->ndim())
    raise<ShapeError>("[pad] {} widths are given for {}; give one (before, after) pair per axis, or one for all.",
                      width.size(), a->aval());
  for (auto [before, after] : widths)
    if (before < 0 || after < 0)
      raise<ValueError>("[pad] width ({}, {}) is negative; use lax::pad to crop.", before, after);
  if (mode == "constant") {
    if (value->ndim() != 0) raise<ShapeError>("[pad] the padding value is {}; it must be a scalar.", value->aval());
    Ints low, high, interior(widths.size(), 0);
    for (auto [before, after] : widths) {
      low.push_back(before);
      high.push_back(after);
    }
    return ops::pad(a, ops::cast(value, a->dtype()), low, high, interior);
  }
  SourceOf source = nullptr;
  for (auto [name, f] : {std::pair<std::string_view, SourceOf>{"edge", edge_source},
                         {"reflect", reflect_source},
                         {"symmetric", symmetric_source},
                         {"wrap", wrap_source}})
    if (mode == name) source = f;
  if (!source) raise<ValueError>("[pad] there is no mode '{}'; use constant, edge, reflect, symmetric or wrap.", mode);
  Array out = a;
  for (int axis = 0; axis < out.ndim(); ++axis) {
    const auto [before, after] = widths[axis];
    if (before == 0 && after == 0) continue;
    if (out.shape()[axis] == 0)
      raise<ShapeError>("[pad] axis {} of {} is empty and has nothing to fill with; use mode constant.", axis,
                        a->aval());
    out = pad_axis(out, axis, before, after, source);
  }
  return out;
}

}  // namespace cotan::numpy
