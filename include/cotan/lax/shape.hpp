// cotan::lax: arrays in other shapes, with axes by number.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <vector>

namespace cotan::lax {

/// @name Shape
/// @{
/// 0, 1, 2, … along `axis`, the same along all others: `jax.lax.broadcasted_iota`.
Array iota(DType dtype, const Shape& shape, int axis = 0, const std::source_location& where = COTAN_HERE);
/// `a` spread over `shape`: its axis i is axis dimensions[i] there, of the same size or of size 1.
Array broadcast_in_dim(const ArrayLike& a, const Shape& shape, const std::vector<std::int64_t>& dimensions);
/// Axis i of the result is axis permutation[i] of `a`.
Array transpose(const ArrayLike& a, const std::vector<std::int64_t>& permutation);
/// Elements from `start` to below `limit` in steps of `strides` (1 unless given), one number per axis.
Array slice(const ArrayLike& a, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& limit,
            const std::vector<std::int64_t>& strides = {});
/// A slice along one axis. Negative bounds count from the end.
Array slice_in_dim(const ArrayLike& a, std::int64_t start, std::int64_t limit, std::int64_t stride = 1, int axis = 0);
/// Padding of one axis: before it, after it, and between any two elements.
struct PaddingConfig {
  std::int64_t low = 0, high = 0, interior = 0;
};
/// `value`, a scalar, around and between elements: one config per axis. Low and high padding may be negative, which
/// crops.
Array pad(const ArrayLike& a, const ArrayLike& value, const std::vector<PaddingConfig>& config);
/// Reversed along these axes.
Array rev(const ArrayLike& a, const std::vector<std::int64_t>& dimensions);
/// Joined along an axis, as numpy::concatenate.
Array concatenate(const ArrayList& arrays, int dimension);
/// The shape that all of these broadcast to; ShapeError where they do not.
Shape broadcast_shapes(const std::vector<Shape>& shapes);
/// Axes of size 1 in front, so that there are `rank`.
Array broadcast_to_rank(const ArrayLike& a, int rank);
/// New axes of these sizes in front.
Array broadcast(const ArrayLike& a, const std::vector<std::int64_t>& sizes);
/// `a` in the shape of `like`.
Array broadcast_like(const ArrayLike& a, const ArrayLike& like);
/// The axes from `start` to below `stop` (all that follow, unless given) as one. Negative ones count from the end.
Array collapse(const ArrayLike& a, int start, std::optional<int> stop = std::nullopt);
/// As iota, with the axis named: `jax.lax.broadcasted_iota`.
Array broadcasted_iota(DType dtype, const Shape& shape, int dimension, const std::source_location& where = COTAN_HERE);
/// Parts of these sizes, which add up to that of the axis. (numpy::split takes where parts begin.)
std::vector<Array> split(const ArrayLike& a, const std::vector<std::int64_t>& sizes, int axis = 0);
/// One slice along an axis, by a C++ integer; negative ones count from the end.
Array index_in_dim(const ArrayLike& a, std::int64_t index, int axis = 0, bool keepdims = true);
/// The arrays themselves, all of them computed before anything that reads a result: no optimization moves operations
/// across, or computes them together.
std::vector<Array> optimization_barrier(const ArrayList& arrays);
/// The same of one.
Array optimization_barrier(const Array& a, const std::source_location& where = COTAN_HERE);
/// @}

}  // namespace cotan::lax
