// Programs ahead of time (lower, compile, trace), named scopes, and has_aux of every derivative.
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
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
Array numbers() { return np::array({0.5f, -1.f, 2.f}); }

TEST(AheadOfTime, CompiledBeforeTheCall) {
  int traces = 0;
  const auto f = ct::jit([&](Array x, std::pair<Array, Array> p) {
    ++traces;
    return std::tuple{np::sin(x) * p.first, np::matmul(p.second, x)};
  });
  const auto like = [](ct::Shape s) { return ct::shape_dtype(s); };
  const auto lowered = f.lower(like({3}), std::pair{like({}), like({4, 3})});
  EXPECT_TRUE(contains(lowered.as_text(), "dot_general")) << lowered.as_text();
  EXPECT_EQ(std::get<1>(lowered.out_info()).shape(), (ct::Shape{4}));
  const auto compiled = lowered.compile();
  const Array x = numbers(), w = np::ones({4, 3});
  const auto [a, b] = compiled(x, std::pair{np::array(2.f), w});
  expect_close(a, 2 * np::sin(x));
  expect_close(b, np::matmul(w, x));
  f(x, std::pair{np::array(1.f), w});
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(std::get<0>(f.eval_shape(like({7}), std::pair{like({}), like({2, 7})})).shape(), (ct::Shape{7}));
  const auto traced = f.trace(x, std::pair{np::array(2.f), w});
  EXPECT_TRUE(contains(traced.jaxpr().str(), "sin"));
  EXPECT_EQ(std::get<0>(traced.lower().compile()(x, std::pair{np::array(2.f), w})).shape(), (ct::Shape{3}));
  // Numbers are traced, or static, as in a call.
  const auto scaled = ct::jit([](Array v, Array by) { return v * by; }).lower(x, 2.0).compile();
  expect_close(scaled(x, 3.0), 3 * x);
  const auto power = ct::jit([](Array v, int n) { return np::power(v, n); }).lower(x, 2).compile();
  expect_close(power(x, 2), x * x);
}

TEST(AheadOfTime, Costs) {
  const Array a = np::ones({64, 32}), b = np::ones({32, 16});
  const auto product = ct::jit([](Array x, Array y) { return np::matmul(x, y); }).lower(a, b).compile();
  EXPECT_EQ(product.cost_analysis().flops, 2.0 * 64 * 32 * 16);
  EXPECT_EQ(product.cost_analysis().transcendentals, 0);
  EXPECT_EQ(product.cost_analysis().bytes_accessed, 4.0 * (64 * 32 + 32 * 16 + 64 * 16));
  const auto wave = ct::jit([](Array x) { return np::sum(np::sin(x) * 2 + x); }).lower(a).compile();
  EXPECT_EQ(wave.cost_analysis().transcendentals, 64.0 * 32);
  EXPECT_EQ(wave.cost_analysis().flops, 3.0 * 64 * 32 - 1);
  const auto loop =
      ct::jit([](Array x) { return lax::fori_loop(0, 10, [](Array, Array c) { return np::exp(c) * 0.5; }, x); })
          .lower(a)
          .compile();
  EXPECT_EQ(loop.cost_analysis().transcendentals, 10.0 * 64 * 32);
  EXPECT_GT(loop.cost_analysis().bytes_accessed, 0);
  const auto memory = product.memory_analysis();
  EXPECT_EQ(memory.argument_size_in_bytes, 4 * (64 * 32 + 32 * 16));
  EXPECT_EQ(memory.output_size_in_bytes, 4 * 64 * 16);
  const ct::Explanation same = ct::explain([](Array x, Array y) { return np::matmul(x, y); }, a, b);
  EXPECT_EQ(memory.peak_memory_in_bytes, same.peak_bytes);
  EXPECT_EQ(memory.temp_size_in_bytes, same.temporary_bytes);
  EXPECT_TRUE(contains(product.as_text(), "device native"));
}

TEST(NamedScopes, ShowInPrograms) {
  const auto f = [](Array x) {
    const ct::named_scope outer("encoder");
    const Array y = np::sin(x);
    const ct::named_scope inner("head");
    return np::sum(np::cos(y));
  };
  const Array x = numbers();
  const std::string program = ct::make_jaxpr(f)(x).str();
  EXPECT_TRUE(contains(program, "sin a  # encoder\n")) << program;
  EXPECT_TRUE(contains(program, "# encoder/head\n")) << program;
  expect_close(ct::jit(f)(x), np::sum(np::cos(np::sin(x))));
  EXPECT_EQ(ct::jit(f)(x).item<float>(),
            ct::jit([](Array v) { return np::sum(np::cos(np::sin(v))); })(x).item<float>());
  EXPECT_TRUE(contains(ct::explain(ct::jit(f), x).steps, "encoder")) << ct::explain(ct::jit(f), x).steps;
  // Derivatives and vmap keep the names.
  EXPECT_TRUE(contains(ct::make_jaxpr(ct::grad(f))(x).str(), "# encoder"));
  EXPECT_TRUE(contains(ct::make_jaxpr(ct::vmap(ct::jit(f)))(np::ones({2, 3})).str(), "# encoder"));
  const auto named = ct::named_call([](Array v) { return np::exp(v); }, "growth");
  EXPECT_TRUE(contains(ct::make_jaxpr(named)(x).str(), "exp a  # growth"));
  expect_close(ct::grad([&](Array v) { return np::sum(named(v)); })(x), np::exp(x));
  EXPECT_FALSE(contains(ct::make_jaxpr([](Array v) { return np::exp(v); })(x).str(), "#"));
  ct::Profile profile;
  f(x);
  profile.stop();
  EXPECT_TRUE(contains(profile.text(), "encoder"));
}

struct Params {
  Array w, b;
};

TEST(HasAux, EveryDerivative) {
  const Array x = numbers(), t = np::array({1.f, 2.f, -1.f});
  // The aux has no derivative, is an integer in part, and is a tree.
  const auto f = [](Array v) {
    return std::pair{np::sin(v), std::map<std::string, Array>{{"order", np::argsort(v)}, {"square", v * v}}};
  };
  const auto check = [&](const std::map<std::string, Array>& aux) {
    expect_close(aux.at("square"), x * x);
    EXPECT_EQ(aux.at("order").to_vector<int>(), (std::vector<int>{1, 0, 2}));
  };
  for (const bool jitted : {false, true}) {
    const auto run = [&](const auto& g) { return jitted ? ct::jit(g)(x) : g(x); };
    const auto [y, ty, aux] = run([&](Array v) { return ct::jvp(f, std::tuple{v}, std::tuple{t}, ct::has_aux); });
    expect_close(y, np::sin(x));
    expect_close(ty, np::cos(x) * t);
    check(aux);
    const auto [gx, vaux] = run([&](Array v) {
      const auto [out, pull, more] = ct::vjp(ct::has_aux, f, v);
      return std::pair{std::get<0>(pull(out * 0 + t)), more};
    });
    expect_close(gx, np::cos(x) * t);
    check(vaux);
    const auto [ly, laux] = run([&](Array v) {
      const auto [out, push, more] = ct::linearize(ct::has_aux, f, v);
      return std::pair{push(t), more};
    });
    expect_close(ly, np::cos(x) * t);
    check(laux);
    const auto [forward, faux] = run(ct::jacfwd(f, ct::has_aux));
    expect_close(forward, np::diag(np::cos(x)));
    check(faux);
    const auto [reverse, raux] = run(ct::jacrev(f, ct::has_aux));
    expect_close(reverse, np::diag(np::cos(x)));
    check(raux);
    const auto total = [&](Array v) {
      const auto [out, aux] = f(v);
      return std::pair{np::sum(out), aux};
    };
    const auto [second, haux] = run(ct::hessian(total, ct::has_aux));
    expect_close(second, np::diag(-np::sin(x)));
    check(haux);
    const auto [g, gaux] = run(ct::grad(total, ct::has_aux));
    expect_close(g, np::cos(x));
    check(gaux);
    const auto [value, grads] = run(ct::value_and_grad(total, ct::has_aux));
    expect_close(grads, np::cos(x));
    check(value.second);
  }
}

TEST(HasAux, TreesAndSeveralArguments) {
  const Params p{np::ones({2, 3}), np::array({1.f, 2.f})};
  const auto f = [](const Params& q, Array x) { return std::pair{np::matmul(q.w, x) + q.b, np::sum(x)}; };
  const auto [rows, aux] = ct::jacrev(f, ct::has_aux)(p, numbers());
  expect_close(rows.b, np::eye(2));
  expect_close(aux, np::sum(numbers()));
  const auto [by_x, aux2] = ct::jacfwd<1>(f, ct::has_aux)(p, numbers());
  expect_close(by_x, p.w);
  const auto [y, pull, aux3] = ct::vjp(ct::has_aux, f, p, numbers());
  const auto [gp, gx] = pull(np::ones({2}));
  expect_close(gp.b, np::ones({2}));
  expect_close(gx, np::full({3}, 2.f));
}

TEST(HasAux, Solvers) {
  const Array a = np::array({{4.f, 1.f}, {1.f, 3.f}}), b = np::array({1.f, 2.f});
  const auto solve = [](const auto& matvec, Array right) {
    Array x = right / 4;
    for (int k = 0; k < 40; ++k) x = x + (right - matvec(x)) / 4;
    return std::pair{x, std::tuple{np::sum(np::abs(right - matvec(x))), Array(40)}};
  };
  const auto f = [&](Array right) {
    return lax::custom_linear_solve([&](Array x) { return np::matmul(a, x); }, right, solve, solve, ct::has_aux);
  };
  const Array inverse = ct::linalg::inv(a);
  const auto [x, aux] = f(b);
  expect_close(x, np::matmul(inverse, b));
  EXPECT_LT(std::get<0>(aux).item<float>(), 1e-5f);
  EXPECT_EQ(std::get<1>(aux).item<int>(), 40);
  for (const bool jitted : {false, true}) {
    const auto loss = [&](Array right) { return np::sum(f(right).first * np::array({1.f, 10.f})); };
    const auto g = ct::grad(loss);
    expect_close(jitted ? ct::jit(g)(b) : g(b), np::matmul(inverse, np::array({1.f, 10.f})), 1e-5);
  }
  const auto [rows, residuals] = ct::vmap(f)(np::stack({b, 2 * b}));
  expect_close(rows[1], np::matmul(inverse, 2 * b), 1e-5);
  EXPECT_EQ(std::get<1>(residuals).shape(), (ct::Shape{2}));
  const auto root = [](Array c) {
    return lax::custom_root([&](Array v) { return v * v - c; }, 1.f,
                            [](const auto& g, Array v) {
                              for (int k = 0; k < 30; ++k) v = v - g(v) / 4;
                              return std::pair{v, np::abs(g(v))};
                            },
                            [](const auto& g, Array y) { return y / g(Array(1.f)); }, ct::has_aux);
  };
  const auto [r, off] = root(np::array(2.f));
  expect_close(r, np::sqrt(np::array(2.f)), 1e-5);
  EXPECT_LT(off.item<float>(), 1e-5f);
  expect_close(ct::grad([&](Array c) { return root(c).first; })(2.f), np::array(0.35355339f), 1e-5);
}

}  // namespace
