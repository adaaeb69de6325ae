// How loops run on the native device: as part of one function, without memory that grows with the steps.
#include <cotan/cotan.hpp>

#include "control/count_allocations.hpp"
#include "control/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

Array eye(int m) { return np::eye(m, {}, 0, ct::f32); }

/// A Kalman filter of m states over y: the likelihood and all that a filter gives out.
auto kalman(const Array& theta, const Array& y, int m) {
  const Array F = eye(m) * 0.9f + np::eye(m, m, 1, ct::f32) * 0.1f, H = np::eye(1, m, 0, ct::f32);
  const Array Q = eye(m) * 0.1f * np::exp(theta[0]), R = np::exp(theta[1]);
  const auto step = [&](std::tuple<Array, Array, Array> state, Array yt) {
    const auto& [x, P, likelihood] = state;
    const Array v = yt - np::matmul(H, x)[0], S = np::matmul(np::matmul(H, P), H.T())(0, 0) + R;
    const Array K = np::matmul(np::matmul(F, P), H.T()) / S, L = F - np::matmul(K, H);
    return std::pair{std::tuple{np::matmul(F, x) + K(ct::all, 0) * v, np::matmul(np::matmul(F, P), L.T()) + Q,
                                likelihood + np::log(S) + v * v / S},
                     std::tuple{x, P, v, S}};
  };
  const auto [last, ys] = lax::scan(step, std::tuple{np::zeros({m}), eye(m) * 10.f, np::zeros({})}, y);
  return std::pair{std::get<2>(last), ys};
}
Array signal(std::int64_t n) { return np::sin(np::arange(n, ct::f32) * 0.7f); }

class NativeLoops : public ::testing::Test {
 protected:
  void SetUp() override { ct::default_device("native"); }
};

#ifdef COUNTS_ALLOCATIONS
template <class F>
std::int64_t allocations_of(const F& f) {
  f();  // compiles
  const std::int64_t before = allocations();
  f();
  return allocations() - before;
}

TEST_F(NativeLoops, NoAllocationPerStep) {
  const Array theta = np::zeros({2});
  for (int m : {1, 2, 4, 8}) {
    const auto filter = ct::jit([m](Array t, Array y) { return kalman(t, y, m); });
    const auto gradient = ct::jit(ct::value_and_grad([m](Array t, Array y) { return kalman(t, y, m).first; }));
    const Array few = signal(10), many = signal(1000);
    EXPECT_EQ(allocations_of([&] { filter(theta, few); }), allocations_of([&] { filter(theta, many); })) << m;
    EXPECT_EQ(allocations_of([&] { gradient(theta, few); }), allocations_of([&] { gradient(theta, many); })) << m;
  }
}
TEST_F(NativeLoops, NoAllocationPerStepOfLargeProducts) {
  const Array w = np::ones({64, 64}) * 0.01f, c = np::ones({64, 64});
  const auto steps = [&](std::int64_t n) {
    return ct::jit([n](Array w, Array c) {
      return lax::scan([&](Array c) { return std::pair{np::tanh(np::matmul(w, c)), ct::none}; }, c, lax::length(n))
          .first;
    });
  };
  const auto few = steps(10), many = steps(200);
  EXPECT_EQ(allocations_of([&] { few(w, c); }), allocations_of([&] { many(w, c); }));
}
TEST_F(NativeLoops, NoAllocationPerStepOfWhile) {
  const auto f = ct::jit([](Array n) {
    return lax::while_loop([&](std::pair<Array, Array> c) { return c.first < n; },
                           [](std::pair<Array, Array> c) { return std::pair{c.first + 1, np::sin(c.second)}; },
                           std::pair{0, np::ones({4})});
  });
  EXPECT_EQ(allocations_of([&] { f(Array(10)); }), allocations_of([&] { f(Array(10000)); }));
}
#endif

TEST_F(NativeLoops, SizeDoesNotDependOnLength) {
  const Array theta = np::zeros({2});
  const auto gradient = ct::jit(ct::value_and_grad([](Array t, Array y) { return kalman(t, y, 3).first; }));
  const ct::Explanation a = ct::explain(gradient, theta, signal(10)), b = ct::explain(gradient, theta, signal(5000));
  EXPECT_EQ(a.kernels, b.kernels);
  EXPECT_EQ(a.dispatches, b.dispatches);
  EXPECT_EQ(a.loops, 2) << "one forwards, one backwards: " << a.text();
  EXPECT_EQ(b.loops, 2);
}
TEST_F(NativeLoops, NestedLoopsAreOneFunction) {
  const auto f = ct::jit([](Array x) {
    return lax::scan(
               [](Array c, Array row) {
                 return std::pair{
                     lax::scan([](Array d, Array e) { return std::pair{d * 0.5f + e, ct::none}; }, c, row).first, c};
               },
               np::zeros({}), x)
        .second;
  });
  const ct::Explanation e = ct::explain(f, np::ones({5, 7}));
  EXPECT_EQ(e.loops, 2);
  EXPECT_EQ(e.routines, 0) << e.text();
}
TEST_F(NativeLoops, LanesRunInParallel) {
  const auto f = ct::jit([](Array theta, Array y) {
    return ct::vmap([](Array t, Array y) { return kalman(t, y, 4); }, {.in_axes = {ct::none, 0}})(theta, y);
  });
  const Array y = np::stack(std::vector<Array>(40, signal(50)));
  const ct::Explanation e = ct::explain(f, np::zeros({2}), y);
  EXPECT_NE(e.steps.find("parallel loop lanes"), std::string::npos) << e.steps;
}
/// A forward and a backward loop over the same lanes are one loop over lanes: what is between them is small.
TEST_F(NativeLoops, LanesAfterLanesAreOneLoop) {
  const auto both = [](const Array& y) {
    const auto forward = [](const Array& c, const Array& x) { return std::pair{0.9f * c + x, c * x}; };
    const Array kept = lax::scan(forward, Array(0.f), y).second;
    const auto backward = [](const Array& c, const Array& x) { return std::pair{0.5f * c + x, c}; };
    return lax::scan(backward, Array(1.f), kept, {.reverse = true}).second;
  };
  const Array y = np::sin(np::reshape(np::arange(4000 * 50), {4000, 50}));
  const auto all = ct::jit(ct::vmap(both));
  const ct::Explanation e = ct::explain(all, y);
  EXPECT_EQ(e.loops, 3) << e.text();
  EXPECT_LT(e.peak_bytes, 2.5 * static_cast<double>(y.nbytes())) << e.text();
  const Array some = all(y);
  for (int k : {0, 17, 3999}) EXPECT_TRUE(np::allclose(some[k], both(y[k]), 1e-5, 1e-5).item<bool>());
}
TEST_F(NativeLoops, LanesDoNotDependOnThreads) {
  const auto f = ct::jit(
      [](Array y) { return ct::vmap(ct::grad([](Array y) { return kalman(np::zeros({2}), y, 3).first; }))(y); });
  const Array y = np::sin(np::arange(37 * 50, ct::f32).reshape({37, 50}));
  const int before = ct::num_threads();
  ct::set_num_threads(1);
  const auto one = f(y).to_vector<float>();
  ct::set_num_threads(2);
  const auto two = f(y).to_vector<float>();
  ct::set_num_threads(before);
  EXPECT_EQ(one, two);
}
// Associative scans in chunks: of scalars always, of matrices on machines with cores enough, or where
// COTAN_SCAN_CHUNKS is set (ctest runs these again so).
using Map = std::pair<Array, Array>;
Map compose(const Map& first, const Map& then) {
  return {then.first * first.first, then.first * first.second + then.second};
}
TEST_F(NativeLoops, AssociativeScansInChunks) {
  for (std::int64_t n : {4097, 4098, 4352, 5000, 9999})
    for (bool reverse : {false, true}) {
      const Array a = np::cos(np::arange(n, ct::f64)), b = np::sin(np::arange(n, ct::f64) * 3);
      const auto scan = ct::jit([=](Map x) { return lax::associative_scan(compose, x, {.reverse = reverse}); });
      const auto one_by_one = ct::jit([=](Map x) {
        return lax::scan(
                   [](Map c, Map x) {
                     const Map next = compose(c, x);
                     return std::pair{next, next};
                   },
                   Map{np::ones({}, ct::f64), np::zeros({}, ct::f64)}, x, {.reverse = reverse})
            .second;
      });
      const auto [p, q] = scan(Map{a, b});
      const auto [u, v] = one_by_one(Map{a, b});
      EXPECT_TRUE(np::allclose(p, u, 1e-12, 1e-300).item<bool>()) << n << reverse;
      EXPECT_TRUE(np::allclose(q, v, 1e-12, 1e-14).item<bool>()) << n << reverse;
    }
}
TEST_F(NativeLoops, AssociativeScansWithAConstantLeaf) {
  using Pair = std::pair<Array, Array>;
  const Array m = np::sin(np::reshape(np::arange(40 * 4), {40, 2, 2})) + 3.f * np::eye(2), ones = np::ones({40, 3});
  const auto combine = [](const Pair& a, const Pair& b) {
    return Pair{ct::linalg::solve(a.first, b.first), np::zeros_like(a.second)};
  };
  const auto scan = ct::jit([&](const Pair& x) { return lax::associative_scan(combine, x); });
  const auto [solved, constant] = scan(Pair{m, ones});
  EXPECT_EQ(np::sum(constant).item<float>(), 3.f);  // the first element is its own result
  EXPECT_TRUE(np::all(np::isfinite(solved)).item<bool>());
}
TEST_F(NativeLoops, AssociativeChunksDoNotDependOnThreads) {
  const std::int64_t n = 20000;
  const Array a = np::cos(np::arange(n)), b = np::sin(np::arange(n));
  const Array m = np::sin(np::reshape(np::arange(n * 4), {n, 2, 2})) * 0.7f;
  const auto scan = ct::jit([](Array a, Array b, Array m) {
    const auto inverse_sum = [](const Array& x, const Array& y) {
      return ct::linalg::solve(np::matmul(x, np::swapaxes(x, -1, -2)) + np::eye(2), y);
    };
    return std::pair{lax::associative_scan(compose, Map{a, b}), lax::associative_scan(inverse_sum, m)};
  });
  EXPECT_NE(ct::explain(scan, a, b, m).steps.find("lanes"), std::string::npos);
  const int before = ct::num_threads();
  ct::set_num_threads(1);
  const auto one = scan(a, b, m);
  ct::set_num_threads(4);
  const auto four = scan(a, b, m);
  ct::set_num_threads(before);
  EXPECT_TRUE(np::array_equal(one.first.first, four.first.first).item<bool>());
  EXPECT_TRUE(np::array_equal(one.first.second, four.first.second).item<bool>());
  EXPECT_TRUE(np::array_equal(one.second, four.second).item<bool>());
}

TEST_F(NativeLoops, MapsRunInParallel) {
  const std::int64_t n = 41;
  const Array xs = np::sin(np::reshape(np::arange(n * 40 * 40), {n, 40, 40}));
  const auto factor = [](const Array& x) {
    const Array positive = np::matmul(x, x.T()) + 40.f * np::eye(40);
    return std::pair{ct::linalg::cholesky(positive), np::sum(np::tanh(positive))};
  };
  const auto all = ct::jit([&](const Array& xs) { return lax::map(factor, xs); });
  EXPECT_NE(ct::explain(all, xs).text().find("parallel loop"), std::string::npos);
  const auto [roots, sums] = all(xs);
  const auto [expected_roots, expected_sums] = ct::vmap(factor)(xs);
  EXPECT_TRUE(np::allclose(roots, expected_roots, 1e-4, 1e-4).item<bool>());
  EXPECT_TRUE(np::allclose(sums, expected_sums, 1e-4, 1e-4).item<bool>());
  const int before = ct::num_threads();
  ct::set_num_threads(1);
  const auto one = all(xs);
  ct::set_num_threads(3);
  const auto three = all(xs);
  ct::set_num_threads(before);
  EXPECT_TRUE(np::array_equal(one.first, three.first).item<bool>());
  EXPECT_TRUE(np::array_equal(one.second, three.second).item<bool>());
}

/// Temporaries of different sizes that do not live at the same time: pieces that run at the same time must not meet
/// there.
TEST_F(NativeLoops, PiecesOfMapsHaveTheirOwnMemory) {
  const std::int64_t n = 64;
  const Array xs = np::sin(np::reshape(np::arange(n * 48), {n, 48}));
  const auto body = [](const Array& x) {
    Array y = x;
    for (std::int64_t k :
         {96, 48, 160, 80, 128}) {  // through matrices of changing sizes, by products large enough to be stored
      const Array up = np::cos(np::reshape(np::arange(k * y.shape()[0]), {k, y.shape()[0]}));
      y = np::tanh(np::matmul(up, np::matmul(np::expand_dims(y, 1), np::ones({1, 32}))).sum(1) * 0.01f);
    }
    return y;
  };
  const auto all = ct::jit([&](const Array& xs) { return lax::map(body, xs); });
  EXPECT_NE(ct::explain(all, xs).text().find("parallel loop"), std::string::npos);
  const int before = ct::num_threads();
  ct::set_num_threads(1);
  const Array one = all(xs);
  ct::set_num_threads(4);
  for (int k = 0; k < 20; ++k) EXPECT_TRUE(np::array_equal(all(xs), one).item<bool>());
  ct::set_num_threads(before);
}

TEST_F(NativeLoops, CheckpointsSaveMemory) {
  const auto program = [](ct::ScanCheckpoint checkpoint) {
    return ct::jit(ct::value_and_grad([checkpoint](Array w, Array x) {
      return np::sum(lax::scan([&](Array c) { return std::pair{np::tanh(np::matmul(w, c)), ct::none}; }, x,
                               lax::length(100000), {.checkpoint = checkpoint})
                         .first);
    }));
  };
  const Array w = np::ones({16, 16}) * 0.05f, x = np::ones({16});
  const auto all = ct::explain(program(0), w, x).peak_bytes, few = ct::explain(program(ct::sqrt_n), w, x).peak_bytes;
  EXPECT_LE(50 * few, all) << few << " of " << all;
}
TEST_F(NativeLoops, ViewsOfInputsAreNotCopied) {
  const auto f = ct::jit([](Array x) {  // transposed, reversed, every second
    return lax::scan([](Array c, Array row) { return std::pair{c + row, ct::none}; }, np::zeros({100}),
                     np::flip(x.T()(ct::range(0, 200, 2)), 0))
        .first;
  });
  const ct::Explanation e = ct::explain(f, np::ones({100, 200}));
  EXPECT_LT(e.temporary_bytes, 2000) << e.text();
}

}  // namespace
