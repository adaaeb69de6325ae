// Distributions of vectors.
#include <cotan/linalg.hpp>

#include "core/error.hpp"
#include "scipy/stats/derived.hpp"

namespace cotan::scipy::stats {

namespace dirichlet {
Array logpdf(const ArrayLike& x, const ArrayLike& alpha) {
  auto [y, a] = promoted(x, alpha);
  if (a.ndim() != 1) raise<ShapeError>("[dirichlet.logpdf] alpha is {}; it must be a vector.", a.aval());
  const std::int64_t parts = a.shape()[0];
  if (y.ndim() == 0 || (y.shape()[0] != parts && y.shape()[0] != parts - 1))
    raise<ShapeError>(
        "[dirichlet.logpdf] x is {} and alpha {}; the first axis of x has as many parts as alpha, or one less.",
        y.aval(), a.aval());
  if (y.shape()[0] != parts) y = np::concatenate({y, 1.0 - np::sum(y, 0, true)}, 0);
  const Array constant = np::sum(lax::lgamma(a)) - lax::lgamma(np::sum(a));
  Array powers = a - 1.0;
  for (int i = 1; i < y.ndim(); ++i) powers = np::expand_dims(powers, -1);
  const Array value = np::sum(sp::xlogy(powers, y), 0) - constant;
  const Array inside = np::all(y > 0.0, 0) & (np::abs(np::sum(y, 0) - 1.0) < 1e-6);
  return np::where(inside, value, -np::inf);
}
Array pdf(const ArrayLike& x, const ArrayLike& alpha) { return np::exp(logpdf(x, alpha)); }
}  // namespace dirichlet

namespace multivariate_normal {

namespace {

/// The squares of the parts of L^-1 v, summed; L is [..., n, n], v [..., n].
Array squares(const Array& L, const Array& v) {
  const std::int64_t n = L.shape().back();
  if (L.ndim() == 2) {
    const Array columns = np::matrix_transpose(np::reshape(v, {-1, n}));
    const Array z = cotan::linalg::triangular_solve(L, columns, {.lower = true});
    return np::reshape(np::sum(z * z, 0), Shape(v.shape().begin(), v.shape().end() - 1));
  }
  const Shape rows(L.shape().begin(), L.shape().end() - 1);
  Shape shape = numpy::broadcast_shapes("multivariate_normal.logpdf", std::array{rows, v.shape()});
  const Array vectors = np::expand_dims(np::broadcast_to(v, shape), -1);
  shape.push_back(n);
  const Array z = cotan::linalg::triangular_solve(np::broadcast_to(L, shape), vectors, {.lower = true});
  return np::sum(np::square(np::squeeze(z, -1)), -1);
}

}  // namespace

Array logpdf(const ArrayLike& x, const ArrayLike& mean, const ArrayLike& cov) {
  const auto [y, middle, spread] = promoted(x, mean, cov);
  const double log_turn = std::log(2 * np::pi);
  if (middle.ndim() == 0) return -0.5 * np::square(y - middle) / spread - 0.5 * (log_turn + np::log(spread));
  const std::int64_t n = middle.shape().back();
  const Array v = y - middle;
  const auto half_n = 0.5 * static_cast<double>(n);
  if (spread.ndim() == 0) return -0.5 * np::sum(v * v, -1) / spread - half_n * (log_turn + np::log(spread));
  if (spread.ndim() < 2 || spread.shape(-1) != n || spread.shape(-2) != n)
    raise<ShapeError>("[multivariate_normal.logpdf] the mean is {} but cov {}; it must be [..., {}, {}] or a number.",
                      middle.aval(), spread.aval(), n, n);
  const Array L = cotan::linalg::cholesky(spread);
  return -0.5 * squares(L, v) - half_n * log_turn - np::sum(np::log(np::diagonal(L, 0, -2, -1)), -1);
}
Array pdf(const ArrayLike& x, const ArrayLike& mean, const ArrayLike& cov) { return np::exp(logpdf(x, mean, cov)); }
}  // namespace multivariate_normal

}  // namespace cotan::scipy::stats
