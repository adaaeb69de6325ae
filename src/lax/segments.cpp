// cotan::ops: segments are put together by one scatter, into an array that says nothing yet.
#include <algorithm>
#include <cotan/numpy.hpp>
#include <cotan/ops.hpp>

#include "lax/neutral.hpp"
#include "lax/options.hpp"
#include "ops/gather_scatter.hpp"
#include "ops/ops.hpp"

namespace cotan::ops {

namespace {

namespace np = numpy;

using lax::Neutral;

struct SegmentKind {
  std::string_view name;
  const Primitive& scatter;
  Neutral empty;                            ///< what an empty segment has
  Array (*over_buckets)(const Array& all);  ///< results of buckets, along axis 0, put together
};

std::int64_t number_of_segments(std::string_view op, const Array& ids) {
  if (!is_concrete(ids))
    raise<ConcretizationError>(
        "[{}] the number of segments is not known while {} is traced; give num_segments, which may be larger.", op,
        ids.aval());
  const Ints values = index_values(ids);
  if (values.empty())
    raise<ValueError>("[{}] there are no elements that say how many segments; give num_segments.", op);
  return *std::max_element(values.begin(), values.end()) + 1;
}

void check_segments(std::string_view op, const Array& data, const Array& ids) {
  if (is_complex(data.dtype()) && op != "segment_sum" && op != "segment_prod")
    raise<TypeError>("[{}] complex numbers have no order, and the data is {}; give real numbers.", op, data.aval());
  if (!is_integer(ids.dtype()) || ids.ndim() != 1)
    raise<TypeError>("[{}] the segments are {}; they must be a vector of integers.", op, ids.aval());
  if (data.ndim() < 1 || data.shape()[0] != ids.size())
    raise<ShapeError>("[{}] the data is {} for {} numbers of segments; it needs as many slices along its first axis.",
                      op, data.aval(), ids.size());
}

/// The result of a scatter of all slices, with one axis of segments or, in buckets, two.
Array scattered(const SegmentKind& kind, const Array& data, const Array& ids, std::int64_t segments,
                const SegmentOptions& options) {
  Shape shape(data.shape().begin() + 1, data.shape().end());
  Ints window_axes;
  for (std::int64_t i = 1; i < data.ndim(); ++i) window_axes.push_back(i);
  shape.insert(shape.begin(), segments);
  const std::int64_t n = ids.size();
  Array indices = reshape(ids, {n, 1});
  Ints axes = {0};
  if (options.bucket_size) {
    const std::int64_t buckets = (n + *options.bucket_size - 1) / *options.bucket_size;
    shape.insert(shape.begin(), buckets);
    const Array bucket = np::floor_divide(iota(i32, {n, 1}, 0), *options.bucket_size);
    indices = concatenate(Arrays{cast(bucket, ids.dtype()), indices}, 1);
    axes = {0, 1};
  }
  const Array start = full(shape, lax::neutral(kind.empty, data.dtype()));
  if (data.size() == 0 || segments == 0) return start;
  return scatter(kind.scatter, start, indices, data, {window_axes, axes, axes}, lax::mode_name(options.mode),
                 options.unique_indices);
}

Array segments_of(const SegmentKind& kind, const Array& data, const Array& ids, std::optional<std::int64_t> number,
                  const SegmentOptions& options) {
  check_segments(kind.name, data, ids);
  if (options.bucket_size && ids.size() == 0)
    return segments_of(kind, data, ids, number, {.unique_indices = options.unique_indices, .mode = options.mode});
  const std::int64_t segments = number ? *number : number_of_segments(kind.name, ids);
  if (segments < 0) raise<ValueError>("[{}] there cannot be {} segments; give 0 or more.", kind.name, segments);
  if (options.bucket_size && *options.bucket_size < 1)
    raise<ValueError>("[{}] buckets of {} elements; give at least 1.", kind.name, *options.bucket_size);
  const bool logical = data.dtype() == bool_;
  const Array values = logical ? cast(data, i32) : strong(data);
  Array out = scattered(kind, values, ids, segments, options);
  if (options.bucket_size) out = cast(kind.over_buckets(out), values.dtype());
  // The first and the last integer stand for a truth value that no element has said.
  if (!logical) return out;
  return kind.empty == Neutral::least ? Array(out > 0) : out != 0;
}

}  // namespace

Array segment_sum(const ArrayLike& data, const ArrayLike& segment_ids, std::optional<std::int64_t> num_segments,
                  const SegmentOptions& options) {
  return segments_of({"segment_sum", scatter_add_p, Neutral::zero, [](const Array& a) { return np::sum(a, 0); }}, data,
                     segment_ids, num_segments, options);
}
Array segment_prod(const ArrayLike& data, const ArrayLike& segment_ids, std::optional<std::int64_t> num_segments,
                   const SegmentOptions& options) {
  return segments_of({"segment_prod", scatter_mul_p, Neutral::one, [](const Array& a) { return np::prod(a, 0); }}, data,
                     segment_ids, num_segments, options);
}
Array segment_max(const ArrayLike& data, const ArrayLike& segment_ids, std::optional<std::int64_t> num_segments,
                  const SegmentOptions& options) {
  return segments_of({"segment_max", scatter_max_p, Neutral::least, [](const Array& a) { return np::max(a, 0); }}, data,
                     segment_ids, num_segments, options);
}
Array segment_min(const ArrayLike& data, const ArrayLike& segment_ids, std::optional<std::int64_t> num_segments,
                  const SegmentOptions& options) {
  return segments_of({"segment_min", scatter_min_p, Neutral::largest, [](const Array& a) { return np::min(a, 0); }},
                     data, segment_ids, num_segments, options);
}

}  // namespace cotan::ops
