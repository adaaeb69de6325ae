// cotan::lax: gather, scatter, dynamic slices.
#pragma once
#include <cotan/array.hpp>
#include <functional>
#include <vector>

namespace cotan::lax {

/// @name Gather, scatter, dynamic slices
/// @{
/// What gather and scatter do with indices outside the operand: use the nearest that fits, read NaN (of integers the
/// smallest, of unsigned ones the largest) and drop writes, or anything, since there are none.
enum class GatherScatterMode { clip, fill_or_drop, promise_in_bounds };
/// Which axes of operand, indices and result belong together: XLA's dimension numbers.
struct GatherDimensionNumbers {
  std::vector<std::int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<std::int64_t> operand_batching_dims = {}, start_indices_batching_dims = {};
};
/// Windows of `slice_sizes` at the start indices along the last axis of `start_indices`. numpy::take and indexing are
/// easier.
Array gather(const ArrayLike& operand, const ArrayLike& start_indices, const GatherDimensionNumbers& dimensions,
             const std::vector<std::int64_t>& slice_sizes, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same with `fill_value` in place of NaN where an index is outside.
Array gather(const ArrayLike& operand, const ArrayLike& start_indices, const GatherDimensionNumbers& dimensions,
             const std::vector<std::int64_t>& slice_sizes, GatherScatterMode mode, double fill_value);
/// The same of a scatter.
struct ScatterDimensionNumbers {
  std::vector<std::int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<std::int64_t> operand_batching_dims = {}, scatter_indices_batching_dims = {};
};
/// `updates` put at the indices. Where several meet in one place, one of them stays. `a.at(i).set(x)` is easier.
Array scatter(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
              const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, added to what is there; all that meet in one place.
Array scatter_add(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, subtracted from what is there.
Array scatter_sub(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, multiplied with what is there.
Array scatter_mul(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, the smallest of what is there and comes.
Array scatter_min(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// The same, the largest of what is there and comes.
Array scatter_max(const ArrayLike& operand, const ArrayLike& indices, const ArrayLike& updates,
                  const ScatterDimensionNumbers& dimensions, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// `function`, elementwise, of what is at the indices, put there again; as often as an index occurs. `update_shape` is
/// the shape that updates of a scatter would have.
Array scatter_apply(const ArrayLike& operand, const ArrayLike& indices,
                    const std::function<Array(const Array&)>& function, const ScatterDimensionNumbers& dimensions,
                    const Shape& update_shape, GatherScatterMode mode = GatherScatterMode::fill_or_drop);
/// A window of static sizes at dynamic starts, integer scalars, one per axis; negative ones count from the end, and all
/// are clamped so that the window fits.
Array dynamic_slice(const ArrayLike& a, const std::vector<Array>& start, const std::vector<std::int64_t>& sizes);
/// A window along one axis, all of the others.
Array dynamic_slice_in_dim(const ArrayLike& a, const ArrayLike& start, std::int64_t size, int axis = 0);
/// `a` with `update` in the window at `start`, which is clamped so that it fits.
Array dynamic_update_slice(const ArrayLike& a, const ArrayLike& update, const std::vector<Array>& start);
/// The same along one axis.
Array dynamic_update_slice_in_dim(const ArrayLike& a, const ArrayLike& update, const ArrayLike& start, int axis = 0);
/// One slice along an axis, by an index that may be traced; it is clamped.
Array dynamic_index_in_dim(const ArrayLike& a, const ArrayLike& index, int axis = 0, bool keepdims = true);
/// `a` with one slice along an axis replaced; `update` may lack the axis.
Array dynamic_update_index_in_dim(const ArrayLike& a, const ArrayLike& update, const ArrayLike& index, int axis);
/// @}

}  // namespace cotan::lax
