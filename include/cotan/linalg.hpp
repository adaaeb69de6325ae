// cotan::linalg: decompositions and what is built on them. Leading axes are batch axes.
#pragma once
#include <cotan/array.hpp>
#include <cotan/linalg/forms.hpp>
#include <cotan/numpy/products.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// `jax.numpy.linalg`, and of `jax.lax.linalg` what it lacks (forms.hpp). The last two axes are a matrix, axes before
/// them a batch. Dtypes are f32, f64, c64 and c128; integers become floats, and halves raise TypeError
/// where they would be factored. Of complex matrices what is said of a transpose is meant of its conjugate, and of
/// symmetric ones of Hermitian ones. Derivatives are there in both modes, but for what is said at svd and qr.
///
///     ct::Array L = ct::linalg::cholesky(a);
///     auto [u, s, vh] = ct::linalg::svd(a, false);
///     ct::Array x = ct::linalg::solve(a, b);
namespace cotan::linalg {

/// Lower triangular L with L Lᵀ = a (the symmetric part of a); NaN where a is not positive definite.
Array cholesky(const ArrayLike& a);
/// The same; symmetrize_input = false says that `a` is symmetric as it is: only its lower triangle is read.
Array cholesky(const ArrayLike& a, bool symmetrize_input);
/// Of cholesky.
struct CholeskyOptions {
  bool upper = false;  ///< Lᴴ in place of L
  bool symmetrize_input = true;
};
/// The same with options: cholesky(a, {.upper = true}).
Array cholesky(const ArrayLike& a, const CholeskyOptions& options);
/// Of triangular_solve.
struct TriangularOptions {
  bool left_side = true;       ///< solve a x = b, else x a = b
  bool lower = false;          ///< which triangle of `a` is read
  bool transpose_a = false;    ///< solve with aᵀ
  bool unit_diagonal = false;  ///< take the diagonal for 1, whatever is there
  bool conjugate_a = false;    ///< solve with the conjugate of `a`
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
/// a = q r: of a [m, n] with k = min(m, n), q is [m, k] and r [k, n]; with `full_matrices` q is [m, m] and r [m, n].
QR qr(const ArrayLike& a, bool full_matrices = false);
/// The same by mode: "reduced"; "complete", with full matrices; "r", without q; "raw", LAPACK's form, the transpose of
/// what `householder_product` takes in `q` and its factors in `r`, which have no derivative.
QR qr(const ArrayLike& a, const char* mode);
/// Ascending eigenvalues of a symmetric matrix and their vectors in columns.
struct Eigh {
  Array eigenvalues, eigenvectors;
};
/// Of a symmetric matrix, of which one triangle is read after (a + aᵀ) / 2 unless told otherwise. `jnp.linalg.eigh`.
Eigh eigh(const ArrayLike& a, bool lower = true, bool symmetrize_input = true);
/// The same with the triangle by its letter, "L" or "U".
Eigh eigh(const ArrayLike& a, const char* UPLO, bool symmetrize_input = true);
/// Its eigenvalues alone, ascending.
Array eigvalsh(const ArrayLike& a, const char* UPLO = "L", bool symmetrize_input = true);
/// Eigenvalues in no order, and their vectors of length 1 in columns; complex.
struct Eig {
  Array eigenvalues, eigenvectors;
};
/// Of any square matrix; those of a real one that are not real come in conjugate pairs. Vectors have no derivative. Not
/// in WebGPU's own code: it is computed on the CPU.
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
/// The pseudoinverse, [n, m] of [m, n]; singular values up to `rtol` of the largest count as 0: 10 max(m, n) eps unless
/// given, a number or one per matrix. `hermitian` says that `a` is symmetric, which is faster.
Array pinv(const ArrayLike& a, const std::optional<Array>& rtol = {}, bool hermitian = false);
/// The determinant.
Array det(const ArrayLike& a);
/// A determinant as its sign and log |det|: what overflows or underflows.
struct SignLogDet {
  Array sign, logabsdet;
};
/// sign is 0 and logabsdet -inf where `a` is singular. The method is "lu", or "qr" for real matrices.
SignLogDet slogdet(const ArrayLike& a, std::string_view method = "lu");
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
/// Of vector_norm.
struct VectorNormOptions {
  Axes axis = {};  ///< one axis or several, all of which make a vector; none: all
  bool keepdims = false;
  NormOrder ord = 2;
};
/// Norms of vectors, by the orders that norm has for them. Those of nothing are 0.
Array vector_norm(const ArrayLike& x, const VectorNormOptions& options = {});
/// Of matrix_norm.
struct MatrixNormOptions {
  bool keepdims = false;
  NormOrder ord = "fro";
};
/// Norms of the matrices in the last two axes, by the orders that norm has for them.
Array matrix_norm(const ArrayLike& x, const MatrixNormOptions& options = {});
/// How much a system with this matrix magnifies errors: |x| |x⁻¹| in the norm `p`. None and 2, with -2: by singular
/// values, also where `x` is not square. Infinity where `x` is singular.
Array cond(const ArrayLike& x, const NormOrder& p = {});
/// Of matrix_rank.
struct MatrixRankOptions {
  std::optional<Array> rtol = {};  ///< singular values up to this share of the largest count as 0: max(m, n) eps
  bool hermitian = false;          ///< the matrices are symmetric, which is faster
  std::optional<Array> tol = {};   ///< the same as a number, not as a share
};
/// How many singular values are not 0, as i32; of vectors and scalars 1 unless all is 0. (JAX takes `rtol` for a
/// number as well; here it is a share, as in NumPy.)
Array matrix_rank(const ArrayLike& M, const MatrixRankOptions& options = {});
/// What lstsq gives.
struct LeastSquares {
  Array x;          ///< [n], or [n, k]
  Array residuals;  ///< the squares of |a x - b|, [1] or [k]
  Array rank;       ///< of `a`
  Array s;          ///< its singular values
};
/// Of lstsq.
struct LstsqOptions {
  std::optional<double> rcond = {};  ///< singular values below this share of the largest count as 0: max(m, n) eps
  bool numpy_resid = false;          ///< no residuals where the rank is not n, or m <= n; needs values
};
/// The x with the least |a x - b|, and of those the shortest. Batches broadcast, which JAX has not.
LeastSquares lstsq(const ArrayLike& a, const ArrayLike& b, const LstsqOptions& options = {});

/// The product of matrices in the order that costs least; the first and the last may be vectors.
Array multi_dot(const ArrayList& arrays);
/// The inverse of tensordot(a, b, ind) by b, from the first `ind` axes of `a` to the others.
Array tensorinv(const ArrayLike& a, int ind = 2);
/// The x with tensordot(a, x, x.ndim()) = b; `axes` of `a` are first moved to its end.
Array tensorsolve(const ArrayLike& a, const ArrayLike& b, const std::vector<int>& axes = {});
using numpy::vecdot;

}  // namespace cotan::linalg
