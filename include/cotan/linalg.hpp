// cotan::linalg: decompositions and what is built on them. Leading axes are batch axes.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string>
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
/// a = u diag(s) vh, singular values descending. As in JAX all of u and vh by default; those of a matrix that is not
/// square have a derivative with full_matrices = false only. Without compute_uv u and vh are empty. `hermitian` says
/// that `a` is symmetric, which is faster.
SVD svd(const ArrayLike& a, bool full_matrices = true, bool compute_uv = true, bool hermitian = false);
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
/// Which norm: none, a number (np::inf too), "fro" or "nuc".
class NormOrder {
 public:
  NormOrder(None = {}) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  NormOrder(T p) : p_(static_cast<double>(p)) {}
  NormOrder(std::string_view name) : name_(name) {}
  NormOrder(const char* name) : name_(name) {}
  const std::optional<double>& p() const { return p_; }
  const std::string& name() const { return name_; }  ///< empty: p, or none

 private:
  std::optional<double> p_;
  std::string name_;
};
/// As NumPy's and JAX's: norm(a, ord, axis, keepdims). Of vectors (one axis): ord none or 2, 1, inf, -inf, 0 (how many
/// are not zero), any p. Of matrices (two axes): none or "fro", "nuc" (sum of singular values), 2 and -2 (the largest
/// and the smallest), 1 and -1, inf and -inf (of column and row sums). Without axes the array is a vector or a matrix
/// itself; with none as `ord` it may have any shape and counts as one vector.
Array norm(const ArrayLike& a, const NormOrder& ord = {}, const Axes& axis = {}, bool keepdims = false);
Array lstsq(const ArrayLike& a, const ArrayLike& b);

}  // namespace cotan::linalg
