// Rules by hand other than derivatives': custom_vmap, sequential_vmap, custom_gradient, closure_convert, linear_call,
// fwd_and_bwd; and what checkpoints keep.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

namespace {

using ct::Array;

void expect_close(const Array& got, const Array& want, double tol = 1e-6) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto g = got.astype(ct::f64).to_vector<double>(), w = want.astype(ct::f64).to_vector<double>();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], w[i], tol) << "element " << i;
}
const Array xs = np::array({0.5f, -1.f, 2.f}), ys = np::array({3.f, 4.f, -2.f});

/// vmap gives the product instead of the sum, so that it shows which of them ran.
auto marked() {
  return ct::custom_batching::custom_vmap([](Array x, Array y) { return x + y; },
                                          [](std::int64_t size, const std::vector<bool>& batched, Array x, Array y) {
                                            EXPECT_EQ(size, 3);
                                            EXPECT_TRUE(batched[0]);
                                            return std::pair{x * y, batched[0] || batched[1]};
                                          });
}

TEST(CustomVmap, TheRuleReplacesTheFunction) {
  const auto f = marked();
  expect_close(f(xs, ys), xs + ys);
  expect_close(ct::vmap(f)(xs, ys), xs * ys);
  expect_close(ct::jit(ct::vmap(f))(xs, ys), xs * ys);
  expect_close(ct::vmap(ct::jit(f))(xs, ys), xs * ys);
  expect_close(ct::vmap(f, {.in_axes = {0, ct::none}})(xs, Array(2.f)), xs * 2);
  // Nothing that goes in is batched, so f runs.
  expect_close(ct::vmap([&](Array x) { return f(Array(1.f), Array(2.f)) + x; })(xs), xs + 3);
  expect_close(ct::custom_batching::custom_vmap([](Array x) {
                 return x;
               }).def_vmap([](std::int64_t, std::vector<bool>, Array x) { return std::pair{-x, true}; })(xs),
               xs);
}

TEST(CustomVmap, OutputsAreTrees) {
  const auto f = ct::custom_batching::custom_vmap(
      [](std::pair<Array, Array> p) { return std::tuple{p.first, p.second * 2}; },
      [](std::int64_t, std::vector<bool>, std::pair<Array, Array> p) {
        return std::pair{std::tuple{p.first + 1, p.second[0] * 2}, std::vector<bool>{true, false}};
      });
  const auto [a, b] = ct::vmap(f)(std::pair{xs, ys});
  expect_close(a, xs + 1);
  expect_close(b, np::full({3}, 6.f));
}

TEST(CustomVmap, ForwardModeDifferentiatesTheRule) {
  const auto f = ct::custom_batching::custom_vmap(
      [](Array x, Array y) { return np::sin(x) * y; },
      [](std::int64_t, std::vector<bool>, Array x, Array y) { return std::pair{np::cos(x) * y, true}; });
  const Array tx = np::array({1.f, 0.f, 2.f}), ty = np::array({0.f, 1.f, 1.f});
  const auto [y, t] = ct::jvp(f, std::tuple{xs, ys}, std::tuple{tx, ty});
  expect_close(t, np::cos(xs) * tx * ys + np::sin(xs) * ty);
  const Array of_rule = -np::sin(xs) * tx * ys + np::cos(xs) * ty;
  expect_close(ct::jvp(ct::vmap(f), std::tuple{xs, ys}, std::tuple{tx, ty}).second, of_rule);
  const auto each = [&](Array a, Array b, Array ta, Array tb) {
    return ct::jvp(f, std::tuple{a, b}, std::tuple{ta, tb}).second;
  };
  expect_close(ct::vmap(each)(xs, ys, tx, ty), of_rule);
  // Primals that are batched beside tangents that are not.
  expect_close(ct::vmap(each, {.in_axes = {0, 0, ct::none, ct::none}})(xs, ys, Array(1.f), Array(0.f)),
               -np::sin(xs) * ys);
  // Reverse mode is that of f, and of what f is made of.
  expect_close(ct::vmap(ct::grad(f))(xs, ys), np::cos(xs) * ys);
  expect_close(ct::grad([&](Array x) { return np::sum(ct::vmap(f)(x, ys)); })(xs), -np::sin(xs) * ys);
  expect_close(ct::jit(ct::vmap(ct::grad(f)))(xs, ys), np::cos(xs) * ys);
}

TEST(SequentialVmap, IsALoop) {
  const auto f =
      ct::custom_batching::sequential_vmap([](Array x, Array y) { return std::pair{np::sin(x) + y, x * y}; });
  const auto [a, b] = ct::vmap(f, {.in_axes = {0, ct::none}})(xs, Array(2.f));
  expect_close(a, np::sin(xs) + 2);
  expect_close(b, xs * 2);
  const std::string program = ct::make_jaxpr(ct::vmap(f))(xs, ys).str();
  EXPECT_NE(program.find("scan"), std::string::npos) << program;
  expect_close(ct::grad([&](Array x) { return np::sum(ct::vmap(f)(x, ys).first); })(xs), np::cos(xs));
}

TEST(CustomGradient, ThePullbackIsTheRule) {
  const auto f = ct::custom_gradient([](Array x, Array y) {
    const Array kept = np::exp(x);
    return std::pair{x * y, [kept, y](Array g) { return std::tuple{g * kept, g * 10 * y}; }};
  });
  expect_close(f(xs, ys), xs * ys);
  const auto loss = [&](Array x, Array y) { return np::sum(f(x, y)); };
  for (const bool jitted : {false, true}) {
    const auto g = ct::grad<0, 1>(loss);
    const auto [gx, gy] = jitted ? ct::jit(g)(xs, ys) : g(xs, ys);
    expect_close(gx, np::exp(xs));
    expect_close(gy, 10 * ys);
  }
  expect_close(ct::vmap(ct::grad(f))(xs, ys), np::exp(xs));
  expect_close(ct::grad([&](Array x) { return np::sum(ct::vmap(f)(x, ys)); })(xs), np::exp(xs));
  // What the rule computes is differentiated like anything else.
  expect_close(ct::grad([&](Array x) { return np::sum(ct::grad(loss)(x, ys)); })(xs), np::exp(xs));
  const auto of_one =
      ct::custom_gradient([](Array x) { return std::pair{np::square(x), [x](Array g) { return g * x; }}; });
  expect_close(ct::grad(of_one)(3.f), Array(3.f));
}

TEST(ClosureConvert, ConstantsBecomeArguments) {
  const Array w = np::array({1.f, 2.f, 3.f});
  const auto f = [&](Array x) { return np::sum(w * np::sin(x)); };
  const auto [g, values] = ct::closure_convert(f, xs);
  ASSERT_EQ(values.size(), 1u);
  expect_close(g(ys, values), np::sum(w * np::sin(ys)));
  expect_close(g(ys, std::vector{2 * w}), 2 * np::sum(w * np::sin(ys)));
  // What is being differentiated outside is seen through the values.
  const auto outer = [&](Array scale) {
    const auto inner = ct::closure_convert([&](Array x) { return np::sum(scale * x); }, xs);
    return inner.first(ys, inner.second);
  };
  expect_close(ct::grad(outer)(2.f), np::sum(ys));
}

TEST(LinearCall, TransposesByHand) {
  const auto f = [](Array s, Array x) { return x / s; };
  // A mark: the transpose is not the true one.
  const auto back = [](Array s, Array g) { return 10 * g / s; };
  const auto call = [&](Array x) {
    return ct::custom_derivatives::linear_call(f, back, np::array({2.f, 4.f, 8.f}), x);
  };
  const Array s = np::array({2.f, 4.f, 8.f});
  expect_close(call(xs), xs / s);
  expect_close(ct::jvp(call, std::tuple{xs}, std::tuple{ys}).second, ys / s);
  expect_close(ct::grad([&](Array x) { return np::sum(call(x)); })(xs), 10 / s);
  expect_close(ct::jit(ct::grad([&](Array x) { return np::sum(call(x)); }))(xs), 10 / s);
  const auto [gx] = ct::linear_transpose(call, xs)(ys);
  expect_close(gx, 10 * ys / s);
  // Transposed twice it is itself.
  const auto transposed = [&](Array g) { return std::get<0>(ct::linear_transpose(call, xs)(g)); };
  expect_close(std::get<0>(ct::linear_transpose(transposed, xs)(ys)), ys / s);
  const auto scaled = [&](Array d, Array x) { return ct::custom_derivatives::linear_call(f, back, d, x); };
  expect_close(ct::vmap(scaled)(s, xs), xs / s);
  expect_close(ct::vmap(ct::grad<1>(scaled))(s, xs), 10 / s);
}

TEST(FwdAndBwd, CompileOnce) {
  int traces = 0;
  const auto f = [&](Array x, Array w) {
    ++traces;
    return np::tanh(np::matmul(w, x));
  };
  const Array w = np::reshape(np::arange(6.f), {2, 3}) / 10;
  const auto [fwd, bwd] = ct::fwd_and_bwd<0, 1>(f);
  for (int k = 0; k < 3; ++k) {
    const Array x = xs + k;
    const auto [y, residuals] = fwd(x, w);
    const auto [gx, gw] = bwd(residuals, y);
    const auto [want_y, pull] = ct::vjp([](Array a, Array b) { return np::tanh(np::matmul(b, a)); }, x, w);
    const auto [want_x, want_w] = pull(want_y);
    expect_close(y, want_y);
    expect_close(gx, want_x);
    expect_close(gw, want_w);
  }
  EXPECT_EQ(traces, 1);
  // Programs that keep values of the same types are told apart, also inside of jit.
  const auto [f1, b1] = ct::fwd_and_bwd([](Array x) { return np::sin(x); });
  const auto [f2, b2] = ct::fwd_and_bwd([](Array x) { return np::exp(x) * 3; });
  const auto through = ct::jit([](auto residuals, Array ct) { return residuals.pull_back(ct); });
  expect_close(std::get<0>(through(f1(xs).second, ys)), np::cos(xs) * ys);
  expect_close(std::get<0>(through(f2(xs).second, ys)), 3 * np::exp(xs) * ys);
  expect_close(b1(f1(xs).second, ys), np::cos(xs) * ys);
}

bool mentions(const std::vector<ct::SavedResidual>& all, const std::string& text) {
  for (const auto& r : all)
    if ((r.type + ' ' + r.source).find(text) != std::string::npos) return true;
  return false;
}

TEST(Residuals, SayWhereTheyAreFrom) {
  const auto f = [](Array w, Array x) { return np::sum(np::tanh(np::matmul(w, x))); };
  const Array w = np::ones({2, 3});
  const auto all = ct::saved_residuals(f, w, xs);
  EXPECT_TRUE(mentions(all, "f32[3] from the argument 1"));
  EXPECT_TRUE(mentions(all, "f32[2,3] from the argument 0"));
  EXPECT_TRUE(mentions(all, "custom_transforms_test.cpp"));
  const auto none = ct::saved_residuals(ct::checkpoint(f), w, xs);
  EXPECT_EQ(none.size(), 2u);
  EXPECT_FALSE(mentions(none, "output of"));
  ct::print_saved_residuals(f, w, xs);
}

TEST(Residuals, Policies) {
  const auto f = [](Array x) {
    const Array a = ct::checkpoint_name(np::sin(x), "a"), b = ct::checkpoint_name(np::sin(a), "b");
    return np::sum(np::sin(b));
  };
  const Array want = ct::grad(f)(xs);
  const auto kept = [&](ct::PolicyPtr policy) {
    const auto g = ct::checkpoint(f, {.policy = policy});
    expect_close(ct::grad(g)(xs), want);
    std::size_t outputs = 0;
    for (const auto& r : ct::saved_residuals(g, xs)) {
      outputs += r.source.find("argument") == std::string::npos;
      EXPECT_TRUE(r.source.starts_with("from the argument 0") || r.source.find("test.cpp:") != std::string::npos)
          << r.source;
    }
    return outputs;
  };
  namespace policy = ct::policy;
  EXPECT_EQ(kept(policy::nothing_saveable), 0u);
  EXPECT_EQ(kept(policy::save_only_these_names({"a"})), 1u);
  EXPECT_EQ(kept(policy::save_only_these_names({"a", "b"})), 2u);
  EXPECT_EQ(kept(policy::save_any_names_but_these({"a"})), 1u);
  EXPECT_EQ(kept(policy::save_any_names_but_these({})), 2u);
  EXPECT_EQ(
      kept(policy::save_from_both_policies(policy::save_only_these_names({"a"}), policy::save_only_these_names({"b"}))),
      2u);
  EXPECT_EQ(kept(policy::checkpoint_dots), 0u);
  // What has the name is not kept under another name either.
  const auto g = [](Array x) { return np::sum(np::sin(ct::checkpoint_name(np::exp(x), "e"))); };
  const auto count = [&](ct::PolicyPtr p) { return ct::saved_residuals(ct::checkpoint(g, {.policy = p}), xs).size(); };
  const auto but_e = policy::save_anything_except_these_names({"e"});
  EXPECT_EQ(count(policy::everything_saveable), 2u);
  EXPECT_EQ(count(but_e), 2u);  // the cosine, and the argument in place of its exponential
  expect_close(ct::grad(ct::checkpoint(g, {.policy = but_e}))(xs), np::cos(np::exp(xs)) * np::exp(xs), 1e-5);
  for (const auto& r : ct::saved_residuals(ct::checkpoint(g, {.policy = but_e}), xs))
    EXPECT_EQ(r.source.find("exp"), std::string::npos) << r.source;
}

TEST(CheckGrads, FindsWhatIsWrong) {
  using namespace ct::test_util;
  const auto f = [](Array x, std::pair<Array, Array> p) { return np::sum(np::sin(x) * p.first) + np::tanh(p.second); };
  const Array x = xs.astype(ct::f64);
  check_grads(f, std::tuple{x, std::pair{ys.astype(ct::f64), np::array(0.3).astype(ct::f64)}}, 2);
  check_grads([](Array v) { return np::sum(v * v); }, std::tuple{xs}, 1);
  check_grads([](Array c) { return np::real(c * c); }, std::tuple{lax::complex(x, 2 * x)}, 1);
  const auto wrong = ct::custom_jvp([](Array a, Array b) { return a * b; },
                                    [](auto p, auto t) {
                                      const auto [a, b] = p;
                                      const auto [ta, tb] = t;
                                      return std::pair{a * b, ta * b + 2 * tb * a};
                                    });
  for (const char* mode : {"fwd", "rev"}) {
    try {
      check_grads(wrong, std::tuple{x, 2 * x}, 1, {.modes = {mode}});
      ADD_FAILURE() << "no error";
    } catch (const ct::ValueError& e) {
      EXPECT_NE(std::string(e.what()).find("with respect to argument 1:"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("off by"), std::string::npos) << e.what();
    }
  }
  const auto by_hand = [](auto primals, auto tangents) {
    const auto [a] = primals;
    const auto [t] = tangents;
    return std::pair{np::sin(a), np::cos(a) * t};
  };
  check_jvp([](Array a) { return np::sin(a); }, by_hand, std::tuple{x});
  check_vjp([](Array a) { return np::sin(a); },
            [](Array a) { return std::pair{np::sin(a), [a](Array g) { return std::tuple{g * np::cos(a)}; }}; },
            std::tuple{x});
  EXPECT_THROW(check_jvp([](Array a) { return np::cos(a); }, by_hand, std::tuple{x}), ct::ValueError);
}

TEST(Jet, TaylorSeries) {
  const Array x = np::array({0.3, 1.1}).astype(ct::f64), x1 = np::array({1.0, -0.5}).astype(ct::f64),
              x2 = np::array({0.2, 0.4}).astype(ct::f64), x3 = np::array({-1.0, 0.7}).astype(ct::f64);
  const auto f = [](Array v) { return np::sin(v); };
  const auto [y, d] = ct::experimental::jet(f, std::tuple{x}, std::tuple{std::vector{x1, x2, x3}});
  expect_close(y, np::sin(x), 1e-14);
  expect_close(d[0], np::cos(x) * x1, 1e-13);
  expect_close(d[1], np::cos(x) * x2 - np::sin(x) * x1 * x1, 1e-13);
  expect_close(d[2], np::cos(x) * x3 - 3 * np::sin(x) * x1 * x2 - np::cos(x) * x1 * x1 * x1, 1e-13);
  const auto [y2, c] =
      ct::experimental::jet(f, std::tuple{x}, std::tuple{std::vector{x1, x2 / 2, x3 / 6}}, {.factorial_scaled = false});
  expect_close(c[1], d[1] / 2, 1e-13);
  expect_close(c[2], d[2] / 6, 1e-13);
  // Two arguments, through jit.
  const auto product = ct::jit([](Array a, Array b) {
    const auto [p, t] = ct::experimental::jet([](Array u, Array v) { return u * v; }, std::tuple{a, b},
                                              std::tuple{std::vector{a, b}, std::vector{b, a}});
    return std::tuple{p, t[0], t[1]};
  });
  const auto [p, t1, t2] = product(x, x1);
  expect_close(t1, x * x1 + x * x1, 1e-13);
  expect_close(t2, x1 * x1 + 2 * x * x1 + x * x, 1e-13);
}

TEST(CustomTransforms, OnTheReferenceDevice) {
  const std::string before(ct::default_device().name());
  const Array want_rule = xs * ys, want_gradient = np::exp(xs), want_transpose = 10 * ys;
  ct::default_device("reference");
  const Array x = np::array({0.5f, -1.f, 2.f}), y = np::array({3.f, 4.f, -2.f});
  const auto on_native = [](const Array& a) { return ct::device_put(a, "native"); };
  expect_close(on_native(ct::jit(ct::vmap(marked()))(x, y)), want_rule);
  const auto by_hand = ct::custom_gradient([](Array a) {
    const Array kept = np::exp(a);
    return std::pair{a, [kept](Array g) { return g * kept; }};
  });
  expect_close(on_native(ct::jit(ct::vmap(ct::grad(by_hand)))(x)), want_gradient);
  const auto call = [](Array a) {
    return ct::custom_derivatives::linear_call([](Array s, Array v) { return s * v; },
                                               [](Array s, Array g) { return 10 * s * g; }, Array(1.f), a);
  };
  const auto pulled = ct::jit([&](Array a, Array g) { return std::get<0>(ct::vjp(call, a).second(g)); });
  expect_close(on_native(pulled(x, y)), want_transpose);
  const auto [value, residuals] = ct::fwd_and_bwd([](Array a) { return np::exp(a); }).first(x);
  expect_close(on_native(value), want_gradient);
  ct::default_device(before);
}

}  // namespace
