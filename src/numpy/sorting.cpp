// NumPy's sorting, order statistics and running sums.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

Array sort(const ArrayLike& a, int axis, bool descending) {
  const int along = resolve_axis(axis, a->ndim(), "sort");
  const Array sorted = lax::sort({a}, along)[0];
  return descending ? ops::rev(sorted, {along}) : sorted;
}

Array argsort(const ArrayLike& a, int axis, bool descending) {
  const int along = resolve_axis(axis, a->ndim(), "argsort");
  const Array positions = ops::iota(i32, a->shape(), along);
  if (!descending) return lax::sort({a, positions}, along)[1];
  // Reversed before and after, so that equal elements keep their order.
  return ops::rev(lax::sort({ops::rev(a, {along}), ops::rev(positions, {along})}, along)[1], {along});
}

Array lexsort(const ArrayList& list, int axis) {
  const std::vector<Array>& keys = list;
  if (keys.empty()) raise<ValueError>("[lexsort] got no keys; give at least one.");
  const int along = resolve_axis(axis, keys[0].ndim(), "lexsort");
  std::vector<Array> operands(keys.rbegin(), keys.rend());
  operands.push_back(ops::iota(i32, keys[0].shape(), along));
  return lax::sort(operands, along, static_cast<int>(keys.size())).back();
}

namespace {

/// Sorted along one axis, in a floating dtype; lines that hold a NaN are NaN throughout.
struct SortedLines {
  Array values;
  int axis;
  std::int64_t n;
  Shape kept;  ///< the result's shape where axes are kept
};
SortedLines sorted_lines(std::string_view op, const Array& a, std::optional<int> axis) {
  const Array floating = cast_to(a, inexact_result_type({&a, 1}));
  SortedLines out{axis ? floating : ops::reshape(floating, {floating.size()}),
                  axis ? resolve_axis(*axis, a.ndim(), op) : 0, 0, axis ? a.shape() : Shape(a.shape().size(), 1)};
  out.n = out.values.shape()[out.axis];
  if (axis) out.kept[out.axis] = 1;
  if (out.n == 0)
    raise<ShapeError>("[{}] {} has no elements along the axis, and so no quantiles; give it at least one.", op,
                      a.aval());
  out.values = sort(where(any(isnan(out.values), out.axis, true), nan, out.values), out.axis);
  return out;
}

}  // namespace

Array median(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  const SortedLines lines = sorted_lines("median", a, axis);
  const auto at = [&](std::int64_t i) { return ops::slice_axis(lines.values, lines.axis, i, i + 1); };
  const Array middle = lines.n % 2 ? at(lines.n / 2) : 0.5 * at(lines.n / 2 - 1) + 0.5 * at(lines.n / 2);
  return ops::reshape(middle, keepdims ? lines.kept : ops::erase_axes(middle.shape(), {lines.axis}));
}

Array quantile(const ArrayLike& a, const ArrayLike& q, std::optional<int> axis, bool keepdims) {
  const SortedLines lines = sorted_lines("quantile", a, axis);
  const int q_ndim = q->ndim();
  if (q_ndim > 1) raise<ShapeError>("[quantile] q is {}; it must be a scalar or a vector.", q->aval());
  const Array both[] = {lines.values, q};
  const DType result = lines.values.dtype();
  const DType promoted = inexact_result_type(both).dtype;
  const DType compute = itemsize(promoted) < 4 ? f32 : promoted;
  const double last = static_cast<double>(lines.n - 1);
  const Array position = ops::cast(q, compute) * last;
  const Array below = floor(position), above = ceil(position);
  const Array weight = position - below;
  // A value per q in front, then the other axes.
  const auto values_at = [&](const Array& i) {
    const Array taken =
        take(lines.values, clip(i, 0.0, last).astype(lines.n > INT32_MAX ? i64 : i32), lines.axis).astype(compute);
    return q_ndim ? ops::move_axis(taken, lines.axis, 0) : taken;
  };
  const Array low = values_at(below), high = values_at(above);
  Shape per_q(low.shape().size(), 1);
  if (q_ndim) per_q[0] = q->size();
  const Array w = q_ndim ? ops::reshape(weight, per_q) : weight;
  const Array value = (low * (1.0 - w) + high * w).astype(result);
  if (!keepdims) return value;
  Shape kept = lines.kept;
  if (q_ndim) kept.insert(kept.begin(), q->size());
  return ops::reshape(value, kept);
}

namespace {

Array cumulative(const Primitive& p, const Array& a, std::optional<int> axis) {
  const Array numeric = a.dtype() == DType::bool_ ? a.astype(i32) : a;
  const Array operand = axis ? numeric : ops::reshape(numeric, {numeric.size()});
  const int along = axis ? resolve_axis(*axis, a.ndim(), p.name) : 0;
  return bind1(p, {operand}, {{"axis", std::int64_t{along}}, {"reverse", false}});
}

}  // namespace

Array cumsum(const ArrayLike& a, std::optional<int> axis) { return cumulative(ops::cumsum_p, a, axis); }
Array cumprod(const ArrayLike& a, std::optional<int> axis) { return cumulative(ops::cumprod_p, a, axis); }

}  // namespace cotan::numpy
