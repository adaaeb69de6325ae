// `torch.linalg`: systems, factorizations and norms of the last two axes.
#pragma once
#include <cotan/torch/reductions.hpp>
#include <cotan/torch/tensor.hpp>

namespace cotan::torch {

/// `torch.linalg`.
namespace linalg {

Tensor solve(const Input& a, const Input& b);       ///< x of a x = b; b is a vector or a matrix
Tensor inv(const Input& a);                         ///< the inverse
Tensor pinv(const Input& a);                        ///< Moore and Penrose's inverse
Tensor det(const Input& a);                         ///< the determinant
std::pair<Tensor, Tensor> slogdet(const Input& a);  ///< its sign, and the logarithm of its size
Tensor cholesky(const Input& a,
                bool upper = false);  ///< L of a = L Lᵀ, or Lᵀ; reads the lower triangle, or the upper one
std::pair<Tensor, Tensor> qr(const Input& a, std::string_view mode = "reduced");    ///< Q and R
std::tuple<Tensor, Tensor, Tensor> svd(const Input& a, bool full_matrices = true);  ///< U, S and Vᵀ
Tensor svdvals(const Input& a);                                                     ///< the singular values, falling
std::pair<Tensor, Tensor> eigh(const Input& a);  ///< rising eigenvalues and eigenvectors of a symmetric matrix
Tensor eigvalsh(const Input& a);                 ///< the eigenvalues alone
Tensor solve_triangular(const Input& a, const Input& b, bool upper, bool left = true,
                        bool unitriangular = false);  ///< solve of a triangular matrix
Tensor matrix_power(const Input& a, int n);           ///< a to the power n, also a negative one
Tensor norm(const Input& x, double ord = 2, const Dims& dims = {}, bool keepdim = false);         ///< vector_norm
Tensor vector_norm(const Input& x, double ord = 2, const Dims& dims = {}, bool keepdim = false);  ///< torch::norm
Tensor matrix_norm(const Input& x, std::string_view ord = "fro");                                 ///< "fro" or "nuc"

}  // namespace linalg

Tensor det(const Input& a);                         ///< linalg::det
Tensor logdet(const Input& a);                      ///< log(det(a)); NaN where it is negative
std::pair<Tensor, Tensor> slogdet(const Input& a);  ///< linalg::slogdet
Tensor inverse(const Input& a);                     ///< linalg::inv
Tensor cholesky(const Input& a);                    ///< linalg::cholesky
Tensor matrix_power(const Input& a, int n);         ///< linalg::matrix_power

}  // namespace cotan::torch
