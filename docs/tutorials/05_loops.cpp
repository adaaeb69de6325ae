// Tutorial 5: loops. A loop written with scan is part of the program: traced once, whatever its length, compiled
// whole, differentiated, vectorised.
#include <cassert>
#include <cmath>
#include <cotan/cotan.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;
namespace lax = cotan::lax;

// What is carried from step to step is any tree of arrays: here the state of a local-level Kalman filter.
struct Level {
  ct::Array mean, variance;
};

int main() {
  // scan(f, init, xs): f(carry, x) -> pair{next carry, y}. The ys come back stacked.
  const auto [sum, partial] =
      lax::scan([](ct::Array c, ct::Array x) { return std::pair{c + x, c + x}; }, 0.f, np::arange(5, ct::f32));
  std::cout << "sum " << sum << ", partial sums " << partial << "\n";
  assert(sum.item<float>() == 10.f);

  // A filter, and the likelihood of its parameters given a series.
  const auto likelihood = [](ct::Array log_variances, ct::Array series) {
    const ct::Array q = np::exp(log_variances[0]), r = np::exp(log_variances[1]);
    const auto step = [&](Level level, ct::Array y) {
      const ct::Array s = level.variance + r, error = y - level.mean, gain = level.variance / s;
      const Level next{level.mean + gain * error, level.variance * (1.0 - gain) + q};
      return std::pair{next, np::log(s) + error * error / s};
    };
    return np::sum(lax::scan(step, Level{series[0], 1e3}, series).second);
  };
  const auto noise = [](int seed) { return ct::random::normal(ct::random::key(seed), {1000}).astype(ct::f64); };
  const ct::Array series = np::cumsum(noise(1)) + 2.0 * noise(2);
  const ct::Array parameters = np::array({0.0, 0.0}, ct::f64);

  // Its gradient is one loop forwards and one backwards, in one native function. The program is as large for ten
  // steps as for a million.
  const auto gradient = ct::jit(ct::value_and_grad(likelihood));
  const auto [value, slope] = gradient(parameters, series);
  std::cout << "-2 log L = " << value << ", gradient " << slope << "\n";
  const ct::Explanation e = ct::explain(gradient, parameters, series);
  std::cout << e.text() << "\n";
  assert(e.loops == 2 && e.routines == 0);
  const double h = 1e-5;
  const ct::Array up = likelihood(parameters + np::array({h, 0.0}, ct::f64), series),
                  down = likelihood(parameters - np::array({h, 0.0}, ct::f64), series);
  assert(std::abs(((up - down) / (2 * h)).item<double>() - slope[0].item<double>()) < 1e-4);

  // Newton's method needs second derivatives: hessian goes through loops too. The loop around it is a while_loop.
  const auto newton = ct::jit([&](ct::Array start, ct::Array y) {
    const auto derivative = ct::grad([&](ct::Array p) { return likelihood(p, y); });
    return lax::while_loop([&](ct::Array p) { return np::max(np::abs(derivative(p))) > 1e-6; },
                           [&](ct::Array p) {
                             const ct::Array H = ct::hessian([&](ct::Array q) { return likelihood(q, y); })(p);
                             return p - ct::linalg::solve(H + 0.1 * np::eye(2, {}, 0, ct::f64) * np::max(np::abs(H)),
                                                          derivative(p));
                           },
                           start);
  });
  const ct::Array best = newton(parameters, series);
  std::cout << "log variances " << best << "\n";
  assert(np::max(np::abs(ct::grad(likelihood)(best, series))).item<double>() < 1e-6);

  // Many series at once: vmap. Each lane is an element of a vector register, groups of lanes run in parallel.
  const ct::Array many = np::stack({series, series * 2.0, series + 1.0, np::flip(series, 0)});
  const ct::Array each = ct::vmap(likelihood, {.in_axes = {ct::none, 0}})(parameters, many);
  std::cout << "four series: " << each << "\n";
  assert(std::abs(each[0].item<double>() - value.item<double>()) < 1e-8 * std::abs(value.item<double>()));

  // Branches: cond runs one of two functions. Both may be differentiated.
  const auto huber = [](ct::Array x) {
    return lax::cond(
        np::abs(x) < 1.0, [](ct::Array x) { return 0.5 * x * x; }, [](ct::Array x) { return np::abs(x) - 0.5; }, x);
  };
  assert(ct::grad(huber)(3.0).item<float>() == 1.f && ct::grad(huber)(0.25).item<float>() == 0.25f);

  // Long loops: with checkpoints, the backward pass keeps the carry every so many steps and runs the rest again.
  const auto deep = [](ct::ScanCheckpoint checkpoint) {
    return ct::jit(ct::grad([=](ct::Array x) {
      return lax::scan([](ct::Array c) { return std::pair{np::sin(c) + 0.01 * c, ct::none}; }, x, lax::length(10000),
                       {.checkpoint = checkpoint})
          .first;
    }));
  };
  const ct::Array x = 0.5;
  const auto all = ct::explain(deep(0), x).peak_bytes, few = ct::explain(deep(ct::sqrt_n), x).peak_bytes;
  std::cout << "peak: " << all << " bytes, with checkpoints " << few << "\n";
  assert(few * 10 < all);

  // associative_scan: all partial results of an associative function, here of affine maps x -> a x + b.
  using Affine = std::pair<ct::Array, ct::Array>;
  const auto [a, b] = lax::associative_scan(
      [](Affine first, Affine second) {
        return Affine{second.first * first.first, second.first * first.second + second.second};
      },
      Affine{np::full({6}, 0.5, ct::f64), np::ones({6}, ct::f64)});
  std::cout << "after 1 to 6 steps from 0: " << b << "\n";
  assert(std::abs(b[5].item<double>() - 1.96875) < 1e-12);
}
