// Reductions: which dtype they accumulate in, and means, variances and extrema over the primitives.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "numpy/reduction_types.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

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
Array without_nan(const Array& a, double replacement) {
  return is_inexact(a.dtype()) ? where(isnan(a), replacement, a) : a;
}
Array squared_size(const Array& a) { return is_complex(a.dtype()) ? ops::real(a * ops::conj(a)) : square(a); }

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

/// What means and variances are computed in: half precision would lose most of their digits.
DType accumulator(DType t) { return itemsize(mean_type(t)) == 2 ? DType::f32 : mean_type(t); }

Array sum_in(const Array& a, DType dtype, const Ints& axes, bool keepdims) {
  const Array x = ops::cast(a, dtype);
  return keep(ops::reduce_sum(x, axes), x, axes, keepdims);
}

/// The mask in the shape of `a`, whose elements it picks.
Array picked(std::string_view op, const Array& mask, const Array& a) {
  if (mask.dtype() != DType::bool_)
    raise<TypeError>("[{}] `where` is {}; it must be bool, compare with != 0.", op, mask.aval());
  const Shape shapes[] = {mask.shape(), a.shape()};
  if (broadcast_shapes(op, shapes) != a.shape())
    raise<ShapeError>("[{}] `where` is {}, which does not broadcast to {}; give it that shape.", op, mask.aval(),
                      a.aval());
  return ops::broadcast_to(mask, a.shape());
}
/// What does not take part is the replacement, in the dtype of `a`: a weak float would make floats of integers.
Array masked(std::string_view op, const Array& a, const std::optional<Array>& mask, double replacement) {
  if (!mask) return a;
  const Array x = strong(a);
  return ops::select(picked(op, *mask, x), x, ops::full(x.shape(), scalar(x.dtype(), replacement)));
}
/// `initial`, a scalar, in the dtype of the reduction.
Array starting_value(std::string_view op, const Array& initial, DType dtype) {
  if (initial.ndim() != 0) raise<ShapeError>("[{}] the initial value is {}; it must be a scalar.", op, initial.aval());
  return ops::cast(initial, dtype);
}

/// A sum or a product.
struct Fold {
  std::string_view op;
  const Primitive& p;
  double identity;
  Array (*combine)(const ArrayLike& a, const ArrayLike& b);
  Array (*of_bool)(const ArrayLike& a, const Axes& axis, bool keepdims);
};
Array folded(const Fold& fold, const Array& a, const ReductionOptions& o) {
  const Ints axes = reduced_axes(a, o.axis, fold.op);
  const DType result = o.dtype.value_or(o.promote_integers ? sum_type(a.dtype()) : a.dtype());
  // Halves are rounded once, behind the initial value.
  const DType dtype = o.initial && is_inexact(result) && itemsize(result) == 2 ? f32 : result;
  const Array x = masked(fold.op, ops::cast(a, dtype), o.where, fold.identity);
  const Array out =
      dtype == DType::bool_ ? fold.of_bool(x, o.axis, o.keepdims) : keep(reduce(fold.p, x, axes), x, axes, o.keepdims);
  if (!o.initial) return out;
  const Array first = starting_value(fold.op, *o.initial, dtype);
  if (dtype == DType::bool_) return fold.identity == 0 ? first | out : first & out;
  return ops::cast(fold.combine(first, out), result);
}
const Fold sum_fold{"sum", ops::reduce_sum_p, 0.0, add, any};
const Fold prod_fold{"prod", ops::reduce_prod_p, 1.0, multiply, all};

struct Extremum {
  std::string_view op;
  const Primitive& p;
  const char* what;
  double replacement;  ///< loses against every float
  Array (*combine)(const ArrayLike& a, const ArrayLike& b);
};
Extremum largest(std::string_view op) { return {op, ops::reduce_max_p, "maximum", -inf, maximum}; }
Extremum smallest(std::string_view op) { return {op, ops::reduce_min_p, "minimum", inf, minimum}; }

/// The value of `dtype` that loses against every other.
Array worst(const Extremum& e, DType dtype) {
  if (is_inexact(dtype)) return scalar(dtype, e.replacement);
  if (dtype == DType::bool_) return scalar(dtype, e.replacement < 0 ? 0 : 1);
  const iinfo range(dtype, {});
  return scalar(dtype, e.replacement < 0 ? range.min : static_cast<std::int64_t>(range.max));
}

Array extremum(const Extremum& e, const Array& a, const ExtremumOptions& o) {
  const Ints axes = reduced_axes(a, o.axis, e.op);
  if (o.where && !o.initial)
    raise<ValueError>("[{}] a mask may leave nothing to take the {} of; give `initial`, what it then is.", e.op,
                      e.what);
  if (!o.initial && reduced_size(a, axes) == 0)
    raise<ShapeError>(
        "[{}] {} is reduced over {}; an empty axis has no {}, give the array at least one element there.", e.op,
        a.aval(), axes.size() == 1 ? fmt::format("axis {}", axes[0]) : fmt::format("axes {}", describe(axes)), e.what);
  Array x = strong(a);
  if (o.where) x = ops::select(picked(e.op, *o.where, x), x, ops::full(x.shape(), worst(e, x.dtype())));
  const bool nothing = reduced_size(a, axes) == 0;
  const Array out = nothing ? ops::full(ops::erase_axes(x.shape(), axes), worst(e, x.dtype())) : reduce(e.p, x, axes);
  const Array kept = keep(out, x, axes, o.keepdims);
  return o.initial ? e.combine(starting_value(e.op, *o.initial, x.dtype()), kept) : kept;
}

Array truth(const Array& a) { return a.dtype() == DType::bool_ ? a : not_equal(a, 0); }

}  // namespace

Array sum(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return folded(sum_fold, a, {.axis = axis, .keepdims = keepdims});
}
Array prod(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return folded(prod_fold, a, {.axis = axis, .keepdims = keepdims});
}
template <class Options>
Array sum(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return folded(sum_fold, a, options);
}
template <class Options>
Array prod(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return folded(prod_fold, a, options);
}
template Array sum<ReductionOptions>(const ArrayLike&, const ReductionOptions&);
template Array prod<ReductionOptions>(const ArrayLike&, const ReductionOptions&);

namespace {

/// How many elements each result is of, in `dtype`.
Array counts(std::string_view op, const Array& a, const Ints& axes, const std::optional<Array>& mask, DType dtype,
             bool keepdims) {
  if (!mask) return scalar(dtype, reduced_size(a, axes));
  return sum_in(picked(op, *mask, a), dtype, axes, keepdims);
}

Array mean_of(const Array& a, const MeanOptions& o) {
  const Ints axes = reduced_axes(a, o.axis, "mean");
  const DType result = o.dtype.value_or(mean_type(a.dtype()));
  const DType computed = is_inexact(result) ? accumulator(result) : result;
  const Array total = sum_in(masked("mean", ops::cast(a, computed), o.where, 0.0), computed, axes, o.keepdims);
  if (!o.where && is_inexact(computed)) return ops::cast(total / reduced_size(a, axes), result);
  return ops::cast(lax::div(total, counts("mean", a, axes, o.where, computed, o.keepdims)), result);
}

Array variance_of(const Array& a, const VarianceOptions& o) {
  const Ints axes = reduced_axes(a, o.axis, "var");
  if (o.correction && o.ddof != 0)
    raise<ValueError>("[var] both ddof and correction are given; they say the same, give one.");
  const DType given = o.dtype.value_or(mean_type(a.dtype())), computed = accumulator(given), result = real_dtype(given);
  const Array x = ops::cast(a, computed);
  const Array middle =
      o.mean ? ops::cast(*o.mean, computed) : mean_of(x, {.axis = o.axis, .keepdims = true, .where = o.where});
  const Array squares = masked("var", squared_size(x - middle), o.where, 0.0);
  const double correction = o.correction.value_or(o.ddof);
  const Array total = keep(ops::reduce_sum(squares, axes), x, axes, o.keepdims);
  if (!o.where) {
    const double n = static_cast<double>(reduced_size(x, axes)) - correction;
    return ops::cast(n > 0 ? total / n : total * nan, result);
  }
  const Array n = counts("var", x, axes, o.where, real_dtype(computed), o.keepdims) - correction;
  return ops::cast(where(n > 0, total / where(n > 0, n, 1.0), nan), result);
}

}  // namespace

Array mean(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return mean_of(a, {.axis = axis, .keepdims = keepdims});
}
Array var(const ArrayLike& a, const Axes& axis, bool keepdims, int ddof) {
  return variance_of(a, {.axis = axis, .ddof = ddof, .keepdims = keepdims});
}
Array std(const ArrayLike& a, const Axes& axis, bool keepdims, int ddof) { return sqrt(var(a, axis, keepdims, ddof)); }
template <class Options>
Array mean(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return mean_of(a, options);
}
template <class Options>
Array var(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return variance_of(a, options);
}
template <class Options>
Array std(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return sqrt(variance_of(a, options));
}
template Array mean<MeanOptions>(const ArrayLike&, const MeanOptions&);
template Array var<VarianceOptions>(const ArrayLike&, const VarianceOptions&);
template Array std<VarianceOptions>(const ArrayLike&, const VarianceOptions&);

Array max(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return extremum(largest("max"), a, {.axis = axis, .keepdims = keepdims});
}
Array min(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return extremum(smallest("min"), a, {.axis = axis, .keepdims = keepdims});
}
Array amax(const ArrayLike& a, const Axes& axis, bool keepdims) { return max(a, axis, keepdims); }
Array amin(const ArrayLike& a, const Axes& axis, bool keepdims) { return min(a, axis, keepdims); }
template <class Options>
Array max(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return extremum(largest("max"), a, options);
}
template <class Options>
Array min(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return extremum(smallest("min"), a, options);
}
template <class Options>
Array amax(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return extremum(largest("amax"), a, options);
}
template <class Options>
Array amin(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return extremum(smallest("amin"), a, options);
}
template Array max<ExtremumOptions>(const ArrayLike&, const ExtremumOptions&);
template Array min<ExtremumOptions>(const ArrayLike&, const ExtremumOptions&);
template Array amax<ExtremumOptions>(const ArrayLike&, const ExtremumOptions&);
template Array amin<ExtremumOptions>(const ArrayLike&, const ExtremumOptions&);
Array ptp(const ArrayLike& a, const Axes& axis, bool keepdims) {
  const Extremum range{"ptp", ops::reduce_max_p, "range", -inf, maximum};
  return extremum(range, a, {.axis = axis, .keepdims = keepdims}) - min(a, axis, keepdims);
}

namespace {

Array all_of(const Array& a, const TruthOptions& o) {
  const Ints axes = reduced_axes(a, o.axis, "all");
  const Array x = o.where ? truth(a) | ~picked("all", *o.where, a) : truth(a);
  return keep(reduce(ops::reduce_and_p, x, axes), a, axes, o.keepdims);
}
Array any_of(const Array& a, const TruthOptions& o) {
  const Ints axes = reduced_axes(a, o.axis, "any");
  const Array x = o.where ? truth(a) & picked("any", *o.where, a) : truth(a);
  return keep(reduce(ops::reduce_or_p, x, axes), a, axes, o.keepdims);
}

}  // namespace

Array all(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return all_of(a, {.axis = axis, .keepdims = keepdims});
}
Array any(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return any_of(a, {.axis = axis, .keepdims = keepdims});
}
template <class Options>
Array all(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return all_of(a, options);
}
template <class Options>
Array any(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return any_of(a, options);
}
template Array all<TruthOptions>(const ArrayLike&, const TruthOptions&);
template Array any<TruthOptions>(const ArrayLike&, const TruthOptions&);
Array count_nonzero(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return sum_in(truth(a), DType::i32, reduced_axes(a, axis, "count_nonzero"), keepdims);
}

namespace {

using ArgExtremum = Array (*)(const ArrayLike& a, int axis, DType index_dtype);
Array arg_extremum(ArgExtremum of, std::string_view op, const Array& a, std::optional<int> axis, bool keepdims) {
  const Array x = axis ? a : ravel(a);
  const int at = axis ? resolve_axis(*axis, a.ndim(), op) : 0;
  if (x.shape()[at] == 0)
    raise<ShapeError>("[{}] {} is empty along axis {}; an empty axis has no extremum.", op, a.aval(), at);
  const Array index = of(x, at, DType::i32);
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
  return arg_extremum(lax::argmax, "argmax", a, axis, keepdims);
}
Array argmin(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  return arg_extremum(lax::argmin, "argmin", a, axis, keepdims);
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

}  // namespace cotan::numpy
