// checkpoint: what each policy saves, and the same derivatives under every other transform.
#include <gtest/gtest.h>

#include "compose/close.hpp"

namespace compose {
namespace {

Array weights() { return np::array({{0.2, -0.1, 0.4}, {0.3, 0.5, -0.2}, {-0.6, 0.1, 0.3}}, ct::f64); }
Array point() { return np::array({0.3, -0.7, 1.1}, ct::f64); }

/// Two layers; the inner activation has a name.
Array two_layers(const Array& w, const Array& x) {
  const Array h = ct::checkpoint_name(np::sin(np::matmul(w, x)), "activation");
  return np::sin(np::matmul(w, np::exp(h)));
}

std::vector<std::pair<std::string, ct::PolicyPtr>> policies() {
  return {{"everything", ct::policy::everything_saveable},
          {"nothing", ct::policy::nothing_saveable},
          {"dots", ct::policy::dots_saveable},
          {"dots without batch", ct::policy::dots_with_no_batch_dims_saveable},
          {"named", ct::policy::save_only_these_names({"activation"})},
          {"other name", ct::policy::save_only_these_names({"nobody"})}};
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++n;
  return n;
}

/// Arrays that the linear part keeps beside the arguments of the call.
template <class F>
std::size_t residuals(const F& f) {
  const Array w = weights(), x = point();
  const auto push = ct::linearize(f, w, x).second;
  const ct::Program program = ct::make_jaxpr(push)(w, x);
  std::size_t n = 0;
  for (const Array& kept : program.consts()) n += kept.value() != w.value() && kept.value() != x.value();
  return n;
}

TEST(Checkpoint, SavesWhatThePolicySays) {
  const auto with = [](ct::PolicyPtr policy) { return ct::checkpoint(two_layers, {.policy = std::move(policy)}); };
  EXPECT_EQ(residuals(with(ct::policy::nothing_saveable)), 0u);
  EXPECT_EQ(residuals(with(ct::policy::dots_saveable)), 2u);
  EXPECT_EQ(residuals(with(ct::policy::dots_with_no_batch_dims_saveable)), 2u);
  EXPECT_EQ(residuals(with(ct::policy::save_only_these_names({"activation"}))), 1u);
  EXPECT_EQ(residuals(with(ct::policy::save_only_these_names({"nobody"}))), 0u);
  // Everything: at most what the plain function keeps, the cosines and the exponential.
  EXPECT_GE(residuals(with(ct::policy::everything_saveable)), 3u);
  EXPECT_GE(residuals([](const Array& w, const Array& x) { return two_layers(w, x); }), 3u);
}

TEST(Checkpoint, RecomputesTheRest) {
  // Products in the whole gradient program: 2 forwards, 2 recomputed unless saved (the last is not needed),
  // and 4 backwards.
  const auto products = [](ct::PolicyPtr policy) {
    const auto f = ct::checkpoint(two_layers, {.policy = std::move(policy)});
    const auto loss = [f](const Array& w, const Array& x) { return np::sum(f(w, x)); };
    const std::string text = ct::make_jaxpr(ct::grad<0, 1>(loss))(weights(), point()).str();
    return count(text, "dot_general");
  };
  const int saved = products(ct::policy::dots_saveable), none = products(ct::policy::nothing_saveable);
  EXPECT_EQ(saved, products(ct::policy::everything_saveable));
  EXPECT_EQ(none, saved + 2);
  EXPECT_EQ(products(ct::policy::save_only_these_names({"activation"})),
            saved + 2);  // both cosines read a product
  const auto sines = [](ct::PolicyPtr policy) {
    const auto f = ct::checkpoint(two_layers, {.policy = std::move(policy)});
    const auto loss = [f](const Array& w, const Array& x) { return np::sum(f(w, x)); };
    return count(ct::make_jaxpr(ct::grad<0, 1>(loss))(weights(), point()).str(), "= sin ");
  };
  EXPECT_EQ(sines(ct::policy::nothing_saveable), 3);  // the inner one twice
  EXPECT_EQ(sines(ct::policy::save_only_these_names({"activation"})), 2);
}

TEST(Checkpoint, SameDerivativesUnderEveryTransform) {
  const auto plain_loss = [](const Array& w, const Array& x) { return np::sum(two_layers(w, x)); };
  const auto [gw, gx] = ct::grad<0, 1>(plain_loss)(weights(), point());
  const Array hessian = ct::hessian<1>(plain_loss)(weights(), point());
  const Array xs = np::stack({point(), 0.5 * point()});
  const auto per_example = ct::vmap(ct::grad<0>(plain_loss), {.in_axes = {ct::none, 0}})(weights(), xs);
  for (const auto& [name, policy] : policies()) {
    SCOPED_TRACE(name);
    const auto f = ct::checkpoint(two_layers, {.policy = policy});
    const auto loss = [f](const Array& w, const Array& x) { return np::sum(f(w, x)); };
    EXPECT_CLOSE(f(weights(), point()), two_layers(weights(), point()));
    const auto [w1, x1] = ct::grad<0, 1>(loss)(weights(), point());
    EXPECT_CLOSE(w1, gw);
    EXPECT_CLOSE(x1, gx);
    const auto [w2, x2] = ct::jit(ct::grad<0, 1>(ct::jit(loss)))(weights(), point());
    EXPECT_CLOSE(w2, gw);
    EXPECT_CLOSE(x2, gx);
    EXPECT_CLOSE(ct::jacfwd<1>(loss)(weights(), point()), gx);
    EXPECT_CLOSE(ct::hessian<1>(loss)(weights(), point()), hessian);
    EXPECT_CLOSE(ct::jacrev<1>(ct::grad<1>(loss))(weights(), point()), hessian);
    EXPECT_CLOSE(ct::jacrev<1>(ct::jacfwd<1>(loss))(weights(), point()), hessian);
    const auto twice = [&](const Array& x) { return np::sum(ct::grad<1>(loss)(weights(), x)); };
    EXPECT_CLOSE(ct::grad(twice)(point()), np::sum(hessian, 0));
    EXPECT_CLOSE(ct::grad(ct::jit(twice))(point()), np::sum(hessian, 0));
    EXPECT_CLOSE(ct::vmap(ct::grad<0>(loss), {.in_axes = {ct::none, 0}})(weights(), xs), per_example);
    const auto batched = [&](const Array& w) { return np::sum(ct::vmap(f, {.in_axes = {ct::none, 0}})(w, xs)); };
    EXPECT_CLOSE(ct::grad(batched)(weights()), np::sum(per_example, 0));
    EXPECT_CLOSE(ct::grad(ct::checkpoint(batched, {.policy = policy}))(weights()), np::sum(per_example, 0));  // nested
  }
}

TEST(Checkpoint, ThirdDerivativeAndClosures) {
  const auto f = [](const Array& x) {
    return ct::checkpoint([x](const Array& y) { return np::sin(x * y); })(x);  // sin(x²)
  };
  const auto third = ct::grad(ct::grad(ct::grad(f)));
  const Array x = np::array(0.6, ct::f64);
  const Array want = -12.0 * x * np::sin(x * x) - 8.0 * x * x * x * np::cos(x * x);
  EXPECT_CLOSE(third(x), want);
  EXPECT_CLOSE(ct::jit(third)(x), want);
  EXPECT_CLOSE(ct::vmap(third)(np::stack({x, x}))[1], want);
}

TEST(Checkpoint, OutputsThatAreInputsOrConstants) {
  const auto f = ct::checkpoint(
      [](const Array& x, const Array& y) { return std::tuple{x, np::ones({2}, ct::f64), np::sin(y), y}; });
  const auto loss = [&](const Array& x, const Array& y) {
    const auto [a, b, c, d] = f(x, y);
    return np::sum(2.0 * a) + np::sum(b) + np::sum(c) + np::sum(d * d);
  };
  const auto [gx, gy] = ct::grad<0, 1>(loss)(point(), point());
  EXPECT_CLOSE(gx, np::full({3}, 2.0, ct::f64));
  EXPECT_CLOSE(gy, np::cos(point()) + 2.0 * point());
  EXPECT_CLOSE(ct::grad<1>(loss)(point(), point()), gy);
}

}  // namespace
}  // namespace compose
