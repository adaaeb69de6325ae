// State-space models on the device, in f32, against the native device in f64: every algorithm, missing values, the
// likelihood and its gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <cotan/cotan.hpp>
#include <cotan/dlm.hpp>

#include "webgpu/support.hpp"

namespace {

namespace ct = cotan;
namespace np = cotan::numpy;
namespace dlm = cotan::dlm;
using ct::Array;

constexpr int length = 60;

/// A trend with a season, some values of which are missing. Made on the host, where there is f64.
struct Problem {
  dlm::StateSpace model;
  Array y;
};
Problem narrow(const Problem& p) {
  const auto f32 = [](const Array& a) { return a.defined() ? a.astype(ct::f32) : a; };
  return {ct::tree::map(f32, p.model), f32(p.y)};
}
Problem problem() {
  std::vector<double> y(length);
  for (int t = 0; t < length; ++t)
    y[static_cast<std::size_t>(t)] = 10 + 0.05 * t + std::sin(0.5 * t) + 0.2 * std::cos(2.3 * t);
  y[7] = y[8] = std::nan("");
  ct::default_device("native");
  const Array series = Array::from_host(y);
  dlm::Model model{{dlm::Trend{1}, dlm::Seasonal{4}}};
  model.x0 = np::zeros({5}, ct::f64);
  model.C0 = 100.0 * np::eye(5, {}, 0, ct::f64);
  dlm::Parameters p;
  for (const char* name : {"obs", "level", "slope", "season"}) p[name] = np::full({}, 0.3, ct::f64);
  return {dlm::state_space(model, p, series), series};
}
Problem on(const Problem& p, const char* device) {
  const auto move = [=](const Array& a) { return a.defined() ? ct::device_put(a, device) : a; };
  return {ct::tree::map(move, p.model), move(p.y)};
}

void expect_near(const Array& got, const Array& want, double tolerance, const char* what) {
  const std::vector<double> g = got.to_vector<double>(), w = want.to_vector<double>();
  ASSERT_EQ(g.size(), w.size());
  double largest = 1;
  for (double x : w) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < g.size(); ++i) ASSERT_NEAR(g[i], w[i], tolerance * largest) << what << ", element " << i;
}

class WebGpuDlm : public webgpu_tests::OnWebGpu {};

TEST_F(WebGpuDlm, SmoothersAgreeWithTheNativeDevice) {
  const Problem p = problem();
  for (const auto algorithm : {dlm::Algorithm::sequential, dlm::Algorithm::associative, dlm::Algorithm::square_root}) {
    const auto f = ct::jit([=](const dlm::StateSpace& s, const Array& y) {
      const dlm::Smoothed r = dlm::smooth(s, y, algorithm);
      return std::pair{r.x, r.C};
    });
    ct::default_device("native");
    const auto want = f(p.model, p.y);
    ct::default_device("webgpu");
    const Problem there = on(narrow(p), "webgpu");
    const auto got = f(there.model, there.y);
    EXPECT_EQ(got.first.device().name(), "webgpu");
    // By associative scan the first steps, of which little is known, lose digits in f32 on every device, the reference
    // too.
    const double tolerance = algorithm == dlm::Algorithm::sequential ? 2e-6 : 2e-4;
    expect_near(got.first, want.first, tolerance, "states");
    expect_near(got.second, want.second, tolerance, "covariances");
  }
}

TEST_F(WebGpuDlm, LikelihoodAndItsGradient) {
  const Problem p = problem();
  const auto f = ct::jit(
      ct::value_and_grad([](const dlm::StateSpace& s, const Array& y) { return dlm::minus2_log_likelihood(s, y); }));
  ct::default_device("native");
  const Problem single = narrow(p);  // roots of covariances look at one triangle: gradients in f64 have both
  const auto want = f(single.model, single.y);
  ct::default_device("webgpu");
  const Problem there = on(single, "webgpu");
  const auto got = f(there.model, there.y);
  expect_near(got.first, want.first, 2e-6, "likelihood");
  expect_near(got.second.W, want.second.W, 1e-4, "gradient for W");
  expect_near(got.second.V, want.second.V, 1e-4, "gradient for V");
}

}  // namespace
