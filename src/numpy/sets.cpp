// Sets: the different elements of an array, and what arrays have in common.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// Rows sorted, and which of them are the first of their kind.
struct SortedRows {
  Array rows, is_first, order;
  std::int64_t n;
};

Array positions_along(std::int64_t n) { return ops::iota(i32, {n}, 0); }

SortedRows sorted_rows(const Array& a, bool equal_nan) {
  const std::int64_t n = a.shape()[0];
  const Array flat = ops::reshape(a, {n, n == 0 ? 0 : a.size() / n});
  const std::int64_t width = flat.shape()[1];
  SortedRows out{a, Array(), Array(), n};
  if (a.ndim() == 1) {
    const Arrays sorted = lax::sort({a, positions_along(n)}, 0);
    out.rows = sorted[0];
    out.order = sorted[1];
  } else if (width == 0) {  // rows of nothing are equal
    out.order = positions_along(n);
  } else {
    Arrays keys;
    for (std::int64_t i = width; i-- > 0;) keys.push_back(ops::reshape(ops::slice_axis(flat, 1, i, i + 1), {n}));
    out.order = lexsort(keys);
    out.rows = take(a, out.order, 0);
  }
  if (n < 2) {
    out.is_first = ops::full({n}, scalar(DType::bool_, 1));
    return out;
  }
  const Array later = ops::slice_axis(out.rows, 0, 1, n), earlier = ops::slice_axis(out.rows, 0, 0, n - 1);
  Array differ = later != earlier;
  if (equal_nan && is_inexact(a.dtype())) differ = differ & ~(isnan(later) & isnan(earlier));
  const Array parts[] = {ops::full({1}, scalar(DType::bool_, 1)), any(ops::reshape(differ, {n - 1, width}), 1)};
  out.is_first = ops::concatenate(parts, 0);
  return out;
}

std::int64_t exact_size(std::string_view op, const Array& a, const Array& mask) {
  if (!indexing::has_value(a))
    raise<ConcretizationError>(
        "[{}] {} has no value while the function is traced, so the number of distinct elements is not known; say with "
        "`size` how many places the result has, or call it outside jit and vmap.",
        op, indexing::describe_value(a));
  return sum(mask).item<std::int64_t>();
}
void check_size(std::string_view op, const std::optional<std::int64_t>& size) {
  if (size && *size < 0) raise<ValueError>("[{}] size {} is negative; give 0 or more.", op, *size);
}
/// What is beyond the first `count` places, replaced; along axis 0.
Array filled(const Array& x, const Array& count, const Array& fill) {
  Shape column(x.shape().size(), 1);
  column[0] = x.shape()[0];
  return where(ops::reshape(positions_along(x.shape()[0]), column) < count, x, ops::cast(fill, x.dtype()));
}

UniqueAll unique_of(std::string_view op, const Array& given, const UniqueOptions& o, bool equal_nan) {
  check_size(op, o.size);
  const int axis = o.axis ? resolve_axis(*o.axis, given.ndim(), op) : 0;
  const Array a = o.axis ? ops::move_axis(given, axis, 0) : ravel(given);
  if (a.shape()[0] == 0 && o.size.value_or(0) > 0 && !o.fill_value)
    raise<ValueError>("[{}] {} has no elements to fill {} places with; give a fill_value.", op, given.aval(), *o.size);
  const SortedRows sorted = sorted_rows(a, o.equal_nan.value_or(equal_nan));
  const std::int64_t n = sorted.n;
  const std::int64_t size = o.size ? *o.size : exact_size(op, given, sorted.is_first);
  const Array count = sum(sorted.is_first);
  const Array firsts = nonzero(sorted.is_first, {.size = size})[0];
  UniqueAll out;
  Shape shape = a.shape();
  shape[0] = size;
  out.values = n == 0 ? ops::full(shape, scalar(a.dtype(), 0)) : take(sorted.rows, firsts, 0);
  if (o.size && o.fill_value) out.values = filled(out.values, count, *o.fill_value);
  out.values = ops::move_axis(out.values, 0, axis);
  out.indices = n == 0 ? firsts : take(sorted.order, firsts);
  const Array number = cumsum(sorted.is_first) - 1;
  out.inverse_indices = n == 0 ? number : ops::full({n}, scalar(i32, 0)).at(sorted.order).set(number);
  if (!o.axis) out.inverse_indices = ops::reshape(out.inverse_indices, given.shape());
  const Array starts = nonzero(sorted.is_first, {.size = size + 1, .fill_value = Array(n)})[0];
  out.counts = diff(starts);
  return out;
}

}  // namespace

Array unique(const ArrayLike& a, const UniqueOptions& options) { return unique_of("unique", a, options, true).values; }
Array unique_values(const ArrayLike& a, const UniqueOptions& options) {
  return unique_of("unique_values", a, options, false).values;
}
UniqueAll unique_all(const ArrayLike& a, const UniqueOptions& options) {
  return unique_of("unique_all", a, options, false);
}
UniqueCounts unique_counts(const ArrayLike& a, const UniqueOptions& options) {
  const UniqueAll all = unique_of("unique_counts", a, options, false);
  return {all.values, all.counts};
}
UniqueInverse unique_inverse(const ArrayLike& a, const UniqueOptions& options) {
  const UniqueAll all = unique_of("unique_inverse", a, options, false);
  return {all.values, all.inverse_indices};
}

Array isin(const ArrayLike& element, const ArrayLike& test_elements, bool invert) {
  const Array both[] = {element.array(), test_elements.array()};
  const Arrays x = cast_all(both, {result_type(both).dtype, false});
  if (x[0].size() == 0 || x[1].size() == 0) return ops::full(x[0].shape(), scalar(DType::bool_, invert ? 1 : 0));
  const Array flat = ravel(x[0]), others = ravel(x[1]);
  constexpr std::int64_t few = 1 << 16;  // comparisons that cost less than sorting
  Array found;
  if (flat.size() <= few / others.size()) {
    found = any(expand_dims(flat, 1) == expand_dims(others, 0), 1);
  } else {
    const Array sorted = sort(others);
    found = take(sorted, minimum(searchsorted(sorted, flat), others.size() - 1)) == flat;
  }
  return ops::reshape(invert ? ~found : found, x[0].shape());
}

namespace {

/// Both arrays flattened and in one dtype.
Arrays flat_pair(const Array& a, const Array& b) {
  const Array both[] = {ravel(a), ravel(b)};
  return cast_all(both, {result_type(both).dtype, false});
}
/// Whether both, and so what depends on them, have values.
const Array& without_value(const Array& a, const Array& b) { return indexing::has_value(a) ? b : a; }

/// The different elements of two arrays side by side and sorted, with what says which places are theirs.
struct Merged {
  Array values, valid;
  Array order;          ///< where each was in `first`, or behind it in `second`
  Array first, second;  ///< indices in the arrays of their different elements
  Array first_count;
};
Merged merge(const Arrays& x, bool assume_unique) {
  Merged out;
  Arrays parts;
  Array valid[2];
  Array* indices[] = {&out.first, &out.second};
  for (int i = 0; i < 2; ++i) {
    const std::int64_t n = x[i].size();
    if (assume_unique || n == 0) {
      parts.push_back(x[i]);
      *indices[i] = positions_along(n);
      valid[i] = ops::full({n}, scalar(DType::bool_, 1));
    } else {
      const UniqueAll u = unique_of("unique", x[i], {.size = n}, true);
      parts.push_back(u.values);
      *indices[i] = u.indices;
      valid[i] = u.counts > 0;
    }
  }
  out.first_count = scalar(i32, parts[0].size());
  const Array validity = ops::concatenate(valid, 0), values = ops::concatenate(parts, 0);
  const Arrays sorted = lax::sort({logical_not(validity), values, positions_along(values.size())}, 0, 2);
  out.valid = logical_not(sorted[0]);
  out.values = sorted[1];
  out.order = sorted[2];
  return out;
}
/// What JAX fills places with that have no element: the smallest of the elements.
Array fill_with_smallest(const Array& values, const Array& count, const std::optional<Array>& fill) {
  if (values.size() == 0) return values;
  if (fill) return filled(values, count, *fill);
  const Array high = filled(values, count, max(values));
  return filled(high, count, min(high));
}
/// The elements where `mask` holds, in `size` places or as many as there are.
Array chosen(std::string_view op, const Array& a, const Array& b, const Array& values, const Array& mask,
             const SetOptions& o) {
  check_size(op, o.size);
  const std::int64_t size = o.size ? *o.size : exact_size(op, without_value(a, b), mask);
  const Array places = nonzero(mask, {.size = size, .fill_value = Array(values.size())})[0];
  const Array found = values.size() == 0 ? ops::full({size}, scalar(values.dtype(), 0))
                                         : take(values, places, std::nullopt, "fill", 0.0);
  return o.size ? fill_with_smallest(found, sum(mask), o.fill_value) : found;
}
Array pairs(const Array& values, const Array& valid) {
  const std::int64_t n = values.size();
  if (n == 0) return ops::full({0}, scalar(DType::bool_, 0));
  const Array equal = ops::slice_axis(values, 0, 1, n) == ops::slice_axis(values, 0, 0, n - 1);
  return equal & ops::slice_axis(valid, 0, 1, n);
}

}  // namespace

Array union1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options) {
  const Array all = concatenate({ravel(a), ravel(b)}, 0);
  return unique_of("union1d", all, {.size = options.size, .fill_value = options.fill_value}, true).values;
}

Intersection intersect1d_indices(const ArrayLike& a, const ArrayLike& b, const SetOptions& options) {
  const Arrays x = flat_pair(a, b);
  check_size("intersect1d", options.size);
  const Merged merged = merge(x, options.assume_unique);
  const Array mask = pairs(merged.values, merged.valid);
  const std::int64_t size = options.size ? *options.size : exact_size("intersect1d", without_value(a, b), mask);
  const std::int64_t n = merged.values.size();
  if (n == 0) return {ops::full({size}, scalar(x[0].dtype(), 0)), positions_along(size), positions_along(size)};
  const Array count = sum(mask);
  const Array places = nonzero(mask, {.size = size, .fill_value = Array(n)})[0];
  Intersection out;
  out.values = take(merged.values, places, std::nullopt, "fill", 0.0);
  if (options.size) out.values = fill_with_smallest(out.values, count, options.fill_value);
  // Of two equal ones the first is of the first array.
  const Array valid = positions_along(size) < count;
  const Array first = take(merged.order, places, std::nullopt, "clip");
  const Array second = take(merged.order, places + 1, std::nullopt, "clip") - merged.first_count;
  out.indices_a = x[0].size() == 0 ? first : where(valid, take(merged.first, first, std::nullopt, "clip"), x[0].size());
  out.indices_b =
      x[1].size() == 0 ? second : where(valid, take(merged.second, second, std::nullopt, "clip"), x[1].size());
  return out;
}
Array intersect1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options) {
  return intersect1d_indices(a, b, options).values;
}

Array setdiff1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options) {
  Array values = ravel(a);
  const std::int64_t n = values.size();
  if (n == 0)
    return ops::full({options.size.value_or(0)},
                     options.fill_value ? ops::cast(*options.fill_value, values.dtype()) : scalar(values.dtype(), 0));
  Array valid = ops::full({n}, scalar(DType::bool_, 1));
  if (!options.assume_unique) {
    const UniqueAll u = unique_of("setdiff1d", values, {.size = n}, true);
    values = u.values;
    valid = u.counts > 0;
  }
  SetOptions with_fill = options;
  if (!with_fill.fill_value) with_fill.fill_value = Array(0);
  return chosen("setdiff1d", a, b, values, valid & isin(values, b, true), with_fill);
}

Array setxor1d(const ArrayLike& a, const ArrayLike& b, const SetOptions& options) {
  const Arrays x = flat_pair(a, b);
  const Merged merged = merge(x, options.assume_unique);
  const std::int64_t n = merged.values.size();
  if (n == 0) return ops::full({options.size.value_or(0)}, scalar(x[0].dtype(), 0));
  const Array with_next = pairs(merged.values, merged.valid), last = ops::full({1}, scalar(DType::bool_, 0));
  const Array before[] = {last, with_next}, after[] = {with_next, last};
  const Array alone = merged.valid & ~ops::concatenate(before, 0) & ~ops::concatenate(after, 0);
  return chosen("setxor1d", a, b, merged.values, alone, options);
}

}  // namespace cotan::numpy
