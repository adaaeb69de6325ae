// Functions that look elements up by their index.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

void check_integers(const Array& indices, std::string_view op) {
  if (!is_integer(indices.dtype()))
    raise<TypeError>("[{}] the indices are {}; they must be integers, cast with astype(i32).", op, indices.aval());
}

/// As indexing::wrap_negative, without a comparison: compilers keep the results of those in memory, and whoever
/// compares every element of a row with its label would rather compute this again.
Array wrapped_by_bits(const Array& indices, std::int64_t size, DType dtype) {
  if (indices.ndim() == 0 || is_unsigned_integer(indices.dtype())) return indexing::wrap_negative(indices, size, dtype);
  const Array wide = ops::cast(indices, dtype);
  const auto bits = static_cast<std::int64_t>(8 * itemsize(dtype));
  const Array sign = bind1(ops::shift_right_arithmetic_p, {wide, scalar(dtype, bits - 1)});
  return bind1(ops::add_p, {wide, bind1(ops::and_p, {sign, scalar(dtype, size)})});
}

}  // namespace

Array take(const ArrayLike& a, const ArrayLike& indices, std::optional<int> axis, std::string_view mode,
           std::optional<double> fill_value) {
  check_integers(indices, "take");
  const Array source = axis ? a.array() : ops::reshape(a, {a->size()});
  const int along = axis ? resolve_axis(*axis, source.ndim(), "take") : 0;
  const std::int64_t size = source.shape()[along];
  const Shape& where = indices->shape();
  if (size == 0 && indices->size() != 0)
    raise<IndexError>(
        "[take] axis {} of {} is empty: indices {} have nothing to select; index an axis that has elements.", along,
        source.aval(), indices->aval());
  const DType dtype = indexing::index_dtype({&indices.array(), 1}, source.shape());
  Array positions;
  if (mode == "fill")
    positions = indexing::wrap_negative(indices, size, dtype);
  else if (mode == "clip")
    positions = ops::cast(indices, dtype);
  else if (mode == "wrap")
    positions = mod(ops::cast(indices, dtype), scalar(dtype, std::max<std::int64_t>(size, 1)));
  else
    raise<ValueError>("[take] mode '{}' is unknown; use fill, clip or wrap.", mode);

  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = {along}, .start_index_map = {along}};
  Ints sizes = source.shape();
  sizes[along] = 1;
  const int inserted = static_cast<int>(where.size());
  for (int i = 0; i < source.ndim() - 1 + inserted; ++i)
    if (i < along || i >= along + inserted) dims.offset_dims.push_back(i);
  return ops::gather(source, indexing::index_vectors({positions}, where), dims, sizes,
                     mode == "fill" ? ops::mode_fill_or_drop : ops::mode_clip, fill_value);
}

namespace {

const char* mode_along_axis(std::string_view mode) {
  for (const auto& [name, gather_mode] : {std::pair<std::string_view, const char*>{"fill", ops::mode_fill_or_drop},
                                          {"clip", ops::mode_clip},
                                          {"promise_in_bounds", ops::mode_promise_in_bounds}})
    if (mode == name) return gather_mode;
  raise<ValueError>("[take_along_axis] mode '{}' is unknown; use fill, clip or promise_in_bounds.", mode);
}

}  // namespace

Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, None, std::string_view mode,
                      std::optional<double> fill_value) {
  if (indices->ndim() != 1)
    raise<ShapeError>("[take_along_axis] the indices into the flattened array are {}; they must be a vector.",
                      indices->aval());
  return take_along_axis(ravel(a), indices, 0, mode, fill_value);
}
Array take_along_axis(const ArrayLike& a, const ArrayLike& indices, int axis, std::string_view mode,
                      std::optional<double> fill_value) {
  check_integers(indices, "take_along_axis");
  const char* gather_mode = mode_along_axis(mode);
  if (a->ndim() != indices->ndim())
    raise<ShapeError>(
        "[take_along_axis] {} and the indices {} have different numbers of axes; reshape the indices with "
        "expand_dims.",
        a->aval(), indices->aval());
  const int along = resolve_axis(axis, a->ndim(), "take_along_axis");
  Shape source_shape = a->shape(), index_shape = indices->shape();
  for (int i = 0; i < a->ndim(); ++i) {
    if (i == along) continue;
    if (source_shape[i] != index_shape[i] && source_shape[i] != 1 && index_shape[i] != 1)
      raise<ShapeError>(
          "[take_along_axis] {} and the indices {} differ on axis {}; they must broadcast everywhere but on "
          "axis {}.",
          a->aval(), indices->aval(), i, along);
    source_shape[i] = index_shape[i] = source_shape[i] == 1 ? index_shape[i] : source_shape[i];
  }
  if (source_shape[along] == 0 && ops::product(index_shape) != 0)
    raise<IndexError>(
        "[take_along_axis] axis {} of {} is empty: indices {} have nothing to select; index an axis that has "
        "elements.",
        along, a->aval(), indices->aval());
  const Array source = ops::broadcast_to(a, source_shape);
  const DType dtype = indexing::index_dtype({&indices.array(), 1}, source_shape);
  const Array positions = ops::broadcast_to(wrapped_by_bits(indices, source_shape[along], dtype), index_shape);
  // All other axes of the array and of the indices go along together.
  ops::WindowDims dims{.offset_dims = {}, .collapsed_slice_dims = {along}, .start_index_map = {along}};
  Ints sizes;
  for (int i = 0; i < a->ndim(); ++i) {
    sizes.push_back(i == along ? 1 : std::min<std::int64_t>(source_shape[i], 1));
    if (i == along) continue;
    dims.operand_batching_dims.push_back(i);
    dims.start_indices_batching_dims.push_back(i);
  }
  return ops::gather(source, indexing::index_vectors({positions}, index_shape), dims, sizes, gather_mode, fill_value);
}

Array choose(const ArrayLike& index, const ArrayList& list, std::string_view mode) {
  const std::vector<Array>& choices = list;
  check_integers(index, "choose");
  if (choices.empty()) raise<ValueError>("[choose] there is nothing to choose from; give at least one array.");
  std::vector<Shape> shapes{index->shape()};
  for (const Array& c : choices) shapes.push_back(c.shape());
  Shape shape = broadcast_shapes("choose", shapes);
  const Arrays typed = cast_all(choices, result_type(choices));
  Shape row = shape;
  row.insert(row.begin(), 1);
  Arrays rows;
  for (const Array& c : typed) rows.push_back(ops::reshape(ops::broadcast_to(c, shape), row));
  const auto last = static_cast<std::int64_t>(choices.size()) - 1;
  if (mode == "raise" && !indexing::has_value(index))
    raise<ConcretizationError>(
        "[choose] {} has no value while the function is traced, so whether it is inside is not known; use mode clip or "
        "wrap.",
        indexing::describe_value(index));
  if (mode == "raise" && any((index < 0) | (index > last)).item<bool>())
    raise<ValueError>("[choose] an index is outside of the {} choices; use mode clip or wrap.", choices.size());
  if (mode != "raise" && mode != "clip" && mode != "wrap")
    raise<ValueError>("[choose] mode '{}' is unknown; use clip, wrap or raise.", mode);
  const Array clipped = mode == "wrap" ? mod(index, last + 1) : clip(index, 0, last);
  return ops::reshape(
      take_along_axis(ops::concatenate(rows, 0), ops::reshape(ops::broadcast_to(clipped, shape), row), 0), shape);
}

}  // namespace cotan::numpy
