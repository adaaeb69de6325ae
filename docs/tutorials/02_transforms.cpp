// Tutorial 2: transforms. Derivatives, vectorisation and compilation are functions of functions.
#include <cassert>
#include <cmath>
#include <cotan/cotan.hpp>
#include <iostream>

namespace ct = cotan;
namespace np = cotan::numpy;

int main() {
  const auto f = [](ct::Array x) { return np::sum(np::sin(x) * x); };
  const ct::Array x = np::array({0.5, 1.0, 2.0}, ct::f64);

  // grad gives a function: the gradient. Here sin x + x cos x.
  std::cout << "gradient   " << ct::grad(f)(x) << "\n";
  assert(np::allclose(ct::grad(f)(x), np::sin(x) + x * np::cos(x)));

  // Transforms nest: a Hessian is forward mode over reverse mode, a third derivative is one more grad.
  std::cout << "Hessian\n" << ct::hessian(f)(x) << "\n";
  const auto cube = [](ct::Array t) { return t * t * t; };
  assert(ct::grad(ct::grad(ct::grad(cube)))(2.0).item<double>() == 6.0);

  // What a transform sees is a program. make_jaxpr prints it.
  std::cout << "\nthe program of grad(f):\n" << ct::make_jaxpr(ct::grad(f))(x).simplified() << "\n\n";

  // jit traces f once for each shape and dtype, and runs that program from then on.
  int traced = 0;
  const auto fast = ct::jit([&](ct::Array t) {
    ++traced;
    return f(t);
  });
  fast(x);
  fast(x + 1.0);
  assert(traced == 1);

  // vmap turns a function of one example into a function of a batch, without a loop and without touching it.
  const ct::Array rows = np::arange(12, ct::f64).reshape({4, 3});
  std::cout << "per-row gradients\n" << ct::vmap(ct::grad(f))(rows) << "\n";
  // Axes are chosen per argument: here one matrix for all vectors.
  const auto product = [](ct::Array m, ct::Array v) { return np::matmul(m, v); };
  assert(ct::vmap(product, {.in_axes = {ct::none, 0}})(np::eye(3, 3, 0, ct::f64), rows).shape() == ct::Shape({4, 3}));

  // Outside jit a value is there, and C++ may branch on it, under grad too. Under jit it is not yet.
  const auto absolute = [](ct::Array t) { return t < 0 ? -t : t; };
  assert(ct::grad(absolute)(-3.0).item<double>() == -1.0);
  try {
    ct::jit(absolute)(np::array(-3.0));
  } catch (const ct::ConcretizationError& e) {
    std::cout << "\n" << e.what() << "\n";
  }

  // A derivative of your own: log(1 + e^x) without overflow, in value and slope.
  const auto log1pexp = ct::custom_jvp([](ct::Array t) { return np::log1p(np::exp(t)); },
                                       [](auto primals, auto tangents) {
                                         auto [t] = primals;
                                         auto [dt] = tangents;
                                         return std::pair{np::log1p(np::exp(t)), dt * (1.0 - 1.0 / (1.0 + np::exp(t)))};
                                       });
  assert(ct::grad(log1pexp)(np::array(100.0, ct::f64)).item<double>() == 1.0);
}
