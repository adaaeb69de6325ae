// cotan::linalg: factors in LAPACK's forms, reductions to simpler matrices, and what is solved with them.
#pragma once
#include <cotan/array.hpp>
#include <optional>

namespace cotan::linalg {

/// @name Of jax.lax.linalg
/// Leading axes are batch axes. Halves and operands of unlike dtypes raise TypeError where LAPACK would see them.
/// @{

/// q's first columns [..., m, n], where q is the product of reflections I - taus[k] v vᴴ: v has zeros above element k,
/// 1 there, and column k of `a`, [..., m, n] with m >= n, below. `taus` is [..., k], k <= n.
Array householder_product(const ArrayLike& a, const ArrayLike& taus);
/// Of ormqr.
struct OrmqrOptions {
  bool left = true;        ///< q c, else c q
  bool transpose = false;  ///< qᴴ in place of q
};
/// q c, or as the options say, where q, [m, m], is the product of reflections that householder_product describes; it is
/// not formed. `a` is [..., m, n], taus [..., k], c has m rows, or columns.
Array ormqr(const ArrayLike& a, const ArrayLike& taus, const ArrayLike& c, const OrmqrOptions& options = {});
/// A Hessenberg matrix, on and above the first diagonal below the main one; under that the vectors of the reflections
/// that led to it, with their factors.
struct Hessenberg {
  Array a, taus;
};
/// q h qᴴ = a, where h is zero below the first diagonal under the main one: LAPACK's form. It has no derivative.
Hessenberg hessenberg(const ArrayLike& a);
/// A tridiagonal matrix: its diagonal, what is beside it, and the reflections that led to it, in LAPACK's form.
struct Tridiagonal {
  Array a, d, e, taus;
};
/// Of tridiagonal.
struct TridiagonalOptions {
  bool lower = true;  ///< the triangle of `a` that is read
};
/// q t qᴴ = a for symmetric `a`, where t is tridiagonal and real. It has no derivative.
Tridiagonal tridiagonal(const ArrayLike& a, const TridiagonalOptions& options = {});
/// Of tridiagonal_solve.
struct TridiagonalSolveOptions {
  bool perturb_singular = false;  ///< pivots that are nothing beside the matrix become eps of it, so that x is finite
};
/// x with t x = b, where t has `d` on its diagonal, `dl` below and `du` above it, all [..., n]: dl[..., 0] and the last
/// of `du` are not used. `b` is [..., n, k]. Rows are exchanged for stability. NaN or infinities where t is singular.
Array tridiagonal_solve(const ArrayLike& dl, const ArrayLike& d, const ArrayLike& du, const ArrayLike& b,
                        const TridiagonalSolveOptions& options = {});
/// q t qᴴ = a: t is upper triangular, of real matrices with blocks [2, 2] on the diagonal where eigenvalues are not
/// real.
struct Schur {
  Array t, z;
};
/// Of schur.
struct SchurOptions {
  bool compute_schur_vectors = true;  ///< else z is empty
};
/// Schur's form of square matrices; z has orthonormal columns. It has no derivative. Not in WebGPU's own code: it is
/// computed on the CPU.
Schur schur(const ArrayLike& a, const SchurOptions& options = {});
/// R' with R'ᵀ R' = Rᵀ R + w wᵀ, of upper triangular real R, [..., n, n], and w, [..., n]. (JAX's has no derivative.)
Array cholesky_update(const ArrayLike& r_matrix, const ArrayLike& w_vector);
/// The permutation, [..., permutation_size], of rows that exchanging row i and row pivots[..., i], in their order,
/// makes.
Array lu_pivots_to_permutation(const ArrayLike& pivots, std::int64_t permutation_size);
/// Of symmetric_product.
struct SymmetricProductOptions {
  double alpha = 1.0, beta = 0.0;
  bool symmetrize_output = false;  ///< the upper triangle is taken from the lower one
};
/// alpha a aᵀ + beta c, of a [..., n, k] and c [..., n, n].
Array symmetric_product(const ArrayLike& a_matrix, const ArrayLike& c_matrix,
                        const SymmetricProductOptions& options = {});
/// What qdwh gives: x = u h, how many steps that took, and whether they were enough.
struct Qdwh {
  Array u, h, num_iters, is_converged;
};
/// Of qdwh.
struct QdwhOptions {
  bool is_hermitian = false;               ///< changes nothing, as in JAX
  std::optional<int> max_iterations = {};  ///< 10
  std::optional<double> eps = {};          ///< how exact it is; that of the dtype
};
/// The polar decomposition of matrices [..., m, n], m >= n, of full rank: u has orthonormal columns and h is positive
/// definite. By Halley's iteration with weights: products, QR and Cholesky factors alone. (JAX's is of one matrix, and
/// has no reverse mode; here there is a rule, of u and h.)
Qdwh qdwh(const ArrayLike& x, const QdwhOptions& options = {});
/// @}

}  // namespace cotan::linalg
