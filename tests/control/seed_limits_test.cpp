// Seed 002: its limitations. Routines in bodies, and routines written as loops.
#include <cmath>

#include "control/seed_table.hpp"

namespace control {

// Seed 002, "Routine eligibility" and "Blocked by missing primitives"
// ---------------------------------------------

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
    return lax::fori_loop(
        0, 4, [&](Array i, Array x) { return x.at(i).set((b[i] - np::dot(low[i], x)) / low(i, i)); },
        np::zeros({4}, ct::f64));
  };
  expect_alike(
      solve, [&](Array b) { return linalg::triangular_solve(low, column(b), {.lower = true}).reshape({4}); },
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
  for (const ct::ScanCheckpoint c :
       {ct::sqrt_n, ct::ScanCheckpoint(7), ct::ScanCheckpoint(50), ct::ScanCheckpoint(1)}) {
    EXPECT_TRUE(close(ct::grad(f(c))(xs), want, 1e-11));
    EXPECT_TRUE(close(ct::jit(ct::grad(f(c)))(xs), want, 1e-11));
  }
}
// "Scan vs jit(loop)": the bodies that were slower there, 64 x 64 and 128 x 128, give what the unrolled loop
// gives.
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

}  // namespace control
