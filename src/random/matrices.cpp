// Vectors and matrices that linear algebra makes of normal numbers.
#include <algorithm>
#include <cotan/linalg.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

/// A matrix whose product with its transpose is the covariance.
Array root_of_covariance(const Array& cov, CovarianceRoot method) {
  if (method == CovarianceRoot::cholesky) return linalg::cholesky(cov);
  if (method == CovarianceRoot::eigh) {
    const auto [values, vectors] = linalg::eigh(cov);
    return vectors * np::expand_dims(np::sqrt(values), -2);
  }
  const auto [u, s, vh] = linalg::svd(cov);
  return u * np::expand_dims(np::sqrt(s), -2);
}

}  // namespace

Array multivariate_normal(const ArrayLike& key, const ArrayLike& mean, const ArrayLike& cov,
                          const std::optional<Shape>& shape, std::optional<DType> dtype, CovarianceRoot method) {
  constexpr std::string_view op = "multivariate_normal";
  check_key(op, key);
  if (mean->ndim() < 1 || cov->ndim() < 2 || cov->shape(-1) != mean->shape(-1) || cov->shape(-2) != mean->shape(-1))
    raise<ShapeError>("[random.{}] mean is {} and cov {}; they must be [..., n] and [..., n, n].", op, mean->aval(),
                      cov->aval());
  const Array both[] = {mean, cov};
  const np::ResultType type{np::inexact_result_type(both).dtype, false};
  const Array mu = np::cast_to(mean, type), sigma = np::cast_to(cov, type);
  const DType drawn = dtype.value_or(mu.dtype());
  check_floating(op, key, drawn);
  const Shape mean_batch(mu.shape().begin(), mu.shape().end() - 1),
      cov_batch(sigma.shape().begin(), sigma.shape().end() - 2);
  const Shape batches[] = {mean_batch, cov_batch};
  const Shape batch = shape ? *shape : np::broadcast_shapes("random.multivariate_normal", batches);
  check_shape(op, batch);
  check_fits(op, "the batch of mean", mean_batch, batch);
  check_fits(op, "the batch of cov", cov_batch, batch);
  Shape result = batch;
  result.push_back(mu.shape(-1));
  const Array z = normal(key, result, drawn);
  return mu + np::einsum("...ij,...j->...i", {root_of_covariance(sigma, method), z});
}

Array orthogonal(const ArrayLike& key, std::int64_t n, const Shape& shape, DType dtype, std::optional<std::int64_t> m) {
  check_key("orthogonal", key);
  check_shape("orthogonal", shape);
  check_inexact("orthogonal", key, dtype);
  const std::int64_t columns = m.value_or(n);
  if (n < 0 || columns < 0)
    raise<ShapeError>("[random.orthogonal] {} rows and {} columns; give 0 or more.", n, columns);
  Shape draws = shape;
  draws.push_back(std::max(n, columns));
  draws.push_back(std::min(n, columns));
  const auto [q, r] = linalg::qr(normal(key, draws, dtype));
  // The signs, or phases, that make it uniform among all.
  const Array diagonal = np::diagonal(r, 0, -2, -1);
  const Array phases = np::where(diagonal == 0, np::ones_like(diagonal), np::sign(diagonal));
  const Array out = q * np::expand_dims(phases, -2);
  return n < columns ? np::matrix_transpose(out) : out;
}

}  // namespace cotan::random
