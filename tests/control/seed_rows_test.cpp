// Seed 002: one test per row of its tables on scan.
#include <cmath>

#include "control/seed_table.hpp"

namespace control {

INSTANTIATE_TEST_SUITE_P(On, SeedTable, testing::ValuesIn(devices()), device_name);

// Seed 002, tables "CPU Backend", "WASM Backend", "WebGPU Backend" ------------------------------------------

// Row `scan basic`: running sum, and factorial.
TEST_P(SeedTable, ScanBasic) {
  const auto [c, ys] = lax::scan(running_sum, 0.0, np::arange(1, 6, 1, ct::f64));
  EXPECT_CLOSE(c, np::array(15.0, ct::f64));
  EXPECT_CLOSE(ys, np::array({1, 3, 6, 10, 15}, ct::f64));
  const auto [f, fs] = lax::scan([](Array c, Array x) { return Two{c * x, c * x}; }, 1, np::arange(1, 7));
  EXPECT_EQ(f.item<int>(), 720);
  EXPECT_EQ(fs.to_vector<int>(), (std::vector<int>{1, 2, 6, 24, 120, 720}));
}
// Row `scan with pytree carry`.
TEST_P(SeedTable, ScanWithPytreeCarry) {
  struct State {
    Array a, b;
  };
  const auto step = [](const State& s, Array x) {
    return std::pair{State{s.a + x, s.b * x}, std::map<std::string, Array>{{"out", s.a}, {"both", s.a * s.b}}};
  };
  const Array xs = formula({5}, 0);
  const State init{xs[0], xs[1]};
  const auto got = lax::scan(step, init, xs), want = loop(step, init, xs);
  EXPECT_CLOSE(got.first.a, want.first.a);
  EXPECT_CLOSE(got.first.b, want.first.b);
  EXPECT_CLOSE(got.second.at("out"), want.second.at("out"));
  EXPECT_CLOSE(got.second.at("both"), want.second.at("both"));
}
// Row `reverse scan`.
TEST_P(SeedTable, ReverseScan) { expect_scan(sine, formula({3}, 1), formula({6, 3}, 0), {.reverse = true}); }
// Row `jit + scan`.
TEST_P(SeedTable, JitOfScan) {
  const auto f = ct::jit([](Array xs) { return lax::scan(running_sum, 0.0, xs); });
  const Array xs = formula({7}, 0);
  EXPECT_CLOSE(f(xs).second, np::cumsum(xs));
  EXPECT_CLOSE(f(xs * 2).second, np::cumsum(xs * 2)) << "the compiled program again";
}
// Row `JVP (forward-mode)`.
TEST_P(SeedTable, JvpOfScan) {
  const auto f = [](Array xs) { return lax::scan(sine, xs[0], xs).second; };
  const auto g = [](Array xs) { return loop(sine, xs[0], xs).second; };
  const Array x = formula({5}, 0), t = formula({5}, 1);
  EXPECT_CLOSE(ct::jvp(f, std::tuple{x}, std::tuple{t}).second, ct::jvp(g, std::tuple{x}, std::tuple{t}).second);
}
// Row `VJP (reverse-mode)`.
TEST_P(SeedTable, VjpOfScan) {
  const auto f = [](Array xs) { return lax::scan(sine, xs[0], xs).second; };
  const auto g = [](Array xs) { return loop(sine, xs[0], xs).second; };
  const Array x = formula({5}, 0), ct_ = formula({5}, 1);
  const auto [y, pull] = ct::vjp(f, x);
  const auto [z, pull_loop] = ct::vjp(g, x);
  EXPECT_CLOSE(std::get<0>(pull(ct_)), std::get<0>(pull_loop(ct_)));
}
// Rows `vmap`, `vmap > jit(vmap(scan))`, `vmap > vmap(jit(scan))`.
TEST_P(SeedTable, VmapOfScan) {
  const auto f = [](Array c, Array xs) { return lax::scan(sine, c, xs).second; };
  const Array c = formula({4}, 0), xs = formula({4, 5}, 1);
  Arrays rows;
  for (int i = 0; i < 4; ++i) rows.push_back(loop(sine, c[i], xs[i]).second);
  const Array want = np::stack(rows);
  EXPECT_CLOSE(ct::vmap(f)(c, xs), want);
  EXPECT_CLOSE(ct::jit(ct::vmap(f))(c, xs), want);
  EXPECT_CLOSE(ct::vmap(ct::jit(f))(c, xs), want);
}
// Row `scan over views`: sliced and transposed xs.
TEST_P(SeedTable, ScanOverViews) {
  const Array m = formula({4, 7}, 0), c = formula({4}, 1);
  expect_alike([=](Array m) { return lax::scan(sine, c, m.T()); }, [=](Array m) { return loop(sine, c, m.T()); }, m);
  const auto part = [](Array m) { return m(all, range(1, 6, 2)).T()[range(none, none, -1)]; };
  expect_alike([=](Array m) { return lax::scan(sine, c, part(m)); }, [=](Array m) { return loop(sine, c, part(m)); },
               m);
}
// Row `compiled-loop scan`, small and large: one loop, whatever the length.
TEST_P(SeedTable, CompiledLoopScan) {
  for (const std::int64_t n : {2, 10, 1000}) {
    const Array xs = np::arange(n).astype(ct::f64) * 0.001;
    const auto f = ct::jit([](Array xs) { return lax::scan(running_sum, 0.0, xs).second; });
    EXPECT_TRUE(close(f(xs), np::cumsum(xs), 1e-12));
  }
}
// Row `compiled-loop scan > with constants`.
TEST_P(SeedTable, CompiledLoopScanWithConstants) {
  const Array scale = formula({3}, 2), offset = np::array({1.0, 2.0, 3.0}, ct::f64);
  expect_scan([=](Array c, Array x) { return Two{c * scale + x, c + offset}; }, formula({3}, 1), formula({6, 3}, 0));
}
// Row `Compiled-loop reverse=true`: all variants (single, several and general bodies).
TEST_P(SeedTable, CompiledLoopReverse) {
  expect_scan(running_sum, np::zeros({}, ct::f64), formula({6}, 0), {.reverse = true});
  const auto general = [](Array c, Array x) {
    const Array n = dot(x, c);
    return std::pair{np::tanh(n), Arrays{n, c, np::sum(n)}};
  };
  expect_scan(general, formula({3}, 1), formula({4, 3, 3}, 0), {.reverse = true});
}
// Row `compiled-body scan`: a matrix product in the body.
TEST_P(SeedTable, CompiledBodyScanMatmul) {
  const Array w = formula({4, 4}, 2) * 0.4;
  expect_scan([=](Array c, Array x) { return Two{np::tanh(dot(w, c)) + x, dot(c, c.T())}; }, formula({4, 4}, 1),
              formula({5, 4, 4}, 0));
}
// Rows `native routine scan > cholesky` and `> cholesky with reverse`.
TEST_P(SeedTable, ScanWithCholeskyInBody) {
  const auto step = [](Array c, Array x) {
    const Array l = linalg::cholesky(positive(x));
    return Two{np::sin(dot(l, c)), l};
  };
  expect_scan(step, formula({4}, 1), formula({3, 4, 4}, 0), {}, 1e-11);
  expect_scan(step, formula({4}, 1), formula({3, 4, 4}, 0), {.reverse = true}, 1e-11);
}
// Row `native routine scan > sort`: passthrough carry pattern.
TEST_P(SeedTable, ScanWithSortInBody) {
  expect_scan([](Array c, Array x) { return Two{c, np::sort(x * c)}; }, formula({6}, 1), formula({4, 6}, 0));
}
// Row `native routine scan > mixed kernel+routine`: multiply -> cholesky in one body.
TEST_P(SeedTable, ScanWithMixedKernelAndRoutine) {
  const auto step = [](Array c, Array x) {
    const Array l = linalg::cholesky(positive(x) * np::exp(0.1 * np::sum(c)));
    return Two{np::tanh(dot(l, c) * 0.5) + 0.1, np::log(np::diag(l))};
  };
  expect_scan(step, formula({3}, 1), formula({4, 3, 3}, 0), {}, 1e-11);
}
// Row `grad through scan with routines`: mixed kernel+routine body.
TEST_P(SeedTable, GradThroughScanWithRoutines) {
  const auto loss = [](auto scan) {
    return [scan](Array a) {
      const auto step = [&](Array c, Array x) {
        const Array l = linalg::cholesky(positive(a) + np::diag(x * x));
        return Two{np::sin(linalg::triangular_solve(l, column(c), {.lower = true})).reshape({3}),
                   np::sum(np::log(np::diag(l)))};
      };
      return weighted_sum(scan(step, formula({3}, 1), formula({4, 3}, 2)));
    };
  };
  const auto f = loss([](const auto& s, Array c, Array x) { return lax::scan(s, c, x); });
  const auto g = loss([](const auto& s, Array c, Array x) { return loop(s, c, x); });
  EXPECT_TRUE(close(ct::jit(ct::grad(f))(formula({3, 3}, 0)), ct::grad(g)(formula({3, 3}, 0)), 1e-11));
}
// Row `compiled-loop scan > with reduction`: carry += sum(x), and a product of matrices.
TEST_P(SeedTable, CompiledLoopScanWithReduction) {
  expect_scan([](Array c, Array x) { return Two{c + np::sum(x), np::max(x) * c}; }, np::zeros({}, ct::f64),
              formula({5, 7}, 0));
  expect_scan([](Array c, Array x) { return Two{dot(c, x), np::mean(c)}; }, formula({3, 3}, 1), formula({4, 3, 3}, 0));
}
// Row `compiled-loop scan > with reverse`.
TEST_P(SeedTable, CompiledLoopScanWithReverse) {
  expect_scan([](Array c, Array x) { return Two{c * 0.5 + x, c}; }, formula({8}, 1), formula({9, 8}, 0),
              {.reverse = true});
}
// Row `multi-kernel scan`: there at most 8 buffers together; here 6 carries, 6 xs and 6 ys.
TEST_P(SeedTable, MultiKernelScanWithManyBuffers) {
  const auto step = [](const Arrays& c, const Arrays& x) {
    Arrays next, ys;
    for (std::size_t i = 0; i < c.size(); ++i) {
      next.push_back(np::sin(c[i]) + x[(i + 1) % c.size()] * c[(i + 2) % c.size()]);
      ys.push_back(c[i] * x[i]);
    }
    return std::pair{next, ys};
  };
  const auto split = [](Array m) {
    Arrays xs;
    for (int i = 0; i < 6; ++i) xs.push_back(m[i]);
    return xs;
  };
  const Arrays init = split(formula({6, 2}, 1));
  expect_alike([=](Array m) { return lax::scan(step, init, split(m)); },
               [=](Array m) { return loop(step, init, split(m)); }, formula({6, 4, 2}, 0));
}
// Row `compiled-body scan (routine bodies)`, there broken: TriangularSolve, Cholesky and LU alone in the
// body.
TEST_P(SeedTable, CompiledBodyScanOfRoutinesAlone) {
  const Array a = positive(formula({3, 3}, 3));
  expect_scan([](Array c, Array x) { return Two{c, linalg::cholesky(x)}; }, formula({2}, 1),
              np::stack({a, a * 2, a + np::eye(3, 3, 0, ct::f64)}), {}, 1e-11);
  const Array low = linalg::cholesky(a);
  expect_scan([=](Array c, Array x) { return Two{linalg::triangular_solve(low, c, {.lower = true}), x}; },
              formula({3, 1}, 1), formula({4, 2}, 0), {}, 1e-11);
  expect_scan([](Array c, Array x) { return Two{c, linalg::lu(x).lu}; }, formula({2}, 1), np::stack({a, a * 2}), {},
              1e-11);
}
// Note `numCarry != numY`, where another back end falls back: here the same compiled loop.
TEST_P(SeedTable, NumberOfCarriesIsNotNumberOfOutputs) {
  const auto none_out = [](const Arrays& c, Array x) {
    return std::pair{Arrays{c[0] + x, c[1] * x, c[0] * c[1]}, Arrays{}};
  };
  const Array xs = formula({5}, 0);
  const Arrays init{xs[0], xs[1], xs[2]};
  EXPECT_TRUE(close(lax::scan(none_out, init, xs).first, loop(none_out, init, xs).first, 1e-12));
  const auto three_out = [](Array c, Array x) { return std::pair{c + x, Arrays{c, x, c * x}}; };
  expect_scan(three_out, xs[0], xs);
}

// Seed 002, "General Compiled-Loop" and "Common patterns"
// -----------------------------------------------------

// "Kalman filter: 2 carry values, 5 outputs".
TEST_P(SeedTable, KalmanFilterWithTwoCarriesAndFiveOutputs) {
  const Array f = np::array({1.0, 0.3}, ct::f64), g = np::array({{1.0, 0.1}, {-0.2, 0.9}}, ct::f64);
  const Array w = 0.1 * np::eye(2, 2, 0, ct::f64);
  const auto step = [=](Two c, Array y) {
    const auto& [x, p] = c;
    const Array v = y - np::dot(f, x), s = np::dot(dot(f, p), f) + 0.5;
    const Array k = dot(dot(g, p), f) / s, l = g - np::outer(k, f);
    const Array next = dot(dot(g, p), l.T()) + w;
    return std::pair{Two{dot(g, x) + k * v, next}, Arrays{x, p, v, s, k}};
  };
  const Two init{np::zeros({2}, ct::f64), np::eye(2, 2, 0, ct::f64)};
  expect_alike([=](Array ys) { return lax::scan(step, init, ys); }, [=](Array ys) { return loop(step, init, ys); },
               formula({8}, 0));
}
// "Passthrough Y outputs (carry values passed through unchanged)", and the same array in both places.
TEST_P(SeedTable, PassthroughOutputs) {
  expect_scan([](Array c, Array x) { return std::pair{c + x, Arrays{c, x}}; }, formula({2}, 1), formula({4, 2}, 0));
  expect_scan(
      [](Array c, Array x) {
        const Array n = c + x;
        return std::pair{n, Arrays{n, n}};
      },
      formula({2}, 1), formula({4, 2}, 0));
}
// "Data dependencies between steps (reads from internal buffers)": a chain within one step.
TEST_P(SeedTable, ChainOfDependentStepsInTheBody) {
  const auto step = [](Array c, Array x) {
    const Array a = dot(x, c), b = dot(x.T(), np::tanh(a)), d = dot(x, b) + a;
    return Two{d * 0.3, np::sum(b * d)};
  };
  expect_scan(step, formula({3}, 1), formula({5, 3, 3}, 0));
}
// "Critical: Reduction epilogue reindexing": y - matmul(F, x) has an epilogue that reads several inputs.
TEST_P(SeedTable, ReductionWithAnEpilogueOfSeveralInputs) {
  const Array f = formula({2, 3}, 2);
  expect_scan([=](Array c, Array y) { return Two{np::sin(c) * np::sum(y), y - dot(f, c) * y}; }, formula({3}, 1),
              formula({5, 2}, 0));
}
// "Keep inputs": scan(f, init, xs) twice with the same arrays.
TEST_P(SeedTable, InputsCanBeUsedAgain) {
  const Array init = formula({2}, 1), xs = formula({4, 2}, 0);
  EXPECT_CLOSE(lax::scan(sine, init, xs).second, lax::scan(sine, init, xs).second);
  EXPECT_CLOSE(init, formula({2}, 1));
  EXPECT_CLOSE(xs, formula({4, 2}, 0));
}
// "JIT pending ops before scan": what is computed before the loop, in the same program, is there when it
// starts.
TEST_P(SeedTable, WorkBeforeAndAfterTheLoop) {
  const auto around = [](auto scan) {
    return [scan](Array m) {
      const auto [c, ys] = scan(np::sum(m, 0) * 2, np::transpose(np::exp(m.reshape({3, 4}))).reshape({6, 2}));
      return Arrays{np::cumsum(ys, 0), np::sin(c)};
    };
  };
  expect_alike(around([](Array c, Array x) { return lax::scan(sine, c, x); }),
               around([](Array c, Array x) { return loop(sine, c, x); }), formula({6, 2}, 0));
}
// "Autodiff and ownership": nothing has to be disposed; run_tests.cpp fails a test that leaks.
TEST_P(SeedTable, PullbackLeavesNothingBehind) {
  const auto before = ct::memory_stats().live_buffers;
  {
    const Array xs = formula({5}, 0);
    const auto [y, pull] = ct::vjp([](Array xs) { return lax::scan(sine, xs[0], xs).second; }, xs);
    pull(y);
    pull(y);
  }
  EXPECT_EQ(ct::memory_stats().live_buffers, before);
}

}  // namespace control
