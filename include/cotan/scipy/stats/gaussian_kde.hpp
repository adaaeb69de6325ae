// gaussian_kde: a density from samples.
#pragma once
#include <cotan/array.hpp>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

namespace cotan::scipy::stats {

class gaussian_kde;

/// How wide the kernels are: "scott", "silverman", a number, or a function of the estimate so far.
class Bandwidth {
 public:
  Bandwidth(const char* name = "scott") : name_(name) {}
  Bandwidth(std::string name) : name_(std::move(name)) {}
  Bandwidth(const Array& factor) : factor_(factor) {}
  Bandwidth(double factor) : factor_(Array(factor)) {}
  Bandwidth(std::function<Array(const gaussian_kde&)> function) : function_(std::move(function)) {}
  /// The factor for an estimate that has everything but its covariances.
  Array factor(const gaussian_kde& kde) const;

 private:
  std::string name_;
  std::optional<Array> factor_;
  std::function<Array(const gaussian_kde&)> function_;
};

/// A density as the mean of normal ones around the samples, the columns of `dataset` [d, n] (or [n]); with `weights`
/// [n] a weighted mean. It is a pytree. `jax.scipy.stats.gaussian_kde`.
///
///     ct::Array p = st::gaussian_kde(samples)(points);
class gaussian_kde {
 public:
  explicit gaussian_kde(const ArrayLike& dataset, const Bandwidth& bw_method = {},
                        const std::optional<Array>& weights = std::nullopt);
  std::int64_t d() const { return dataset.shape()[0]; }                         ///< how many variables there are
  std::int64_t n() const { return dataset.shape()[1]; }                         ///< how many samples there are
  Array operator()(const ArrayLike& points) const { return evaluate(points); }  ///< evaluate
  Array evaluate(const ArrayLike& points) const;  ///< the density at the columns of `points` [d, m], or [m]: [m]
  Array pdf(const ArrayLike& points) const { return evaluate(points); }  ///< the same
  Array logpdf(const ArrayLike& points) const;                           ///< its logarithm
  /// The integral of the density times that of a normal distribution.
  Array integrate_gaussian(const ArrayLike& mean, const ArrayLike& cov) const;
  Array integrate_box_1d(const ArrayLike& low,
                         const ArrayLike& high) const;   ///< the probability of [low, high]; d is 1
  Array integrate_kde(const gaussian_kde& other) const;  ///< the integral of the product of both
  /// Samples of the estimated distribution: [d, shape...].
  Array resample(const ArrayLike& key, const Shape& shape = {}) const;

  /// How many samples the weights amount to, the samples, their weights, the covariance of a kernel and its inverse.
  Array neff, dataset, weights, covariance, inv_cov;

  /// The parts as a pytree.
  auto tree_fields() const { return std::tie(neff, dataset, weights, covariance, inv_cov); }

 private:
  Array points_of(const ArrayLike& points) const;
};

}  // namespace cotan::scipy::stats
