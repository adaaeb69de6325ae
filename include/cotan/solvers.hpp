// cotan::lax: roots and solutions of linear systems by a solver of the user's, with derivatives that do not go through
// it but follow from what it solves.
#pragma once
#include <cotan/control_flow.hpp>

namespace cotan {

namespace flat {

/// Solves operation(x) = right, or finds a root of the operation from a first guess.
using Solver = std::function<Arrays(const FlatFn& operation, std::span<const Array> right)>;
/// Of custom_linear_solve. Without a transposed solver, and not symmetric, there is no reverse mode.
struct LinearSolvers {
  Solver solve, transpose_solve = {};
  bool symmetric = false;
};
/// x with matvec(x) = b.
Arrays custom_linear_solve(const FlatFn& matvec, std::span<const Array> b, const LinearSolvers& solvers,
                           const Paths& paths);
/// x with f(x) = 0.
Arrays custom_root(const FlatFn& f, std::span<const Array> initial_guess, const Solver& solve,
                   const Solver& tangent_solve, const Paths& paths);

}  // namespace flat

namespace lax {

namespace detail {

/// A typed solver on lists: what it is given and what it gives have the structure of `like`.
template <class Tree, class F>
flat::Solver flat_solver(std::string_view name, const F& solve, const Tree& like) {
  return [name, solve, like = tree::blank(like)](const FlatFn& operation, std::span<const Array> right) {
    const auto typed = [&](const Tree& x) { return tree::unflatten(like, operation(tree::leaves(x))); };
    const auto x = traced(solve(typed, tree::unflatten(like, right)));
    check_structure(name, "right side", like, x);
    return tree::leaves(x);
  };
}
template <class Tree, class F>
auto flat_operation(std::string_view name, const F& f, const Tree& like) {
  return [name, &f, &like](std::span<const Array> in) {
    const auto y = traced(f(tree::unflatten(like, in)));
    check_structure(name, "argument", like, y);
    return tree::leaves(y);
  };
}

}  // namespace detail

/// Of custom_linear_solve.
struct LinearSolveOptions {
  bool symmetric = false;  ///< the operation is its own transpose, and `solve` solves that too
};
/// x with matvec(x) = b, by solve(matvec, b). Derivatives are solutions of further systems, by the same function; in
/// reverse mode by transpose_solve(vecmat, b), which gets the transposed operation. `jax.lax.custom_linear_solve`.
///
///     lax::custom_linear_solve([&](ct::Array x) { return np::matmul(a, x); }, b, solve, solve);
template <class A, class B, class S, class T>
auto custom_linear_solve(const A& matvec, const B& b, const S& solve, const T& transpose_solve,
                         LinearSolveOptions options = {}, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto right = detail::traced(b);
  constexpr std::string_view name = "custom_linear_solve";
  flat::LinearSolvers solvers{detail::flat_solver(name, solve, right), {}, options.symmetric};
  if constexpr (!std::is_same_v<T, None>) solvers.transpose_solve = detail::flat_solver(name, transpose_solve, right);
  return tree::unflatten(right, flat::custom_linear_solve(detail::flat_operation(name, matvec, right),
                                                          tree::leaves(right), solvers, detail::paths_of("b", right)));
}
/// The same without a transposed solver: reverse mode only where the options say that the operation is symmetric.
template <class A, class B, class S>
auto custom_linear_solve(const A& matvec, const B& b, const S& solve, LinearSolveOptions options = {},
                         const std::source_location& where = COTAN_HERE) {
  return custom_linear_solve(matvec, b, solve, none, options, where);
}

/// x with f(x) = 0, by solve(f, initial_guess). Derivatives follow from those of f at the root: tangent_solve(g, y)
/// solves g(x) = y, where g is linear, for scalars by y / g(1.0). `jax.lax.custom_root`.
///
///     lax::custom_root([&](ct::Array x) { return x * x - a; }, 1.0, newton, [](auto g, ct::Array y) { return y /
///     g(1.0); });
template <class F, class X, class S, class T>
auto custom_root(const F& f, const X& initial_guess, const S& solve, const T& tangent_solve,
                 const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto guess = detail::traced(initial_guess);
  constexpr std::string_view name = "custom_root";
  return tree::unflatten(
      guess, flat::custom_root(detail::flat_operation(name, f, guess), tree::leaves(guess),
                               detail::flat_solver(name, solve, guess), detail::flat_solver(name, tangent_solve, guess),
                               detail::paths_of("initial_guess", guess)));
}

}  // namespace lax
}  // namespace cotan
