// assume_finite leaves out products with zeros of matrices that are known, and changes nothing else.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace np = cotan::numpy;
namespace lax = cotan::lax;
using namespace cotan;

namespace {

/// -2 log likelihood of a filter with matrices that are mostly zeros, and the predicted states.
std::pair<Array, Array> filter(const Array& theta, const Array& y, std::int64_t m) {
  const DType dtype = y.dtype();
  const auto eye = [&](int diagonal) { return np::eye(m, m, diagonal, dtype); };
  const Array F = 0.9 * eye(0) + 0.1 * eye(1), H = np::eye(1, m, 0, dtype);
  const Array Q = 0.1 * eye(0) * np::exp(theta[0]), R = np::exp(theta[1]);
  const auto step = [&](const std::tuple<Array, Array, Array>& carry, const Array& seen) {
    const auto& [x, P, likelihood] = carry;
    const Array v = seen - np::matmul(H, x)[0], S = np::matmul(np::matmul(H, P), H.T())(0, 0) + R;
    const Array FP = np::matmul(F, P), K = np::matmul(FP, H.T()) / S;
    const Array next_P = np::matmul(FP, (F - np::matmul(K, H)).T()) + Q;
    return std::pair{std::tuple{np::matmul(F, x) + K(all, 0) * v, next_P, likelihood + np::log(S) + v * v / S}, x};
  };
  const auto [last, states] =
      lax::scan(step, std::tuple{np::zeros({m}, dtype), 10.0 * eye(0), np::zeros({}, dtype)}, y);
  return {std::get<2>(last), states};
}
std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}
void expect_close(const Array& a, const Array& b, double tolerance) {
  EXPECT_TRUE(bool(np::allclose(a, b, tolerance, tolerance))) << a << " and " << b;
}

}  // namespace

TEST(TrialsFinite, KalmanFilter) {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t m : {1, 2, 3, 4, 8, 9, 17}) {
      const auto f = [m](Array theta, Array y) { return filter(theta, y, m); };
      const Array theta = np::array({0.3, -0.2}, dtype), y = np::sin(np::arange(40, dtype));
      const auto [want, want_states] = jit(f)(theta, y);
      const auto [got, got_states] = jit(assume_finite(f))(theta, y);
      const double tolerance = dtype == f32 ? 2e-5 : 1e-12;
      expect_close(got, want, tolerance);
      expect_close(got_states, want_states, tolerance);
      const auto value = [&](Array t) { return f(t, y).first; };
      expect_close(jit(grad(assume_finite(value)))(theta), grad(value)(theta), tolerance * 10);
      expect_close(assume_finite(value)(theta), want, tolerance);
    }
}
TEST(TrialsFinite, OnlyOneProductIsLeft) {
  const auto f = [](Array theta, Array y) { return filter(theta, y, 4); };
  const Array theta = np::zeros({2}), y = np::zeros({10});
  EXPECT_GE(count(make_jaxpr(f)(theta, y).str(), "dot_general"), 7u);
  EXPECT_EQ(count(make_jaxpr(assume_finite(f))(theta, y).str(), "dot_general"), 1u);
}
TEST(TrialsFinite, MatricesFromOutside) {
  const Array A = np::array({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {-2.0, 0.0, 0.0}}), dense = np::ones({3, 3});
  const Array x = np::array({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  const auto left = [&](Array v) { return np::matmul(A, v); };
  const auto right = [&](Array v) { return np::matmul(v.T(), A); };
  const auto vector = [&](Array v) { return np::matmul(A[0], v); };
  expect_close(jit(assume_finite(left))(x), left(x), 0);
  expect_close(jit(assume_finite(right))(x), right(x), 0);
  expect_close(jit(assume_finite(vector))(x), vector(x), 0);
  expect_close(jit(vmap(assume_finite(left)))(np::stack({x, 2 * x})), np::stack({left(x), left(2 * x)}), 0);
  const auto nothing = [&](Array v) { return np::matmul(0 * A, v); };
  expect_close(jit(assume_finite(nothing))(x), nothing(x), 0);
  for (const auto& f : {std::function<Array(Array)>(left), {right}, {vector}, {nothing}})
    EXPECT_EQ(count(make_jaxpr(assume_finite(f))(x).str(), "dot_general"), 0u);
  // What is full stays a product.
  const auto full = [&](Array v) { return np::matmul(dense, v); };
  EXPECT_EQ(count(make_jaxpr(assume_finite(full))(x).str(), "dot_general"), 1u);
}
