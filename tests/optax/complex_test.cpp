// Complex leaves: conjugates and real parts of trees.
#include <gtest/gtest.h>

#include "optax/problem.hpp"
#include "support/expect_error.hpp"

namespace problem {

namespace tu = optax::tree_utils;
namespace lax = cotan::lax;

TEST(OptaxComplex, TreesOfParts) {
  const std::vector<Array> x{lax::complex(np::array({1.0, 2.0}), np::array({3.0, -4.0})), np::array({5.0})};
  EXPECT_TRUE(np::array_equal(tu::tree_conj(x)[0], np::conj(x[0])));
  EXPECT_TRUE(np::array_equal(tu::tree_conj(x)[1], x[1]));
  EXPECT_TRUE(np::array_equal(tu::tree_real(x)[0], np::array({1.0, 2.0})));
  EXPECT_EQ(tu::tree_real(x)[0].dtype(), ct::f32);
}

// f(z) = |z - c|^4 summed over two leaves, of which one is complex.
struct Point {
  Array z, x;
};
Array distance(const Point& p) {
  const Array c = lax::complex(np::array({1.0, -2.0}, ct::f64), np::array({0.5, 3.0}, ct::f64));
  return np::sum(np::square(np::square(np::abs(p.z - c)))) + np::sum(np::square(p.x - 3.0));
}

TEST(OptaxComplex, LeavesAreSplit) {
  const auto inner = optax::chain(optax::clip_by_global_norm(5.0), optax::adam({.learning_rate = 0.05}));
  const auto whole = optax::chain(optax::contrib::split_real_and_imaginary(inner), optax::scale(0.5));
  using Parts = std::vector<Array>;
  Point p{np::zeros({2}, ct::c128), np::zeros({3}, ct::f64)};
  Parts parts{np::zeros({2}, ct::f64), np::zeros({2}, ct::f64), np::zeros({3}, ct::f64)};
  const auto of_parts = [](const Parts& q) { return distance({lax::complex(q[0], q[1]), q[2]}); };
  auto state = whole.init(p);
  auto parts_state = inner.init(parts);
  const auto step = ct::jit([&](const Point& at, const optax::State& s) {
    auto [updates, next] = whole.update(tu::tree_conj(ct::grad(distance)(at)), s, at);
    return std::pair{optax::apply_updates(at, updates), next};
  });
  for (int i = 0; i < 20; ++i) {
    std::tie(p, state) = step(p, state);
    auto [updates, next] = inner.update(ct::grad(of_parts)(parts), parts_state, parts);
    parts = optax::apply_updates(parts, tu::tree_scale(0.5, updates));
    parts_state = next;
  }
  EXPECT_TRUE(np::allclose(np::real(p.z), parts[0], 1e-12, 1e-14).item<bool>());
  EXPECT_TRUE(np::allclose(np::imag(p.z), parts[1], 1e-12, 1e-14).item<bool>());
  EXPECT_TRUE(np::allclose(p.x, parts[2], 1e-12, 1e-14).item<bool>());
  EXPECT_GT(np::max(np::abs(p.z)).item<double>(), 0.1);
  EXPECT_EQ(p.z.dtype(), ct::c128);
  EXPECT_ERROR(TypeError, inner.init(p), "split_real_and_imaginary");
}

TEST(OptaxComplex, StepsAndMomentumNeedNoSplit) {
  Point p{np::zeros({2}, ct::c128), np::zeros({3}, ct::f64)};
  const auto sgd = optax::sgd({.learning_rate = 0.001, .momentum = 0.5});
  auto state = sgd.init(p);
  const double before = distance(p).item<double>();
  for (int i = 0; i < 50; ++i) {
    auto [updates, next] = sgd.update(tu::tree_conj(ct::grad(distance)(p)), state, p);
    p = optax::apply_updates(p, updates);
    state = next;
  }
  EXPECT_LT(distance(p).item<double>(), 0.1 * before);
}

}  // namespace problem
