// cotan::linalg: decompositions and what is built on them. Leading axes are batch axes.
#pragma once
#include <cotan/array.hpp>
#include <string_view>
#include <utility>

namespace cotan::linalg {

/// Lower triangular L with L Lᵀ = a (the symmetric part of a); NaN where a is not positive definite.
Array cholesky(const ArrayLike& a, bool symmetrize_input = true);
struct TriangularOptions {
  bool left_side = true;  ///< solve a x = b, else x a = b
  bool lower = false;     ///< which triangle of `a` is read
  bool transpose_a = false;
  bool unit_diagonal = false;
};
Array triangular_solve(const ArrayLike& a, const ArrayLike& b, TriangularOptions options = {});
/// P a = L U, packed; `pivots` as LAPACK gives them (from 0), `permutation` of the rows.
struct LU {
  Array lu, pivots, permutation;
};
LU lu(const ArrayLike& a);
struct QR {
  Array q, r;
};
QR qr(const ArrayLike& a, bool full_matrices = false);
/// Ascending eigenvalues of a symmetric matrix and their vectors in columns.
struct Eigh {
  Array eigenvalues, eigenvectors;
};
Eigh eigh(const ArrayLike& a, bool lower = true, bool symmetrize_input = true);
Array eigvalsh(const ArrayLike& a);
struct SVD {
  Array u, s, vh;
};
SVD svd(const ArrayLike& a, bool full_matrices = false);
Array svdvals(const ArrayLike& a);
Array solve(const ArrayLike& a, const ArrayLike& b);
/// Solves a x = b for symmetric positive definite `a` by its Cholesky factor.
Array cho_solve(const ArrayLike& factor, const ArrayLike& b, bool lower = true);
Array inv(const ArrayLike& a);
Array pinv(const ArrayLike& a);
Array det(const ArrayLike& a);
struct SignLogDet {
  Array sign, logabsdet;
};
SignLogDet slogdet(const ArrayLike& a);
Array matrix_power(const ArrayLike& a, int n);
/// Vector norms: ord 1, 2 (default), inf; of a matrix "fro" when axis is not given.
Array norm(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array lstsq(const ArrayLike& a, const ArrayLike& b);

}  // namespace cotan::linalg
