// Derivatives of the likelihood through every algorithm, and transforms of everything else.
#include "dlm/support.hpp"

namespace dlm_tests {
namespace {

using dlm::AutoRegression, dlm::Harmonics, dlm::Seasonal, dlm::Trend;

struct Problem {
  const char* name;
  dlm::Model model;
};
std::vector<Problem> problems() {
  return {{"level", toolbox({{Trend{0}}})},
          {"trend", toolbox({{Trend{1}}})},
          {"season", toolbox({{Trend{1}, Seasonal{4}}})},
          {"waves", toolbox({{Trend{0}, Harmonics{12, 1}, AutoRegression{2}}})},
          {"static season", toolbox({{Trend{1, {"level", ""}}, Seasonal{4, ""}}})}};
}
std::vector<std::string> names_of(const dlm::Model& model) {
  std::vector<std::string> out;
  for (const auto& p : dlm::parameters_of(model)) out.push_back(p.name);
  return out;
}

class Derivatives : public ::testing::TestWithParam<std::tuple<int, Algorithm>> {};

TEST_P(Derivatives, AgainstFiniteDifferences) {
  const auto [index, algorithm] = GetParam();
  const Problem problem = problems()[static_cast<std::size_t>(index)];
  const Array y = with_gaps(wavy_series(30), {4, 5, 17});
  const auto names = names_of(problem.model);
  const Array theta = dlm::unconstrained(problem.model, dlm::default_start(problem.model, y), names);
  const auto f = [&, a = algorithm](const Array& t) {
    return dlm::minus2_log_likelihood(dlm::state_space(problem.model, dlm::constrained(problem.model, t, names), y), y,
                                      a);
  };
  const auto value = ct::jit(f);
  const auto gradient = ct::jit(ct::grad(f));
  const auto hessian = ct::jit([&](const Array& t) { return ct::optim::hessian_of(f, t); });
  // Second derivatives of QR divide by small pivots twice, and take long to compile: estimates take the Hessian of the
  // sequential algorithm, and larger models are left out here.
  const bool second = algorithm != Algorithm::square_root || theta.shape()[0] <= 3;
  const Array g = gradient(theta), H = second ? hessian(theta) : Array();
  const double h = 1e-5;
  const std::int64_t d = theta.shape()[0];
  for (std::int64_t k = 0; k < d; ++k) {
    const Array step = h * (np::arange(d) == k).astype(ct::f64);
    const double slope = ((value(theta + step) - value(theta - step)) / (2 * h)).item<double>();
    EXPECT_NEAR(g[k].item<double>(), slope, 1e-6 * std::max(std::abs(slope), 1.0))
        << problem.name << " " << name_of(algorithm) << " " << k;
    if (!second) continue;
    const Array row = (gradient(theta + step) - gradient(theta - step)) / (2 * h);
    EXPECT_LE(np::max(np::abs(H[k] - row)).item<double>(), 1e-5 * np::maximum(np::max(np::abs(H)), 1.0).item<double>())
        << problem.name << " " << name_of(algorithm) << " " << k;
  }
}
INSTANTIATE_TEST_SUITE_P(All, Derivatives, ::testing::Combine(::testing::Range(0, 5), ::testing::ValuesIn(algorithms)));

/// On the GPU against the CPU, both in f32: in f64 gradients of roots have both triangles.
TEST(DlmOnGpu, gradients_on_webgpu) {
  const Place gpu = places[1], cpu{"native", ct::f32};
  for (const Problem& problem : problems()) {
    const Array y = with_gaps(wavy_series(30), {4, 5, 17});
    const dlm::StateSpace s = dlm::state_space(problem.model, dlm::default_start(problem.model, y), y);
    const auto f = ct::jit(
        ct::value_and_grad([](const dlm::StateSpace& s, const Array& y) { return dlm::minus2_log_likelihood(s, y); }));
    const auto [value, gradient] = f(gpu.put(s), gpu.put(y));
    const auto [want, wanted] = f(cpu.put(s), cpu.put(y));
    EXPECT_LE(error_of(value, Place::back(want)), 1e-5) << problem.name;
    EXPECT_LE(error_of(gradient.V, Place::back(wanted.V)), 1e-4) << problem.name;
    EXPECT_LE(error_of(gradient.W, Place::back(wanted.W)), 1e-4) << problem.name;
  }
}
TEST(DlmOnGpu, vmap_on_webgpu) {
  const Place gpu = places[1];
  const Array base = wavy_series(25);
  const Array many = np::stack({base, 2.0 * base, with_gaps(base + 1, {3, 9}), base * base});
  const dlm::StateSpace s = dlm::state_space({{Trend{1}}}, numbers({{"obs", 1}, {"level", .5}, {"slope", .1}}), base);
  for (Algorithm algorithm : algorithms_at(gpu, s)) {
    const auto one = [=](const dlm::StateSpace& s, const Array& y) {
      return dlm::fit(s, y, {.algorithm = algorithm}).x;
    };
    const Array all = ct::jit(ct::vmap(one, {.in_axes = {ct::none, 0}}))(gpu.put(s), gpu.put(many));
    for (int k = 0; k < 4; ++k)
      EXPECT_LE(error_of(Place::back(all)[k], ct::jit(one)(s, many[k])),
                algorithm == Algorithm::sequential ? 2e-5 : 5e-4)
          << name_of(algorithm);
  }
}

TEST(DlmTransforms, VmapIsOneByOne) {
  const Array base = wavy_series(25);
  const Array many = np::stack({base, 2.0 * base, with_gaps(base + 1, {3, 9}), base * base});
  const dlm::Model model{{Trend{1}}};
  for (Algorithm algorithm : algorithms) {
    const auto one = [&](const Array& y) {
      const dlm::Parameters p = dlm::default_start(model, y);
      return dlm::fit(dlm::state_space(model, p, y), y, {.algorithm = algorithm}).x;
    };
    const Array all = ct::jit(ct::vmap(one))(many);
    for (int k = 0; k < 4; ++k) EXPECT_LE(error_of(all[k], ct::jit(one)(many[k])), 1e-10) << name_of(algorithm);
  }
}
TEST(DlmTransforms, EstimatesOfManySeries) {
  const Array base = wavy_series(40);
  const Array many = np::stack({base, 3.0 * base, base + np::sin(np::arange(40, ct::f64))});
  const dlm::Model model{{Trend{0}}};
  const auto one = [&](const Array& y) { return dlm::estimate(model, y, {.standard_errors = false}).value; };
  const Array all = ct::jit(ct::vmap(one))(many);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(all[k].item<double>(), one(many[k]).item<double>(), 1e-6);
}
TEST(DlmTransforms, EagerIsJitted) {
  const Array y = with_gaps(wavy_series(12), {2});
  const dlm::Model model{{Trend{1}}};
  const dlm::StateSpace s = dlm::state_space(model, dlm::default_start(model, y), y);
  for (Algorithm algorithm : algorithms) {
    const dlm::Fit eager = dlm::fit(s, y, {.algorithm = algorithm});
    const dlm::Fit jitted = ct::jit(
        [=](const dlm::StateSpace& s, const Array& y) { return dlm::fit(s, y, {.algorithm = algorithm}); })(s, y);
    EXPECT_LE(error_of(eager.x, jitted.x), 1e-12);
    EXPECT_LE(error_of(eager.lik, jitted.lik), 1e-12);
  }
}
TEST(DlmTransforms, OneStep) {
  const Array y = Array::from_host(std::vector<double>{3.0});
  const dlm::StateSpace s = dlm::state_space(toolbox({{Trend{1}}}), numbers({{"obs", 1}, {"level", 1}}), y);
  for (Algorithm algorithm : algorithms) {
    const dlm::Smoothed f = dlm::smooth(s, y, algorithm);
    EXPECT_NEAR(f.x(0, 0).item<double>(), 3.0, 1e-12);
    EXPECT_NEAR(f.C(0, 0, 0).item<double>(), 2.25 / 3.25, 1e-12) << name_of(algorithm);
  }
}

}  // namespace
}  // namespace dlm_tests
