// cotan::scipy::linalg: factors, systems and functions of matrices.
#pragma once
#include <cotan/linalg.hpp>
#include <cotan/scipy/linalg_matrices.hpp>
#include <functional>

/// `jax.scipy.linalg`. The last two axes are a matrix, axes before them a batch; dtypes as in cotan::linalg. SciPy's
/// options that say what may be overwritten or left unchecked do not exist: nothing is, and nothing is.
///
///     namespace sl = cotan::scipy::linalg;
///     ct::Array e = sl::expm(a);
namespace cotan::scipy::linalg {

/// @name The same as in cotan::linalg
/// @{
using cotan::linalg::det;
using cotan::linalg::inv;
using cotan::linalg::svd;
/// @}

/// @name Factors
/// @{
/// Of cholesky and cho_factor.
struct CholeskyOptions {
  bool lower = false;  ///< the triangle that is read, and the factor: L Lᴴ = a, else UᴴU = a
};
/// A triangular factor of a positive definite matrix; the other triangle is zero. Upper unless told otherwise, unlike
/// cotan::linalg's.
Array cholesky(const ArrayLike& a, const CholeskyOptions& options = {});
/// What cho_solve takes.
struct CholeskyFactor {
  Array c;
  bool lower = false;
};
/// The same for cho_solve.
CholeskyFactor cho_factor(const ArrayLike& a, const CholeskyOptions& options = {});
/// What lu_solve takes: the packed factors, and which row each was exchanged with.
struct LUFactor {
  Array lu, piv;
};
/// P a = L U for lu_solve.
LUFactor lu_factor(const ArrayLike& a);
/// a = p l u; p is empty where l is already permuted.
struct PLU {
  Array p, l, u;
};
/// Of lu.
struct LUOptions {
  bool permute_l = false;  ///< p l in the place of l
};
/// a = p l u with a permutation matrix p. (JAX's is of one matrix.)
PLU lu(const ArrayLike& a, const LUOptions& options = {});
/// What was asked for of q, r and the permutation; the others are empty.
struct PivotedQR {
  Array q, r, p;
};
/// Of qr.
struct QROptions {
  std::string_view mode = "full";  ///< "full", "economic", or "r": r alone, with all its rows
  bool pivoting = false;           ///< a[:, p] = q r, where the diagonal of r does not grow
};
/// Of matrices [m, n]. q has a derivative, as has r.
PivotedQR qr(const ArrayLike& a, const QROptions& options = {});
/// What qr_multiply gives: the product, r, and the permutation where there is one.
struct QRProduct {
  Array cq, r, p;
};
/// Of qr_multiply.
struct QRMultiplyOptions {
  std::string_view mode = "right";  ///< "right": c q; "left": q c, with as many rows of c as q has columns
  bool pivoting = false;
  bool conjugate = false;  ///< with the conjugate of q
};
/// The product of `c`, a matrix or a vector, with the q of a = q r, of which there are min(m, n) columns.
QRProduct qr_multiply(const ArrayLike& a, const ArrayLike& c, const QRMultiplyOptions& options = {});
/// Of eigh.
struct EighOptions {
  bool lower = true;
  bool eigvals_only = false;  ///< eigenvectors stay empty
  int type = 1;               ///< with b: 1: a v = w b v, 2: a b v = w v, 3: b a v = w v
};
/// Ascending eigenvalues of a symmetric matrix, and their vectors in columns.
cotan::linalg::Eigh eigh(const ArrayLike& a, const EighOptions& options = {});
/// The same of a pair, of which b is positive definite (which JAX has not): vᴴ b v = 1, of type 3 vᴴ b⁻¹ v = 1.
cotan::linalg::Eigh eigh(const ArrayLike& a, const Array& b, const EighOptions& options = {});
/// Of eigh_tridiagonal.
struct EighTridiagonalOptions {
  bool eigvals_only = false;  ///< then in a time that grows with n², by bisection
  char select = 'a';          ///< 'a': all; 'i': those with the numbers of the range, first and last included
  std::optional<std::pair<int, int>> select_range = {};
  std::optional<double> tol = {};  ///< how exact values by bisection are; that of the dtype
};
/// Eigenvalues and vectors of the tridiagonal matrix with `d`, [n], on its diagonal and `e`, [n - 1], beside it: above
/// it, with its conjugate below. Both have derivatives, which in JAX are wrong or missing.
cotan::linalg::Eigh eigh_tridiagonal(const ArrayLike& d, const ArrayLike& e,
                                     const EighTridiagonalOptions& options = {});
/// Schur's form, as cotan::linalg::schur; output "complex" makes it triangular of real matrices too.
cotan::linalg::Schur schur(const ArrayLike& a, std::string_view output = "real");
/// The complex form from the real one: t becomes triangular.
cotan::linalg::Schur rsf2csf(const ArrayLike& T, const ArrayLike& Z);
/// a = q h qᴴ; q is empty unless asked for.
struct HessenbergForm {
  Array h, q;
};
/// Of hessenberg.
struct HessenbergOptions {
  bool calc_q = false;
};
/// Hessenberg's form: h is zero below the first diagonal under the main one. It has no derivative.
HessenbergForm hessenberg(const ArrayLike& a, const HessenbergOptions& options = {});
/// a = u p, or p u on the left side.
struct Polar {
  Array u, p;
};
/// Of polar.
struct PolarOptions {
  std::string_view side = "right";
  std::string_view method = "qdwh";  ///< or "svd"
  std::optional<double> eps = {};    ///< of qdwh
  std::optional<int> max_iterations = {};
};
/// A matrix with orthonormal columns (or rows, where there are more columns) and one that is positive semidefinite.
/// Both methods take either side and any shape.
Polar polar(const ArrayLike& a, const PolarOptions& options = {});
/// @}

/// @name Systems
/// @{
/// Which system: 0 or 'N': a x = b; 1 or 'T': aᵀ x = b; 2 or 'C': aᴴ x = b.
class Trans {
 public:
  Trans(int number = 0) : number_(number) {}
  Trans(char letter) : number_(letter == 'N' ? 0 : letter == 'T' ? 1 : letter == 'C' ? 2 : -1) {}
  int number() const { return number_; }  ///< -1 of a letter that is none of these

 private:
  int number_;
};
/// Of solve.
struct SolveOptions {
  bool lower = false;                 ///< with "pos": the triangle of `a` that is read
  std::string_view assume_a = "gen";  ///< "gen", "sym", "her", or "pos": positive definite, by its Cholesky factor
};
/// Solves a x = b; `b` is [n, k], or [n] for one vector.
Array solve(const ArrayLike& a, const ArrayLike& b, const SolveOptions& options = {});
/// Of solve_triangular.
struct SolveTriangularOptions {
  Trans trans = 0;
  bool lower = false, unit_diagonal = false;
};
/// The same for a triangular `a`, of which the other triangle is not read.
Array solve_triangular(const ArrayLike& a, const ArrayLike& b, const SolveTriangularOptions& options = {});
/// Solves a x = b from cho_factor(a).
Array cho_solve(const CholeskyFactor& factor, const ArrayLike& b);
/// Solves a x = b, or as `trans` says, from lu_factor(a).
Array lu_solve(const LUFactor& factor, const ArrayLike& b, Trans trans = 0);
/// Of solve_sylvester.
struct SylvesterOptions {
  std::string_view method = "schur";  ///< or "eigen", for matrices that have all eigenvectors
  double tol = 1e-8;                  ///< NaN where eigenvalues of A and -B are nearer than this
};
/// The X with A X + X B = C, of A [m, m], B [n, n], C [m, n]. (JAX's has no derivative.)
Array solve_sylvester(const ArrayLike& A, const ArrayLike& B, const ArrayLike& C, const SylvesterOptions& options = {});
/// @}

/// @name Functions of matrices
/// @{
/// Of expm.
struct ExpmOptions {
  bool upper_triangular = false;  ///< `A` is, which is faster
  int max_squarings = 16;         ///< NaN where the norm of `A` would need more
};
/// The exponential, by Padé's approximation of A / 2ˢ and s squarings.
Array expm(const ArrayLike& A, const ExpmOptions& options = {});
/// An exponential and its derivative in a direction.
struct ExpmFrechet {
  Array expm, frechet;
};
/// Of expm_frechet.
struct ExpmFrechetOptions {
  bool compute_expm = true;  ///< else it stays empty
};
/// expm(A) and its derivative in the direction E.
ExpmFrechet expm_frechet(const ArrayLike& A, const ArrayLike& E, const ExpmFrechetOptions& options = {});
/// The principal square root, complex. (JAX's has no derivative; this one's is finite where it is unique.)
Array sqrtm(const ArrayLike& A);
/// func(A), complex, by Parlett's recurrence on Schur's form: as exact as eigenvalues are apart. func maps vectors of
/// complex numbers, element by element.
Array funm(const ArrayLike& A, const std::function<Array(const Array&)>& func);
/// The same with an estimate of its error: `funm(A, func, disp=False)`.
std::pair<Array, Array> funm_with_error(const ArrayLike& A, const std::function<Array(const Array&)>& func);
/// @}

}  // namespace cotan::scipy::linalg
