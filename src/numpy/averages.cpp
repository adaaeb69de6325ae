// Weighted averages, covariances and correlations.
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// One weight per element, from one per element or per index of the averaged axes.
Array weights_like(const Array& a, const Array& weights, const Axes& axis) {
  if (weights.shape() == a.shape()) return weights;
  const std::vector<int> axes = axis.resolve(a.ndim(), "average");
  Shape along;
  for (int i : axes) along.push_back(a.shape()[i]);
  if (!axis.given() || weights.shape() != along)
    raise<ShapeError>(
        "[average] weights of shape {} do not fit an array of shape {}; give one weight per element, or per index of "
        "the averaged axes.",
        describe(weights.shape()), describe(a.shape()));
  return ops::broadcast_in_dim(weights, a.shape(), Ints(axes.begin(), axes.end()));
}

}  // namespace

std::pair<Array, Array> average_and_weights(const ArrayLike& a, const Axes& axis, const std::optional<Array>& weights,
                                            bool keepdims) {
  if (!weights) {
    const Array out = mean(a, axis, keepdims);
    std::int64_t n = 1;
    for (int i : axis.resolve(a->ndim(), "average")) n *= a->shape()[i];
    return {out, ops::full(out.shape(), scalar(out.dtype(), n))};
  }
  const Array operands[] = {a, weights_like(a, *weights, axis)};
  const Arrays x = cast_all(operands, inexact_result_type(operands));
  const Array total = sum(x[1], axis, keepdims);
  return {sum(x[0] * x[1], axis, keepdims) / total, total};
}
Array average(const ArrayLike& a, const Axes& axis, const std::optional<Array>& weights, bool keepdims) {
  return average_and_weights(a, axis, weights, keepdims).first;
}

namespace {

/// Variables in rows.
Array rows_of_variables(const Array& x, bool rowvar) {
  const Array rows = atleast_2d(x);
  return !rowvar && rows.shape()[0] != 1 ? transpose(rows) : rows;
}

/// How much each observation counts.
std::optional<Array> observation_weights(const CovarianceOptions& o, std::int64_t observations) {
  std::optional<Array> out;
  for (const auto& [name, weights] : {std::pair{"fweights", &o.fweights}, std::pair{"aweights", &o.aweights}}) {
    if (!*weights) continue;
    const Array& w = **weights;
    if (w.ndim() != 1 || w.size() != observations)
      raise<ShapeError>("[cov] {} are {}; there must be one for each of the {} observations.", name, w.aval(),
                        observations);
    if (weights == &o.fweights && !is_integer(w.dtype()))
      raise<TypeError>("[cov] fweights are {}; they say how often, and must be integers. Others are aweights.",
                       w.aval());
    out = out ? *out * abs(w) : abs(w);
  }
  return out;
}

}  // namespace

Array cov(const ArrayLike& m, const CovarianceOptions& options) {
  for (const Array* each : {&m.array(), options.y ? &*options.y : &m.array()})
    if (each->ndim() > 2)
      raise<ShapeError>("[cov] {} has more than 2 axes; rows are variables, columns observations.", each->aval());
  if (options.dtype && !is_inexact(*options.dtype))
    raise<TypeError>("[cov] the dtype {} cannot hold covariances; give a floating one.", *options.dtype);
  Arrays variables{m};
  if (options.y) variables.push_back(*options.y);
  variables = cast_all(variables, inexact_result_type(variables));
  for (Array& v : variables) v = rows_of_variables(v, options.rowvar);
  Array x = variables.size() == 1 ? variables[0] : concatenate(variables, 0);
  std::optional<Array> w = observation_weights(options, x.shape()[1]);
  if (options.dtype) {
    x = ops::cast(x, *options.dtype);
    if (w) w = ops::cast(*w, *options.dtype);
  }
  const int ddof = options.ddof.value_or(options.bias ? 0 : 1);
  if (!w) {
    const Array centered = x - mean(x, 1, true);
    const std::int64_t n = x.shape()[1] - ddof;
    return squeeze(matmul(centered, ops::conj(transpose(centered))) / (n > 0 ? Array(n) : Array(nan)));
  }
  const auto [middle, totals] = average_and_weights(x, 1, *w, true);
  const Array total = ops::reshape(ops::slice_axis(totals, 0, 0, 1), {});
  Array n = total;
  if (ddof != 0) n = options.aweights ? total - ddof * sum(*w * abs(*options.aweights)) / total : total - ddof;
  const Array centered = x - middle;
  return squeeze(matmul(centered, ops::conj(transpose(centered * *w))) / n);
}

Array corrcoef(const ArrayLike& x, const CorrelationOptions& options) {
  if (options.dtype && !is_inexact(*options.dtype))
    raise<TypeError>("[corrcoef] the dtype {} cannot hold correlations; give a floating one.", *options.dtype);
  const Array c = cov(x, {.y = options.y, .rowvar = options.rowvar, .dtype = options.dtype});
  if (c.ndim() == 0) return c / c;
  const Array deviations = sqrt(ops::real(diagonal(c)));
  const Array out = c / expand_dims(deviations, 1) / expand_dims(deviations, 0);
  if (is_complex(out.dtype())) return ops::complex(clip(ops::real(out), -1.0, 1.0), clip(ops::imag(out), -1.0, 1.0));
  return clip(out, -1.0, 1.0);
}

}  // namespace cotan::numpy
