// cotan::random: vectors and matrices that linear algebra makes of normal numbers.
#pragma once
#include <cotan/random/keys.hpp>

namespace cotan::random {

/// Of multivariate_normal: which root of the covariance. Singular ones need `eigh` or `svd`.
enum class CovarianceRoot { cholesky, eigh, svd };

/// Normal vectors of mean [..., n] and covariance [..., n, n]: [shape, n], where `shape` is what the axes before
/// broadcast to unless given. The dtype is that of mean and covariance unless given. Differentiable by both.
Array multivariate_normal(const ArrayLike& key, const ArrayLike& mean, const ArrayLike& cov,
                          const std::optional<Shape>& shape = {}, std::optional<DType> dtype = {},
                          CovarianceRoot method = CovarianceRoot::cholesky);
/// Orthogonal matrices [shape, n, m], uniform among all; of complex dtypes unitary ones. Where n and m (n unless given)
/// differ, the shorter side is orthonormal.
Array orthogonal(const ArrayLike& key, std::int64_t n, const Shape& shape = {}, DType dtype = f32,
                 std::optional<std::int64_t> m = {});

}  // namespace cotan::random
