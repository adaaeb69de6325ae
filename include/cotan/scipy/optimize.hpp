// cotan::scipy::optimize: minima of functions.
#pragma once
#include <cotan/control_flow.hpp>
#include <cotan/linalg.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

/// `jax.scipy.optimize`. Further searches are in cotan::optim and cotan::optax.
namespace cotan::scipy::optimize {

/// What a search found.
struct OptimizeResults {
  Array x;                ///< where the search ended
  Array success;          ///< whether it converged
  Array status;           ///< 0: converged; 1: too many iterations; 3: no step was found; 5: too many steps were tried
  Array fun, jac;         ///< the value there, and the gradient
  Array hess_inv;         ///< about the inverse of the Hessian
  Array nfev, njev, nit;  ///< how many evaluations, gradients and iterations
};

/// Of the method BFGS.
struct BfgsOptions {
  std::optional<std::int64_t> maxiter = {};                                 ///< by default 200 per element of x
  cotan::linalg::NormOrder norm = std::numeric_limits<double>::infinity();  ///< of the gradient …
  double gtol = 1e-5;                                                       ///< … which is small enough
  std::int64_t line_search_maxiter = 10;                                    ///< steps that are tried per iteration
};
/// Of minimize.
struct MinimizeOptions {
  std::string_view method = "BFGS";  ///< there is no other; cotan::optim::minimize has L-BFGS
  std::optional<double> tol = {};    ///< in place of options.gtol, as in SciPy; JAX does not look at it
  BfgsOptions options = {};
};

namespace detail {
OptimizeResults minimize(const std::function<Array(const Array&)>& f, const Array& x0, const MinimizeOptions& options);
}  // namespace detail

/// Minimizes fun(x, args…), a scalar, from the vector x0 of floats on, by BFGS with a line search for the strong Wolfe
/// conditions: a loop of the program, also under jit and vmap. (JAX's gives up where the search goes back from a step
/// that was too long, and then has x and the value of different points.) `jax.scipy.optimize.minimize`.
///
///     auto found = minimize([](ct::Array x, ct::Array a) { return np::sum(np::square(x - a)); }, x0, std::tuple{a});
template <class F, class... A>
OptimizeResults minimize(const F& fun, const ArrayLike& x0, const std::tuple<A...>& args,
                         const MinimizeOptions& options = {}) {
  return detail::minimize(
      [&](const Array& x) { return Array(std::apply([&](const auto&... a) { return fun(x, a...); }, args)); }, x0,
      options);
}
/// The same of a function of x alone.
template <class F>
OptimizeResults minimize(const F& fun, const ArrayLike& x0, const MinimizeOptions& options = {}) {
  return detail::minimize([&](const Array& x) { return Array(fun(x)); }, x0, options);
}

}  // namespace cotan::scipy::optimize
