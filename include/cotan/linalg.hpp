// cotan::linalg: decompositions and what is built on them. Leading axes are batch axes.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// `jax.numpy.linalg`, and of `jax.lax.linalg` and `jax.scipy.linalg` what it lacks. The last two axes are a matrix,
/// axes before them a batch. Dtypes are f32, f64, c64 and c128; integers become floats, and halves raise TypeError
/// where they would be factored. Of complex matrices what is said of a transpose is meant of its conjugate, and of
/// symmetric ones of Hermitian ones. Derivatives are there in both modes, but for what is said at svd and qr.
///
///     ct::Array L = ct::linalg::cholesky(a);
///     auto [u, s, vh] = ct::linalg::svd(a, false);
///     ct::Array x = ct::linalg::solve(a, b);
namespace cotan::linalg {

/// Lower triangular L with L Lᵀ = a (the symmetric part of a); NaN where a is not positive definite.
Array cholesky(const ArrayLike& a, bool symmetrize_input = true);
/// Of triangular_solve.
struct TriangularOptions {
  bool left_side = true;       ///< solve a x = b, else x a = b
  bool lower = false;          ///< which triangle of `a` is read
  bool transpose_a = false;    ///< solve with aᵀ
  bool unit_diagonal = false;  ///< take the diagonal for 1, whatever is there
};
/// Solves a x = b for a triangular `a`, [n, n]; `b` is [n, k], or [n] for one vector.
/// `jax.lax.linalg.triangular_solve`.
Array triangular_solve(const ArrayLike& a, const ArrayLike& b, TriangularOptions options = {});
/// P a = L U, packed; `pivots` as LAPACK gives them (from 0), `permutation` of the rows.
struct LU {
  Array lu, pivots, permutation;
};
/// P a = L U with partial pivoting, [m, n]: L below the diagonal of `lu`, whose own is 1, and U. `jax.lax.linalg.lu`.
LU lu(const ArrayLike& a);
/// q with orthonormal columns, r upper triangular.
struct QR {
  Array q, r;
};
/// a = q r: of a [m, n] with k = min(m, n), q is [m, k] and r [k, n]; with `full_matrices` q is [m, m] and r [m, n],
/// which have no derivative unless `a` is square.
QR qr(const ArrayLike& a, bool full_matrices = false);
/// Ascending eigenvalues of a symmetric matrix and their vectors in columns.
struct Eigh {
  Array eigenvalues, eigenvectors;
};
/// Of a symmetric matrix, of which one triangle is read after (a + aᵀ) / 2 unless told otherwise. `jnp.linalg.eigh`.
Eigh eigh(const ArrayLike& a, bool lower = true, bool symmetrize_input = true);
/// Its eigenvalues alone, ascending.
Array eigvalsh(const ArrayLike& a);
/// Eigenvalues in no order, and their vectors of length 1 in columns; complex.
struct Eig {
  Array eigenvalues, eigenvectors;
};
/// Of any square matrix. Vectors have no derivative. Not in WebGPU's own code: it is computed on the CPU.
/// `jnp.linalg.eig`.
Eig eig(const ArrayLike& a);
/// Its eigenvalues alone, which have a derivative where they are distinct.
Array eigvals(const ArrayLike& a);
/// Singular values [k] in `s`, k = min(m, n), with their vectors in the columns of `u` and the rows of `vh`.
struct SVD {
  Array u, s, vh;
};
/// a = u diag(s) vh, singular values descending. As in JAX all of u and vh by default; those of a matrix that is not
/// square have a derivative with full_matrices = false only. Without compute_uv u and vh are empty. `hermitian` says
/// that `a` is symmetric, which is faster.
SVD svd(const ArrayLike& a, bool full_matrices = true, bool compute_uv = true, bool hermitian = false);
/// Singular values alone, descending.
Array svdvals(const ArrayLike& a);
/// Solves a x = b; `b` is [n, k], or [n] for one vector. Where `a` is singular, infinities or NaN.
Array solve(const ArrayLike& a, const ArrayLike& b);
/// Solves a x = b for symmetric positive definite `a` by its Cholesky factor: `jax.scipy.linalg.cho_solve((c, lower),
/// b)`.
Array cho_solve(const ArrayLike& factor, const ArrayLike& b, bool lower = true);
/// The inverse.
Array inv(const ArrayLike& a);
/// The pseudoinverse, [n, m] of [m, n]; singular values up to 10 max(m, n) eps of the largest count as 0.
Array pinv(const ArrayLike& a);
/// The determinant.
Array det(const ArrayLike& a);
/// A determinant as its sign and log |det|: what overflows or underflows.
struct SignLogDet {
  Array sign, logabsdet;
};
/// sign is 0 and logabsdet -inf where `a` is singular.
SignLogDet slogdet(const ArrayLike& a);
/// a multiplied with itself n times; of a negative n its inverse; of 0 the identity.
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
  const std::optional<double>& p() const { return p_; }  ///< empty: none, or a name
  const std::string& name() const { return name_; }      ///< empty: p, or none

 private:
  std::optional<double> p_;
  std::string name_;
};
/// As NumPy's and JAX's: norm(a, ord, axis, keepdims). Of vectors (one axis): ord none or 2, 1, inf, -inf, 0 (how many
/// are not zero), any p. Of matrices (two axes): none or "fro", "nuc" (sum of singular values), 2 and -2 (the largest
/// and the smallest), 1 and -1, inf and -inf (of column and row sums). Without axes the array is a vector or a matrix
/// itself; with none as `ord` it may have any shape and counts as one vector.
Array norm(const ArrayLike& a, const NormOrder& ord = {}, const Axes& axis = {}, bool keepdims = false);
/// The x with the least |a x - b|, and of those the shortest. JAX gives residuals, rank and singular values too.
Array lstsq(const ArrayLike& a, const ArrayLike& b);

}  // namespace cotan::linalg
