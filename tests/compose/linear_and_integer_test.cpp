// Linear functions that transforms hand out, under further transforms; integer arguments and results among
// differentiated ones; custom rules that close over another transform's value.
#include <gtest/gtest.h>

#include "compose/close.hpp"

namespace compose {
namespace {

Array point() { return np::array({0.3, -0.7, 1.1}, ct::f64); }
Array slope(const Array& x) { return np::cos(x) * x + np::sin(x); }

TEST(LinearFunctions, PullbackUnderTransforms) {
  const auto [y, pull] = ct::vjp([](const Array& a) { return np::sin(a) * a; }, point());
  const Array s = slope(point()), c = np::array({1.0, 2.0, -1.0}, ct::f64);
  EXPECT_CLOSE(std::get<0>(ct::vmap(pull)(np::eye(3, std::nullopt, 0, ct::f64))), np::diag(s));
  EXPECT_CLOSE(std::get<0>(ct::jit(pull)(c)), s * c);
  const auto squared = [pull = pull](const Array& ct) { return np::sum(np::square(std::get<0>(pull(ct)))); };
  EXPECT_CLOSE(ct::grad(squared)(c), 2.0 * s * s * c);
}

TEST(LinearFunctions, LinearTransposeUnderTransforms) {
  const Array x = point(), c = np::array({1.0, 2.0, -1.0}, ct::f64);
  const auto transposed = [t = ct::linear_transpose([x](const Array& a) { return np::cumsum(a * x); }, x)](
                              const Array& ct) { return std::get<0>(t(ct)); };
  const Array want = x * np::flip(np::cumsum(np::flip(c)));
  EXPECT_CLOSE(transposed(c), want);
  EXPECT_CLOSE(ct::jit(transposed)(c), want);
  EXPECT_CLOSE(ct::vmap(transposed)(np::stack({c, 2.0 * c}))[1], 2.0 * want);
  EXPECT_CLOSE(ct::grad([&](const Array& ct) { return np::sum(transposed(ct)); })(c), np::cumsum(x));
}

TEST(Integers, AmongDifferentiatedArguments) {
  const Array x = point(), at = np::array({0, 2, 2});
  const auto f = [](const Array& a, const Array& i) { return a(i) * i.astype(ct::f64); };
  const auto [g, gi] = ct::vjp(f, x, at).second(np::ones({3}, ct::f64));
  EXPECT_CLOSE(g, np::array({0.0, 0.0, 4.0}, ct::f64));
  EXPECT_CLOSE(gi, np::zeros({3}, ct::i32));
  EXPECT_CLOSE(ct::jvp(f, std::tuple{x, at}, std::tuple{x, at}).second, f(x, at));
  EXPECT_CLOSE(ct::linearize(f, x, at).second(x, at), f(x, at));
  const auto by_lane =
      ct::vmap([](const Array& a, const Array& i) { return np::sin(a[i]); }, {.in_axes = {ct::none, 0}});
  EXPECT_CLOSE(ct::jit(ct::grad([&](const Array& a) { return np::sum(by_lane(a, at)); }))(x),
               np::array({1.0, 0.0, 2.0}, ct::f64) * np::cos(x));
  EXPECT_CLOSE(ct::grad([&](const Array& a) { return np::sum(ct::checkpoint(f)(a, at)); })(x), g);
}

TEST(Integers, AmongResults) {
  const auto f = [](const Array& a) { return std::pair{np::sin(a), np::argsort(a)}; };
  const Array x = point();
  const auto check = [&](const auto& call) {
    const auto [y, pull] = ct::vjp(call, x);
    EXPECT_CLOSE(std::get<0>(pull(std::pair{x, y.second})), np::cos(x) * x);
    const auto tangent = ct::jvp(call, std::tuple{x}, std::tuple{x}).second;
    EXPECT_CLOSE(tangent.first, np::cos(x) * x);
    EXPECT_CLOSE(tangent.second, np::zeros({3}, ct::i32));
  };
  check(f);
  check(ct::jit(f));
  check(ct::checkpoint(f));
}

TEST(Integers, ThroughCustomRules) {
  const Array x = point(), at = np::array({0, 2, 2});
  const auto pick =
      ct::custom_vjp([](const Array& a, const Array& i) { return a(i); },
                     [](const Array& a, const Array& i) { return std::pair{a(i), std::pair{a, i}}; },
                     [](const std::pair<Array, Array>& r, const Array& ct) {
                       return std::pair{np::zeros_like(r.first).at(r.second).add(2.0 * ct), np::zeros_like(r.second)};
                     });
  const Array want = np::array({2.0, 0.0, 4.0}, ct::f64);
  EXPECT_CLOSE(ct::grad([&](const Array& a) { return np::sum(pick(a, at)); })(x), want);
  EXPECT_CLOSE(ct::jit(ct::grad([&](const Array& a) { return np::sum(ct::jit(pick)(a, at)); }))(x), want);
  const auto mapped = ct::vmap(pick, {.in_axes = {ct::none, 0}});
  EXPECT_CLOSE(ct::grad([&](const Array& a) { return np::sum(mapped(a, np::stack({at, at}))); })(x), 2.0 * want);
}

TEST(Closures, CustomRulesMayCloseOverValuesOfOuterTransforms) {
  // The rule says three times the derivative, which is a itself.
  const auto f = [](const Array& a) {
    const auto rule = ct::custom_vjp([a](const Array& c) { return np::sum(a * c); },
                                     [a](const Array& c) { return std::pair{np::sum(a * c), c}; },
                                     [a](const Array&, const Array& ct) { return 3.0 * a * ct; });
    return ct::grad([rule](const Array& y) { return rule(y); })(np::ones_like(a));
  };
  const Array x = point(), batch = np::stack({x, 2.0 * x});
  EXPECT_CLOSE(f(x), 3.0 * x);
  EXPECT_CLOSE(ct::jit(f)(x), 3.0 * x);
  EXPECT_CLOSE(ct::jit(ct::vmap(f))(batch), 3.0 * batch);
  EXPECT_CLOSE(ct::jacfwd(f)(x), 3.0 * np::eye(3, std::nullopt, 0, ct::f64));
  EXPECT_CLOSE(ct::jacrev(f)(x), 3.0 * np::eye(3, std::nullopt, 0, ct::f64));
}

}  // namespace
}  // namespace compose
