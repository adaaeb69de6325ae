// custom_jvp and custom_vjp under every transform. The rules here are visibly not the true derivative, so
// that a transform which forgets the rule gives another number.
#include <gtest/gtest.h>

#include "compose/close.hpp"
#include "support/expect_error.hpp"

namespace compose {
namespace {

const Array x3 = np::array({0.3, -0.7, 1.1}, ct::f64);

/// sin(x), whose rule says 3 cos(x).
const auto tripled =
    ct::custom_jvp([](const Array& x) { return np::sin(x); },
                   [](const std::tuple<Array>& x, const std::tuple<Array>& t) {
                     return std::pair{np::sin(std::get<0>(x)), 3.0 * np::cos(std::get<0>(x)) * std::get<0>(t)};
                   });
/// x y², whose rule says (5 y², 7 x y).
const auto skewed = ct::custom_vjp([](const Array& x, const Array& y) { return x * y * y; },
                                   [](const Array& x, const Array& y) { return std::pair{x * y * y, std::pair{x, y}}; },
                                   [](const std::pair<Array, Array>& r, const Array& ct) {
                                     const auto& [x, y] = r;
                                     return std::pair{5.0 * y * y * ct, 7.0 * x * y * ct};
                                   });

TEST(CustomJvp, UnderEveryTransform) {
  const auto f = [](const Array& x) { return np::sum(tripled(x)); };
  const Array want = 3.0 * np::cos(x3);
  EXPECT_CLOSE(tripled(x3), np::sin(x3));
  EXPECT_CLOSE(ct::jit(tripled)(x3), np::sin(x3));
  EXPECT_CLOSE(ct::vmap(tripled)(x3), np::sin(x3));
  EXPECT_CLOSE(ct::grad(f)(x3), want);
  EXPECT_CLOSE(ct::jit(ct::grad(f))(x3), want);
  EXPECT_CLOSE(ct::grad(ct::jit(f))(x3), want);
  EXPECT_CLOSE(ct::vmap(ct::grad([](const Array& x) { return tripled(x); }))(x3), want);
  EXPECT_CLOSE(ct::grad([](const Array& x) { return np::sum(ct::vmap(tripled)(x)); })(x3), want);
  EXPECT_CLOSE(ct::grad([](const Array& x) { return np::sum(ct::jit(ct::vmap(tripled))(x)); })(x3), want);
  EXPECT_CLOSE(ct::jit(ct::vmap(ct::grad(ct::jit([](const Array& x) { return tripled(x); }))))(x3), want);
  EXPECT_CLOSE(ct::jvp(tripled, std::tuple{x3}, std::tuple{x3}).second, want * x3);
  EXPECT_CLOSE(ct::linearize(tripled, x3).second(x3), want * x3);
  EXPECT_CLOSE(std::get<0>(ct::vjp(tripled, x3).second(x3)), want * x3);
  EXPECT_CLOSE(ct::jacfwd(tripled)(x3), np::diag(want));
  EXPECT_CLOSE(ct::jacrev(tripled)(x3), np::diag(want));
  EXPECT_CLOSE(ct::grad(ct::checkpoint(f))(x3), want);
  EXPECT_CLOSE(ct::jit(ct::grad(ct::checkpoint(ct::jit(f))))(x3), want);
}

TEST(CustomJvp, TheRuleItselfIsDifferentiated) {
  const auto f = [](const Array& x) { return np::sum(tripled(x)); };
  const Array want = -3.0 * np::sin(x3);
  EXPECT_CLOSE(ct::grad([&](const Array& x) { return np::sum(ct::grad(f)(x)); })(x3), want);
  EXPECT_CLOSE(ct::hessian(f)(x3), np::diag(want));
  EXPECT_CLOSE(ct::jacrev(ct::jacfwd(f))(x3), np::diag(want));
  EXPECT_CLOSE(ct::jit(ct::hessian(ct::jit(f)))(x3), np::diag(want));
  EXPECT_CLOSE(ct::vmap(ct::hessian([](const Array& x) { return tripled(x); }))(x3), want);
}

TEST(CustomJvp, SeveralArgumentsOutputsAndTrees) {
  using Pair = std::pair<Array, Array>;
  const auto f =
      ct::custom_jvp([](const Array& x, const Pair& p) { return Pair{x * p.first, p.second}; },
                     [](const std::tuple<Array, Pair>& in, const std::tuple<Array, Pair>& t) {
                       const auto& [x, p] = in;
                       const auto& [tx, tp] = t;
                       return std::pair{Pair{x * p.first, p.second}, Pair{2.0 * tx * p.first, 10.0 * tp.second}};
                     });
  const auto loss = [&](const Array& x, const Pair& p) {
    const Pair y = f(x, p);
    return np::sum(y.first) + np::sum(y.second);
  };
  const auto [gx, gp] = ct::grad<0, 1>(loss)(x3, Pair{np::sin(x3), x3});
  EXPECT_CLOSE(gx, 2.0 * np::sin(x3));
  EXPECT_CLOSE(gp.first, np::zeros_like(x3));
  EXPECT_CLOSE(gp.second, np::full({3}, 10.0, ct::f64));
  // One argument mapped and one whole.
  const auto mapped = ct::vmap(f, {.in_axes = {0, ct::none}});
  const auto mapped_loss = [&](const Array& x, const Pair& p) {
    return np::sum(mapped(x, p).first) + np::sum(mapped(x, p).second);
  };
  const Pair whole{np::array(2.0, ct::f64), np::array(3.0, ct::f64)};
  const auto [mx, mp] = ct::grad<0, 1>(mapped_loss)(x3, whole);
  EXPECT_CLOSE(mx, np::full({3}, 4.0, ct::f64));
  EXPECT_CLOSE(mp.second, np::array(30.0, ct::f64));
}

TEST(CustomVjp, UnderEveryTransform) {
  const Array y3 = np::array({2.0, -1.0, 0.5}, ct::f64);
  const auto loss = [](const Array& x, const Array& y) { return np::sum(skewed(x, y)); };
  const auto check = [&](const char* name, const auto& f) {
    SCOPED_TRACE(name);
    const auto [gx, gy] = ct::grad<0, 1>(f)(x3, y3);
    EXPECT_CLOSE(gx, 5.0 * y3 * y3);
    EXPECT_CLOSE(gy, 7.0 * x3 * y3);
  };
  EXPECT_CLOSE(skewed(x3, y3), x3 * y3 * y3);
  EXPECT_CLOSE(ct::jit(skewed)(x3, y3), x3 * y3 * y3);
  check("plain", loss);
  check("jit", ct::jit(loss));
  check("checkpoint", ct::checkpoint(loss));
  check("jit of checkpoint", ct::jit(ct::checkpoint(loss)));
  check("vmap", [](const Array& x, const Array& y) { return np::sum(ct::vmap(skewed)(x, y)); });
  check("jit of vmap", [](const Array& x, const Array& y) { return np::sum(ct::jit(ct::vmap(skewed))(x, y)); });
  check("vmap of jit", [](const Array& x, const Array& y) { return np::sum(ct::vmap(ct::jit(skewed))(x, y)); });
  const auto [gx, gy] = ct::jit(ct::grad<0, 1>(loss))(x3, y3);
  EXPECT_CLOSE(gx, 5.0 * y3 * y3);
  EXPECT_CLOSE(gy, 7.0 * x3 * y3);
  EXPECT_CLOSE(ct::jacrev<0>(skewed)(x3, y3), np::diag(5.0 * y3 * y3));
  const auto per = ct::vmap(ct::grad<0, 1>([](const Array& x, const Array& y) { return skewed(x, y); }))(x3, y3);
  EXPECT_CLOSE(std::get<0>(per), 5.0 * y3 * y3);
}

TEST(CustomVjp, UnbatchedArgumentsGetTheSumOfCotangents) {
  const Array y = np::array(2.0, ct::f64);
  const auto mapped = ct::vmap(skewed, {.in_axes = {0, ct::none}});
  const auto loss = [&](const Array& x, const Array& yy) { return np::sum(mapped(x, yy)); };
  const auto [gx, gy] = ct::grad<0, 1>(loss)(x3, y);
  EXPECT_CLOSE(gx, np::full({3}, 20.0, ct::f64));
  EXPECT_CLOSE(gy, np::sum(14.0 * x3));
  const auto [jx, jy] = ct::jit(ct::grad<0, 1>(loss))(x3, y);
  EXPECT_CLOSE(jx, gx);
  EXPECT_CLOSE(jy, gy);
  // Per-example gradients of the unbatched argument are not summed.
  const auto per = ct::vmap(ct::grad<1>([](const Array& a, const Array& b) { return skewed(a, b); }),
                            {.in_axes = {0, ct::none}})(x3, y);
  EXPECT_CLOSE(per, 14.0 * x3);
  // Two levels: outer over y, inner over x.
  const Array ys = np::array({2.0, 3.0}, ct::f64);
  const auto grid = [&](const Array& x, const Array& yy) {
    return np::sum(ct::vmap(mapped, {.in_axes = {ct::none, 0}})(x, yy));
  };
  const auto [nx, ny] = ct::grad<0, 1>(grid)(x3, ys);
  EXPECT_CLOSE(nx, np::full({3}, 5.0 * (4 + 9), ct::f64));
  EXPECT_CLOSE(ny, 7.0 * np::sum(x3) * ys);
}

TEST(CustomVjp, TheRuleIsDifferentiatedByOuterTransforms) {
  const Array y3 = np::array({2.0, -1.0, 0.5}, ct::f64);
  const auto by_y = [&](const Array& y) { return np::sum(skewed(x3, y)); };
  EXPECT_CLOSE(ct::grad([&](const Array& y) { return np::sum(ct::grad(by_y)(y)); })(y3), 7.0 * x3);
  EXPECT_CLOSE(ct::jacfwd(ct::grad(by_y))(y3), np::diag(7.0 * x3));  // forward over reverse
  EXPECT_CLOSE(ct::jacrev(ct::grad(by_y))(y3), np::diag(7.0 * x3));
  EXPECT_CLOSE(ct::jit(ct::jacfwd(ct::jit(ct::grad(ct::jit(by_y)))))(y3), np::diag(7.0 * x3));
  EXPECT_ERROR(TransformError, ct::jvp(by_y, std::tuple{y3}, std::tuple{y3}), "custom_vjp", "reverse mode only");
  EXPECT_ERROR(TransformError, ct::jacfwd(by_y)(y3), "reverse mode only");
}

TEST(CustomVjp, StaticArguments) {
  const auto clipped = ct::custom_vjp(
      [](double, const Array& x) { return x; }, [](double, const Array& x) { return std::pair{x, std::tuple<>{}}; },
      [](double limit, const std::tuple<>&, const Array& ct) { return np::clip(ct, -limit, limit); });
  const auto loss = [&](const Array& x) { return np::sum(10.0 * np::square(clipped(0.5, x))); };
  const Array want = np::clip(20.0 * x3, -0.5, 0.5);
  EXPECT_CLOSE(ct::grad(loss)(x3), want);
  EXPECT_CLOSE(ct::jit(ct::grad(loss))(x3), want);
  EXPECT_CLOSE(ct::vmap(ct::grad([&](const Array& x) { return 10.0 * np::square(clipped(0.5, x)); }))(x3), want);
}

TEST(CustomRules, MustSeeWhatIsDifferentiated) {
  const auto closing = [](const Array& x) {
    const auto f = ct::custom_jvp([x](const Array& y) { return x * y; },
                                  [](const std::tuple<Array>& y, const std::tuple<Array>& t) {
                                    return std::pair{std::get<0>(y), std::get<0>(t)};
                                  });
    return ct::jit([f](const Array& y) { return f(y); })(np::array(2.0, ct::f64));
  };
  EXPECT_ERROR(TransformError, ct::grad(closing)(np::array(1.0, ct::f64)), "closes over", "pass it as an argument");
}

}  // namespace
}  // namespace compose
