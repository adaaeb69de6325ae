// Compositions of transforms by name, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "compose/close.hpp"

namespace compose {
namespace {

const Array x3 = np::array({0.3, -0.7, 1.1}, ct::f64);

Array wave(const Array& x) { return np::sum(np::sin(x) * x); }
Array wave_slope(const Array& x) { return np::cos(x) * x + np::sin(x); }
Array wave_curve(const Array& x) { return 2.0 * np::cos(x) - np::sin(x) * x; }
Array rows() { return np::array({{0.1, 0.2, 0.3}, {-0.4, 0.5, 0.6}}, ct::f64); }

TEST(Composition, JitOfVmapOfGrad) { EXPECT_CLOSE(ct::jit(ct::vmap(ct::grad(wave)))(rows()), wave_slope(rows())); }

TEST(Composition, GradOfJitOfVmap) {
  const auto batched = ct::jit(ct::vmap(wave));
  const auto loss = [&](const Array& x) { return np::sum(np::square(batched(x))); };
  const Array values = np::sum(np::sin(rows()) * rows(), 1, true);
  EXPECT_CLOSE(ct::grad(loss)(rows()), 2.0 * values * wave_slope(rows()));
}

TEST(Composition, AllOrdersOfJitVmapGradAgree) {
  const auto by_row = [](const Array& x) { return wave(x); };
  const Array want = wave_slope(rows());
  EXPECT_CLOSE(ct::vmap(ct::jit(ct::grad(by_row)))(rows()), want);
  EXPECT_CLOSE(ct::vmap(ct::grad(ct::jit(by_row)))(rows()), want);
  EXPECT_CLOSE(ct::jit(ct::vmap(ct::jit(ct::grad(ct::jit(by_row)))))(rows()), want);
  const auto summed = [&](const auto& f) { return [f](const Array& x) { return np::sum(f(x)); }; };
  EXPECT_CLOSE(ct::grad(summed(ct::vmap(ct::jit(by_row))))(rows()), want);
  EXPECT_CLOSE(ct::jit(ct::grad(summed(ct::vmap(by_row))))(rows()), want);
}

TEST(Composition, JvpOfVjp) {
  const Array c = np::array({1.5, -2.0, 0.5}, ct::f64), t = np::array({0.2, 0.4, -1.0}, ct::f64);
  const auto pulled = [&](const Array& x) {
    return std::get<0>(ct::vjp([](const Array& a) { return np::sin(a) * a; }, x).second(c));
  };
  const auto [value, tangent] = ct::jvp(pulled, std::tuple{x3}, std::tuple{t});
  EXPECT_CLOSE(value, c * wave_slope(x3));
  EXPECT_CLOSE(tangent, c * wave_curve(x3) * t);
}

TEST(Composition, VjpOfJvp) {
  const Array c = np::array({1.5, -2.0, 0.5}, ct::f64), t = np::array({0.2, 0.4, -1.0}, ct::f64);
  const auto pushed = [&](const Array& x) {
    return ct::jvp([](const Array& a) { return np::sin(a) * a; }, std::tuple{x}, std::tuple{t}).second;
  };
  const auto [value, pull] = ct::vjp(pushed, x3);
  EXPECT_CLOSE(value, wave_slope(x3) * t);
  EXPECT_CLOSE(std::get<0>(pull(c)), c * wave_curve(x3) * t);
  EXPECT_CLOSE(std::get<0>(pull(2.0 * c)),
               2.0 * c * wave_curve(x3) * t);  // a pullback serves many cotangents
}

TEST(Composition, LinearizeInsideAndOutside) {
  const auto [y, push] = ct::linearize(ct::grad(wave), x3);
  EXPECT_CLOSE(y, wave_slope(x3));
  EXPECT_CLOSE(push(x3), wave_curve(x3) * x3);
  EXPECT_CLOSE(ct::vmap(push)(np::stack({x3, 2.0 * x3})), np::stack({wave_curve(x3) * x3, 2.0 * wave_curve(x3) * x3}));
  EXPECT_CLOSE(ct::jit(push)(x3), wave_curve(x3) * x3);
  const auto through = [](const Array& x) {
    const auto [value, inner] = ct::linearize([](const Array& a) { return np::sin(a) * a; }, x);
    return np::sum(inner(x) + value);
  };
  EXPECT_CLOSE(ct::grad(through)(x3), wave_curve(x3) * x3 + 2.0 * wave_slope(x3));
}

// Higher derivatives ------------------------------------------------------------------------------

using Scalar = std::function<Array(const Array&)>;
Scalar forward(Scalar f) {
  return [f](const Array& x) { return ct::jvp(f, std::tuple{x}, std::tuple{np::ones_like(x)}).second; };
}
Scalar reverse(Scalar f) { return ct::grad(f); }
Scalar linearized(Scalar f) {
  return [f](const Array& x) { return ct::linearize(f, x).second(np::ones_like(x)); };
}
Scalar jitted(Scalar f) { return ct::jit(f); }

TEST(Composition, ThirdDerivativesInEveryOrderOfModes) {
  struct Case {
    const char* name;
    Scalar f, third;
  };
  const std::vector<Case> cases{
      {"sin", [](const Array& x) { return np::sin(x); }, [](const Array& x) { return -np::cos(x); }},
      {"power", [](const Array& x) { return lax::integer_pow(x, 5); }, [](const Array& x) { return 60.0 * x * x; }},
      {"exp", [](const Array& x) { return np::exp(2.0 * x); }, [](const Array& x) { return 8.0 * np::exp(2.0 * x); }},
      {"log", [](const Array& x) { return np::log(x); }, [](const Array& x) { return 2.0 / (x * x * x); }},
      {"tanh", [](const Array& x) { return np::tanh(x); },
       [](const Array& x) {
         const Array s = 1.0 - np::square(np::tanh(x));
         return -2.0 * s * (3.0 * s - 2.0);
       }},
      {"cumprod", [](const Array& x) { return np::cumprod(np::stack({x, x, x, x}))[3]; },
       [](const Array& x) { return 24.0 * x; }},
      {"sqrt", [](const Array& x) { return np::sqrt(x); }, [](const Array& x) { return 0.375 * np::power(x, -2.5); }},
  };
  const std::vector<Scalar (*)(Scalar)> modes{forward, reverse, linearized};
  const Array x = np::array(0.7, ct::f64);
  for (const Case& c : cases)
    for (auto first : modes)
      for (auto second : modes)
        for (auto last : modes) {
          SCOPED_TRACE(c.name);
          EXPECT_CLOSE(last(second(first(c.f)))(x), c.third(x));
          EXPECT_CLOSE(jitted(last(jitted(second(jitted(first(c.f))))))(x), c.third(x));
        }
}

TEST(Composition, HessianForwardOverReverseIsReverseOverForward) {
  const auto f = [](const Array& x) { return np::sum(np::exp(0.3 * np::outer(x, x))) + np::prod(x); };
  const Array fr = ct::jacfwd(ct::jacrev(f))(x3), rf = ct::jacrev(ct::jacfwd(f))(x3);
  EXPECT_CLOSE(fr, rf);
  EXPECT_CLOSE(ct::hessian(f)(x3), fr);
  EXPECT_CLOSE(ct::jacrev(ct::jacrev(f))(x3), fr);
  EXPECT_CLOSE(ct::jacfwd(ct::jacfwd(f))(x3), fr);
  EXPECT_CLOSE(fr, fr.T());
  EXPECT_CLOSE(ct::jit(ct::hessian(f))(x3), fr);
  const Array batch = np::stack({x3, 0.5 * x3});
  EXPECT_CLOSE(ct::vmap(ct::hessian(f))(batch)[1], ct::hessian(f)(0.5 * x3));
}

TEST(Composition, ThirdDerivativeTensorIsSymmetric) {
  const auto f = [](const Array& x) { return np::sum(np::sin(np::outer(x, x))); };
  const Array t = ct::jacfwd(ct::hessian(f))(x3), r = ct::jacrev(ct::jacrev(ct::grad(f)))(x3);
  EXPECT_CLOSE(t, r);
  EXPECT_CLOSE(t, np::transpose(t, {2, 0, 1}));
}

// Closures over outer tracers ---------------------------------------------------------------------

template <class F>
Array derivative(const F& f, const Array& x) {
  return ct::jvp(f, std::tuple{x}, std::tuple{np::ones_like(x)}).second;
}

TEST(Closures, PerturbationsAreNotConfused) {
  const Array one = np::array(1.0, ct::f64), x0 = np::array(3.0, ct::f64);
  // d/dx (x · d/dy (x + y)) = 1
  const auto by_forward = [&](const Array& x) { return x * derivative([&](const Array& y) { return x + y; }, one); };
  const auto by_reverse = [&](const Array& x) { return x * ct::grad([&](const Array& y) { return x + y; })(one); };
  const auto by_jit = [&](const Array& x) { return x * ct::jit(ct::grad([&](const Array& y) { return x + y; }))(one); };
  EXPECT_CLOSE(derivative(by_forward, x0), one);
  EXPECT_CLOSE(derivative(by_reverse, x0), one);
  EXPECT_CLOSE(derivative(by_jit, x0), one);
  EXPECT_CLOSE(ct::grad(by_forward)(x0), one);
  EXPECT_CLOSE(ct::grad(by_reverse)(x0), one);
  EXPECT_CLOSE(ct::grad(by_jit)(x0), one);
  // d/dx (x · d/dy (x y)) = 2 x
  const auto product = [&](const Array& x) { return x * derivative([&](const Array& y) { return x * y; }, one); };
  EXPECT_CLOSE(derivative(product, x0), 2.0 * x0);
  EXPECT_CLOSE(ct::grad(product)(x0), 2.0 * x0);
  EXPECT_CLOSE(ct::jit(ct::grad(product))(x0), 2.0 * x0);
  // The point of the inner derivative is the outer variable itself: d/dx (d/dy (x y²) at y = x) = 4 x
  const auto at_itself = [&](const Array& x) { return ct::grad([&](const Array& y) { return x * y * y; })(x); };
  EXPECT_CLOSE(ct::grad(at_itself)(x0), 4.0 * x0);
  EXPECT_CLOSE(derivative(at_itself, x0), 4.0 * x0);
}

TEST(Closures, ThreeLevels) {
  const Array x0 = np::array(1.3, ct::f64), y0 = np::array(0.4, ct::f64);
  // d/dx (x · d/dy (y · d/dz (x y z))) at y0 = 4 x y0
  const auto f = [&](const Array& x) {
    return x * ct::grad([&](const Array& y) {
             return y * ct::jit([&](const Array& z) {
                      return derivative([&](const Array& w) { return x * y * w; }, z);
                    })(y0);
           })(y0);
  };
  EXPECT_CLOSE(ct::grad(f)(x0), 4.0 * x0 * y0);
  EXPECT_CLOSE(derivative(f, x0), 4.0 * x0 * y0);
  EXPECT_CLOSE(ct::vmap(ct::grad(f))(np::stack({x0, 2.0 * x0})), np::stack({4.0 * x0 * y0, 8.0 * x0 * y0}));
}

TEST(Closures, EveryInnerTransformSeesOuterTracers) {
  const auto through = [](const auto& call) {
    // sum over y of sin(x y), with y a constant: d/dx_i = Σ_j y_j cos(x_i y_j)
    return [call](const Array& x) {
      const Array y = np::array({0.2, 0.9}, ct::f64);
      return np::sum(call([x](const Array& v) { return np::sin(np::outer(x, v)); }, y));
    };
  };
  const Array y = np::array({0.2, 0.9}, ct::f64);
  const Array want = np::sum(np::cos(np::outer(x3, y)) * y, 1);
  const auto check = [&](const char* name, const auto& call) {
    SCOPED_TRACE(name);
    const auto f = through(call);
    EXPECT_CLOSE(ct::grad(f)(x3), want);
    EXPECT_CLOSE(ct::jacfwd(f)(x3), want);
    EXPECT_CLOSE(ct::jit(ct::grad(f))(x3), want);
    EXPECT_CLOSE(ct::vmap(ct::grad(f))(np::stack({x3, x3}))[1], want);
    EXPECT_CLOSE(ct::grad([&](const Array& x) { return np::sum(ct::vmap(f)(np::stack({x, x}))); })(x3), 2.0 * want);
  };
  check("jit", [](const auto& f, const Array& v) { return ct::jit(f)(v); });
  check("checkpoint", [](const auto& f, const Array& v) { return ct::checkpoint(f)(v); });
  check("vmap", [](const auto& f, const Array& v) {
    return ct::vmap([f](const Array& one) { return f(one[ct::newaxis])(ct::all, 0); })(v);
  });
  check("vjp", [](const auto& f, const Array& v) { return ct::vjp(f, v).first; });
  check("linearize", [](const auto& f, const Array& v) { return ct::linearize(f, v).first; });
  check("jvp", [](const auto& f, const Array& v) { return ct::jvp(f, std::tuple{v}, std::tuple{v}).first; });
}

TEST(Closures, AJittedFunctionIsNotCachedWithAnotherTracer) {
  const auto inner = [](const Array& x) { return ct::jit([x](const Array& y) { return x * y; })(x); };
  const auto f = ct::jit(inner);
  EXPECT_CLOSE(ct::grad(f)(np::array(2.0, ct::f64)), np::array(4.0, ct::f64));
  EXPECT_CLOSE(ct::grad(f)(np::array(3.0, ct::f64)), np::array(6.0, ct::f64));
  EXPECT_CLOSE(ct::vmap(ct::grad(f))(x3), 2.0 * x3);
}

// vmap --------------------------------------------------------------------------------------------

struct Layer {
  Array w, b;
};

TEST(NestedVmap, AxesPerArgumentAndLeaf) {
  const Array w = np::arange(24, ct::f64).reshape({3, 2, 4}) * 0.1, b = np::arange(6, ct::f64).reshape({2, 3});
  const auto f = [](const Layer& l, const Array& x) {
    return std::pair{np::matmul(l.w, x) + np::sum(l.b), Layer{l.b, x}};
  };
  // w (3, 2, 4) over axis 1 and b (2, 3) over axis 0; x whole. The second output keeps x unbatched.
  const Array x = np::array({1, -1, 0.5, 2}, ct::f64);
  const auto mapped = ct::vmap(f, {.in_axes = {{1, 0}, ct::none}, .out_axes = {1, {-1, ct::none}}});
  const auto [y, rest] = mapped(Layer{w, b}, x);
  ASSERT_EQ(y.shape(), (Shape{3, 2}));
  for (int i = 0; i < 2; ++i) EXPECT_CLOSE(y(ct::all, i), np::matmul(w(ct::all, i), x) + np::sum(b[i]));
  EXPECT_CLOSE(rest.w, b.T());
  EXPECT_CLOSE(rest.b, x);
  // Under grad and jit.
  const auto loss = [&](const Layer& l) { return np::sum(np::square(mapped(l, x).first)); };
  const Layer g = ct::jit(ct::grad(loss))(Layer{w, b});
  EXPECT_CLOSE(g.w, 2.0 * np::einsum("ij,k->ijk", {y, x}));
  EXPECT_CLOSE(g.b, np::broadcast_to(2.0 * np::sum(y, 0)(ct::all, ct::newaxis), {2, 3}));
}

TEST(NestedVmap, OuterProductTwoAndThreeDeep) {
  const Array a = np::arange(2, ct::f64) + 1.0, b = np::arange(3, ct::f64) + 1.0, c = np::arange(4, ct::f64) + 1.0;
  const auto f = [](const Array& x, const Array& y, const Array& z) { return x * y + z; };
  const auto abc =
      ct::vmap(ct::vmap(ct::vmap(f, {.in_axes = {ct::none, ct::none, 0}}), {.in_axes = {ct::none, 0, ct::none}}),
               {.in_axes = {0, ct::none, ct::none}, .out_axes = 1});
  const Array want = np::einsum("i,j->ij", {a, b})(ct::all, ct::all, ct::newaxis) + c;
  EXPECT_CLOSE(abc(a, b, c), np::swapaxes(want, 0, 1));
  EXPECT_CLOSE(
      ct::grad<1>([&](const Array& x, const Array& y, const Array& z) { return np::sum(abc(x, y, z)); })(a, b, c),
      np::full({3}, 12.0, ct::f64));
}

TEST(NestedVmap, EmptyBatchKeepsShapes) {
  const auto f = ct::vmap(ct::grad(wave));
  EXPECT_EQ(f(np::zeros({0, 3}, ct::f64)).shape(), (Shape{0, 3}));
  EXPECT_EQ(ct::jit(f)(np::zeros({0, 3}, ct::f64)).shape(), (Shape{0, 3}));
}

TEST(NestedVmap, OfJacobians) {
  const auto f = [](const Array& x) { return np::sin(np::outer(x, x))[0]; };
  const Array jac = ct::vmap(ct::jacrev(f))(rows());
  for (int i = 0; i < 2; ++i) EXPECT_CLOSE(jac[i], ct::jacfwd(f)(rows()[i]));
}

// Trees and static arguments ----------------------------------------------------------------------

struct Model {
  std::vector<Layer> layers;
  int power = 1;
  std::string kind = "sum";
};
Array run_model(const Model& m, const Array& x) {
  Array h = x;
  for (const Layer& l : m.layers) h = np::tanh(np::matmul(l.w, h) + l.b);
  return m.kind == "sum" ? lax::integer_pow(np::sum(h), m.power) : np::prod(h);
}

TEST(Trees, StructsThroughEveryTransform) {
  const Model m{{{0.3 * np::ones({2, 3}, ct::f64), np::zeros({2}, ct::f64)},
                 {0.5 * np::ones({1, 2}, ct::f64), np::zeros({1}, ct::f64)}},
                2,
                "sum"};
  const Model g = ct::grad(run_model)(m, x3);
  EXPECT_EQ(g.power, 2);
  EXPECT_EQ(g.kind, "sum");
  ASSERT_EQ(g.layers.size(), 2u);
  EXPECT_EQ(g.layers[0].w.shape(), (Shape{2, 3}));
  const Model compiled = ct::jit(ct::grad(run_model))(m, x3);
  EXPECT_CLOSE(compiled.layers[0].w, g.layers[0].w);
  EXPECT_CLOSE(compiled.layers[1].b, g.layers[1].b);
  // <g, t> by jvp, with the model itself as its tangent.
  const Array directional = ct::jvp(run_model, std::tuple{m, x3}, std::tuple{m, np::zeros_like(x3)}).second;
  Array inner = np::array(0.0, ct::f64);
  for (std::size_t i = 0; i < 2; ++i)
    inner = inner + np::sum(g.layers[i].w * m.layers[i].w) + np::sum(g.layers[i].b * m.layers[i].b);
  EXPECT_CLOSE(directional, inner);
  // Other static fields make another program.
  Model cubed = m;
  cubed.power = 3;
  const auto jitted = ct::jit(run_model);
  const Array base =
      ct::jit([](const Model& mm, const Array& x) { return run_model(mm, x); })(Model{m.layers, 1, "sum"}, x3);
  EXPECT_CLOSE(jitted(m, x3), base * base);
  EXPECT_CLOSE(jitted(cubed, x3), base * base * base);
  // Per-example gradients.
  const Array xs = np::stack({x3, 2.0 * x3});
  const Model per = ct::vmap(ct::grad(run_model), {.in_axes = {ct::none, 0}})(m, xs);
  EXPECT_CLOSE(per.layers[0].w[0], g.layers[0].w);
  EXPECT_EQ(per.layers[1].w.shape(), (Shape{2, 1, 2}));
  // A Jacobian by a tree.
  const Model jac = ct::jacrev(run_model)(m, x3);
  EXPECT_CLOSE(jac.layers[0].w, g.layers[0].w);
}

TEST(Trees, ValueAndGradWithAuxOfTreesUnderJit) {
  struct Aux {
    Array mean;
    std::map<std::string, Array> parts;
  };
  const auto loss = [](const std::map<std::string, Array>& p, const Array& x) {
    const Array y = p.at("w") * x + p.at("b");
    return std::pair{np::sum(y * y), Aux{np::mean(y), {{"y", y}}}};
  };
  const std::map<std::string, Array> p{{"w", np::array(2.0, ct::f64)}, {"b", np::array(0.5, ct::f64)}};
  const auto [value, grads] = ct::jit(ct::value_and_grad(loss))(p, x3);
  const Array y = 2.0 * x3 + 0.5;
  EXPECT_CLOSE(value.first, np::sum(y * y));
  EXPECT_CLOSE(value.second.parts.at("y"), y);
  EXPECT_CLOSE(value.second.mean, np::mean(y));
  EXPECT_CLOSE(grads.at("w"), np::sum(2.0 * y * x3));
  EXPECT_CLOSE(grads.at("b"), np::sum(2.0 * y));
}

TEST(StaticArguments, SelectAProgram) {
  int traces = 0;
  const auto f = ct::jit(
      [&](const Array& x, int n, const std::string& how) {
        ++traces;
        Array y = x;
        for (int i = 1; i < n; ++i) y = y * x;
        return how == "sum" ? np::sum(y) : np::max(y);
      },
      {.static_args = {1, 2}});
  EXPECT_CLOSE(f(x3, 2, std::string("sum")), np::sum(x3 * x3));
  EXPECT_CLOSE(f(x3, 3, std::string("sum")), np::sum(x3 * x3 * x3));
  EXPECT_CLOSE(f(x3, 3, std::string("max")), np::max(x3 * x3 * x3));
  EXPECT_CLOSE(f(2.0 * x3, 2, std::string("sum")), 4.0 * np::sum(x3 * x3));
  EXPECT_EQ(traces, 3);
  EXPECT_CLOSE(ct::grad([&](const Array& x) { return f(x, 3, std::string("sum")); })(x3), 3.0 * x3 * x3);
}

}  // namespace
}  // namespace compose
