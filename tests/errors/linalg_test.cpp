// Errors of numpy.linalg's, lax.linalg's and scipy.linalg's functions beside decompositions.
#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace sl = cotan::scipy::linalg;

Array matrix(std::int64_t m, std::int64_t n, DType dtype = f32) { return np::ones({m, n}, dtype); }
Array vector(std::int64_t n) { return np::ones({n}); }

TEST(LinalgMoreErrors, NormsAndRanks) {
  EXPECT_ERROR(ValueError, linalg::vector_norm(vector(2), {.ord = "fro"}), "[norm] the order 'fro' is one of matrices");
  EXPECT_ERROR(ShapeError, linalg::matrix_norm(vector(2)), "[matrix_norm] needs matrices, got f32[2]");
  EXPECT_ERROR(ShapeError, linalg::cond(vector(2)), "[cond] needs matrices, got f32[2]");
  EXPECT_ERROR(ShapeError, linalg::cond(matrix(2, 3), 1), "[cond] needs square matrices, got f32[2,3]");
  EXPECT_ERROR(ShapeError, linalg::cond(matrix(0, 0)), "[cond] f32[0,0] has no elements");
  EXPECT_ERROR(ValueError, linalg::matrix_rank(matrix(2, 2), {.rtol = 0.1, .tol = 0.1}), "[matrix_rank] rtol and tol");
  EXPECT_ERROR(ValueError, linalg::slogdet(matrix(3, 3), "svd"), "[slogdet] there is no method 'svd'");
  EXPECT_ERROR(TypeError, linalg::slogdet(matrix(3, 3, c64), "qr"), "[slogdet] the method \"qr\" is for real matrices");
}
TEST(LinalgMoreErrors, ModesAndTriangles) {
  EXPECT_ERROR(ValueError, linalg::qr(matrix(2, 2), "half"), "[qr] there is no mode 'half'");
  EXPECT_ERROR(ValueError, linalg::eigh(matrix(2, 2), "X"), "[eigh] there is no triangle 'X'; use \"L\" or \"U\".");
  EXPECT_ERROR(ValueError, linalg::eigvalsh(matrix(2, 2), "X"), "[eigvalsh] there is no triangle 'X'");
}
TEST(LinalgMoreErrors, Tensors) {
  EXPECT_ERROR(ValueError, linalg::multi_dot({vector(2)}), "[multi_dot] got 1 arrays; give at least two.");
  EXPECT_ERROR(ShapeError, linalg::multi_dot({matrix(2, 3), vector(3), matrix(3, 2)}), "[multi_dot] array 1 is f32[3]");
  EXPECT_ERROR(ShapeError, linalg::multi_dot({matrix(2, 3), matrix(2, 3)}), "f32[2,3] and f32[2,3]; the columns");
  EXPECT_ERROR(ValueError, linalg::tensorinv(matrix(2, 2), 0), "[tensorinv] ind is 0");
  EXPECT_ERROR(ShapeError, linalg::tensorinv(matrix(2, 3), 1), "[tensorinv] f32[2,3] has 2 elements");
  EXPECT_ERROR(ShapeError, linalg::tensorsolve(matrix(2, 3), vector(3)), "[tensorsolve] f32[2,3] does not begin");
  EXPECT_ERROR(ShapeError, linalg::tensorsolve(matrix(2, 3), vector(2)), "[tensorsolve] f32[2,3] has 3 unknowns");
}
TEST(LinalgMoreErrors, Forms) {
  EXPECT_ERROR(ShapeError, linalg::householder_product(matrix(2, 3), vector(2)), "[householder_product]", "f32[2,3]");
  EXPECT_ERROR(ShapeError, linalg::householder_product(vector(2), vector(2)), "[householder_product] operand 0");
  EXPECT_ERROR(ShapeError, linalg::ormqr(matrix(3, 2), vector(2), matrix(2, 2)), "[ormqr]", "c needs 3 rows");
  EXPECT_ERROR(ShapeError, linalg::ormqr(matrix(3, 2), vector(3), matrix(3, 2)), "[ormqr] f32[3,2] has no 3");
  EXPECT_ERROR(ShapeError, linalg::hessenberg(matrix(2, 3)), "[hessenberg] needs square matrices");
  EXPECT_ERROR(ShapeError, linalg::tridiagonal(matrix(0, 0)), "[tridiagonal] got f32[0,0]");
  EXPECT_ERROR(ShapeError, linalg::schur(matrix(2, 3)), "[schur] needs square matrices");
  EXPECT_ERROR(TypeError, linalg::schur(matrix(2, 2, f16)), "[schur] needs f32, f64 or complex numbers, got f16");
  EXPECT_ERROR(ShapeError, linalg::qdwh(matrix(2, 3)), "[qdwh] f32[2,3] has more columns than rows");
  EXPECT_ERROR(ShapeError, linalg::cholesky_update(matrix(2, 2), vector(3)), "[cholesky_update]", "w needs 2 elements");
  EXPECT_ERROR(TypeError, linalg::cholesky_update(matrix(2, 2, c64), vector(2)), "[cholesky_update]", "c64");
  EXPECT_ERROR(ShapeError, linalg::symmetric_product(matrix(2, 3), matrix(3, 3)), "[symmetric_product]", "c needs 2");
  EXPECT_ERROR(TypeError, linalg::lu_pivots_to_permutation(vector(2), 3),
               "[lu_pivots_to_permutation] pivots are f32[2]");
  EXPECT_ERROR(ShapeError, linalg::lu_pivots_to_permutation(np::zeros({3}, i32), 2), "are no pivots of 2 rows");
  EXPECT_ERROR(ShapeError, linalg::tridiagonal_solve(vector(3), vector(2), vector(3), matrix(3, 1)),
               "[tridiagonal_solve] the diagonals are f32[3], f32[2] and f32[3]");
  EXPECT_ERROR(ShapeError, linalg::tridiagonal_solve(vector(3), vector(3), vector(3), vector(3)),
               "[tridiagonal_solve] f32[3] and f32[3] do not fit");
}
TEST(LinalgMoreErrors, NoDerivatives) {
  const auto of = [](Array (*f)(const Array&)) { return [f](Array a) { return np::sum(f(a)); }; };
  const Array a = matrix(2, 2);
  EXPECT_ERROR(TransformError, grad(of([](const Array& x) { return linalg::schur(x).t; }))(a),
               "schur has no derivative rule");
  EXPECT_ERROR(TransformError, grad(of([](const Array& x) { return linalg::hessenberg(x).a; }))(a),
               "hessenberg has no derivative rule");
  EXPECT_ERROR(TransformError, grad(of([](const Array& x) { return linalg::tridiagonal(x).d; }))(a),
               "tridiagonal has no derivative rule");
  EXPECT_ERROR(TransformError, grad(of([](const Array& x) { return linalg::qr(x, "raw").q; }))(a),
               "geqrf has no derivative rule");
}

TEST(ScipyLinalgErrors, Factors) {
  EXPECT_ERROR(ShapeError, sl::cholesky(matrix(2, 3)), "[cholesky] needs square matrices");
  EXPECT_ERROR(ValueError, sl::qr(matrix(2, 2), {.mode = "reduced"}), "[qr] there is no mode 'reduced'");
  EXPECT_ERROR(ValueError, sl::qr_multiply(matrix(2, 2), matrix(2, 2), {.mode = "up"}),
               "[qr_multiply] there is no mode");
  EXPECT_ERROR(ShapeError, sl::qr_multiply(matrix(3, 2), matrix(2, 2)), "[qr_multiply]", "q has 3 rows");
  EXPECT_ERROR(ShapeError, sl::qr_multiply(matrix(3, 2), matrix(3, 2), {.mode = "left"}), "q has 2 columns");
  EXPECT_ERROR(ValueError, sl::eigh(matrix(2, 2), {.type = 2}), "[eigh] type 2 is one of pairs");
  EXPECT_ERROR(ValueError, sl::eigh(matrix(2, 2), matrix(2, 2), {.type = 4}), "[eigh] there is no type 4");
  EXPECT_ERROR(ShapeError, sl::eigh(matrix(2, 2), matrix(3, 3)), "[eigh] f32[2,2] and f32[3,3] differ");
  EXPECT_ERROR(ValueError, sl::schur(matrix(2, 2), "both"), "[schur] there is no output 'both'");
  EXPECT_ERROR(ShapeError, sl::rsf2csf(matrix(2, 2), matrix(3, 3)), "[rsf2csf] f32[2,2] and f32[3,3] do not fit");
  EXPECT_ERROR(ValueError, sl::polar(matrix(2, 2), {.side = "up"}), "[polar] there is no side 'up'");
  EXPECT_ERROR(ValueError, sl::polar(matrix(2, 2), {.method = "qr"}), "[polar] there is no method 'qr'");
  EXPECT_ERROR(ShapeError, sl::eigh_tridiagonal(vector(3), vector(3)), "[eigh_tridiagonal] the diagonals are");
  EXPECT_ERROR(ValueError, sl::eigh_tridiagonal(vector(3), vector(2), {.select = 'v'}), "there is no selection 'v'");
  EXPECT_ERROR(ValueError, sl::eigh_tridiagonal(vector(3), vector(2), {.select = 'i'}), "needs a select_range");
  EXPECT_ERROR(ValueError, sl::eigh_tridiagonal(vector(3), vector(2), {.select = 'i', .select_range = std::pair{1, 3}}),
               "[eigh_tridiagonal] the range 1 to 3 is not inside 0 to 2");
}
TEST(ScipyLinalgErrors, SystemsAndFunctions) {
  EXPECT_ERROR(ValueError, sl::solve(matrix(2, 2), vector(2), {.assume_a = "band"}), "[solve] nothing is known of");
  EXPECT_ERROR(ValueError, sl::solve_triangular(matrix(2, 2), vector(2), {.trans = 'X'}), "[solve_triangular]");
  EXPECT_ERROR(ShapeError, sl::solve_triangular(matrix(2, 2), vector(3)), "[solve_triangular]", "b needs 2 rows");
  EXPECT_ERROR(ValueError, sl::lu_solve(sl::lu_factor(matrix(2, 2)), vector(2), 3), "[lu_solve] there is no system");
  EXPECT_ERROR(ShapeError, sl::solve_sylvester(matrix(2, 2), matrix(3, 3), matrix(3, 2)), "[solve_sylvester]",
               "do not fit");
  EXPECT_ERROR(ValueError, sl::solve_sylvester(matrix(2, 2), matrix(2, 2), matrix(2, 2), {.method = "lu"}),
               "[solve_sylvester] there is no method 'lu'");
  EXPECT_ERROR(ShapeError, sl::expm(matrix(2, 3)), "[expm] needs square matrices");
  EXPECT_ERROR(ValueError, sl::expm(matrix(2, 2), {.max_squarings = -1}), "[expm] max_squarings is -1");
  EXPECT_ERROR(ShapeError, sl::expm_frechet(matrix(2, 2), matrix(3, 3)), "[expm_frechet] f32[2,2] and f32[3,3] differ");
  EXPECT_ERROR(ShapeError, sl::sqrtm(vector(2)), "[sqrtm] needs matrices");
  const auto sum = [](const Array& v) { return np::sum(v); };
  EXPECT_ERROR(ShapeError, sl::funm(matrix(2, 2), sum), "[funm] func made c64[] of c64[2]");
}
TEST(ScipyLinalgErrors, SpecialMatrices) {
  EXPECT_ERROR(ShapeError, sl::hankel(1.0), "[hankel] the column f32[]");
  EXPECT_ERROR(ShapeError, sl::leslie(vector(1), vector(1)), "[leslie] f32[1] is too short");
  EXPECT_ERROR(ShapeError, sl::leslie(vector(3), vector(3)), "[leslie] f32[3] and f32[3] do not fit");
  EXPECT_ERROR(ShapeError, sl::companion(vector(1)), "[companion] f32[1] is too short");
  EXPECT_ERROR(ShapeError, sl::fiedler_companion(vector(0)), "[fiedler_companion] f32[0] is too short");
  EXPECT_ERROR(ValueError, sl::convolution_matrix(vector(2), 0), "[convolution_matrix] n is 0");
  EXPECT_ERROR(ValueError, sl::convolution_matrix(vector(2), 2, "half"),
               "[convolution_matrix] there is no mode 'half'");
  EXPECT_ERROR(ShapeError, sl::block_diag({np::ones({1, 1, 1})}), "[block_diag] got f32[1,1,1]");
  EXPECT_ERROR(ValueError, sl::hilbert(-1), "[hilbert] cannot make a matrix of size -1");
  EXPECT_ERROR(ValueError, sl::pascal(2, "left"), "[pascal] there is no kind 'left'");
  EXPECT_ERROR(ValueError, sl::helmert(0), "[helmert] cannot make a matrix of size 0; give 1 or more.");
  EXPECT_ERROR(ValueError, sl::hadamard(3), "[hadamard] the size 3 is no power of 2");
  EXPECT_ERROR(TypeError, sl::hadamard(2, u8), "[hadamard] u8 cannot hold -1");
  EXPECT_ERROR(ValueError, sl::dft(2, "half"), "[dft] there is no scale 'half'");
  EXPECT_ERROR(TypeError, sl::dft(2, {}, f32), "[dft] f32 cannot hold roots of unity");
}

}  // namespace
