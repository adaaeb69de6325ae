// One test per row of the seeds' tables on scan, and per limitation that they name: each works here, on each device.
// Seed 002 has the status tables of another library's scan, 003 its design, 000 and 001 its open problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "control/control.hpp"
#include "control/unrolled.hpp"
#include "core/jaxpr.hpp"

namespace control {

namespace {

using Two = std::pair<Array, Array>;
using ct::all;
using ct::none;
using ct::range;

class SeedTable : public OnEachDevice {};
INSTANTIATE_TEST_SUITE_P(On, SeedTable, testing::ValuesIn(devices()), device_name);

Array column(const Array& v) { return np::expand_dims(v, -1); }
Array dot(const Array& a, const Array& b) { return np::matmul(a, b); }
Two running_sum(const Array& c, const Array& x) { return {c + x, c + x}; }
Two sine(const Array& c, const Array& x) {
  const Array n = np::sin(c) * x + 0.5 * c;
  return {n, n * n};
}

/// A scan over the argument is the same steps in C++.
template <class F>
void expect_scan(const F& step, const Array& init, const Array& xs, lax::ScanOptions options = {},
                 double tolerance = 1e-12) {
  expect_alike([=](const Array& x) { return lax::scan(step, init, x, options); },
               [=](const Array& x) { return loop(step, init, x, options); }, xs, tolerance);
}

}  // namespace

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
  expect_alike([=](Array m) { return lax::scan(sine, c, part(m)); }, [=](Array m) { return loop(sine, c, part(m)); }, m);
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
        return Two{np::sin(linalg::triangular_solve(l, column(c), {.lower = true})).reshape({3}), np::sum(np::log(np::diag(l)))};
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
  expect_scan([](Array c, Array x) { return Two{c + np::sum(x), np::max(x) * c}; }, np::zeros({}, ct::f64), formula({5, 7}, 0));
  expect_scan([](Array c, Array x) { return Two{dot(c, x), np::mean(c)}; }, formula({3, 3}, 1), formula({4, 3, 3}, 0));
}
// Row `compiled-loop scan > with reverse`.
TEST_P(SeedTable, CompiledLoopScanWithReverse) {
  expect_scan([](Array c, Array x) { return Two{c * 0.5 + x, c}; }, formula({8}, 1), formula({9, 8}, 0), {.reverse = true});
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
// Row `compiled-body scan (routine bodies)`, there broken: TriangularSolve, Cholesky and LU alone in the body.
TEST_P(SeedTable, CompiledBodyScanOfRoutinesAlone) {
  const Array a = positive(formula({3, 3}, 3));
  expect_scan([](Array c, Array x) { return Two{c, linalg::cholesky(x)}; }, formula({2}, 1),
              np::stack({a, a * 2, a + np::eye(3, 3, 0, ct::f64)}), {}, 1e-11);
  const Array low = linalg::cholesky(a);
  expect_scan([=](Array c, Array x) { return Two{linalg::triangular_solve(low, c, {.lower = true}), x}; },
              formula({3, 1}, 1), formula({4, 2}, 0), {}, 1e-11);
  expect_scan([](Array c, Array x) { return Two{c, linalg::lu(x).lu}; }, formula({2}, 1), np::stack({a, a * 2}), {}, 1e-11);
}
// Note `numCarry != numY`, where another back end falls back: here the same compiled loop.
TEST_P(SeedTable, NumberOfCarriesIsNotNumberOfOutputs) {
  const auto none_out = [](const Arrays& c, Array x) { return std::pair{Arrays{c[0] + x, c[1] * x, c[0] * c[1]}, Arrays{}}; };
  const Array xs = formula({5}, 0);
  const Arrays init{xs[0], xs[1], xs[2]};
  EXPECT_TRUE(close(lax::scan(none_out, init, xs).first, loop(none_out, init, xs).first, 1e-12));
  const auto three_out = [](Array c, Array x) { return std::pair{c + x, Arrays{c, x, c * x}}; };
  expect_scan(three_out, xs[0], xs);
}

// Seed 002, "General Compiled-Loop" and "Common patterns" -----------------------------------------------------

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
  expect_scan([](Array c, Array x) {
    const Array n = c + x;
    return std::pair{n, Arrays{n, n}};
  }, formula({2}, 1), formula({4, 2}, 0));
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
// "JIT pending ops before scan": what is computed before the loop, in the same program, is there when it starts.
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

// Seed 002, "Routine eligibility" and "Blocked by missing primitives" ---------------------------------------------

// Row `Argsort`: "not yet, would need 2 output buffers".
TEST_P(SeedTable, ScanWithArgsortInBody) {
  const auto step = [](Array c, Array x) {
    const Array i = np::argsort(x);
    return std::pair{np::sin(c)[i] + x, Two{i, x[i]}};
  };
  expect_scan(step, formula({5}, 1), formula({4, 5}, 0));
}
// Row `TriangularSolve`: "not yet, would need 2 inputs (A constant + x variable)".
TEST_P(SeedTable, ScanWithTriangularSolveInBody) {
  const Array low = np::tril(formula({3, 3}, 2)) + 2 * np::eye(3, 3, 0, ct::f64);
  const auto step = [=](Array c, Array x) {
    const Array y = linalg::triangular_solve(low, column(c + x), {.lower = true});
    return Two{linalg::triangular_solve(low, y, {.lower = true, .transpose_a = true}).reshape({3}), y.reshape({3})};
  };
  expect_scan(step, formula({3}, 1), formula({4, 3}, 0), {}, 1e-11);
}
// Row `LU`: "not yet, would need 3 outputs (L, U, pivots)".
TEST_P(SeedTable, ScanWithLuInBody) {
  const auto step = [](Array c, Array x) {
    const auto [lu, pivots, permutation] = linalg::lu(x + 2 * np::eye(3, 3, 0, ct::f64));
    return std::pair{np::sin(dot(np::triu(lu), c)), std::tuple{lu, pivots, permutation}};
  };
  expect_scan(step, formula({3}, 1), formula({3, 3, 3}, 0), {}, 1e-11);
}
// Also of the routines table: QR, and solve by LU.
TEST_P(SeedTable, ScanWithQrAndSolveInBody) {
  const auto step = [](Array c, Array x) {
    const Array a = x + 3 * np::eye(3, 3, 0, ct::f64);
    return std::pair{np::sin(linalg::solve(a, c)), Arrays{np::abs(linalg::qr(a).r)}};
  };
  expect_scan(step, formula({3}, 1), formula({3, 3, 3}, 0), {}, 1e-11);
}
// Rows `Scatter`, `Dynamic slice`, `Dynamic update slice`: "not implemented".
TEST_P(SeedTable, ScanWithScatterInBody) {
  const auto step = [](Two s, Array x) {
    const auto& [c, i] = s;
    return std::pair{Two{c.at(i).set(np::sum(x * c)).at(4 - i, 1).add(x[0]), i + 1}, c[i]};
  };
  expect_alike([=](Array xs) { return lax::scan(step, Two{formula({5, 2}, 1), 0}, xs); },
               [=](Array xs) { return loop(step, Two{formula({5, 2}, 1), 0}, xs); }, formula({4, 2}, 0));
}
TEST_P(SeedTable, ScanWithDynamicSliceInBody) {
  const auto step = [](Two s, Array x) {
    const auto& [c, i] = s;
    const Array part = lax::dynamic_slice(c, {i}, {3}) * x;
    return std::pair{Two{lax::dynamic_update_slice(c, np::sin(part), {6 - i}), i + 1}, part};
  };
  expect_alike([=](Array xs) { return lax::scan(step, Two{formula({8}, 1), 0}, xs); },
               [=](Array xs) { return loop(step, Two{formula({8}, 1), 0}, xs); }, formula({5}, 0));
}
// Rows of "Routine feasibility with scan": TriangularSolve, "possible".
TEST_P(SeedTable, TriangularSolveWrittenAsScan) {
  const Array low = np::tril(formula({4, 4}, 0)) + 2 * np::eye(4, 4, 0, ct::f64);
  const auto solve = [&](Array b) {
    return lax::fori_loop(0, 4, [&](Array i, Array x) { return x.at(i).set((b[i] - np::dot(low[i], x)) / low(i, i)); },
                          np::zeros({4}, ct::f64));
  };
  expect_alike(solve, [&](Array b) { return linalg::triangular_solve(low, column(b), {.lower = true}).reshape({4}); },
               formula({4}, 1), 1e-11);
}
// Row Cholesky: "possible, row-by-row construction".
TEST_P(SeedTable, CholeskyWrittenAsScan) {
  const auto cholesky = [](Array m) {
    const Array a = positive(m);
    const Array below = np::arange(4);
    return lax::fori_loop(
        0, 4,
        [&](Array j, Array l) {
          const Array c = a(all, j) - dot(l, l[j]);
          return l.at(all, j).set(np::where(below >= j, c / np::sqrt(c[j]), 0.0));
        },
        np::zeros({4, 4}, ct::f64));
  };
  expect_alike(cholesky, [](Array m) { return linalg::cholesky(positive(m)); }, formula({4, 4}, 0), 1e-11);
}
// Row LU: "blocked, needs row swaps (scatter) for pivoting".
TEST_P(SeedTable, LuWithPivotingWrittenAsScan) {
  const auto lu = [](Array a) {
    const Array row = np::arange(4);
    return lax::fori_loop(
        0, 4,
        [&](Array k, Array m) {
          const Array p = np::argmax(np::where(row >= k, np::abs(m(all, k)), -1.0));
          const Array swapped = m.at(k).set(m[p]).at(p).set(m[k]);
          const Array factor = np::where(row > k, swapped(all, k) / swapped(k, k), 0.0);
          const Array cleared = swapped - np::outer(factor, np::where(row >= k, swapped[k], 0.0));
          return cleared.at(all, k).add(factor);
        },
        a);
  };
  expect_alike(lu, [](Array a) { return linalg::lu(a).lu; }, formula({4, 4}, 0), 1e-10);
}
// Row Sort/Argsort: "blocked, needs scatter for element swaps".
TEST_P(SeedTable, SortWrittenAsScan) {
  const auto sort = [](Array x) {
    const auto pass = [](Array i, Array v) {
      const Array swap = v[i] > v[i + 1], low = np::where(swap, v[i + 1], v[i]), high = np::where(swap, v[i], v[i + 1]);
      return v.at(i).set(low).at(i + 1).set(high);
    };
    return lax::fori_loop(0, 5, [&](Array, Array v) { return lax::fori_loop(0, 5, pass, v); }, x);
  };
  expect_alike(sort, [](Array x) { return np::sort(x); }, formula({6}, 0));
}
// "Future Work: Sqrt(N) checkpointing for grad(scan)".
TEST_P(SeedTable, SqrtNCheckpointing) {
  const auto f = [](ct::ScanCheckpoint c) {
    return [c](Array xs) { return weighted_sum(lax::scan(sine, xs[0], xs, {.checkpoint = c})); };
  };
  const Array xs = formula({50, 2}, 0), want = ct::grad(f({}))(xs);
  for (const ct::ScanCheckpoint c : {ct::sqrt_n, ct::ScanCheckpoint(7), ct::ScanCheckpoint(50), ct::ScanCheckpoint(1)}) {
    EXPECT_TRUE(close(ct::grad(f(c))(xs), want, 1e-11));
    EXPECT_TRUE(close(ct::jit(ct::grad(f(c)))(xs), want, 1e-11));
  }
}
// "Scan vs jit(loop)": the bodies that were slower there, 64 x 64 and 128 x 128, give what the unrolled loop gives.
TEST_P(SeedTable, ScanOfLargeMatricesIsTheUnrolledLoop) {
  for (const std::int64_t k : {16, 64, 128}) {
    const Array w = formula({k, k}, 0) * (0.5 / std::sqrt(static_cast<double>(k)));
    const auto step = [=](Array c, Array) { return Two{np::tanh(dot(w, c)), np::sum(c)}; };
    const Array xs = np::zeros({3}, ct::f64), c = formula({k, k}, 1);
    const auto got = ct::jit([=](Array c) { return lax::scan(step, c, xs); })(c);
    const auto want = ct::jit([=](Array c) { return loop(step, c, xs); })(c);
    EXPECT_TRUE(close(got.first, want.first, 1e-12));
    EXPECT_TRUE(close(got.second, want.second, 1e-10));
  }
}

// Seed 000: value_and_grad of an associative scan of tuples ---------------------------------------------------------

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

// "jit(valueAndGrad(lossFn)) — buffer limit (12 > 8)" and "Nonlinear operation in backward pass for concatenate".
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
    return weighted_sum(ct::vmap([](Array t) { return std::get<1>(lax::associative_scan(compose, elements_of(t))); })(ts));
  };
  const auto g = [](Array ts) {
    Arrays rows;
    for (int i = 0; i < 3; ++i) rows.push_back(std::get<1>(compose_in_a_loop(compose, elements_of(ts[i]))));
    return weighted_sum(np::stack(rows));
  };
  const Array ts = formula({3, 2}, 0);
  EXPECT_CLOSE(ct::grad(f)(ts), ct::grad(g)(ts));
}

// Seed 001: the backward smoother in one program ----------------------------------------------------------------------

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

// Seed 003: the design ------------------------------------------------------------------------------------------------

// "Jaxpr representation: Add scan as a primitive, represent the loop body as a sub-Jaxpr".
TEST_P(SeedTable, ScanIsAPrimitiveWithASubProgram) {
  const auto program = ct::make_jaxpr([](Array c, Array xs) { return lax::scan(sine, c, xs); })(formula({2}, 0), formula({5, 2}, 1));
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
    return lax::fori_loop(0, 20, [](Array, Array x) {
      return x - 0.1 * ct::grad([](Array x) { return np::sum((x - 1) * (x - 1)); })(x);
    }, x);
  };
  EXPECT_TRUE(close(descend(np::zeros({2}, ct::f64)), np::full({2}, 1 - std::pow(0.8, 20), ct::f64), 1e-12));
  const auto root = [](Array a) {
    return lax::while_loop([&](Array y) { return np::abs(y * y - a) > 1e-13; }, [&](Array y) { return 0.5 * (y + a / y); }, a);
  };
  EXPECT_TRUE(close(ct::vmap(root)(np::array({2.0, 9.0, 0.25}, ct::f64)), np::array({std::sqrt(2.0), 3.0, 0.5}, ct::f64), 1e-12));
  EXPECT_TRUE(close(ct::jvp(root, std::tuple{np::array(2.0, ct::f64)}, std::tuple{np::array(1.0, ct::f64)}).second,
                    np::array(0.5 / std::sqrt(2.0), ct::f64), 1e-6));
}
// "Control flow primitives like scan, while_loop, and cond", "Differentiable dynamic programming": a soft minimum path.
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
