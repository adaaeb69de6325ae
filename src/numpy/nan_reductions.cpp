// Reductions that pass over NaN.
#include <cotan/numpy.hpp>

#include "core/error.hpp"
#include "numpy/reduction_types.hpp"

namespace cotan::numpy {

namespace {

/// True where an element takes part.
Array counted(const Array& a, const std::optional<Array>& mask) {
  const Array number = logical_not(isnan(a));
  return mask ? number & broadcast_to(*mask, a.shape()) : number;
}

Array nan_mean_of(const Array& a, const MeanOptions& o) {
  if (!is_inexact(a.dtype())) return mean(a, o);
  const DType result = o.dtype.value_or(a.dtype()), computed = itemsize(result) == 2 ? f32 : result;
  const Array total =
      sum(without_nan(a, 0.0), {.axis = o.axis, .dtype = computed, .keepdims = o.keepdims, .where = o.where});
  const Array count = sum(counted(a, o.where), {.axis = o.axis, .dtype = computed, .keepdims = o.keepdims});
  return (total / count).astype(result);
}

Array nan_variance_of(const Array& a, const VarianceOptions& o) {
  if (!is_inexact(a.dtype())) return var(a, o);
  if (o.correction && o.ddof != 0)
    raise<ValueError>("[nanvar] both ddof and correction are given; they say the same, give one.");
  const DType given = o.dtype.value_or(a.dtype()), computed = itemsize(given) == 2 ? f32 : given;
  const DType result = real_dtype(given);
  const Array x = a.astype(computed);
  const Array middle =
      o.mean ? o.mean->astype(computed) : nan_mean_of(x, {.axis = o.axis, .keepdims = true, .where = o.where});
  const Array taken = counted(x, o.where);
  // What does not take part is replaced before it is squared: no NaN reaches the derivative.
  const Array squares = squared_size(where(taken, x - middle, 0.0));
  const Array n = sum(taken, {.axis = o.axis, .dtype = real_dtype(computed), .keepdims = o.keepdims}) -
                  o.correction.value_or(o.ddof);
  const Array total = where(n > 0, sum(squares, o.axis, o.keepdims), nan);
  return (total / where(n > 0, n, 1.0)).astype(result);
}

Array nan_extremum(Array (*of)(const ArrayLike&, const std::type_identity_t<ExtremumOptions>&), const Array& a,
                   const ExtremumOptions& o, double replacement) {
  const Array found = of(without_nan(a, replacement), o);
  return is_inexact(a.dtype()) && !o.initial ? where(all(isnan(a), o.axis, o.keepdims), nan, found) : found;
}
Array nan_arg_extremum(Array (*of)(const ArrayLike&, std::optional<int>, bool), const Array& a, std::optional<int> axis,
                       bool keepdims, double replacement) {
  const Array found = of(without_nan(a, replacement), axis, keepdims);
  return is_inexact(a.dtype()) ? where(all(isnan(a), axis, keepdims), -1, found) : found;
}

}  // namespace

Array nansum(const ArrayLike& a, const Axes& axis, bool keepdims) { return sum(without_nan(a, 0.0), axis, keepdims); }
Array nanprod(const ArrayLike& a, const Axes& axis, bool keepdims) { return prod(without_nan(a, 1.0), axis, keepdims); }
Array nanmean(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return nan_mean_of(a, {.axis = axis, .keepdims = keepdims});
}
Array nanvar(const ArrayLike& a, const Axes& axis, bool keepdims, int ddof) {
  return nan_variance_of(a, {.axis = axis, .ddof = ddof, .keepdims = keepdims});
}
Array nanstd(const ArrayLike& a, const Axes& axis, bool keepdims, int ddof) {
  return sqrt(nanvar(a, axis, keepdims, ddof));
}
Array nanmax(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return nan_extremum(max<ExtremumOptions>, a, {.axis = axis, .keepdims = keepdims}, -inf);
}
Array nanmin(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return nan_extremum(min<ExtremumOptions>, a, {.axis = axis, .keepdims = keepdims}, inf);
}
template <class Options>
Array nansum(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return sum(without_nan(a, 0.0), options);
}
template <class Options>
Array nanprod(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return prod(without_nan(a, 1.0), options);
}
template <class Options>
Array nanmean(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return nan_mean_of(a, options);
}
template <class Options>
Array nanvar(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return nan_variance_of(a, options);
}
template <class Options>
Array nanstd(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return sqrt(nan_variance_of(a, options));
}
template <class Options>
Array nanmax(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return nan_extremum(max<ExtremumOptions>, a, options, -inf);
}
template <class Options>
Array nanmin(const ArrayLike& a, const std::type_identity_t<Options>& options) {
  return nan_extremum(min<ExtremumOptions>, a, options, inf);
}
template Array nansum<ReductionOptions>(const ArrayLike&, const ReductionOptions&);
template Array nanprod<ReductionOptions>(const ArrayLike&, const ReductionOptions&);
template Array nanmean<MeanOptions>(const ArrayLike&, const MeanOptions&);
template Array nanvar<VarianceOptions>(const ArrayLike&, const VarianceOptions&);
template Array nanstd<VarianceOptions>(const ArrayLike&, const VarianceOptions&);
template Array nanmax<ExtremumOptions>(const ArrayLike&, const ExtremumOptions&);
template Array nanmin<ExtremumOptions>(const ArrayLike&, const ExtremumOptions&);

Array nanargmax(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  return nan_arg_extremum(numpy::argmax, a, axis, keepdims, -inf);
}
Array nanargmin(const ArrayLike& a, std::optional<int> axis, bool keepdims) {
  return nan_arg_extremum(numpy::argmin, a, axis, keepdims, inf);
}

}  // namespace cotan::numpy
