// cotan::ops: segments of an array, by the number of each element's segment.
#pragma once
#include <cotan/array.hpp>
#include <cotan/lax/indexing.hpp>
#include <optional>

/// `jax.ops`: slices of an array along its first axis, put together by the numbers of their segments.
///
///     ct::Array sums = ct::ops::segment_sum(x, ids, 3);      // of x[n, …] and ids[n]: [3, …]
namespace cotan::ops {

/// Of segment_sum and its kin.
struct SegmentOptions {
  bool indices_are_sorted = false;  ///< a promise, which changes nothing here
  bool unique_indices = false;      ///< a promise: no segment has two slices. Derivatives of products are cheaper then
  /// So many slices are put together first, and their results then: sums of many floats round less.
  std::optional<std::int64_t> bucket_size = {};
  /// What happens to slices whose number is none of a segment: by default they are left out, also negative ones.
  lax::GatherScatterMode mode = lax::GatherScatterMode::fill_or_drop;
};

/// The sums of the slices of `data` [n, …] that have the same number in `segment_ids` [n], integers:
/// [num_segments, …]. Empty segments are 0. Without `num_segments` there are as many as the largest number says, which
/// needs values, so it must be given under jit. Of bool: whether any is true.
Array segment_sum(const ArrayLike& data, const ArrayLike& segment_ids,
                  std::optional<std::int64_t> num_segments = std::nullopt, const SegmentOptions& options = {});
/// The same with products; empty segments are 1.
Array segment_prod(const ArrayLike& data, const ArrayLike& segment_ids,
                   std::optional<std::int64_t> num_segments = std::nullopt, const SegmentOptions& options = {});
/// The same with the largest; empty segments are -inf, of integers the smallest number, of bool false.
Array segment_max(const ArrayLike& data, const ArrayLike& segment_ids,
                  std::optional<std::int64_t> num_segments = std::nullopt, const SegmentOptions& options = {});
/// The same with the smallest; empty segments are inf, of integers the largest number, of bool true.
Array segment_min(const ArrayLike& data, const ArrayLike& segment_ids,
                  std::optional<std::int64_t> num_segments = std::nullopt, const SegmentOptions& options = {});

}  // namespace cotan::ops
