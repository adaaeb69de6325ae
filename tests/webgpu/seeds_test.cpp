// The two failures that this back end is there not to have: gradients of associative scans that die on the number of
// buffers, and loops that need a dispatch per step. Counts, and values against the native device.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>

#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;
using ct::Array;
using ct::Arrays;

class WebGpuSeeds : public webgpu_tests::OnWebGpu {};

Array waves(const ct::Shape& shape, float phase) {
  std::int64_t n = 1;
  for (auto d : shape) n *= d;
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.4f * std::sin(0.7f * static_cast<float>(i) + phase);
  return Array::from_host(v, shape);
}

void expect_near(const Array& got, const Array& want, double tolerance) {
  const std::vector<float> g = got.to_vector<float>(), w = want.to_vector<float>();
  ASSERT_EQ(g.size(), w.size());
  double largest = 1;
  for (float x : w) largest = std::max(largest, std::abs(static_cast<double>(x)));
  for (std::size_t i = 0; i < g.size(); ++i) ASSERT_NEAR(g[i], w[i], tolerance * largest) << "element " << i;
}

/// Leaves A, b, S of affine maps; more leaves are more such maps.
Arrays compose(const Arrays& first, const Arrays& second) {
  Arrays out;
  for (std::size_t k = 0; k < first.size(); ++k) {
    const Array &a2 = second[k / 3 * 3], &x1 = first[k], &x2 = second[k];
    if (k % 3 == 0)
      out.push_back(np::matmul(x2, x1));
    else if (k % 3 == 1)
      out.push_back(np::matmul(a2, x1) + x2);
    else
      out.push_back(np::matmul(np::matmul(a2, x1), np::matrix_transpose(a2)) + x2);
  }
  return out;
}
Arrays maps(std::size_t leaves, std::int64_t n, std::int64_t m) {
  Arrays out;
  for (std::size_t k = 0; k < leaves; ++k)
    out.push_back(waves(k % 3 == 1 ? ct::Shape{n, m, 1} : ct::Shape{n, m, m}, static_cast<float>(k)));
  return out;
}
Array loss(const Arrays& elements) {
  Array total = 0;
  for (const Array& y : lax::associative_scan(compose, elements)) total = total + np::sum(y * y);
  return total;
}

TEST_F(WebGpuSeeds, GradientsOfAssociativeScansOfAnyWidth) {
  for (const std::size_t leaves : {3u, 5u, 20u})
    for (const std::int64_t m : {1, 2, 4}) {
      const Arrays x = maps(leaves, 40, m);
      const auto f = ct::jit(ct::value_and_grad(loss));
      const auto [value, gradients] = f(x);
      Arrays native;
      for (const Array& a : x) native.push_back(ct::device_put(a, "native"));
      const auto [want, want_gradients] = f(native);
      expect_near(value, want, 1e-5);
      for (std::size_t k = 0; k < leaves; ++k) expect_near(gradients[k], want_gradients[k], 2e-5);
      EXPECT_LE(ct::explain(f, x).bindings, 8) << leaves << " leaves";
    }
}

struct Filtered {
  Array x, P;
};
/// Predictions of a Kalman filter, and from them the smoothed states, each by one scan.
std::pair<Filtered, Filtered> filtered_and_smoothed(const Array& y, std::int64_t m) {
  const Array F = 0.9 * np::eye(m, m, 0, ct::f32) + 0.1 * np::eye(m, m, 1, ct::f32),
              Q = 0.1 * np::eye(m, m, 0, ct::f32);
  const Array H = np::eye(1, m, 0, ct::f32);
  const auto forward = [&](const Filtered& s, const Array& seen) {
    const Array S = np::matmul(np::matmul(H, s.P), H.T()) + 1.0, K = np::matmul(s.P, H.T()) / S;
    const Array x = s.x + np::matmul(K, seen - np::matmul(H, s.x));
    const Array P = s.P - np::matmul(np::matmul(K, H), s.P);
    return std::pair{Filtered{np::matmul(F, x), np::matmul(np::matmul(F, P), F.T()) + Q}, Filtered{x, P}};
  };
  const Filtered start{np::zeros({m, 1}), 10.0 * np::eye(m, m, 0, ct::f32)};
  const Filtered filtered = lax::scan(forward, start, np::reshape(y, {-1, 1, 1})).second;
  const auto backward = [&](const Filtered& next, const Filtered& here) {
    const Array predicted = np::matmul(np::matmul(F, here.P), F.T()) + Q;
    const Array G = np::matmul(np::matmul(here.P, F.T()), ct::linalg::inv(predicted));
    const Array x = here.x + np::matmul(G, next.x - np::matmul(F, here.x));
    const Array P = here.P + np::matmul(np::matmul(G, next.P - predicted), G.T());
    return std::pair{Filtered{x, P}, Filtered{x, P}};
  };
  const Filtered last{filtered.x[-1], filtered.P[-1]};
  const Filtered smoothed = lax::scan(backward, last, filtered, {.reverse = true}).second;
  return {filtered, smoothed};
}

TEST_F(WebGpuSeeds, AFilterAndASmootherAreOneDispatchEach) {
  for (const std::int64_t m : {1, 2, 4, 8}) {
    const auto f = ct::jit([=](const Array& y) { return filtered_and_smoothed(y, m); });
    const int few = ct::explain(f, waves({100}, 0)).dispatches, many = ct::explain(f, waves({1600}, 0)).dispatches;
    EXPECT_EQ(few, many) << "m = " << m << ": the count must not depend on the number of steps";
    EXPECT_LE(many, 4) << "m = " << m;
    EXPECT_EQ(ct::explain(f, waves({1600}, 0)).submissions, 1);
    const Array y = waves({100}, 0);
    const auto got = f(y), want = f(ct::device_put(y, "native"));
    expect_near(got.first.x, want.first.x, 1e-5);
    expect_near(got.second.x, want.second.x, 5e-5);
    expect_near(got.second.P, want.second.P, 5e-5);
  }
}

TEST_F(WebGpuSeeds, AssociativeScansTakeFewDispatches) {
  for (const std::int64_t m : {2, 4, 8})
    for (const auto& [n, most] : {std::pair{1600, 4}, {1000000, 8}}) {
      if (m * m * n > 1 << 23) continue;  // the software driver's memory
      const Arrays x{np::zeros({n, m, m}), np::zeros({n, m, 1}), np::zeros({n, m, m})};
      const auto scan = [](const Arrays& e) { return lax::associative_scan(compose, e); };
      EXPECT_LE(ct::explain(ct::jit(scan), x).dispatches, most) << "m = " << m << ", n = " << n;
      EXPECT_LE(ct::explain(ct::jit(ct::value_and_grad(loss)), x).dispatches, 4 * most) << "m = " << m << ", n = " << n;
    }
}

/// Several series, each with its gradient: no more dispatches than there are for one.
TEST_F(WebGpuSeeds, BatchesOfGradientsOfAssociativeScansTakeFewDispatches) {
  constexpr std::int64_t series = 6, n = 1600, m = 2;
  const Arrays x{0.5 * waves({series, n, m, m}, 0), waves({series, n, m, 1}, 1), waves({series, n, m, m}, 2)};
  const auto f = ct::jit(ct::vmap(ct::value_and_grad(loss)));
  EXPECT_LE(ct::explain(f, x).dispatches, 32);
  const auto [values, gradients] = f(x);
  Arrays native;
  for (const Array& a : x) native.push_back(ct::device_put(a, "native"));
  const auto [want, wanted] = f(native);
  expect_near(values, want, 2e-5);
  for (std::size_t k = 0; k < x.size(); ++k) expect_near(gradients[k], wanted[k], 5e-5);
}

/// The function that combines reads a parameter: its gradient is a sum over all steps.
TEST_F(WebGpuSeeds, GradientsOfAssociativeScansInLevels) {
  for (const std::int64_t n : {300, 9000})
    for (const bool reverse : {false, true}) {
      const auto scanned = [=](const Arrays& x, const Array& weight) {
        const auto then = [&](const Arrays& a, const Arrays& b) {
          return Arrays{np::matmul(b[0], a[0]), a[1] + b[1] + weight * a[1] * b[1]};
        };
        const Arrays y = lax::associative_scan(then, x, {.reverse = reverse});
        return np::mean(y[0] * y[0]) + np::mean(y[1] * np::cos(y[1]));
      };
      const Arrays x{waves({n, 2, 2}, 0) + 0.5 * np::eye(2, 2, 0, ct::f32), waves({n, 2}, 1)};
      const Array weight = 0.2 * waves({2}, 2);
      const auto f = ct::jit(ct::value_and_grad<0, 1>(scanned));
      const auto [value, gradients] = f(x, weight);
      const Arrays native{ct::device_put(x[0], "native"), ct::device_put(x[1], "native")};
      const auto [want, wanted] = f(native, ct::device_put(weight, "native"));
      // Results are products of up to 9,000 factors, put together in another order.
      expect_near(value, want, 5e-5);
      for (std::size_t k = 0; k < 2; ++k)
        expect_near(static_cast<double>(n) * std::get<0>(gradients)[k], static_cast<double>(n) * std::get<0>(wanted)[k],
                    5e-5);
      expect_near(std::get<1>(gradients), std::get<1>(wanted), 5e-5);
      EXPECT_LE(ct::explain(f, x, weight).dispatches, n > 8192 ? 32 : 16);
    }
}

/// The filter and the smoother of above as associative scans, with elements as one writes them: by vmap.
struct FilterElement {
  Array A, b, C, eta, J;
};
struct SmootherElement {
  Array E, g, L;
};
Filtered filtered_at_once(const Array& y, std::int64_t m) {
  const Array F = 0.9 * np::eye(m, m, 0, ct::f32) + 0.1 * np::eye(m, m, 1, ct::f32),
              Q = 0.1 * np::eye(m, m, 0, ct::f32);
  const Array H = np::eye(1, m, 0, ct::f32), I = np::eye(m, m, 0, ct::f32);
  const auto element = [&](const Array& seen, const Array& first) {
    const Array W = np::where(first, 10.0 * I, Q), G = np::where(first, 0.0, F);
    const Array S = np::matmul(np::matmul(H, W), H.T()) + 1.0, K = np::matmul(W, H.T()) / S, HG = np::matmul(H, G);
    const Array keep = I - np::matmul(K, H);
    return FilterElement{np::matmul(keep, G), K * seen, np::matmul(keep, W), HG.T() * seen / S,
                         np::matmul(HG.T(), HG) / S};
  };
  const auto combine = [&](const FilterElement& a, const FilterElement& b) {
    const Array inverse = ct::linalg::inv(I + np::matmul(a.C, b.J)), A = np::matmul(b.A, inverse);
    const Array B = np::matrix_transpose(np::matmul(inverse, a.A));
    return FilterElement{np::matmul(A, a.A), np::matmul(A, a.b + np::matmul(a.C, b.eta)) + b.b,
                         np::matmul(np::matmul(A, a.C), np::matrix_transpose(b.A)) + b.C,
                         np::matmul(B, b.eta - np::matmul(b.J, a.b)) + a.eta,
                         np::matmul(np::matmul(B, b.J), a.A) + a.J};
  };
  const FilterElement all = lax::associative_scan(combine, ct::vmap(element)(y, np::arange(y.shape(0)) == 0));
  return {all.b, all.C};
}
Filtered smoothed_at_once(const Filtered& f, std::int64_t m) {
  const Array F = 0.9 * np::eye(m, m, 0, ct::f32) + 0.1 * np::eye(m, m, 1, ct::f32),
              Q = 0.1 * np::eye(m, m, 0, ct::f32);
  const std::int64_t n = f.x.shape(0);
  const auto element = [&](const Array& x, const Array& P, const Array& last) {
    const Array predicted = np::matmul(np::matmul(F, P), F.T()) + Q;
    const Array E = np::where(last, 0.0, np::matmul(np::matmul(P, F.T()), ct::linalg::inv(predicted)));
    return SmootherElement{E, x - np::matmul(E, np::matmul(F, x)), P - np::matmul(np::matmul(E, F), P)};
  };
  const auto compose = [](const SmootherElement& later, const SmootherElement& now) {
    return SmootherElement{np::matmul(now.E, later.E), np::matmul(now.E, later.g) + now.g,
                           np::matmul(np::matmul(now.E, later.L), np::matrix_transpose(now.E)) + now.L};
  };
  const SmootherElement all =
      lax::associative_scan(compose, ct::vmap(element)(f.x, f.P, np::arange(n) == n - 1), {.reverse = true});
  return {all.g, all.L};
}

TEST_F(WebGpuSeeds, AssociativeFiltersAndSmoothersTakeFewDispatches) {
  for (const std::int64_t m : {1, 2, 4, 8}) {
    const auto filter = ct::jit([=](const Array& y) { return filtered_at_once(y, m); });
    const auto smooth = ct::jit([=](const Filtered& f) { return smoothed_at_once(f, m); });
    for (const auto& [n, most] : {std::pair<std::int64_t, int>{1600, 4}, {1000000, 8}}) {
      if (n > 1600 && m > 2) continue;  // the software driver's memory
      const Array y = np::zeros({n});
      const Filtered f{np::zeros({n, m, 1}), np::zeros({n, m, m})};
      EXPECT_LE(ct::explain(filter, y).dispatches, most) << "m = " << m << ", n = " << n;
      EXPECT_LE(ct::explain(smooth, f).dispatches, most) << "m = " << m << ", n = " << n;
      const auto likelihood = [=](const Array& y) { return np::sum(np::square(filtered_at_once(y, m).x)); };
      EXPECT_LE(ct::explain(ct::jit(ct::value_and_grad(likelihood)), y).dispatches, 4 * most)
          << "m = " << m << ", n = " << n;
    }
    const Array y = waves({400}, 0);
    const Array on_host = ct::device_put(y, "native");
    const Filtered f = filter(y), s = smooth(f), smoothed = smooth(filter(on_host));
    const Filtered filtered = ct::jit([=](const Array& y) { return filtered_and_smoothed(y, m).first; })(on_host);
    expect_near(f.x, filtered.x, 5e-5);
    expect_near(f.P, filtered.P, 5e-5);
    expect_near(s.x, smoothed.x, 1e-4);
    expect_near(s.P, smoothed.P, 1e-4);
  }
}

/// A block of GPT-2's kind.
struct Block {
  Array scale1, offset1, qkv, out, scale2, offset2, up, down;
};
Array normed(const Array& x, const Array& scale, const Array& offset) {
  const Array centred = x - np::mean(x, -1, true);
  return centred * lax::rsqrt(np::mean(centred * centred, -1, true) + 1e-5) * scale + offset;
}
Array softmax(const Array& x) {
  const Array e = np::exp(x - np::max(x, -1, true));
  return e / np::sum(e, -1, true);
}
Array block_loss(const Block& b, const Array& x) {
  const std::int64_t t = x.shape(0), d = x.shape(1), heads = 4;
  const Array qkv = np::transpose(
      np::reshape(np::matmul(normed(x, b.scale1, b.offset1), b.qkv), {t, 3, heads, d / heads}), {1, 2, 0, 3});
  const Array scores = np::matmul(qkv[0], np::matrix_transpose(qkv[1])) / std::sqrt(static_cast<double>(d / heads));
  const Array weights = softmax(np::where(np::tri(t, t, 0, ct::bool_), scores, -1e9));
  const Array mixed = np::reshape(np::transpose(np::matmul(weights, qkv[2]), {1, 0, 2}), {t, d});
  const Array h = x + np::matmul(mixed, b.out);
  const Array u = np::matmul(normed(h, b.scale2, b.offset2), b.up);
  const Array gelu = 0.5 * u * (1.0 + np::tanh(0.7978845608 * (u + 0.044715 * u * u * u)));
  return np::mean(np::square(h + np::matmul(gelu, b.down)));
}

TEST_F(WebGpuSeeds, ATransformerBlockIsOneSubmission) {
  const std::int64_t t = 32, d = 64;
  const Block b{np::ones({d}), np::zeros({d}), waves({d, 3 * d}, 1), waves({d, d}, 2),
                np::ones({d}), np::zeros({d}), waves({d, 4 * d}, 3), waves({4 * d, d}, 4)};
  const Array x = waves({t, d}, 5);
  const auto f = ct::jit(ct::value_and_grad(block_loss));
  const ct::Explanation e = ct::explain(f, b, x);
  RecordProperty("dispatches", e.dispatches);
  EXPECT_EQ(e.submissions, 1);
  EXPECT_LE(e.dispatches, 48);
  const auto [value, gradient] = f(b, x);
  const auto host = [](const Array& a) { return ct::device_put(a, "native"); };
  const auto [want, want_gradient] = f(ct::tree::map(host, b), host(x));
  expect_near(value, want, 2e-5);
  expect_near(gradient.qkv, want_gradient.qkv, 2e-4);
  expect_near(gradient.down, want_gradient.down, 2e-4);
}

}  // namespace
