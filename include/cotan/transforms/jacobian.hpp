// Derivatives of all outputs: jacfwd, jacrev, hessian.
#pragma once
#include <cotan/transforms/chosen_arguments.hpp>

namespace cotan {

namespace detail {

template <std::size_t I, class F, class... A>
auto jacobian_call(const F& f, bool forward, DerivativeOptions options, const A&... a) {
  const std::tuple<Plain<A>...> args(a...);
  const auto chosen = select_arguments<I>(args);
  using In = std::tuple_element_t<0, std::remove_const_t<decltype(chosen)>>;
  const auto of_chosen = function_of_chosen<I>(f, args);
  Flattened flat(of_chosen, chosen);
  const Arrays wrt = tree::leaves(chosen);
  const Arrays blocks = flat::jacobian(flat, wrt, forward, lazy_paths_at<I>(chosen), options.holomorphic);
  if constexpr (std::is_same_v<In, Array>) {
    return flat.filled(blocks);
  } else {
    const In& in = std::get<0>(chosen);
    std::vector<In> rows;
    for (std::size_t at = 0; at < blocks.size(); at += wrt.size())
      rows.push_back(tree::unflatten(in, std::span(blocks).subspan(at, wrt.size())));
    if constexpr (std::is_same_v<typename decltype(flat)::Output, Array>)
      return rows[0];
    else
      return rows;
  }
}

}  // namespace detail

/// All derivatives, shape (output…, input…), by forward mode; `jax.jacfwd`. With respect to one argument. Where both
/// output and argument are trees: one tree of the argument's type per output leaf.
template <std::size_t I = 0, class F>
auto jacfwd(F f, DerivativeOptions options, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f), options]<class... A>(const A&... a)
        requires detail::differentiable_with<F, std::index_sequence<I>, A...>
      { return detail::jacobian_call<I>(f, true, options, a...); },
      where);
}
/// The same without options.
template <std::size_t I = 0, class F>
auto jacfwd(F f, const std::source_location& where = COTAN_HERE) {
  return jacfwd<I>(std::move(f), DerivativeOptions{}, where);
}
/// The same by reverse mode: better with fewer outputs than inputs; `jax.jacrev`.
template <std::size_t I = 0, class F>
auto jacrev(F f, DerivativeOptions options, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f), options]<class... A>(const A&... a)
        requires detail::differentiable_with<F, std::index_sequence<I>, A...>
      { return detail::jacobian_call<I>(f, false, options, a...); },
      where);
}
/// The same without options.
template <std::size_t I = 0, class F>
auto jacrev(F f, const std::source_location& where = COTAN_HERE) {
  return jacrev<I>(std::move(f), DerivativeOptions{}, where);
}
/// Second derivatives of a scalar function, shape (input…, input…): forward over reverse; `jax.hessian`.
template <std::size_t I = 0, class F>
auto hessian(F f, const std::source_location& where = COTAN_HERE) {
  return jacfwd<I>(jacrev<I>(std::move(f), where), where);
}

}  // namespace cotan
