// cotan::optim: minimisers as loops of a program. The whole search compiles into one function, and can be vmapped.
#pragma once
#include <cotan/base.hpp>
#include <functional>

/// Minimisers as loops of a program: the whole search compiles into one function, under jit, and can be vmapped.
///
///     auto found = ct::optim::minimize([](const ct::Array& x) { return np::sum(np::square(x - 3)); }, np::zeros({2}));
namespace cotan::optim {

/// How a search goes.
enum class Method : std::uint8_t {
  lbfgs,   ///< quasi-Newton with a line search (weak Wolfe conditions)
  adam,    ///< gradient steps of adapted size
  newton,  ///< exact second derivatives, damped (Levenberg)
};
/// Of a search.
struct MinimizeOptions {
  Method method = Method::lbfgs;
  int max_iterations = 500;          ///< steps after which a search ends
  double value_tolerance = 1e-12;    ///< relative decrease that is no longer worth a step
  double gradient_tolerance = 1e-8;  ///< of the largest derivative, relative to the value
  int memory = 8;                    ///< of lbfgs: steps it remembers
  double learning_rate = 0.05;       ///< of adam
  /// Of lbfgs: a matrix that is nearly the Hessian, and not negative; what is remembered mends it. None: a multiple
  /// of 1.
  std::function<Array(const Array&)> curvature = {};
};

/// Where a search stands. All arrays, so that it can go on in another call.
struct Search {
  Array x, value, gradient;
  Array iterations, evaluations;
  Array finished, converged;  ///< finished without converging: no step decreases the value, or it is not finite
  // What the method remembers.
  Array direction, step, low, high;
  Array steps, changes, lambda, moments;
};

/// What is minimised: a function of a vector that gives a scalar.
using Objective = std::function<Array(const Array&)>;

/// The exact Hessian, a row at a time: the program is as large for many parameters as for one.
Array hessian_of(const Objective& f, const Array& x);

/// A search at its start; nothing is evaluated yet.
Search start(const Array& x0, const MinimizeOptions& options = {});
/// Up to so many evaluations further (0 or none: until it ends). A pure function.
Search advance(const Objective& f, const Search& search, const MinimizeOptions& options = {},
               const Array& evaluations = {});
/// A whole search: start, then advance until it ends. `x` of the result is the minimum, `converged` says whether it is
/// one.
Search minimize(const Objective& f, const Array& x0, const MinimizeOptions& options = {});

}  // namespace cotan::optim
