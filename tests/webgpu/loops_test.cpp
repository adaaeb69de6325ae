// Loops whose state is smaller, as large as and larger than a group of threads, against the native device.
#include <gtest/gtest.h>

#include <cotan/cotan.hpp>

#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;

Array waves(std::int64_t n, float scale = 0.37f) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(scale * static_cast<float>(i) + 0.2f);
  return Array::from_host(v, {n});
}

/// Each element from its neighbours and from one far away: every thread reads what others wrote.
Array mixed(const Array& c) { return 0.5 * c + 0.3 * np::roll(c, 1) - 0.2 * np::roll(c, -7) + 0.1 * np::flip(c); }

template <class F>
void expect_as_native(const F& f, std::int64_t n, const char* what) {
  const Array x = waves(n);
  const std::vector<float> got = ct::jit(f)(x).template to_vector<float>(),
                           want = ct::jit(f)(ct::device_put(x, "native")).template to_vector<float>();
  ASSERT_EQ(got.size(), want.size());
  float largest = 1;
  for (float w : want) largest = std::max(largest, std::abs(w));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-5 * largest) << what << ", size " << n << ", element " << i;
}

class WebGpuLoops : public webgpu_tests::OnWebGpu {};

const std::int64_t sizes[] = {1, 4, 31, 32, 33, 36, 64, 65, 100, 256, 257, 700, 1500, 5000};

TEST_F(WebGpuLoops, Scan) {
  for (const std::int64_t n : sizes)
    for (const std::int64_t steps : {1, 2, 7, 30}) {
      const auto f = [=](const Array& x) {
        const auto step = [](const Array& c) { return std::pair{mixed(c), np::sum(c)}; };
        const auto [last, sums] = lax::scan(step, x, lax::length(steps));
        return np::concatenate({last, sums});
      };
      expect_as_native(f, n, "scan");
    }
}

TEST_F(WebGpuLoops, While) {
  for (const std::int64_t n : sizes)
    for (const int steps : {1, 6, 11}) {
      const auto f = [=](const Array& x) {
        struct State {
          Array c, i;
        };
        const auto holds = [=](const State& s) { return s.i < steps; };
        const auto step = [](const State& s) { return State{mixed(s.c), s.i + 1}; };
        return lax::while_loop(holds, step, State{x, np::zeros({}, ct::i32)}).c;
      };
      expect_as_native(f, n, "while");
    }
}

TEST_F(WebGpuLoops, ScanInsideWhile) {
  for (const std::int64_t n : sizes) {
    const auto f = [](const Array& x) {
      struct State {
        Array c, i, moved;
      };
      const auto holds = [](const State& s) { return (s.i < 9) & s.moved; };
      const auto step = [](const State& s) {
        const auto inner = [](const std::pair<Array, Array>& c) {
          return std::pair{std::pair{mixed(c.first), c.second | (np::max(c.first) > 0.01)}, ct::none};
        };
        const auto last = lax::scan(inner, std::pair{s.c, np::zeros({}, ct::bool_)}, lax::length(5)).first;
        return State{last.first, s.i + 1, last.second};
      };
      return lax::while_loop(holds, step, State{x, np::zeros({}, ct::i32), np::ones({}, ct::bool_)}).c;
    };
    expect_as_native(f, n, "scan inside while");
  }
}

TEST_F(WebGpuLoops, Branches) {
  for (const std::int64_t n : sizes) {
    const auto f = [](const Array& x) {
      const auto step = [](const Array& c, const Array& k) {
        const Array next = lax::cond(
            k % 2 == 0, [](const Array& v) { return mixed(v); }, [](const Array& v) { return np::flip(v) * 0.9; }, c);
        return std::pair{next, ct::none};
      };
      return lax::scan(step, x, np::arange(9, ct::i32)).first;
    };
    expect_as_native(f, n, "branches");
  }
}

TEST_F(WebGpuLoops, Eigenvalues) {
  for (const std::int64_t n : {2, 3, 5, 8, 9, 12, 17}) {
    const auto f = [=](const Array& x) {
      const Array a = x.reshape({n, n});
      return ct::linalg::eigvalsh(a + a.T() + 2.0 * np::eye(n, n, 0, ct::f32));
    };
    expect_as_native(f, n * n, "eigenvalues");
  }
}

TEST_F(WebGpuLoops, LongLoopsAreCut) {
  const auto f = [](const Array& x) {
    const auto step = [](const Array& c, const Array& v) { return std::pair{0.9 * c + v, ct::none}; };
    return lax::scan(step, np::zeros({3}), np::reshape(x, {-1, 3})).first;
  };
  const Array x = waves(3 * 200001);
  EXPECT_GT(ct::explain(ct::jit(f), x).dispatches, 1);
  expect_as_native(f, 3 * 200001, "long");
  expect_as_native(f, 3 * 200000, "long, even");
}

/// Lanes of which each is a thread, and lanes of which each is a group.
TEST_F(WebGpuLoops, Lanes) {
  for (const std::int64_t lanes : {1, 3, 64, 100, 300})
    for (const std::int64_t m : {1, 3, 8}) {
      const auto f = [=](const Array& x) {
        const auto one = [=](const Array& v) {
          const Array a = np::reshape(v, {m, m}) * 0.2;
          const auto step = [&](const Array& c) { return std::pair{np::tanh(np::matmul(a, c)) + 0.1, np::sum(c)}; };
          const auto [last, ys] = lax::scan(step, np::ones({m}), lax::length(11));
          return np::concatenate({last, ys});
        };
        return np::ravel(ct::vmap(one)(np::reshape(x, {lanes, m * m})));
      };
      expect_as_native(f, lanes * m * m, "lanes");
    }
}

/// Lanes of which each is a thread, and lanes of which each is a group, with a loop that is too long for one dispatch,
/// and with something to do before and after it.
TEST_F(WebGpuLoops, LongLoopsInLanesAreCut) {
  for (const std::int64_t m : {1, 4})
    for (const std::int64_t steps : {140000, 140001}) {
      const std::int64_t lanes = m == 1 ? 70 : 2;
      const auto f = [=](const Array& x) {
        const auto one = [=](const Array& v) {
          const Array a = 0.3 * np::eye(m, m, 0, ct::f32) + 0.1 * np::sin(v), start = np::cos(v[0]);
          const auto step = [&](const std::pair<Array, Array>& c) {
            const auto& [x, k] = c;
            return std::pair{std::pair{np::tanh(np::matmul(a, x)) + 0.01 * np::sin(0.001 * k), k + 1.0}, ct::none};
          };
          const auto [last, k] = lax::scan(step, std::pair{start, np::zeros({})}, lax::length(steps)).first;
          return np::concatenate({last * start, np::reshape(k, {1})});
        };
        return np::ravel(ct::vmap(one)(np::reshape(x, {lanes, m, m})));
      };
      EXPECT_GT(ct::explain(ct::jit(f), waves(lanes * m * m)).dispatches, 1);
      expect_as_native(f, lanes * m * m, "long loops in lanes");
    }
}

/// A matrix that is the same in all lanes, a vector of each lane's own that it drives, and what others want of both.
TEST_F(WebGpuLoops, LanesThatShareAScan) {
  constexpr std::int64_t steps = 150, m = 4;
  enum class Wanted { own, matrices, last_matrix, one_matrix_for_all };
  for (const Wanted wanted : {Wanted::own, Wanted::matrices, Wanted::last_matrix, Wanted::one_matrix_for_all})
    for (const bool reverse : {false, true})
      for (const std::int64_t lanes : {3, 70}) {
        const auto f = [=](const Array& x) {
          const auto one = [=](const Array& y) {
            const auto step = [&](const std::pair<Array, Array>& c, const Array& seen) {
              const auto& [P, v] = c;
              const Array next = 0.5 * np::matmul(P, P.T()) / (1.0 + np::sum(P * P)) + 0.3 * np::eye(m, m, 0, ct::f32);
              const Array moved = 0.9 * np::matmul(P, v) / (1.0 + np::trace(P)) + seen;
              return std::pair{std::pair{next, moved}, std::pair{v, P}};
            };
            const auto [last, ys] =
                lax::scan(step, std::pair{np::eye(m, m, 0, ct::f32), np::zeros({m})}, y, {.reverse = reverse});
            return std::tuple{last.second, ys.first, last.first, ys.second};
          };
          const Array y = np::reshape(x, {lanes, steps});
          const auto [v, vs, P, Ps] = ct::vmap(one)(y);
          Array out = np::concatenate({np::ravel(v), np::ravel(vs)});
          if (wanted == Wanted::matrices) out = np::concatenate({out, np::ravel(Ps)});
          if (wanted == Wanted::last_matrix) out = np::concatenate({out, np::ravel(P)});
          if (wanted == Wanted::one_matrix_for_all) out = np::concatenate({out, np::sum(Ps[0], {0, 1})});
          return out;
        };
        expect_as_native(f, lanes * steps, "lanes that share a scan");
        if (wanted == Wanted::own || wanted == Wanted::matrices) {
          EXPECT_LE(ct::explain(ct::jit(f), waves(lanes * steps)).loops, 2) << "the lanes, and the scan in them";
        }
      }
}

TEST_F(WebGpuLoops, ExplainTellsWhatTheDevicesPassesDid) {
  const auto f = [](const Array& x) {
    const auto step = [](const Array& c, const Array& v) { return std::pair{0.5 * c + v, np::exp(c)}; };
    return lax::scan(step, np::zeros({}), x).second + np::cumsum(x);
  };
  const ct::Explanation e = ct::explain(ct::jit(f), waves(100));
  std::string changed;
  for (const ct::PassRow& row : e.pipeline)
    if (row.changed) changed += row.name + "; ";
  EXPECT_NE(changed.find("sink outputs; "), changed.npos) << e.text();
  EXPECT_NE(changed.find("plan memory; "), changed.npos) << e.text();
  std::string after_sinking;
  for (const auto& [name, program] : e.passes)
    if (name == "sink outputs") after_sinking = program;
  EXPECT_GT(after_sinking.find("exp "), after_sinking.find("scan")) << "exp is done after the loop\n" << after_sinking;
}

}  // namespace
