// cotan::lax: roots and solutions of linear systems by a solver of the user's, with derivatives that do not go through
// it but follow from what it solves.
#pragma once
#include <cotan/control_flow.hpp>
#include <cotan/transforms/has_aux.hpp>

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
/// The same of a solver that returns {solution, aux}: the leaves of both. `like_aux` gets the likeness of the aux.
template <class Aux, class Tree, class F>
flat::Solver flat_solver_with_aux(std::string_view name, const F& solve, const Tree& like,
                                  std::shared_ptr<std::optional<Aux>> like_aux) {
  return [name, solve, like = tree::blank(like), like_aux](const FlatFn& operation, std::span<const Array> right) {
    const auto typed = [&](const Tree& x) { return tree::unflatten(like, operation(tree::leaves(x))); };
    const auto result = solve(typed, tree::unflatten(like, right));
    const auto x = traced(std::get<0>(result));
    check_structure(name, "right side", like, x);
    const Traced<std::tuple_element_t<1, std::remove_cvref_t<decltype(result)>>> aux(std::get<1>(result));
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(aux)>, Aux>) *like_aux = tree::blank(aux);
    Arrays out = tree::leaves(x);
    const Arrays more = tree::leaves(aux);
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
}
/// What a solver's aux is, with numbers as Arrays.
template <class Tree, class S>
struct AuxOf {
  struct Operation {
    Tree operator()(const Tree& x) const;
  };
  using Result = std::remove_cvref_t<decltype(std::declval<const S&>()(Operation{}, std::declval<const Tree&>()))>;
  static_assert(cotan::detail::check_aux<Result>());
  using type = Traced<std::tuple_element_t<1, Result>>;
};
/// {solution, aux} of the leaves of both.
template <class Tree, class Aux>
std::pair<Tree, Aux> solution_and_aux(const Tree& like, const Aux& aux, std::span<const Array> leaves) {
  const std::size_t n = tree::leaves(like).size();
  return {tree::unflatten(like, leaves.subspan(0, n)), tree::unflatten(aux, leaves.subspan(n))};
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

/// The same by solvers that return {x, aux}: std::pair{x, aux}. The aux has no derivative.
template <class A, class B, class S, class T>
auto custom_linear_solve(const A& matvec, const B& b, const S& solve, const T& transpose_solve, HasAux,
                         LinearSolveOptions options = {}, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto right = detail::traced(b);
  using Tree = std::remove_const_t<decltype(right)>;
  using Aux = typename detail::AuxOf<Tree, S>::type;
  constexpr std::string_view name = "custom_linear_solve";
  const auto aux = std::make_shared<std::optional<Aux>>(), of_transpose = std::make_shared<std::optional<Aux>>();
  flat::LinearSolvers solvers{detail::flat_solver_with_aux<Aux>(name, solve, right, aux), {}, options.symmetric};
  if constexpr (!std::is_same_v<T, None>)
    solvers.transpose_solve = detail::flat_solver_with_aux<Aux>(name, transpose_solve, right, of_transpose);
  const Arrays out = flat::custom_linear_solve(detail::flat_operation(name, matvec, right), tree::leaves(right),
                                               solvers, detail::paths_of("b", right));
  return detail::solution_and_aux(right, **aux, out);
}
/// The same without a transposed solver.
template <class A, class B, class S>
auto custom_linear_solve(const A& matvec, const B& b, const S& solve, HasAux, LinearSolveOptions options = {},
                         const std::source_location& where = COTAN_HERE) {
  return custom_linear_solve(matvec, b, solve, none, has_aux, options, where);
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

/// The same by a solver that returns {x, aux}: std::pair{x, aux}. The aux has no derivative.
template <class F, class X, class S, class T>
auto custom_root(const F& f, const X& initial_guess, const S& solve, const T& tangent_solve, HasAux,
                 const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto guess = detail::traced(initial_guess);
  using Tree = std::remove_const_t<decltype(guess)>;
  using Aux = typename detail::AuxOf<Tree, S>::type;
  constexpr std::string_view name = "custom_root";
  const auto aux = std::make_shared<std::optional<Aux>>();
  const Arrays out =
      flat::custom_root(detail::flat_operation(name, f, guess), tree::leaves(guess),
                        detail::flat_solver_with_aux<Aux>(name, solve, guess, aux),
                        detail::flat_solver(name, tangent_solve, guess), detail::paths_of("initial_guess", guess));
  return detail::solution_and_aux(guess, **aux, out);
}

}  // namespace lax
}  // namespace cotan
