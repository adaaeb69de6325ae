// Tutorial 3: fitting a model. Structs are pytrees: a gradient has the type of the parameters.
#include <cassert>
#include <cotan/cotan.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;

struct Line {
  ct::Array slope, offset;
  int power = 1;  // numbers in a struct are static: they choose the program, and are never differentiated
};

ct::Array predict(const Line& m, const ct::Array& x) { return m.slope * np::power(x, m.power) + m.offset; }
ct::Array loss(const Line& m, const ct::Array& x, const ct::Array& y) {
  return np::mean(np::square(predict(m, x) - y));
}

int main() {
  // Data around y = 3 x^2 - 1. The key makes the noise: the same key, the same numbers, as in JAX.
  const ct::Array key = ct::random::key(0);
  const ct::Array x = np::linspace(-1, 1, 64, true, ct::f64);
  const ct::Array y = 3.0 * x * x - 1.0 + 0.05 * ct::random::normal(key, {64}, ct::f64);

  Line model{np::zeros({}, ct::f64), np::zeros({}, ct::f64), 2};
  const auto step = ct::jit([](const Line& m, const ct::Array& xs, const ct::Array& ys) {
    auto [value, grads] = ct::value_and_grad(loss)(m, xs, ys);
    return std::pair{ct::tree::map([](auto p, auto g) { return p - 0.5 * g; }, m, grads), value};
  });
  for (int i = 0; i < 300; ++i) {
    auto [next, value] = step(model, x, y);
    if (i % 100 == 0) std::cout << "step " << i << "  loss " << value << "\n";
    model = next;
  }
  std::cout << "slope " << model.slope << ", offset " << model.offset << "\n";
  assert(std::abs(model.slope.item<double>() - 3) < 0.1 && std::abs(model.offset.item<double>() + 1) < 0.1);

  // Standard errors from the curvature: invert the Hessian of the log-likelihood.
  const auto flat_loss = [&](ct::Array p) { return loss({p[0], p[1], 2}, x, y) * 64.0 / (2 * 0.05 * 0.05); };
  const ct::Array best = np::array({model.slope, model.offset});
  const ct::Array covariance = ct::linalg::inv(ct::hessian(flat_loss)(best));
  std::cout << "standard errors " << np::sqrt(np::diag(covariance)) << "\n";

  // Many starts at once: vmap over the model's leaves, and over nothing else.
  const Line starts{np::linspace(-5, 5, 8, true, ct::f64), np::zeros({8}, ct::f64), 2};
  const auto losses = ct::vmap(loss, {.in_axes = {0, ct::none, ct::none}})(starts, x, y);
  std::cout << "losses of eight starts " << losses << "\n";
}
