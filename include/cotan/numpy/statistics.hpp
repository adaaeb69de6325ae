// Order statistics, averages, covariances, histograms, differences and integrals.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cotan::numpy {

/// @name Order statistics
/// Of an axis, several, or all elements; integers become floats. Lines with a NaN are NaN, but for the functions whose
/// names begin with nan, which pass over it.
/// @{
/// Of quantile, percentile and their kin. Methods are "linear", "lower", "higher", "midpoint", "nearest" and
/// "inverted_cdf", the only one that takes weights: as many as elements, or as along the axes.
struct QuantileOptions {
  Axes axis = {};
  std::string_view method = "linear";
  bool keepdims = false;
  std::optional<Array> weights = {};
};
/// The middle element of each line, or the mean of the two in the middle.
Array median(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// As median.
Array nanmedian(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
/// The quantiles `q` in [0, 1], a scalar or a vector, by linear interpolation; those of a vector are along a new first
/// axis.
Array quantile(const ArrayLike& a, const ArrayLike& q, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = QuantileOptions>
Array quantile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options);
/// As quantile.
Array nanquantile(const ArrayLike& a, const ArrayLike& q, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = QuantileOptions>
Array nanquantile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options);
/// As quantile, of `q` in [0, 100].
Array percentile(const ArrayLike& a, const ArrayLike& q, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = QuantileOptions>
Array percentile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options);
/// As percentile.
Array nanpercentile(const ArrayLike& a, const ArrayLike& q, const Axes& axis = {}, bool keepdims = false);
/// The same with options.
template <class Options = QuantileOptions>
Array nanpercentile(const ArrayLike& a, const ArrayLike& q, const std::type_identity_t<Options>& options);
/// @}

/// @name Averages and covariances
/// @{
/// The mean, or sum(a · weights) / sum(weights): weights as `a`, or one per index of `axis`.
Array average(const ArrayLike& a, const Axes& axis = {}, const std::optional<Array>& weights = std::nullopt,
              bool keepdims = false);
/// The same and the sums of the weights: `jnp.average(…, returned=True)`.
std::pair<Array, Array> average_and_weights(const ArrayLike& a, const Axes& axis = {},
                                            const std::optional<Array>& weights = std::nullopt, bool keepdims = false);
/// Of cov.
struct CovarianceOptions {
  std::optional<Array> y = {};         ///< further variables
  bool rowvar = true;                  ///< variables are rows; else columns
  bool bias = false;                   ///< divided by n, not n - 1
  std::optional<int> ddof = {};        ///< divided by n - ddof
  std::optional<Array> fweights = {};  ///< integers: how often each observation counts
  std::optional<Array> aweights = {};  ///< how much each observation counts
  std::optional<DType> dtype = {};
};
/// Covariances of variables in rows, observations in columns: divided by n - 1. A vector is one variable.
Array cov(const ArrayLike& m, const CovarianceOptions& options = {});
/// Of corrcoef, as of cov.
struct CorrelationOptions {
  std::optional<Array> y = {};
  bool rowvar = true;
  std::optional<DType> dtype = {};
};
/// Correlations of variables in rows, in [-1, 1].
Array corrcoef(const ArrayLike& x, const CorrelationOptions& options = {});
/// @}

/// @name Histograms
/// The last bin has its upper edge too, the others only their lower one; what is outside counts nowhere.
/// @{
/// Two numbers: where bins begin and end.
using HistogramRange = std::pair<Array, Array>;
/// Of histogram.
struct HistogramOptions {
  Array bins = 10;                           ///< how many, or a vector of their edges
  std::optional<HistogramRange> range = {};  ///< by default from the smallest to the largest element
  std::optional<Array> weights = {};         ///< by which each element counts
  bool density = false;                      ///< the integral over all bins becomes 1
};
/// Counts, as floats, and the edges of the bins.
struct Histogram {
  Array counts, edges;
};
/// How many elements are in each bin.
Histogram histogram(const ArrayLike& a, const HistogramOptions& options = {});
/// The edges alone.
Array histogram_bin_edges(const ArrayLike& a, const HistogramOptions& options = {});
/// Of histogram2d and histogramdd; `bins` and `range` are for all axes, or one per axis.
struct HistogramAxesOptions {
  std::vector<Array> bins = {};  ///< 10 each by default
  std::vector<std::optional<HistogramRange>> range = {};
  std::optional<Array> weights = {};
  bool density = false;
};
/// Counts per pair of bins, shape [x bins, y bins], and the edges.
struct Histogram2d {
  Array counts, x_edges, y_edges;
};
/// How many points (x, y) are in each cell.
Histogram2d histogram2d(const ArrayLike& x, const ArrayLike& y, const HistogramAxesOptions& options = {});
/// Counts with an axis per coordinate, and the edges along each.
struct HistogramAxes {
  Array counts;
  std::vector<Array> edges;
};
/// How many of the points, rows of `sample`, are in each cell.
HistogramAxes histogramdd(const ArrayLike& sample, const HistogramAxesOptions& options = {});
/// @}

/// @name Differences and integrals
/// @{
/// Differences of neighbours along an axis, `n` times: each time it is shorter by one. Of bool: whether they differ.
Array diff(const ArrayLike& a, int n = 1, int axis = -1);
/// Of diff: what is joined to the axis first, arrays or a scalar.
struct DiffOptions {
  int n = 1;
  int axis = -1;
  std::optional<Array> prepend = {};
  std::optional<Array> append = {};
};
/// The same with options.
Array diff(const ArrayLike& a, const DiffOptions& options);
/// Differences of neighbours of the flattened array, with what is to stand around them.
Array ediff1d(const ArrayLike& a, const std::optional<Array>& to_end = std::nullopt,
              const std::optional<Array>& to_begin = std::nullopt);
/// Derivatives along each axis by central differences, at the ends by one-sided ones. `spacing`: none for 1, one scalar
/// for all axes, or per axis a scalar or the coordinates of its points.
std::vector<Array> gradient(const ArrayLike& f, const ArrayList& spacing = {}, const Axes& axis = {});
/// That along one axis.
Array gradient(const ArrayLike& f, const ArrayLike& spacing, int axis);
/// The integral of points `dx` apart along an axis, by the trapezoidal rule.
Array trapezoid(const ArrayLike& y, double dx = 1.0, int axis = -1);
/// Of trapezoid.
struct TrapezoidOptions {
  std::optional<Array> x = {};  ///< where the points are: a vector, or as y
  Array dx = 1.0;               ///< distances, where there is no x
  int axis = -1;
};
/// The same with options.
Array trapezoid(const ArrayLike& y, const TrapezoidOptions& options);
/// @}

}  // namespace cotan::numpy
