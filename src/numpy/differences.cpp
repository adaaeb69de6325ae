// Differences of neighbours, derivatives by differences, integrals, and angles without jumps.
#include <algorithm>
#include <cotan/numpy.hpp>

#include "numpy/promote.hpp"
#include "ops/ops.hpp"

namespace cotan::numpy {

namespace {

/// Elements from `start` to `stop`, which count from the end where negative.
Array part(const Array& a, int axis, std::int64_t start, std::int64_t stop) {
  const std::int64_t n = a.shape()[axis];
  const auto bound = [n](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
  const std::int64_t from = bound(start);
  return ops::slice_axis(a, axis, from, std::max(from, bound(stop)));
}
constexpr std::int64_t end = INT64_MAX;

/// What diff joins to an axis: an array, or a scalar along it.
Array joined_part(const Array& x, const Array& a, int axis) {
  if (x.ndim() != 0) return x;
  Shape shape = a.shape();
  shape[axis] = 1;
  return ops::full(shape, x);
}

}  // namespace

Array diff(const ArrayLike& a, int n, int axis) { return diff(a, {.n = n, .axis = axis}); }
Array diff(const ArrayLike& a, const DiffOptions& options) {
  const int n = options.n;
  if (n < 0) raise<ValueError>("[diff] the order {} is negative; it counts how often to take differences.", n);
  if (n == 0) return a;
  if (a->ndim() == 0)
    raise<ShapeError>("[diff] a 0-d array has no axis to take differences along; use np::atleast_1d.");
  const int at = resolve_axis(options.axis, a->ndim(), "diff");
  Arrays parts;
  if (options.prepend) parts.push_back(joined_part(*options.prepend, a, at));
  parts.push_back(a);
  if (options.append) parts.push_back(joined_part(*options.append, a, at));
  Array x = parts.size() == 1 ? a.array() : concatenate(parts, at);
  for (int i = 0; i < n && x.shape()[at] > 0; ++i) {
    const Array later = part(x, at, 1, end), earlier = part(x, at, 0, -1);
    x = x.dtype() == DType::bool_ ? later != earlier : later - earlier;
  }
  return x;
}

Array ediff1d(const ArrayLike& a, const std::optional<Array>& to_end, const std::optional<Array>& to_begin) {
  const Array x = ravel(a);
  const Array between = part(x, 0, 1, end) - part(x, 0, 0, -1);
  Arrays parts;
  if (to_begin) parts.push_back(ops::cast(ravel(*to_begin), x.dtype()));
  parts.push_back(between);
  if (to_end) parts.push_back(ops::cast(ravel(*to_end), x.dtype()));
  return parts.size() == 1 ? between : concatenate(parts, 0);
}

namespace {

Array gradient_along(const Array& f, const Array& spacing, int axis) {
  const std::int64_t n = f.shape()[axis];
  if (n < 2) raise<ShapeError>("[gradient] axis {} of {} has size {}; a difference needs 2 points.", axis, f.aval(), n);
  const auto at = [&](std::int64_t start, std::int64_t stop) { return part(f, axis, start, stop); };
  Array first = at(1, 2) - at(0, 1), last = at(-1, end) - at(-2, -1), inner;
  if (spacing.ndim() == 0) {
    inner = (at(2, end) - at(0, -2)) * 0.5 / spacing;
    first = first / spacing;
    last = last / spacing;
  } else {
    if (spacing.ndim() != 1 || spacing.size() != n)
      raise<ShapeError>("[gradient] the coordinates along axis {} of {} are {}; give a scalar, or one per element.",
                        axis, f.aval(), spacing.aval());
    Shape shape(f.shape().size(), 1);
    shape[axis] = n;
    const Array x = ops::reshape(spacing, shape);
    const Array steps = part(x, axis, 1, end) - part(x, axis, 0, -1);
    first = first / part(steps, axis, 0, 1);
    last = last / part(steps, axis, -1, end);
    const Array before = part(steps, axis, 0, -1), after = part(steps, axis, 1, end);
    inner = at(0, -2) * (-after / (before * (before + after))) + at(1, -1) * ((after - before) / (before * after)) +
            at(2, end) * (before / (after * (before + after)));
  }
  const Array parts[] = {first, inner, last};
  return ops::concatenate(parts, axis);
}

}  // namespace

std::vector<Array> gradient(const ArrayLike& f, const ArrayList& list, const Axes& axis) {
  const std::vector<Array>& spacing = list;
  const std::vector<int> axes = axis.resolve(f->ndim(), "gradient");
  if (spacing.size() > 1 && spacing.size() != axes.size())
    raise<ValueError>("[gradient] {} spacings are given for {} axes; give none, one for all, or one per axis.",
                      spacing.size(), axes.size());
  Arrays operands{f};
  operands.insert(operands.end(), spacing.begin(), spacing.end());
  operands = cast_all(operands, inexact_result_type(operands));
  std::vector<Array> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Array one = scalar(operands[0].dtype(), 1);
    out.push_back(
        gradient_along(operands[0], spacing.empty() ? one : operands[1 + std::min(i, spacing.size() - 1)], axes[i]));
  }
  return out;
}
Array gradient(const ArrayLike& f, const ArrayLike& spacing, int axis) {
  return gradient(f, ArrayList{spacing.array()}, Axes(axis))[0];
}

Array trapezoid(const ArrayLike& y, double dx, int axis) {
  const int at = resolve_axis(axis, y->ndim(), "trapezoid");
  const Array x = cast_to(y, inexact_result_type({&y.array(), 1}));
  return sum((part(x, at, 1, end) + part(x, at, 0, -1)) * dx, at) * 0.5;
}
Array trapezoid(const ArrayLike& y, const TrapezoidOptions& options) {
  const int at = resolve_axis(options.axis, y->ndim(), "trapezoid");
  const int last = y->ndim() - 1;
  const Array operands[] = {y, options.x.value_or(options.dx)};
  const Arrays typed = cast_all(operands, inexact_result_type(operands));
  const Array values = ops::move_axis(typed[0], at, last);
  Array steps = typed[1];
  if (options.x && steps.ndim() == 0)
    raise<ShapeError>("[trapezoid] x is {}; give where each point is, or a distance as dx.", steps.aval());
  if (steps.ndim() > 1) {
    // As y: its axes are aligned at the end.
    Shape shape = steps.shape();
    shape.insert(shape.begin(), std::max<std::size_t>(y->shape().size(), shape.size()) - shape.size(), 1);
    steps = ops::move_axis(ops::reshape(steps, shape), at, static_cast<int>(shape.size()) - 1);
  }
  if (options.x) steps = diff(steps);
  return sum((part(values, last, 1, end) + part(values, last, 0, -1)) * steps, -1) * 0.5;
}

Array unwrap(const ArrayLike& a, const std::optional<Array>& discont, int axis, const ArrayLike& period) {
  const int at = resolve_axis(axis, a->ndim(), "unwrap");
  const Array operands[] = {a, period};
  const Arrays x = cast_all(operands, result_type(operands));
  const Array &p = x[0], &whole = x[1];
  if (p.shape()[at] == 0) return p;
  const Array half = is_integer(p.dtype()) ? floor_divide(whole, 2) : whole / 2;
  const Array limit = discont ? *discont : whole / 2;
  const Array steps = diff(p, 1, at);
  const Array wrapped = mod(steps + half, whole) - half;
  const Array small = where((wrapped == -half) & (steps > 0), half, wrapped);
  const Array correction = where(abs(steps) < limit, 0, small - steps);
  const Array parts[] = {part(p, at, 0, 1), part(p, at, 1, end) + cumsum(correction, at)};
  return ops::concatenate(parts, at);
}

}  // namespace cotan::numpy
