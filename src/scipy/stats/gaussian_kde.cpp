// gaussian_kde: densities of distances that a root of the inverse covariance has made round.
#include <cotan/linalg.hpp>
#include <cotan/random.hpp>

#include "core/error.hpp"
#include "scipy/stats/derived.hpp"

namespace cotan::scipy::stats {

Array Bandwidth::factor(const gaussian_kde& kde) const {
  if (factor_) return *factor_;
  if (function_) return function_(kde);
  const auto d = static_cast<double>(kde.d());
  if (name_ == "scott") return np::power(kde.neff, -1 / (d + 4));
  if (name_ == "silverman") return np::power(kde.neff * ((d + 2) / 4), -1 / (d + 4));
  raise<ValueError>("[gaussian_kde] there is no bandwidth '{}'; use scott, silverman, a number or a function.", name_);
}

gaussian_kde::gaussian_kde(const ArrayLike& samples, const Bandwidth& bw_method,
                           const std::optional<Array>& of_samples) {
  const Array rows = np::atleast_2d(samples);
  if (rows.size() < 2)
    raise<ValueError>("[gaussian_kde] the dataset is {}; it must have several elements.", rows.aval());
  if (of_samples) {
    const auto [x, w] = promoted(rows, *of_samples);
    if (w.ndim() != 1 || w.shape()[0] != x.shape(-1))
      raise<ValueError>("[gaussian_kde] the weights are {} of a dataset {}; give a vector of one for each column.",
                        w.aval(), x.aval());
    dataset = x;
    weights = w / np::sum(w);
  } else {
    dataset = promoted(rows)[0];
    weights = np::full({dataset.shape(-1)}, 1.0 / static_cast<double>(dataset.shape(-1)), dataset.dtype());
  }
  const Array squared = np::sum(weights * weights);
  neff = 1.0 / squared;
  const Array away = dataset - np::sum(dataset * weights, 1, true);
  const Array spread = np::matmul(away * weights, np::matrix_transpose(away)) / (1.0 - squared);
  const Array factor = np::square(bw_method.factor(*this));
  covariance = spread * factor;
  inv_cov = cotan::linalg::inv(spread) / factor;
}

Array gaussian_kde::points_of(const ArrayLike& points) const {
  const Array x = np::atleast_2d(points);
  if (x.shape(0) == d()) return x;
  if (x.shape(0) == 1 && x.shape(1) == d()) return np::reshape(x, {d(), 1});
  raise<ValueError>("[gaussian_kde] the points are {} but the samples {}; give a column for each point.",
                    points->aval(), dataset.aval());
}

namespace {

/// [m, n]: the logarithm of each kernel at each point.
Array kernels(const gaussian_kde& kde, const Array& points) {
  const auto [p, samples, precision] = promoted(points, kde.dataset, kde.inv_cov);
  const Array root = np::matrix_transpose(cotan::linalg::cholesky(precision)), from = np::matmul(root, p),
              to = np::matmul(root, samples);
  const Array distance = np::expand_dims(from, -1) - np::expand_dims(to, -2);
  const Array constant =
      np::sum(np::log(np::diagonal(root))) - 0.5 * std::log(2 * np::pi) * static_cast<double>(kde.d());
  return constant - 0.5 * np::sum(distance * distance, 0);
}
/// The sum of the normal densities of the columns, of covariance L Lᵀ, with weights.
Array normal_sum(const Array& L, const Array& columns, const Array& weights) {
  const Array z = cotan::linalg::triangular_solve(L, columns, {.lower = true});
  const Array size = np::prod(np::diagonal(L)) * std::pow(2 * np::pi, 0.5 * static_cast<double>(L.shape(0)));
  return np::sum(np::exp(-0.5 * np::sum(z * z, 0)) * weights) / size;
}

}  // namespace

Array gaussian_kde::evaluate(const ArrayLike& points) const {
  return np::sum(np::exp(kernels(*this, points_of(points))) * weights, -1);
}
Array gaussian_kde::logpdf(const ArrayLike& points) const {
  return np::logsumexp(kernels(*this, points_of(points)) + np::log(weights), -1);
}
Array gaussian_kde::integrate_gaussian(const ArrayLike& mean, const ArrayLike& cov) const {
  const Array middle = np::atleast_1d(np::squeeze(mean)), spread = np::atleast_2d(cov);
  if (middle.shape() != Shape{d()} || spread.shape() != Shape{d(), d()})
    raise<ValueError>("[gaussian_kde] the mean is {} and the covariance {}; the samples have {} variables.",
                      middle.aval(), spread.aval(), d());
  // As JAX, of the upper triangle.
  return normal_sum(cotan::linalg::cholesky(np::matrix_transpose(covariance + spread), false),
                    dataset - np::expand_dims(middle, -1), weights);
}
Array gaussian_kde::integrate_box_1d(const ArrayLike& low, const ArrayLike& high) const {
  if (d() != 1) raise<ValueError>("[gaussian_kde] integrate_box_1d is for one variable; the samples have {}.", d());
  if (low->ndim() != 0 || high->ndim() != 0)
    raise<ValueError>("[gaussian_kde] the bounds are {} and {}; give scalars.", low->aval(), high->aval());
  const Array sigma = np::sqrt(covariance(0, 0)), x = dataset[0];
  return np::sum(weights * (sp::ndtr((high - x) / sigma) - sp::ndtr((low - x) / sigma)));
}
Array gaussian_kde::integrate_kde(const gaussian_kde& other) const {
  if (other.d() != d())
    raise<ValueError>("[gaussian_kde] one estimate has {} variables, the other {}; give two of as many.", d(),
                      other.d());
  const Array L = cotan::linalg::cholesky(covariance + other.covariance);
  const Array pairs = np::expand_dims(dataset, -1) - np::expand_dims(other.dataset, -2);
  return normal_sum(L, np::reshape(pairs, {d(), -1}), np::ravel(np::outer(weights, other.weights)));
}
Array gaussian_kde::resample(const ArrayLike& key, const Shape& shape) const {
  const Array keys = random::split(key);
  const Array chosen = random::choice(keys[0], dataset, shape, {.p = weights, .axis = 1});
  Shape vectors = shape;
  vectors.push_back(d());
  const Array noise = np::einsum(
      "ij,...j->...i", {cotan::linalg::cholesky(covariance), random::normal(keys[1], vectors, dataset.dtype())});
  return chosen + np::transpose(noise);
}

}  // namespace cotan::scipy::stats
