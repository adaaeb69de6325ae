// Elements moved around and repeated.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// Moved on by a number that is known, along one axis.
Array rolled(const Array& a, std::int64_t shift, int axis) {
  const std::int64_t size = a.shape()[axis];
  if (size == 0) return a;
  const std::int64_t cut = (size - shift % size) % size;
  if (cut == 0) return a;
  const Array parts[] = {ops::slice_axis(a, axis, cut, size), ops::slice_axis(a, axis, 0, cut)};
  return ops::concatenate(parts, axis);
}
/// The same by one that need not be: a window of the array twice in a row.
Array rolled(const Array& a, const Array& shift, int axis) {
  const std::int64_t size = a.shape()[axis];
  if (size == 0) return a;
  const Array twice[] = {a, a};
  const Array start = size - mod(ops::cast(shift, i32), static_cast<int>(size));
  return lax::dynamic_slice_in_dim(ops::concatenate(twice, axis), start, size, axis);
}

}  // namespace

Array roll(const ArrayLike& a, std::int64_t shift, const Axes& axis) {
  if (!axis.given()) return ops::reshape(rolled(ravel(a), shift, 0), a->shape());
  Array out = a;
  for (int at : axis.resolve(a->ndim(), "roll")) out = rolled(out, shift, at);
  return out;
}
Array roll(const ArrayLike& a, const std::vector<std::int64_t>& shift, const Axes& axis) {
  const std::vector<int> axes = axis.resolve(a->ndim(), "roll");
  if (!axis.given() || axes.size() != shift.size())
    raise<ValueError>("[roll] {} shifts are given for {} axes; give one per axis.", shift.size(),
                      axis.given() ? axes.size() : 0);
  Array out = a;
  for (std::size_t i = 0; i < axes.size(); ++i) out = rolled(out, shift[i], axes[i]);
  return out;
}
Array roll(const ArrayLike& a, const Array& shift, const Axes& axis) {
  if (!is_integer(shift.dtype()))
    raise<TypeError>("[roll] the shift is {}; it must be an integer, cast with astype(i32).", shift.aval());
  if (!axis.given()) {
    if (shift.size() != 1)
      raise<ShapeError>("[roll] the shift of a flattened array is {}; it must be a scalar.", shift.aval());
    return ops::reshape(rolled(ravel(a), ops::reshape(shift, {}), 0), a->shape());
  }
  const std::vector<int> axes = axis.resolve(a->ndim(), "roll");
  if (shift.ndim() > 1 || (shift.size() != 1 && shift.size() != static_cast<std::int64_t>(axes.size())))
    raise<ShapeError>("[roll] the shifts are {} for {} axes; give a scalar, or one per axis.", shift.aval(),
                      axes.size());
  const Array flat = ravel(shift);
  Array out = a;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t k = shift.size() == 1 ? 0 : static_cast<std::int64_t>(i);
    out = rolled(out, ops::reshape(ops::slice_axis(flat, 0, k, k + 1), {}), axes[i]);
  }
  return out;
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

Array repeat(const ArrayLike& given, const Array& counts, std::optional<int> axis,
             std::optional<std::int64_t> total_repeat_length) {
  const Array a = axis ? given.array() : ravel(given);
  const int at = axis ? resolve_axis(*axis, a.ndim(), "repeat") : 0;
  const std::int64_t n = a.shape()[at];
  if (!is_integer(counts.dtype()) || counts.ndim() > 1 || (counts.size() != 1 && counts.size() != n))
    raise<ShapeError>(
        "[repeat] the counts are {} for {} elements along axis {} of {}; give an integer, or one per element.",
        counts.aval(), n, at, a.aval());
  const Array each =
      ops::cast(ops::broadcast_to(counts.ndim() == 0 ? counts : ops::reshape(counts, {counts.size()}), {n}), i32);
  if (!total_repeat_length) {
    if (!indexing::has_value(counts))
      raise<ConcretizationError>(
          "[repeat] {} has no value while the function is traced, and the length depends on it; give it as "
          "total_repeat_length.",
          indexing::describe_value(counts));
    std::vector<std::int32_t> source;
    const std::vector<std::int32_t> known = each.to_vector<std::int32_t>();
    for (std::size_t i = 0; i < known.size(); ++i) {
      check_repeats("repeat", known[i]);
      source.insert(source.end(), static_cast<std::size_t>(known[i]), static_cast<std::int32_t>(i));
    }
    return take(a, Array::from_host(source), at);
  }
  check_repeats("repeat", *total_repeat_length);
  if (n == 0 && *total_repeat_length > 0)
    raise<ShapeError>("[repeat] axis {} of {} is empty and has nothing to repeat; give a length of 0.", at, a.aval());
  // The element at a place is the number of elements that end before it.
  const Array ends = cumsum(each);
  const Array source = searchsorted(ends, ops::iota(i32, {*total_repeat_length}, 0), "right");
  return take(a, minimum(source, n - 1), at);
}

Array resize(const ArrayLike& a, const Shape& shape) {
  for (auto n : shape)
    if (n < 0) raise<ShapeError>("[resize] shape {} has a negative size; give 0 or more.", describe(shape));
  const std::int64_t size = a->size(), wanted = ops::product(shape);
  if (size == 0 || wanted == 0) return zeros(shape, a->dtype());
  const std::int64_t times = (wanted + size - 1) / size;
  return ops::reshape(ops::slice_axis(tile(ravel(a), {times}), 0, 0, wanted), shape);
}

}  // namespace cotan::numpy
