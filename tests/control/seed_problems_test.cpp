// Seeds 000, 001 and 003: derivatives of associative scans, smoothers in one program, and the design of scan.
#include <cmath>

#include "control/control.hpp"
#include "control/seed_table.hpp"
#include "core/jaxpr.hpp"

namespace control {

// Seed 000: value_and_grad of an associative scan of tuples
// ---------------------------------------------------------

namespace {

using Three = std::tuple<Array, Array, Array>;

/// "(a,b,c) + (d,e,f) -> (d a, d b + e, d c + f)"; written as a loop for what is wanted.
Three compose(const Three& l, const Three& r) {
  const auto& [a, b, c] = l;
  const auto& [d, e, f] = r;
  return {d * a, d * b + e, d * c + f};
}
/// The Kalman filter's elements, (A, b, S) with leading axes.
Three compose_matrices(const Three& l, const Three& r) {
  const auto& [a, b, s] = l;
  const auto& [d, e, t] = r;
  return {np::einsum("nij,njk->nik", {d, a}), np::einsum("nij,njk->nik", {d, b}) + e,
          np::einsum("nij,njk,nlk->nil", {d, s, d}) + t};
}
template <class F>
Three compose_in_a_loop(const F& combine, const Three& elements) {
  const auto& [a, b, c] = elements;
  const auto at = [](const Array& x, std::int64_t i) { return x[range(i, i + 1)]; };
  std::vector<Three> out{{at(a, 0), at(b, 0), at(c, 0)}};
  for (std::int64_t i = 1; i < a.shape(0); ++i) out.push_back(combine(out.back(), {at(a, i), at(b, i), at(c, i)}));
  Arrays x, y, z;
  for (const auto& [p, q, r] : out) {
    x.push_back(p);
    y.push_back(q);
    z.push_back(r);
  }
  return {np::concatenate(x), np::concatenate(y), np::concatenate(z)};
}
Three elements_of(const Array& theta) {
  const Array n = np::arange(9).astype(ct::f64) * 0.1;
  return {np::exp(-theta[0] * n), np::sin(theta[1] + n), theta[0] * n};
}

}  // namespace

// "jit(valueAndGrad(lossFn)) — buffer limit (12 > 8)" and "Nonlinear operation in backward pass for
// concatenate".
TEST_P(SeedTable, ValueAndGradOfAssociativeScanOfThreeTuples) {
  const Array theta = np::array({0.7, 0.2}, ct::f64);
  expect_alike([](Array t) { return lax::associative_scan(compose, elements_of(t)); },
               [](Array t) { return compose_in_a_loop(compose, elements_of(t)); }, theta);
  const auto loss = [](Array t) { return weighted_sum(lax::associative_scan(compose, elements_of(t))); };
  const auto [value, slope] = ct::jit(ct::value_and_grad(loss))(theta);
  const auto [plain_value, plain_slope] = ct::value_and_grad(loss)(theta);
  EXPECT_CLOSE(value, plain_value);
  EXPECT_CLOSE(slope, plain_slope);
}
// "state dimension m >= 2": the Kalman elements.
TEST_P(SeedTable, ValueAndGradOfAssociativeScanOfKalmanElements) {
  const auto elements = [](Array theta) {
    const Array a = formula({6, 2, 2}, 0) * 0.7, b = formula({6, 2, 1}, 1);
    return Three{a * theta, b, np::matmul(a, np::matrix_transpose(a)) * theta};
  };
  expect_alike([=](Array t) { return lax::associative_scan(compose_matrices, elements(t)); },
               [=](Array t) { return compose_in_a_loop(compose_matrices, elements(t)); }, np::array({0.9}, ct::f64)[0]);
}
// "optimStep = jit((theta, optState) => ...)": the loss, its gradient and the update in one program.
TEST_P(SeedTable, JittedOptimiserStepOverAnAssociativeScan) {
  const auto loss = [](Array t) {
    const Array y = std::get<1>(lax::associative_scan(compose, elements_of(t)));
    return np::mean(y * y);
  };
  const auto step = ct::jit([&](Array theta, Array momentum) {
    const auto [value, slope] = ct::value_and_grad(loss)(theta);
    const Array m = 0.9 * momentum + slope;
    return std::tuple{value, theta - 0.05 * m, m};
  });
  Array theta = np::array({0.7, 0.2}, ct::f64), momentum = np::zeros({2}, ct::f64);
  double first = 0, last = 0;
  for (int i = 0; i < 10; ++i) {
    const auto [value, next, m] = step(theta, momentum);
    if (i == 0) first = value.item<double>();
    last = value.item<double>();
    theta = next;
    momentum = m;
  }
  EXPECT_LT(last, first);
}
// "grad(vmap(associativeScan))", from the issue's own list.
TEST_P(SeedTable, GradOfVmapOfAssociativeScan) {
  const auto f = [](Array ts) {
    return weighted_sum(
        ct::vmap([](Array t) { return std::get<1>(lax::associative_scan(compose, elements_of(t))); })(ts));
  };
  const auto g = [](Array ts) {
    Arrays rows;
    for (int i = 0; i < 3; ++i) rows.push_back(std::get<1>(compose_in_a_loop(compose, elements_of(ts[i]))));
    return weighted_sum(np::stack(rows));
  };
  const Array ts = formula({3, 2}, 0);
  EXPECT_CLOSE(ct::grad(f)(ts), ct::grad(g)(ts));
}

// Seed 001: the backward smoother in one program
// ----------------------------------------------------------------------

namespace {

/// r and N of the seed's backward step, which is a chain of products within one step.
std::pair<Two, Two> backward_step(const Two& carry, const Three& element) {
  const auto& [r, n] = carry;
  const auto& [a, b, s] = element;
  const Array at = a.T(), next_r = dot(at, r) + b, next_n = dot(dot(at, n), a) + s;
  return {{next_r, next_n}, {next_r, next_n}};
}

}  // namespace

// Cases C and D: scan and jit(scan), reverse.
TEST_P(SeedTable, BackwardSmootherScan) {
  const Three elements{formula({7, 2, 2}, 0) * 0.7, formula({7, 2, 1}, 1), formula({7, 2, 2}, 2)};
  const Two init{np::zeros({2, 1}, ct::f64), np::zeros({2, 2}, ct::f64)};
  const auto f = [&](Array scale) {
    const auto& [a, b, s] = elements;
    return lax::scan(backward_step, init, Three{a * scale, b, s}, {.reverse = true});
  };
  const auto g = [&](Array scale) {
    const auto& [a, b, s] = elements;
    return loop(backward_step, init, Three{a * scale, b, s}, {.reverse = true});
  };
  expect_alike(f, g, np::array({0.9}, ct::f64)[0]);
}
// Cases A and B: associativeScan bare and in jit, any length, also no power of two.
TEST_P(SeedTable, AssociativeScanOfAnyLength) {
  const auto f = [](Array a, Array b, Array s) { return lax::associative_scan(compose_matrices, Three{a, b, s}); };
  for (const std::int64_t n : {1, 2, 5, 16, 33, 100}) {
    const Array a = formula({n, 2, 2}, 0) * 0.5, b = formula({n, 2, 1}, 1), s = formula({n, 2, 2}, 2);
    const Three want = compose_in_a_loop(compose_matrices, {a, b, s}), plain = f(a, b, s), jitted = ct::jit(f)(a, b, s);
    EXPECT_TRUE(close(ct::tree::leaves(plain), ct::tree::leaves(want), 1e-12)) << n;
    EXPECT_TRUE(close(ct::tree::leaves(jitted), ct::tree::leaves(want), 1e-12)) << n;
  }
}
// "Option 2 — Reformulate backward smoother as associativeScan": r follows affine maps from the end.
TEST_P(SeedTable, BackwardSmootherAsAssociativeScan) {
  const Array a = formula({6, 2, 2}, 0) * 0.7, b = formula({6, 2, 1}, 1);
  const auto maps = lax::associative_scan(
      [](Two l, Two r) {  // in reverse order, so that the later map is applied first
        return Two{np::matmul(r.first, l.first), np::matmul(r.first, l.second) + r.second};
      },
      Two{np::matrix_transpose(a), b}, {.reverse = true});
  const auto step = [](Array r, Two e) {
    const Array next = dot(e.first.T(), r) + e.second;
    return Two{next, next};
  };
  EXPECT_CLOSE(maps.second, lax::scan(step, np::zeros({2, 1}, ct::f64), Two{a, b}, {.reverse = true}).second);
}
// "D: jit(fn) — O(N) roundtrips": here one program, as many dispatches for any length.
TEST_P(SeedTable, DispatchesDoNotDependOnTheLength) {
  const auto f = ct::jit([](Array xs) { return np::sum(lax::scan(sine, xs[0], xs).second); });
  const auto dispatches = [&](auto g, std::int64_t n) { return ct::explain(g, formula({n, 2}, 0)).dispatches; };
  EXPECT_EQ(dispatches(f, 4), dispatches(f, 400));
  EXPECT_EQ(dispatches(ct::grad(f), 4), dispatches(ct::grad(f), 400));
}

// Seed 003: the design
// ------------------------------------------------------------------------------------------------

// "Jaxpr representation: Add scan as a primitive, represent the loop body as a sub-Jaxpr".
TEST_P(SeedTable, ScanIsAPrimitiveWithASubProgram) {
  const auto program =
      ct::make_jaxpr([](Array c, Array xs) { return lax::scan(sine, c, xs); })(formula({2}, 0), formula({5, 2}, 1));
  const ct::Jaxpr& j = *program.jaxpr();
  ASSERT_EQ(j.equations.size(), 1u);
  EXPECT_EQ(j.equations[0].primitive->name, "scan");
  EXPECT_EQ(ct::Scan(j.equations[0].params).length, 5);
  const std::string text = program.str();
  for (const char* part : {"scan[", "length=5", "num_carry=1", "reverse=False", "sin"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}
// "Phase 1: compile scan body once": traced once, whatever the length (and once more for a weak first carry).
TEST_P(SeedTable, TheBodyIsTracedOnce) {
  int calls = 0;
  const auto f = ct::jit([&](Array xs) {
    return lax::scan(
        [&](Array c, Array x) {
          ++calls;
          return Two{c + x, c};
        },
        np::zeros({}, ct::f64), xs);
  });
  f(formula({100}, 0));
  f(formula({100}, 1));
  EXPECT_EQ(calls, 1);
}
// "Recurrent neural networks (RNNs, LSTMs, GRUs)": an LSTM cell.
TEST_P(SeedTable, LstmTrainingStep) {
  const Array xs = formula({4, 3, 2}, 1), target = formula({3, 4}, 2);
  const auto loss = [=](auto scan) {
    return [=](Array w) {  // inputs 2 and hidden 4 to four gates
      const auto step = [&](Two s, Array x) {
        const auto& [h, c] = s;
        const auto gates = np::split(dot(np::concatenate({x, h}, 1), w), 4, 1);
        const auto sigmoid = [](const Array& a) { return 1 / (1 + np::exp(-a)); };
        const Array cell = sigmoid(gates[0]) * c + sigmoid(gates[1]) * np::tanh(gates[2]);
        return std::pair{Two{sigmoid(gates[3]) * np::tanh(cell), cell}, none};
      };
      const Array zero = np::zeros({3, 4}, ct::f64), d = scan(step, Two{zero, zero}, xs) - target;
      return np::mean(d * d);
    };
  };
  const auto scanned = loss([](const auto& step, Two c, Array x) { return lax::scan(step, c, x).first.first; });
  const auto looped = loss([](const auto& step, Two c, Array x) {
    for (std::int64_t i = 0; i < x.shape(0); ++i) c = step(c, x[i]).first;
    return c.first;
  });
  const Array w = formula({6, 16}, 0) * 0.5;
  EXPECT_CLOSE(ct::jit(ct::grad(scanned))(w), ct::grad(looped)(w));
}
// "Iterative algorithms (optimization, root finding)": gradient descent by fori_loop, Newton by while_loop.
TEST_P(SeedTable, IterativeAlgorithms) {
  const auto descend = [](Array x) {
    return lax::fori_loop(
        0, 20, [](Array, Array x) { return x - 0.1 * ct::grad([](Array x) { return np::sum((x - 1) * (x - 1)); })(x); },
        x);
  };
  EXPECT_TRUE(close(descend(np::zeros({2}, ct::f64)), np::full({2}, 1 - std::pow(0.8, 20), ct::f64), 1e-12));
  const auto root = [](Array a) {
    return lax::while_loop([&](Array y) { return np::abs(y * y - a) > 1e-13; },
                           [&](Array y) { return 0.5 * (y + a / y); }, a);
  };
  EXPECT_TRUE(close(ct::vmap(root)(np::array({2.0, 9.0, 0.25}, ct::f64)),
                    np::array({std::sqrt(2.0), 3.0, 0.5}, ct::f64), 1e-12));
  EXPECT_TRUE(close(ct::jvp(root, std::tuple{np::array(2.0, ct::f64)}, std::tuple{np::array(1.0, ct::f64)}).second,
                    np::array(0.5 / std::sqrt(2.0), ct::f64), 1e-6));
}
// "Control flow primitives like scan, while_loop, and cond", "Differentiable dynamic programming": a soft
// minimum path.
TEST_P(SeedTable, DifferentiableDynamicProgramming) {
  const auto path = [](auto scan) {
    return [scan](Array cost) {
      const auto step = [](Array best, Array row) {
        const Array left = np::concatenate({np::full({1}, 9.0, ct::f64), best[range(none, -1)]});
        const Array next = row - np::logaddexp(-left, -best);
        return Two{next, next};
      };
      return scan(step, cost[0], cost[range(1, none)]);
    };
  };
  expect_alike(path([](const auto& s, Array c, Array x) { return lax::scan(s, c, x); }),
               path([](const auto& s, Array c, Array x) { return loop(s, c, x); }), formula({6, 5}, 0));
}
// "Nested scans, scans in JIT, scans in gradients".
TEST_P(SeedTable, NestedScansInJitAndGradients) {
  const auto nested = [](auto scan) {
    return [scan](Array xs) {
      const auto outer = [&](Array c, Array row) {
        const auto [d, ys] = scan(sine, c, row);
        return std::pair{np::tanh(d), ys};
      };
      return scan(outer, xs(0, 0), xs);
    };
  };
  expect_alike(nested([](const auto& s, Array c, Array x) { return lax::scan(s, c, x); }),
               nested([](const auto& s, Array c, Array x) { return loop(s, c, x); }), formula({3, 4, 2}, 0));
}

}  // namespace control
