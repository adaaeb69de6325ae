// Histograms: counts of elements, or of points, per bin.
#include <cotan/numpy.hpp>

#include "numpy/indexing.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// The edges of bins in the dtype of `x`, a floating one.
Array edges_of(std::string_view op, const Array& x, const Array& bins, const std::optional<HistogramRange>& range) {
  if (bins.ndim() == 1) return ops::cast(bins, x.dtype());
  if (bins.ndim() != 0 || !is_integer(bins.dtype()))
    raise<TypeError>("[{}] the bins are {}; give their number, an integer, or a vector of edges.", op, bins.aval());
  const auto count = bins.item<std::int64_t>();
  if (count < 1) raise<ValueError>("[{}] cannot make {} bins; give 1 or more.", op, count);
  const Array low = ops::cast(range ? range->first : min(x), x.dtype());
  const Array high = ops::cast(range ? range->second : max(x), x.dtype());
  const Array none = low == high;  // all elements are one: a bin around it
  return linspace(where(none, low - 0.5, low), where(none, high + 0.5, high), count + 1, true, x.dtype());
}

/// The bin of each element, 0 below the first and one more than there are above the last.
Array bin_of(const Array& x, const Array& edges) {
  const std::int64_t n = edges.size();
  const Array last = ops::reshape(ops::slice_axis(edges, 0, n - 1, n), {});
  return where(x == last, static_cast<int>(n - 1), searchsorted(edges, x, "right"));
}

}  // namespace

Array histogram_bin_edges(const ArrayLike& a, const HistogramOptions& options) {
  return edges_of("histogram_bin_edges", cast_to(a, inexact_result_type({&a.array(), 1})), options.bins, options.range);
}
Histogram histogram(const ArrayLike& a, const HistogramOptions& options) {
  Arrays operands{a};
  if (options.weights) operands.push_back(*options.weights);
  if (options.weights && options.weights->shape() != a->shape())
    raise<ShapeError>("[histogram] the weights are {} for elements {}; give one per element.", options.weights->aval(),
                      a->aval());
  operands = cast_all(operands, {inexact_result_type(operands).dtype, false});
  const Array x = ravel(operands[0]), weights = options.weights ? ravel(operands[1]) : ones(x.shape(), x.dtype());
  const Array edges = edges_of("histogram", x, options.bins, options.range);
  const Array places = ops::full({edges.size()}, scalar(x.dtype(), 0));
  Array counts = ops::slice_axis(places.at(bin_of(x, edges)).add(weights), 0, 1, edges.size());
  if (options.density) counts = counts / diff(edges) / sum(counts);
  return {counts, edges};
}

HistogramAxes histogramdd(const ArrayLike& given, const HistogramAxesOptions& options) {
  if (given->ndim() != 2)
    raise<ShapeError>("[histogramdd] the points are {}; give a matrix with a row per point.", given->aval());
  const std::int64_t points = given->shape()[0], axes = given->shape()[1];
  const auto per_axis = [&](std::size_t n, const char* what) {
    if (n > 1 && static_cast<std::int64_t>(n) != axes)
      raise<ValueError>("[histogramdd] {} {} are given for points with {} coordinates; give one for all, or one each.",
                        n, what, axes);
  };
  per_axis(options.bins.size(), "bins");
  per_axis(options.range.size(), "ranges");
  Arrays operands{given};
  if (options.weights) operands.push_back(*options.weights);
  if (options.weights && options.weights->shape() != Shape{points})
    raise<ShapeError>("[histogramdd] the weights are {} for {} points; give one per point.", options.weights->aval(),
                      points);
  operands = cast_all(operands, {inexact_result_type(operands).dtype, false});
  const Array& sample = operands[0];
  HistogramAxes out;
  Arrays bins;
  Shape sizes;
  for (std::int64_t i = 0; i < axes; ++i) {
    const auto pick = [&](const auto& list) { return list[list.size() == 1 ? 0 : static_cast<std::size_t>(i)]; };
    const Array x = ops::reshape(ops::slice_axis(sample, 1, i, i + 1), {points});
    const Array edges = edges_of("histogramdd", x, options.bins.empty() ? Array(10) : pick(options.bins),
                                 options.range.empty() ? std::nullopt : pick(options.range));
    out.edges.push_back(edges);
    bins.push_back(bin_of(x, edges));
    sizes.push_back(edges.size() + 1);
  }
  const Array cell = ravel_multi_index(bins, sizes, "clip");
  std::int64_t cells = 1;
  for (auto n : sizes) cells *= n;
  // Counts are i32, as everywhere; with weights they are of their dtype.
  const Array weights = options.weights ? operands[1] : ops::full({points}, scalar(i32, 1));
  Array counts = ops::reshape(ops::full({cells}, scalar(weights.dtype(), 0)).at(cell).add(weights), sizes);
  for (int i = 0; i < counts.ndim(); ++i) counts = ops::slice_axis(counts, i, 1, sizes[i] - 1);
  if (options.density) {
    counts = ops::cast(counts, sample.dtype());
    counts = counts / sum(counts);
    for (int i = 0; i < counts.ndim(); ++i) {
      Shape shape(sizes.size(), 1);
      shape[i] = sizes[i] - 2;
      counts = counts / ops::reshape(diff(out.edges[i]), shape);
    }
  }
  out.counts = counts;
  return out;
}
Histogram2d histogram2d(const ArrayLike& x, const ArrayLike& y, const HistogramAxesOptions& options) {
  if (x->ndim() != 1 || x->shape() != y->shape())
    raise<ShapeError>("[histogram2d] x is {} and y {}; give vectors of one length.", x->aval(), y->aval());
  const HistogramAxes out = histogramdd(stack({x, y}, 1), options);
  return {out.counts, out.edges[0], out.edges[1]};
}

}  // namespace cotan::numpy
