// Matrices: what the case table cannot say, of limits, exact relations and sizes beyond its own.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cotan/cotan.hpp>

namespace {

using namespace cotan;
namespace np = cotan::numpy;
namespace sl = cotan::scipy::linalg;

/// Some matrix without structure.
Array matrix(std::int64_t m, std::int64_t n, DType dtype = f64) {
  return np::sin(np::square(np::arange(m * n, f64)) * 0.7 + 0.3).reshape({m, n}).astype(dtype);
}
double distance(const Array& a, const Array& b) { return np::max(np::abs(a - b)).item<double>(); }
Array adjoint(const Array& a) { return np::conj(np::matrix_transpose(a)); }

TEST(Linalg, EigenvaluesOfRealMatricesAreConjugatePairs) {
  const Array a = matrix(9, 9);
  const auto [w, v] = linalg::eig(a);
  const auto values = w.to_vector<std::complex<double>>();
  int pairs = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].imag() == 0) continue;
    EXPECT_EQ(values[i + 1], std::conj(values[i]));
    EXPECT_EQ(distance(v(all, static_cast<int>(i)), np::conj(v(all, static_cast<int>(i) + 1))), 0.0);
    ++i, ++pairs;
  }
  EXPECT_GT(pairs, 0);
  EXPECT_LT(distance(np::matmul(a, v), v * w), 1e-13);
  EXPECT_LT(distance(np::sort(linalg::eigvals(a)), np::sort(w)), 1e-12);
  const Array bad = linalg::eigvals(a.at(0, 0).set(NAN));
  EXPECT_TRUE(np::all(np::isnan(bad)).item<bool>());
}
TEST(Linalg, RanksAndConditionsOfSingularMatrices) {
  const Array zeros = np::zeros({3, 3});
  EXPECT_EQ(linalg::matrix_rank(zeros).item<int>(), 0);
  EXPECT_EQ(linalg::matrix_rank(np::zeros({0, 3})).item<int>(), 0);
  EXPECT_EQ(linalg::matrix_rank(np::eye(3) * np::array({1.0, 1e-3, 1e-9})).item<int>(), 2);
  EXPECT_EQ(linalg::matrix_rank(np::eye(3) * np::array({4.0, 2.0, 1.0}), {.rtol = 0.3}).item<int>(), 2);
  EXPECT_EQ(linalg::matrix_rank(np::eye(3), {.hermitian = true}).item<int>(), 3);
  for (const linalg::NormOrder& p : {linalg::NormOrder(), linalg::NormOrder(-2), linalg::NormOrder(1)})
    EXPECT_TRUE(np::isinf(linalg::cond(zeros, p)).item<bool>());
  EXPECT_TRUE(np::isnan(linalg::cond(np::full({2, 2}, NAN))).item<bool>());
  EXPECT_EQ(linalg::norm(np::zeros({0}), np::inf).item<float>(), 0.0f);
}
TEST(Linalg, LeastSquaresWithoutResidualsWhereTheRankIsNotFull) {
  const Array a = np::ones({3, 2}), b = np::arange(3, f32);
  EXPECT_EQ(linalg::lstsq(a, b, {.numpy_resid = true}).residuals.shape(), (Shape{0}));
  EXPECT_EQ(linalg::lstsq(a, b).residuals.shape(), (Shape{1}));
  EXPECT_EQ(linalg::lstsq(a, b).rank.item<int>(), 1);
  EXPECT_EQ(linalg::lstsq(matrix(3, 2), b.astype(f64), {.numpy_resid = true}).residuals.shape(), (Shape{1}));
}
TEST(Linalg, ReflectionsOfLargerMatrices) {
  for (const auto& [m, n] : {std::pair{40, 30}, {30, 30}, {130, 20}}) {
    const Array a = matrix(m, n);
    const auto [h, tau] = linalg::qr(a, "raw");
    const auto [q, r] = linalg::qr(a);
    EXPECT_LT(distance(linalg::householder_product(np::matrix_transpose(h), tau), q), 1e-12);
    const Array c = matrix(m, 4);
    const Array whole = linalg::qr(a, "complete").q;
    const Array packed = np::matrix_transpose(h);
    EXPECT_LT(distance(linalg::ormqr(packed, tau, c), np::matmul(whole, c)), 1e-12);
    EXPECT_LT(distance(linalg::ormqr(packed, tau, c, {.transpose = true}), np::matmul(whole.T(), c)), 1e-12);
  }
}
TEST(Linalg, TridiagonalSystemsThatNeedExchanges) {
  const std::int64_t n = 50;
  const Array off = np::full({n}, 3.0, f64), on = np::sin(np::arange(n, f64)) * 0.1, b = matrix(n, 2);
  const Array x = linalg::tridiagonal_solve(off, on, off, b);
  const Array whole = np::diag(on) + np::diag(off(range(0, n - 1)), 1) + np::diag(off(range(1, n)), -1);
  EXPECT_LT(distance(x, linalg::solve(whole, b)), 1e-10);
  const Array zero = np::zeros({3}, f64), ones = np::ones({3, 1}, f64);
  EXPECT_FALSE(np::any(np::isfinite(linalg::tridiagonal_solve(zero, zero, zero, ones))).item<bool>());
  EXPECT_TRUE(np::all(np::isfinite(linalg::tridiagonal_solve(zero, zero, zero, ones, {.perturb_singular = true})))
                  .item<bool>());
}
TEST(Linalg, PolarFactorsOfLargerAndHarderMatrices) {
  const Array a = matrix(30, 20) * np::logspace(0, -9, 20, true, 10.0, f64);
  const auto [u, h, steps, converged] = linalg::qdwh(a);
  EXPECT_TRUE(converged.item<bool>());
  EXPECT_LE(steps.item<int>(), 10);
  EXPECT_LT(distance(np::matmul(u.T(), u), np::eye(20, {}, 0, f64)), 1e-12);
  EXPECT_LT(distance(np::matmul(u, h), a), 1e-12);
}
TEST(ScipyLinalg, ExponentialsOfAllSizes) {
  const Array a = matrix(12, 12);
  for (double scale : {0.0, 1e-8, 1e-2, 0.3, 1.0, 4.0}) {
    const Array whole = sl::expm(a * scale), half = sl::expm(a * (0.5 * scale)), size = np::max(np::abs(whole));
    EXPECT_LT(distance(whole / size, np::matmul(half, half) / size), 1e-12) << scale;
  }
  EXPECT_EQ(distance(sl::expm(np::zeros({3, 3})), np::eye(3)), 0.0);
  EXPECT_TRUE(np::all(np::isnan(sl::expm(np::full({2, 2}, 1e9)))).item<bool>());
  EXPECT_TRUE(np::all(np::isnan(sl::expm(np::full({2, 2}, NAN)))).item<bool>());
  EXPECT_EQ(sl::expm(np::zeros({0, 0})).shape(), (Shape{0, 0}));
}
TEST(ScipyLinalg, RootsAndSylvesterOfLargerMatrices) {
  const Array a = matrix(10, 10), b = matrix(8, 8) + 12.0 * np::eye(8, {}, 0, f64), c = matrix(10, 8);
  const Array root = sl::sqrtm(a);
  EXPECT_LT(distance(np::matmul(root, root), a), 1e-10);
  EXPECT_EQ(distance(sl::sqrtm(np::zeros({2, 2})), np::zeros({2, 2})), 0.0);
  const Array x = sl::solve_sylvester(a, b, c);
  EXPECT_LT(distance(np::matmul(a, x) + np::matmul(x, b), c), 1e-11);
  const Array eye = np::eye(2);
  EXPECT_TRUE(np::all(np::isnan(sl::solve_sylvester(eye, -eye, eye))).item<bool>());
  const Array exponential = sl::funm(a, [](const Array& v) { return np::exp(v); });
  EXPECT_LT(distance(exponential, sl::expm(a)), 1e-9);
  EXPECT_LT(sl::funm_with_error(a, [](const Array& v) { return v; }).second.item<double>(), 1e-10);
}
TEST(ScipyLinalg, EigenvaluesByBisection) {
  const std::int64_t n = 60;
  const Array d = np::sin(np::arange(n, f64) * 1.3), e = np::cos(np::arange(n - 1, f64));
  const Array whole = np::diag(d) + np::diag(e, 1) + np::diag(e, -1);
  const Array w = sl::eigh_tridiagonal(d, e, {.eigvals_only = true}).eigenvalues;
  EXPECT_LT(distance(w, linalg::eigvalsh(whole)), 1e-14);
  // Of a diagonal matrix, also one with equal elements.
  const Array same = np::full({4}, 2.0, f64);
  EXPECT_LT(distance(sl::eigh_tridiagonal(same, np::zeros({3}, f64), {.eigvals_only = true}).eigenvalues, same), 1e-14);
}
TEST(ScipyLinalg, PairsOfMatrices) {
  const Array a = matrix(5, 5) + matrix(5, 5).T(), half = matrix(5, 5);
  const Array b = np::matmul(half, half.T()) + np::eye(5, {}, 0, f64);
  for (int type : {1, 2, 3})
    for (bool lower : {true, false}) {
      const auto [w, v] = sl::eigh(a, b, {.lower = lower, .type = type});
      const Array left = type == 1   ? np::matmul(a, v)
                         : type == 2 ? np::matmul(a, np::matmul(b, v))
                                     : np::matmul(b, np::matmul(a, v));
      EXPECT_LT(distance(left, type == 1 ? np::matmul(b, v) * w : v * w), 1e-12) << type;
      const Array weight = type == 3 ? linalg::inv(b) : b;
      EXPECT_LT(distance(np::matmul(adjoint(v), np::matmul(weight, v)), np::eye(5, {}, 0, f64)), 1e-11) << type;
    }
}
TEST(ScipyLinalg, IntegersAreExact) {
  const Array product = np::matmul(sl::pascal(12, "symmetric", f64), sl::invpascal(12, "symmetric", f64));
  EXPECT_EQ(distance(product, np::eye(12, {}, 0, f64)), 0.0);
  EXPECT_LT(distance(np::matmul(sl::hilbert(5, f64), sl::invhilbert(5, f64)), np::eye(5, {}, 0, f64)), 1e-10);
  EXPECT_EQ(distance(np::matmul(sl::hadamard(16), sl::hadamard(16)), 16 * np::eye(16, {}, 0, i32)), 0.0);
  EXPECT_LT(distance(np::matmul(sl::dft(7, "sqrtn", c128), adjoint(sl::dft(7, "sqrtn", c128))), np::eye(7)), 1e-6);
}

}  // namespace
