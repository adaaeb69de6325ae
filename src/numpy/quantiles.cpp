// Order statistics: medians, quantiles, percentiles, with and without NaN.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// Elements that are reduced together, along one axis.
struct Lines {
  Array values;
  int axis;
  std::int64_t n;
  Shape kept;  ///< the result's shape where axes are kept
};

/// One axis stays where it is; several become the last one, all the only one.
Array merged(const Array& a, const std::vector<int>& axes, bool all) {
  if (all) return ops::reshape(a, {a.size()});
  if (axes.size() == 1) return a;
  Ints permutation;
  Shape shape;
  for (int i = 0; i < a.ndim(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      permutation.push_back(i);
      shape.push_back(a.shape()[i]);
    }
  std::int64_t n = 1;
  for (int i : axes) {
    permutation.push_back(i);
    n *= a.shape()[i];
  }
  shape.push_back(n);
  return ops::reshape(ops::transpose(a, permutation), shape);
}
Lines lines_of(std::string_view op, const Array& a, const Axes& axis) {
  std::vector<int> axes = axis.resolve(a.ndim(), op);
  std::sort(axes.begin(), axes.end());
  Lines out{merged(a, axes, !axis.given()), 0, 0, a.shape()};
  if (axis.given()) out.axis = axes.size() == 1 ? axes[0] : out.values.ndim() - 1;
  for (int i : axes) out.kept[i] = 1;
  out.n = out.values.shape()[out.axis];
  if (out.n == 0)
    raise<ShapeError>("[{}] {} has no elements along the axis, and so no quantiles; give it at least one.", op,
                      a.aval());
  return out;
}
Array floating_of(const Array& a) { return cast_to(a, inexact_result_type({&a, 1})); }
/// Sorted; lines that hold a NaN are NaN throughout.
void sort_lines(Lines& lines) {
  lines.values = sort(where(any(isnan(lines.values), lines.axis, true), nan, lines.values), lines.axis);
}

/// A quantile between neighbours.
Array between(std::string_view method, const Array& low, const Array& high, const Array& weight) {
  if (method == "linear") return low * (1.0 - weight) + high * weight;
  if (method == "lower") return low;
  if (method == "higher") return high;
  if (method == "midpoint") return (low + high) * 0.5;
  return where(weight <= 0.5, low, high);
}

/// What quantiles are computed in: halves would lose the fraction of a position.
DType position_type(const Array& values, const Array& q) {
  const Array both[] = {values, q};
  const DType promoted = inexact_result_type(both).dtype;
  return itemsize(promoted) < 4 ? f32 : promoted;
}

/// Quantiles of sorted lines; those of a vector q come first.
Array at_quantiles(const Lines& lines, const Array& q, std::string_view method) {
  const DType compute = position_type(lines.values, q);
  const double last = static_cast<double>(lines.n - 1);
  const Array position = ops::cast(q, compute) * last;
  const Array below = floor(position), above = ceil(position), weight = position - below;
  // A value per q in front, then the other axes.
  const auto values_at = [&](const Array& i) {
    const Array taken =
        take(lines.values, clip(i, 0.0, last).astype(lines.n > INT32_MAX ? i64 : i32), lines.axis).astype(compute);
    return q.ndim() ? ops::move_axis(taken, lines.axis, 0) : taken;
  };
  const Array low = values_at(below), high = values_at(above);
  Shape per_q(low.shape().size(), 1);
  if (q.ndim()) per_q[0] = q.size();
  return between(method, low, high, q.ndim() ? ops::reshape(weight, per_q) : weight);
}

/// Positions in lines along the last axis, [..., Q], as values with the axis of q in front, or without it.
Array at_positions(const Array& last_axis, const Array& positions, const Array& q) {
  const Array taken = take_along_axis(last_axis, positions, -1);
  return q.ndim() ? ops::move_axis(taken, taken.ndim() - 1, 0)
                  : ops::reshape(taken, Shape(taken.shape().begin(), taken.shape().end() - 1));
}

/// Quantiles of what is not NaN: a position per line.
Array at_quantiles_of_numbers(const Lines& lines, const Array& q, std::string_view method) {
  const DType compute = position_type(lines.values, q);
  const Array values = ops::move_axis(sort(lines.values, lines.axis), lines.axis, lines.values.ndim() - 1);
  const Array last = sum(logical_not(isnan(values)), {.axis = -1, .dtype = compute, .keepdims = true}) - 1.0;
  const Array position = ops::cast(ravel(q), compute) * last;
  const Array below = floor(position), above = ceil(position);
  const auto values_at = [&](const Array& i) {
    const Array index = maximum(0.0, minimum(i, last));
    return at_positions(values, index.astype(i32), q).astype(compute);
  };
  const Array weight = at_positions(position - below, ops::iota(i32, position.shape(), position.ndim() - 1), q);
  return between(method, values_at(below), values_at(above), weight);
}

/// The first element whose weight, with those before it, reaches q times that of all.
Array at_weights(const Lines& lines, const Array& line_weights, const Array& q, bool skip_nan) {
  const DType compute = position_type(lines.values, q);
  const int last = lines.values.ndim() - 1;
  const Arrays sorted = lax::sort({ops::move_axis(lines.values, lines.axis, last),
                                   ops::move_axis(ops::cast(line_weights, lines.values.dtype()), lines.axis, last)},
                                  last);
  const Array &values = sorted[0], &weights = sorted[1];
  const Array not_number = isnan(values), bad = (weights < 0) | isnan(weights);
  const Array running = cumsum(where(bad | not_number, 0.0, weights).astype(compute), last);
  const Array total = ops::slice_axis(running, last, lines.n - 1, lines.n);
  const Array wanted = ops::cast(ravel(q), compute) * total;  // [..., Q]
  const Array before = sum(less(expand_dims(running, -2), expand_dims(wanted, -1)), {.axis = -1, .dtype = i32});
  const Array numbers = skip_nan ? sum(logical_not(not_number), {.axis = -1, .dtype = i32, .keepdims = true})
                                 : ops::full(total.shape(), scalar(i32, lines.n));
  const Array index = maximum(0, minimum(before, numbers - 1));
  const Array found = at_positions(values, index, q);
  const Array no_result =
      any(bad, -1) |
      (skip_nan ? ops::reshape(numbers,
                               found.ndim() && q.ndim() ? ops::erase_axes(numbers.shape(), {last}) : found.shape()) == 0
                : any(not_number, -1));
  return where(no_result, nan, found);
}

Array quantile_of(std::string_view op, const Array& a, const Array& q, const QuantileOptions& o, bool skip_nan) {
  const std::string_view methods[] = {"linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf"};
  if (std::find(std::begin(methods), std::end(methods), o.method) == std::end(methods))
    raise<ValueError>("[{}] there is no method '{}'; use linear, lower, higher, midpoint, nearest or inverted_cdf.", op,
                      o.method);
  check_real(op, a);
  if (q.ndim() > 1) raise<ShapeError>("[{}] q is {}; it must be a scalar or a vector.", op, q.aval());
  const bool weighted = o.method == "inverted_cdf";
  if (o.weights && !weighted) raise<ValueError>("[{}] the method {} takes no weights; use inverted_cdf.", op, o.method);
  const Array x = floating_of(a);
  Lines lines = lines_of(op, x, o.axis);
  Array value;
  if (weighted) {
    Array weights = ops::full(lines.values.shape(), scalar(x.dtype(), 1));
    if (o.weights) {
      Array w = *o.weights;
      const std::vector<int> axes = o.axis.resolve(x.ndim(), op);
      if (w.shape() != x.shape()) {
        Shape along;
        for (int i : axes) along.push_back(x.shape()[i]);
        if (!o.axis.given() || w.shape() != along)
          raise<ShapeError>(
              "[{}] weights of shape {} do not fit {}; give one per element, or one per index of the axes.", op,
              describe(w.shape()), x.aval());
        w = ops::broadcast_in_dim(w, x.shape(), Ints(axes.begin(), axes.end()));
      }
      weights = lines_of(op, w, o.axis).values;
    }
    value = at_weights(lines, weights, q, skip_nan);
  } else if (skip_nan) {
    value = at_quantiles_of_numbers(lines, q, o.method);
  } else {
    sort_lines(lines);
    value = at_quantiles(lines, q, o.method);
  }
  value = value.astype(x.dtype());
  if (!o.keepdims) return value;
  Shape kept = lines.kept;
  if (q.ndim()) kept.insert(kept.begin(), q.size());
  return ops::reshape(value, kept);
}

Array fraction_of_percent(const Array& q) { return floating_of(q) / 100.0; }

}  // namespace

Array median(const ArrayLike& a, const Axes& axis, bool keepdims) {
  Lines lines = lines_of("median", floating_of(a), axis);
  sort_lines(lines);
  const auto at = [&](std::int64_t i) { return ops::slice_axis(lines.values, lines.axis, i, i + 1); };
  const Array middle = lines.n % 2 ? at(lines.n / 2) : 0.5 * at(lines.n / 2 - 1) + 0.5 * at(lines.n / 2);
  return ops::reshape(middle, keepdims ? lines.kept : ops::erase_axes(middle.shape(), {lines.axis}));
}
Array nanmedian(const ArrayLike& a, const Axes& axis, bool keepdims) {
  return quantile_of("nanmedian", a, 0.5, {.axis = axis, .method = "midpoint", .keepdims = keepdims}, true);
}

Array quantile(const ArrayLike& a, const ArrayLike& q, const Axes& axis, bool keepdims) {
  return quantile_of("quantile", a, q, {.axis = axis, .keepdims = keepdims}, false);
}
Array nanquantile(const ArrayLike& a, const ArrayLike& q, const Axes& axis, bool keepdims) {
  return quantile_of("nanquantile", a, q, {.axis = axis, .keepdims = keepdims}, true);
}
Array percentile(const ArrayLike& a, const ArrayLike& q, const Axes& axis, bool keepdims) {
  return quantile_of("percentile", a, fraction_of_percent(q), {.axis = axis, .keepdims = keepdims}, false);
}
Array nanpercentile(const ArrayLike& a, const ArrayLike& q, const Axes& axis, bool keepdims) {
  return quantile_of("nanpercentile", a, fraction_of_percent(q), {.axis = axis, .keepdims = keepdims}, true);
}
template <class Options>
Array quantile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options) {
  return quantile_of("quantile", a, q, options, false);
}
template <class Options>
Array nanquantile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options) {
  return quantile_of("nanquantile", a, q, options, true);
}
template <class Options>
Array percentile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options) {
  return quantile_of("percentile", a, fraction_of_percent(q), options, false);
}
template <class Options>
Array nanpercentile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options) {
  return quantile_of("nanpercentile", a, fraction_of_percent(q), options, true);
}
template Array quantile<QuantileOptions>(const ArrayLike&, const ArrayLike&, const QuantileOptions&);
template Array nanquantile<QuantileOptions>(const ArrayLike&, const ArrayLike&, const QuantileOptions&);
template Array percentile<QuantileOptions>(const ArrayLike&, const ArrayLike&, const QuantileOptions&);
template Array nanpercentile<QuantileOptions>(const ArrayLike&, const ArrayLike&, const QuantileOptions&);

}  // namespace cotan::numpy
