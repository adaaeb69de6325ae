// gather and scatter: index vectors select windows of an operand, to read them or to write them. Both take
// one description of the windows, so that each is written in terms of the other in derivatives.
#pragma once
#include <algorithm>
#include <array>

#include "expr/lowering.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

/// JAX's GatherDimensionNumbers and ScatterDimensionNumbers under one set of names. The index vectors lie
/// along the last axis of the indices; the other axes of the indices are "batch" axes of the result.
struct WindowDims {
  Ints offset_dims;                       ///< axes of the gathered result, or of the updates, that run within a window
  Ints collapsed_slice_dims;              ///< operand axes of window size 1 that the result leaves out
  Ints start_index_map;                   ///< operand axis of each component of an index vector
  Ints operand_batching_dims = {};        ///< operand axes that move along with …
  Ints start_indices_batching_dims = {};  ///< … these axes of the indices
};

// Modes for windows that do not lie inside the operand.
inline constexpr const char* mode_clip = "clip";
inline constexpr const char* mode_fill_or_drop = "fill_or_drop";
inline constexpr const char* mode_promise_in_bounds = "promise_in_bounds";

/// Whether a gather reads one element of every lane of floats: along the axes that move, at the lane's own index …
bool reads_one_of_each_lane(const AbstractValue& operand, const AbstractValue& indices, const Params& params);
/// … and the same as a sum over the lane, all other elements of which are 0: the operand need not be in memory. A zero
/// result is +0 then.
Array gather_by_comparing(const Array& operand, const Array& indices, const Params& params);
/// Without a fill value, JAX's: NaN, the smallest signed or the largest unsigned integer, true.
Array gather(const Array& operand, const Array& indices, const WindowDims& dims, const Ints& slice_sizes,
             const std::string& mode, std::optional<double> fill_value = std::nullopt);
/// `p` is scatter_p or one of its kin. `unique_indices` promises that no two windows overlap, which makes
/// derivatives cheaper.
Array scatter(const Primitive& p, const Array& operand, const Array& indices, const Array& updates,
              const WindowDims& dims, const std::string& mode, bool unique_indices = false);

/// What the two type rules share; `names` are the parameters' names in messages, in the order of WindowDims.
void check_windows(const Primitive& self, const AbstractValue& operand, const AbstractValue& indices,
                   const WindowDims& dims, const std::array<const char*, 5>& names);
void check_mode(const Primitive& self, const Params& params);
bool contains(const Ints& list, std::int64_t value);
/// Axes of a result of `rank` axes that are not in `offset_dims`.
Ints batch_axes(std::int64_t rank, const Ints& offset_dims);
/// Any integer array as int64; larger ones saturate.
Ints index_values(const Array& indices);

/// Which windows an equation reads, or writes, and how large they are.
struct WindowsRead {
  WindowDims dims;
  Ints sizes;
};
WindowsRead windows_of_gather(const Params& params);
WindowsRead windows_of_scatter(const Shape& operand, const Shape& updates, const Params& params);
/// Where they begin in an array of this shape; nullopt: there are none, or they are moved inside.
std::optional<IndexedWindows> windows_by_index(const Shape& shape, const Array& starts, const WindowsRead& windows,
                                               const Params& params);

/// A start index as an i64 expression; larger ones saturate.
expr::Expr start_index(expr::Expr index);
/// Moved so that a window of `size` lies inside an axis of `extent`.
expr::Expr clamped_start(expr::Expr start, std::int64_t extent, std::int64_t size);

/// All axes moved up by one, behind a new axis 0.
inline Ints shifted(Ints axes) {
  for (auto& a : axes) ++a;
  return axes;
}
inline Ints behind(std::int64_t first, Ints rest) {
  rest.insert(rest.begin(), first);
  return rest;
}

/// "index 7 is outside axis 0 of f32[5,2]", for the first window that is not inside; empty: all are.
std::string outside_window(const AbstractValue& operand, const Array& indices, const WindowDims& dims,
                           const Ints& slice_sizes);

/// Shape of one window and its steps through the operand and through the result.
struct WindowLayout {
  Shape shape;
  Ints operand_strides, result_strides;
};
WindowLayout window_layout(const Shape& operand, const Shape& result, const WindowDims& dims, const Ints& slice_sizes);

/// Calls f(result offset, operand offset, inside) for the first element of every window, in row-major order
/// of the indices. With `clip` all windows are moved inside.
template <class F>
void for_each_window(const Shape& operand, const Shape& result, const Array& indices, const WindowDims& dims,
                     const Ints& slice_sizes, bool clip, F&& f) {
  const Ints operand_strides = strides_of(operand), result_strides = strides_of(result);
  const Shape batch_shape(indices.shape().begin(), indices.shape().end() - 1);
  Ints to_result, to_operand(batch_shape.size(), 0);
  for (auto axis : batch_axes(static_cast<std::int64_t>(result.size()), dims.offset_dims))
    to_result.push_back(result_strides[axis]);
  for (std::size_t k = 0; k < dims.operand_batching_dims.size(); ++k)
    to_operand[dims.start_indices_batching_dims[k]] = operand_strides[dims.operand_batching_dims[k]];
  const Ints starts = index_values(indices);
  const std::size_t components = dims.start_index_map.size();
  std::size_t at = 0;
  for_each_offset(batch_shape, to_result, to_operand, [&](std::int64_t r, std::int64_t o) {
    bool inside = true;
    for (std::size_t j = 0; j < components; ++j) {
      const std::int64_t axis = dims.start_index_map[j], last = operand[axis] - slice_sizes[axis];
      std::int64_t start = starts[at++];
      if (clip) start = std::clamp<std::int64_t>(start, 0, last);
      const bool fits = start >= 0 && start <= last;
      if (fits) o += start * operand_strides[axis];
      inside &= fits;
    }
    f(r, o, inside);
  });
}

}  // namespace cotan::ops
