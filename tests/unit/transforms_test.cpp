// Transforms at their edges: branches on values, odd shapes, deep programs, saved residuals.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

#include "core/jaxpr.hpp"

namespace np = cotan::numpy;
using namespace cotan;

namespace {

using Floats = std::vector<float>;
Array v3() { return np::array({1.f, 2.f, 3.f}); }
Floats floats(const Array& a) { return a.to_vector<float>(); }
int occurrences(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST(ControlByValue, UnderGradAndJvp) {
  const auto f = [](Array x) {
    Array y = x;
    while (np::sum(y).item<float>() < 100) y = y * 2;
    return np::sum(y > 0 ? y : -y);
  };
  EXPECT_EQ(floats(grad([&](Array x) { return f(x); })(np::array(3.f))), (Floats{64}));
  EXPECT_EQ(jvp(f, std::tuple{np::array(3.f)}, std::tuple{np::array(1.f)}).second.item<float>(), 64.f);
  EXPECT_EQ(grad(grad([](Array x) { return x > 0 ? x * x * x : x; }))(np::array(2.f)).item<float>(), 12.f);
}
TEST(ControlByValue, ItemsOfInnerValues) {
  std::vector<float> seen;
  grad([&](Array x) {
    const Array y = x * x;
    seen = y.to_vector<float>();
    return np::sum(y);
  })(v3());
  EXPECT_EQ(seen, (Floats{1, 4, 9}));
}

TEST(StopGradient, IsAConstant) {
  EXPECT_EQ(floats(grad([](Array x) { return np::sum(x * stop_gradient(x)); })(v3())), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(jit(grad([](Array x) { return np::sum(x * lax::stop_gradient(x * x)); }))(v3())), (Floats{1, 4, 9}));
  const auto pair = std::pair{v3(), v3()};
  const auto g = grad([](std::pair<Array, Array> p) { return np::sum(stop_gradient(p).first * p.second); })(pair);
  EXPECT_EQ(floats(g.first), (Floats{0, 0, 0}));
  EXPECT_EQ(floats(g.second), (Floats{1, 2, 3}));
}

TEST(EvalShape, ComputesNothing) {
  const auto before = memory_stats().allocations;
  const Array s = eval_shape([](Array x) { return np::matmul(x, x.T()); })(shape_dtype({1 << 20, 1 << 20}, f64));
  EXPECT_EQ(s.aval().str(), "f64[1048576,1048576]");
  EXPECT_LT(memory_stats().allocations - before, 8u);
  const auto [a, b] = eval_shape([](Array x) { return std::pair{x > 0, np::sum(x, 0)}; })(np::ones({2, 3}));
  EXPECT_EQ(a.aval().str(), "bool[2,3]");
  EXPECT_EQ(b.aval().str(), "f32[3]");
  EXPECT_EQ(make_jaxpr([](Array x) { return x * 2; })(shape_dtype({2})).equations(), 1);
}

TEST(LinearTranspose, OfMatrixProducts) {
  const Array m = np::arange(6, f32).reshape({2, 3});
  const auto [t] = linear_transpose([&](Array x) { return np::matmul(m, x); }, np::zeros({3}))(np::array({1.f, 2.f}));
  EXPECT_EQ(floats(t), (Floats{6, 9, 12}));
  const auto [a, b] = linear_transpose([](Array x, Array y) { return 2 * x - y; }, v3(), v3())(v3());
  EXPECT_EQ(floats(a), (Floats{2, 4, 6}));
  EXPECT_EQ(floats(b), (Floats{-1, -2, -3}));
  const auto [s] = linear_transpose([](Array x) { return np::sum(x); }, shape_dtype({2}))(1.f);
  EXPECT_EQ(floats(s), (Floats{1, 1}));
}

TEST(Checkpoint, RecomputesWhatThePolicySays) {
  const auto body = [](Array x) { return np::sum(np::sin(checkpoint_name(np::matmul(np::sin(x), x), "product"))); };
  const auto products = [&](PolicyPtr policy) {
    return occurrences(
        make_jaxpr(value_and_grad(checkpoint(body, {.policy = policy})))(np::ones({2, 2})).simplified().str(),
        " dot_general[");
  };
  EXPECT_EQ(products(policy::nothing_saveable), 4);
  EXPECT_EQ(products(policy::dots_saveable), 3);
  EXPECT_EQ(products(policy::save_only_these_names({"product"})), 3);
  EXPECT_EQ(products(policy::save_only_these_names({"other"})), 4);
  EXPECT_EQ(products(policy::everything_saveable), 3);
}
TEST(Checkpoint, NamesAreTheIdentity) {
  EXPECT_EQ(floats(checkpoint_name(v3(), "x")), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(vmap(grad([](Array x) { return checkpoint_name(x * x, "y"); }))(v3())), (Floats{2, 4, 6}));
  EXPECT_EQ(floats(grad(checkpoint([](Array x) { return np::sum(x * x); }))(v3())), (Floats{2, 4, 6}));
}

TEST(DeepPrograms, TenThousandOperations) {
  constexpr int depth = 10000;
  const auto chain = [](Array x) {
    for (int i = 0; i < depth; ++i) x = x * 1.0001;
    return x;
  };
  const double want = std::pow(1.0001, depth);
  const Array x = np::array(1.0, f64);
  EXPECT_NEAR(chain(x).item<double>(), want, 1e-9);
  EXPECT_NEAR(jit(chain)(x).item<double>(), want, 1e-9);
  EXPECT_NEAR(grad(chain)(x).item<double>(), want, 1e-9);
  EXPECT_NEAR(grad(jit(chain))(x).item<double>(), want, 1e-9);
  EXPECT_NEAR(jvp(chain, std::tuple{x}, std::tuple{x}).second.item<double>(), want, 1e-9);
  EXPECT_EQ(vmap(chain)(np::ones({2}, f64)).shape(), (Shape{2}));
  EXPECT_EQ(make_jaxpr(chain)(x).equations(), depth);
}
TEST(DeepPrograms, NestedCalls) {
  std::function<Array(Array, int)> nest = [&](Array x, int depth) -> Array {
    return depth == 0 ? np::sin(x) : jit([&](Array y) { return nest(y, depth - 1) * 1; })(x);
  };
  EXPECT_NEAR(grad([&](Array x) { return nest(x, 40); })(np::array(1.f)).item<float>(), std::cos(1.f), 1e-6);
}
TEST(DeepPrograms, HighDerivatives) {
  const auto f = [](Array x) { return np::exp(x * 2); };
  EXPECT_NEAR(grad(grad(grad(grad(f))))(np::array(0.0, f64)).item<double>(), 16, 1e-12);
}

TEST(ZeroSize, ThroughTransforms) {
  const Array e = np::zeros({0, 3});
  const auto f = [](Array x) { return np::sum(np::sin(x) * x); };
  EXPECT_EQ(grad(f)(e).shape(), (Shape{0, 3}));
  EXPECT_EQ(jit(grad(f))(e).shape(), (Shape{0, 3}));
  EXPECT_EQ(jvp(f, std::tuple{e}, std::tuple{e}).second.item<float>(), 0.f);
  EXPECT_EQ(vmap(f)(e).shape(), (Shape{0}));
  EXPECT_EQ(vmap(grad(f))(e).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(f, {.in_axes = 1})(e).shape(), (Shape{3}));
  EXPECT_EQ(jacrev([](Array x) { return x * 2; })(np::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(jacfwd([](Array x) { return x * 2; })(np::zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(jacrev([](Array x) { return np::sum(x); })(np::zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(hessian(f)(e).shape(), (Shape{0, 3, 0, 3}));
  EXPECT_EQ(grad([](Array x) { return np::sum(np::matmul(x, np::ones({3, 2}))); })(e).shape(), (Shape{0, 3}));
}
TEST(ZeroDimensional, ThroughTransforms) {
  const Array s = np::array(2.f);
  EXPECT_EQ(hessian([](Array x) { return x * x * x; })(s).item<float>(), 12.f);
  EXPECT_EQ(jacfwd([](Array x) { return np::sin(x) * 0 + x; })(s).shape(), (Shape{}));
  EXPECT_EQ(floats(vmap([](Array x) { return x * x; })(v3())), (Floats{1, 4, 9}));
  EXPECT_EQ(vmap([](Array x) { return np::array({x, x * 2}); })(v3()).shape(), (Shape{3, 2}));
  EXPECT_EQ(linearize([](Array x) { return x * x; }, s).second(np::array(1.f)).item<float>(), 4.f);
}
TEST(RankNine, ThroughTransforms) {
  const Shape shape{2, 1, 2, 1, 2, 1, 2, 1, 3};
  const Array x = np::arange(48, f32).reshape(shape);
  const auto f = [](Array a) { return np::sum(np::square(np::flip(a.T(), 0)) * 0.5); };
  EXPECT_EQ(floats(jit(grad(f))(x)), floats(x));
  EXPECT_EQ(np::sum(x, {0, 2, 4, 8}).shape(), (Shape{1, 1, 1, 2, 1}));
  EXPECT_EQ(vmap([](Array a) { return a.T(); }, {.in_axes = 8, .out_axes = -1})(x).shape(),
            (Shape{1, 2, 1, 2, 1, 2, 1, 2, 3}));
  EXPECT_EQ(x(ellipsis, 2).shape(), (Shape{2, 1, 2, 1, 2, 1, 2, 1}));
  EXPECT_FALSE(to_string(x).empty());
}

TEST(Grad, AuxiliaryOutputs) {
  struct Aux {
    Array y;
    int n;
  };
  const auto f = [](Array x) { return std::pair{np::sum(x * x), Aux{x > 1, 7}}; };
  const auto [g, aux] = grad(f)(v3());
  EXPECT_EQ(floats(g), (Floats{2, 4, 6}));
  EXPECT_EQ(aux.n, 7);
  EXPECT_EQ(aux.y.to_vector<int>(), (std::vector<int>{0, 1, 1}));
  const auto [value, grads] = jit(value_and_grad(f))(v3());
  EXPECT_EQ(value.first.item<float>(), 14.f);
  EXPECT_EQ(value.second.n, 7);
}
TEST(Grad, UnusedArgumentsHaveZeroGradients) {
  const auto [a, b] = grad<0, 1>([](Array x, Array) { return np::sum(x); })(v3(), np::ones({2}));
  EXPECT_EQ(floats(a), (Floats{1, 1, 1}));
  EXPECT_EQ(floats(b), (Floats{0, 0}));
  EXPECT_EQ(floats(grad([](Array) { return Array(2.0); })(v3())), (Floats{0, 0, 0}));
}
TEST(Grad, OfNumbers) {
  EXPECT_EQ(grad([](Array x) { return x * x; })(3.0).item<float>(), 6.f);
  EXPECT_EQ(grad<1>([](int n, Array x) { return x * x * n; })(3, 2.0).item<float>(), 12.f);
}
TEST(Jvp, IntegersHaveZeroTangents) {
  const auto [y, t] =
      jvp([](Array x, Array i) { return x * i; }, std::tuple{v3(), np::arange(3)}, std::tuple{v3(), np::arange(3)});
  EXPECT_EQ(floats(t), (Floats{0, 2, 6}));
}
TEST(Vjp, PullbackMayBeCalledAgain) {
  const auto [y, pullback] = vjp([](Array a, Array b) { return a * b; }, v3(), v3() + 1);
  for (int i = 0; i < 2; ++i) {
    const auto [ca, cb] = pullback(np::ones({3}));
    EXPECT_EQ(floats(ca), (Floats{2, 3, 4}));
    EXPECT_EQ(floats(cb), (Floats{1, 2, 3}));
  }
}
TEST(CustomVjp, EmptyCotangentsAreZero) {
  const auto f =
      custom_vjp([](Array x, Array i) { return x * i; }, [](Array x, Array i) { return std::pair{x * i, i}; },
                 [](Array i, Array ct) { return std::tuple{ct * i, Array()}; });
  EXPECT_EQ(floats(grad([&](Array x) { return np::sum(f(x, np::arange(3))); })(v3())), (Floats{0, 1, 2}));
  EXPECT_EQ(floats(vmap(grad([&](Array x) { return np::sum(f(x, Array(2))); }))(v3())), (Floats{2, 2, 2}));
}
