// cotan::scipy::sparse::linalg: solutions of linear systems that are known by products with vectors alone.
#pragma once
#include <cotan/solvers.hpp>
#include <functional>

namespace cotan::flat {

/// Which way a Krylov method takes.
enum class Krylov { cg, bicgstab, gmres };
/// Of krylov_solve. An empty `x0` is zero, an empty function `M` the identity.
struct KrylovOptions {
  Arrays x0 = {};
  double tol = 1e-5, atol = 0.0;
  std::optional<std::int64_t> maxiter = {};
  std::int64_t restart = 20;
  FlatFunction M = {};
};
/// x with operation(x) = b, as closely as the options ask for.
Arrays krylov_solve(Krylov method, const FlatFn& operation, std::span<const Array> b, const KrylovOptions& options,
                    const Paths& paths);

}  // namespace cotan::flat

/// `jax.scipy.sparse.linalg`: x with A x = b, where A is a matrix or a linear function of trees like b. Derivatives are
/// solutions of further systems. JAX gives a second result, which is always None.
namespace cotan::scipy::sparse::linalg {

/// Done where |b - A x| <= max(tol |b|, atol), or after `maxiter` steps: ten times the number of elements, unless
/// given.
template <class X>
struct SolveOptions {
  std::optional<X> x0 = {};  ///< where to begin; zeros
  double tol = 1e-5, atol = 0.0;
  std::optional<std::int64_t> maxiter = {};
  std::function<X(const X&)> M = {};  ///< a preconditioner: about the inverse of A
  std::int64_t restart = 20;          ///< of gmres: how many directions are kept
};

namespace detail {

template <class X>
flat::KrylovOptions flat_options(const SolveOptions<X>& options, const X& like) {
  flat::KrylovOptions out{{}, options.tol, options.atol, options.maxiter, options.restart, {}};
  if (options.x0) out.x0 = tree::leaves(*options.x0);
  if (options.M)
    out.M = [M = options.M, like = tree::blank(like)](std::span<const Array> in) {
      return tree::leaves(M(tree::unflatten(like, in)));
    };
  return out;
}
/// A x for a matrix.
Arrays product(const Array& a, std::span<const Array> x);

template <class A, class B, class X>
X solve(flat::Krylov method, const A& a, const B& b, const SolveOptions<X>& options) {
  const X right = lax::detail::traced(b);
  const auto apply = [&](std::span<const Array> in) {
    if constexpr (std::is_convertible_v<const A&, const Array&>)
      return product(a, in);
    else
      return lax::detail::flat_operation("custom_linear_solve", a, right)(in);
  };
  return tree::unflatten(right, flat::krylov_solve(method, apply, tree::leaves(right), flat_options(options, right),
                                                   lax::detail::paths_of("b", right)));
}

}  // namespace detail

/// The conjugate gradient method: A must be symmetric and positive definite.
///
///     sparse::linalg::cg([&](ct::Array x) { return x * 2.0; }, b, {.tol = 1e-8});
template <class A, class B>
auto cg(const A& a, const B& b, const SolveOptions<lax::detail::Traced<B>>& options = {},
        const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return detail::solve(flat::Krylov::cg, a, b, options);
}
/// The stabilized biconjugate gradient method: A is any square matrix.
template <class A, class B>
auto bicgstab(const A& a, const B& b, const SolveOptions<lax::detail::Traced<B>>& options = {},
              const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return detail::solve(flat::Krylov::bicgstab, a, b, options);
}
/// The generalized minimal residual method, begun anew every `restart` steps: A is any square matrix.
template <class A, class B>
auto gmres(const A& a, const B& b, const SolveOptions<lax::detail::Traced<B>>& options = {},
           const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  return detail::solve(flat::Krylov::gmres, a, b, options);
}

}  // namespace cotan::scipy::sparse::linalg
