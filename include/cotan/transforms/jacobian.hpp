// Derivatives of all outputs: jacfwd, jacrev, hessian.
#pragma once
#include <cotan/transforms/chosen_arguments.hpp>
#include <cotan/transforms/has_aux.hpp>

namespace cotan {

namespace flat {
/// Derivatives, and all outputs.
struct JacobianAndAux {
  Arrays blocks, outputs;
};
/// jacobian, of the first `differentiated()` outputs, asked once f has run; the others come out as they are.
JacobianAndAux jacobian_and_aux(const FlatFn& f, std::span<const Array> primals, bool forward, const Paths& paths,
                                bool holomorphic, const std::function<std::size_t()>& differentiated);
}  // namespace flat

namespace detail {

/// Blocks as an Array, a tree of the argument's type, or one of those per output leaf.
template <class Value, class In>
auto jacobian_tree(const Value& output, const In& in, std::size_t leaves, std::span<const Array> blocks) {
  if constexpr (std::is_same_v<In, Array>) {
    return tree::unflatten(output, blocks);
  } else {
    std::vector<In> rows;
    for (std::size_t at = 0; at < blocks.size(); at += leaves)
      rows.push_back(tree::unflatten(in, blocks.subspan(at, leaves)));
    if constexpr (std::is_same_v<Value, Array>)
      return rows[0];
    else
      return rows;
  }
}

template <std::size_t I, class F, class... A>
auto jacobian_call(const F& f, bool forward, DerivativeOptions options, const A&... a) {
  const std::tuple<Plain<A>...> args(a...);
  const auto chosen = select_arguments<I>(args);
  const auto of_chosen = function_of_chosen<I>(f, args);
  Flattened flat(of_chosen, chosen);
  const Arrays wrt = tree::leaves(chosen);
  const Arrays blocks = flat::jacobian(flat, wrt, forward, lazy_paths_at<I>(chosen), options.holomorphic);
  return jacobian_tree(flat.output(), std::get<0>(chosen), wrt.size(), blocks);
}

template <std::size_t I, class F, class... A>
auto jacobian_with_aux(const F& f, bool forward, DerivativeOptions options, const A&... a) {
  const std::tuple<Plain<A>...> args(a...);
  const auto chosen = select_arguments<I>(args);
  const auto of_chosen = function_of_chosen<I>(f, args);
  FlattenedWithAux flat(of_chosen, chosen);
  const Arrays wrt = tree::leaves(chosen);
  const flat::JacobianAndAux made =
      flat::jacobian_and_aux(flat, wrt, forward, lazy_paths_at<I>(chosen), options.holomorphic, flat.counter());
  return std::pair{jacobian_tree(flat.value(made.outputs), std::get<0>(chosen), wrt.size(), made.blocks),
                   flat.aux(made.outputs)};
}
template <std::size_t I, class F>
auto jacobian_function_with_aux(F f, bool forward, DerivativeOptions options, const std::source_location& where) {
  return transformed<DerivativeReason>([f = std::move(f), forward, options]<class... A>(const A&... a)
                                         requires differentiable_with<F, std::index_sequence<I>, A...>
                                       { return jacobian_with_aux<I>(f, forward, options, a...); },
                                       where);
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
/// The same of a function that returns {value, aux}: std::pair{derivatives of the value, aux}.
template <std::size_t I = 0, class F>
auto jacfwd(F f, HasAux, DerivativeOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::jacobian_function_with_aux<I>(std::move(f), true, options, where);
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
/// The same of a function that returns {value, aux}: std::pair{derivatives of the value, aux}.
template <std::size_t I = 0, class F>
auto jacrev(F f, HasAux, DerivativeOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::jacobian_function_with_aux<I>(std::move(f), false, options, where);
}
/// Second derivatives of a scalar function, shape (input…, input…): forward over reverse; `jax.hessian`.
template <std::size_t I = 0, class F>
auto hessian(F f, const std::source_location& where = COTAN_HERE) {
  return jacfwd<I>(jacrev<I>(std::move(f), where), where);
}
/// The same of a function that returns {value, aux}: std::pair{second derivatives of the value, aux}.
template <std::size_t I = 0, class F>
auto hessian(F f, HasAux, const std::source_location& where = COTAN_HERE) {
  return jacfwd<I>(jacrev<I>(std::move(f), has_aux, {}, where), has_aux, {}, where);
}

}  // namespace cotan
