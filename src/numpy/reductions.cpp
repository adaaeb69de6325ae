// Reductions: which dtype they accumulate in, and means, variances and extrema over the primitives.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "numpy/promote.hpp"
#include "ops/ops.hpp"

namespace cotan::numpy {

namespace {

Ints reduced_axes(const Array& a, const Axes& axis, std::string_view op) {
  const std::vector<int> axes = axis.resolve(a.ndim(), op);
  Ints out(axes.begin(), axes.end());
  std::sort(out.begin(), out.end());
  return out;
}
std::int64_t reduced_size(const Array& a, const Ints& axes) {
  std::int64_t n = 1;
  for (auto axis : axes) n *= a.shape()[axis];
  return n;
}
Array reduce(const Primitive& p, const Array& a, const Ints& axes) {
  return axes.empty() ? a : bind1(p, {a}, {{"axes", axes}});
}
/// `reduced` with the reduced axes of `a` kept as axes of size 1.
Array keep(const Array& reduced, const Array& a, const Ints& axes, bool keepdims) {
  if (!keepdims) return reduced;
  Shape shape = a.shape();
  for (auto axis : axes) shape[axis] = 1;
  return ops::reshape(reduced, shape);
}

/// Small integers are summed in 32 bits, as counts are.
DType sum_type(DType t) {
  switch (t) {
    case DType::bool_:
    case DType::i8:
    case DType::i16:
      return DType::i32;
    case DType::u8:
    case DType::u16:
      return DType::u32;
    default:
      return t;
  }
}
DType mean_type(DType t) { return is_inexact(t) ? t : itemsize(t) == 8 ? DType::f64 : DType::f32; }
/// What means and variances are computed in: half precision would lose most of their digits.
DType accumulator(DType t) { return itemsize(mean_type(t)) == 2 ? DType::f32 : mean_type(t); }

Array sum_in(const Array& a, DType dtype, const Ints& axes, bool keepdims) {
  const Array x = ops::cast(a, dtype);
  return keep(ops::reduce_sum(x, axes), x, axes, keepdims);
}

Array extremum(const Primitive& p, std::string_view op, const char* what, const Array& a, const Axes& axis,
               bool keepdims) {
  const Ints axes = reduced_axes(a, axis, op);
  if (reduced_size(a, axes) == 0)
    raise<ShapeError>(
        "[{}] {} is reduced over {}; an empty axis has no {}, give the array at least one element there.", op, a.aval(),
        axes.size() == 1 ? fmt::format("axis {}", axes[0]) : fmt::format("axes {}", describe(axes)), what);
  const Array x = strong(a);
  return keep(reduce(p, x, axes), x, axes, keepdims);
}

Array truth(const Array& a) { return a.dtype() == DType::bool_ ? a : not_equal(a, 0); }

/// NaNs replaced by what a reduction ignores.
Array without_nan(const Array& a, double replacement) {
  return is_inexact(a.dtype()) ? where(isnan(a), replacement, a) : a;
}

}  // namespace

Array sum(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return sum_in(a, sum_type(a->dtype()), reduced_axes(a, axis, "sum"), keepdims);
}
Array prod(const ArrayLike& a, const Axes& axis, bool keepdims) {
  const Ints axes = reduced_axes(a, axis, "prod");
  const Array x = ops::cast(a, sum_type(a->dtype()));
  return keep(reduce(ops::reduce_prod_p, x, axes), x, axes, keepdims);
}
Array mean(const ArrayLike& a, const Axes& axis, bool keepdims) {
  const Ints axes = reduced_axes(a, axis, "mean");
  const Array total = sum_in(a, accumulator(a->dtype()), axes, keepdims);
  return ops::cast(total / reduced_size(a, axes), mean_type(a->dtype()));
}
Array var(const ArrayLike& a, const Axes& axis, bool keepdims, int ddof) {
  const Ints axes = reduced_axes(a, axis, "var");
  const Array x = ops::cast(a, accumulator(a->dtype()));
  const Array centered = x - mean(x, axis, true);
  const std::int64_t n = reduced_size(x, axes) - ddof;
  const Array squares = is_complex(x.dtype()) ? ops::real(centered * ops::conj(centered)) : square(centered);
  const Array total = keep(ops::reduce_sum(squares, axes), x, axes, keepdims);
  return ops::cast(n > 0 ? total / n : total * nan, real_dtype(mean_type(a->dtype())));
}
Array std(const ArrayLike& a, const Axes& axis, bool keepdims, int ddof) { return sqrt(var(a, axis, keepdims, ddof)); }

Array max(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return extremum(ops::reduce_max_p, "max", "maximum", a, axis, keepdims);
}
Array min(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return extremum(ops::reduce_min_p, "min", "minimum", a, axis, keepdims);
}
Array amax(const ArrayLike& a, const Axes& axis, bool keepdims) { return max(a, axis, keepdims); }
Array amin(const ArrayLike& a, const Axes& axis, bool keepdims) { return min(a, axis, keepdims); }
Array ptp(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return extremum(ops::reduce_max_p, "ptp", "range", a, axis, keepdims) - min(a, axis, keepdims);
}

Array all(const ArrayLike& a, const Axes& axis, bool keepdims) {
  const Ints axes = reduced_axes(a, axis, "all");
  return keep(reduce(ops::reduce_and_p, truth(a), axes), a, axes, keepdims);
}
Array any(const ArrayLike& a, const Axes& axis, bool keepdims) {
  const Ints axes = reduced_axes(a, axis, "any");
  return keep(reduce(ops::reduce_or_p, truth(a), axes), a, axes, keepdims);
}
Array count_nonzero(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return sum_in(truth(a), DType::i32, reduced_axes(a, axis, "count_nonzero"), keepdims);
}

Array nansum(const ArrayLike& a, const Axes& axis, bool keepdims) { return sum(without_nan(a, 0.0), axis, keepdims); }
Array nanmean(const ArrayLike& a, const Axes& axis, bool keepdims) {
  if (!is_inexact(a->dtype())) return mean(a, axis, keepdims);
  const Ints axes = reduced_axes(a, axis, "nanmean");
  const DType dtype = accumulator(a->dtype());
  const Array total = sum_in(without_nan(a, 0.0), dtype, axes, keepdims);
  const Array count = sum_in(logical_not(isnan(a)), dtype, axes, keepdims);
  return ops::cast(total / count, a->dtype());
}
namespace {

Array nan_extremum(const Primitive& p, std::string_view op, const char* what, const Array& a, const Axes& axis,
                   bool keepdims, double replacement) {
  const Array found = extremum(p, op, what, without_nan(a, replacement), axis, keepdims);
  return is_inexact(a.dtype()) ? where(all(isnan(a), axis, keepdims), nan, found) : found;
}

}  // namespace
Array nanmax(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return nan_extremum(ops::reduce_max_p, "nanmax", "maximum", a, axis, keepdims, -inf);
}
Array nanmin(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return nan_extremum(ops::reduce_min_p, "nanmin", "minimum", a, axis, keepdims, inf);
}

namespace {

Array arg_extremum(const Primitive& p, std::string_view op, const Array& a, std::optional<int> axis, bool keepdims) {
  const Array x = axis ? a : ravel(a);
  const int at = axis ? resolve_axis(*axis, a.ndim(), op) : 0;
  if (x.shape()[at] == 0)
    raise<ShapeError>("[{}] {} is empty along axis {}; an empty axis has no extremum.", op, a.aval(), at);
  const Array index = bind1(p, {x}, {{"axis", std::int64_t{at}}, {"index_dtype", DType::i32}});
  if (!keepdims) return index;
  Shape shape(a.shape().size(), 1);
  if (axis) {
    shape = a.shape();
    shape[at] = 1;
  }
  return ops::reshape(index, shape);
}

}  // namespace
Array argmax(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  return arg_extremum(ops::argmax_p, "argmax", a, axis, keepdims);
}
Array argmin(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  return arg_extremum(ops::argmin_p, "argmin", a, axis, keepdims);
}

Array logsumexp(const ArrayLike& a, const Axes& axis, bool keepdims) {
  const Ints axes = reduced_axes(a, axis, "logsumexp");
  const Array x = ops::cast(a, mean_type(a->dtype()));
  const Array largest = ops::reduce_max(ops::real(x), axes);
  // Subtracting the maximum changes nothing but the rounding, so nothing flows back through it.
  const Array shift = lax::stop_gradient(where(isfinite(largest), largest, 0.0));
  const Array terms = exp(x - keep(shift, x, axes, true));
  return keep(log(ops::reduce_sum(terms, axes)) + shift, x, axes, keepdims);
}

Array average(const ArrayLike& a, std::optional<int> axis, const std::optional<Array>& weights) {
  const Axes over = axis ? Axes(*axis) : Axes();
  if (!weights) return mean(a, over);
  Array w = *weights;
  if (w.shape() != a->shape()) {
    const bool along_axis = axis && w.ndim() == 1;
    const int at = along_axis ? resolve_axis(*axis, a->ndim(), "average") : 0;
    if (!along_axis || w.shape()[0] != a->shape()[at])
      raise<ShapeError>(
          "[average] weights of shape {} do not fit an array of shape {}; give one weight per element, or "
          "per "
          "index of the averaged axis.",
          describe(w.shape()), describe(a->shape()));
    w = ops::broadcast_in_dim(w, a->shape(), {at});
  }
  const Array operands[] = {a, w};
  const Arrays x = cast_all(operands, inexact_result_type(operands));
  return sum(x[0] * x[1], over) / sum(x[1], over);
}

Array diff(const ArrayLike& a, int n, int axis) {
  if (n < 0) raise<ValueError>("[diff] the order {} is negative; it counts how often to take differences.", n);
  if (n == 0) return a;
  if (a->ndim() == 0)
    raise<ShapeError>("[diff] a 0-d array has no axis to take differences along; use np::atleast_1d.");
  const int at = resolve_axis(axis, a->ndim(), "diff");
  Array x = a;
  for (int i = 0; i < n && x.shape()[at] > 0; ++i) {
    const std::int64_t size = x.shape()[at];
    const Array later = ops::slice_axis(x, at, 1, size), earlier = ops::slice_axis(x, at, 0, size - 1);
    x = x.dtype() == DType::bool_ ? later != earlier : later - earlier;
  }
  return x;
}
Array trapezoid(const ArrayLike& y, double dx, int axis) {
  const int at = resolve_axis(axis, y->ndim(), "trapezoid");
  const Array x = cast_to(y, inexact_result_type({&y.array(), 1}));
  const std::int64_t size = x.shape()[at];
  const Array pairs = ops::slice_axis(x, at, std::min<std::int64_t>(1, size), size) +
                      ops::slice_axis(x, at, 0, std::max<std::int64_t>(size - 1, 0));
  return sum(pairs * dx, at) * 0.5;
}

}  // namespace cotan::numpy
