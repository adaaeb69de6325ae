// Gradients of scalar functions: value_and_grad and grad.
#pragma once
#include <cotan/transforms/chosen_arguments.hpp>
#include <cotan/transforms/has_aux.hpp>

namespace cotan {

namespace detail {

template <class R>
concept ValueWithAux =
    tree::detail::is_tuple<R> && std::tuple_size_v<R> == 2 && std::is_same_v<std::tuple_element_t<0, R>, Array>;

template <class... T>
auto unwrap_single(std::tuple<T...> t) {
  if constexpr (sizeof...(T) == 1)
    return std::get<0>(std::move(t));
  else
    return t;
}

template <std::size_t... I, class F, class... A>
auto value_and_grad_call(const F& f, std::string_view transform, DerivativeOptions options, const A&... a) {
  constexpr bool there = ((I < sizeof...(A)) && ...);
  static_assert(there, "grad<I…>: an I is the number of no argument; they count from 0");
  if constexpr (!there) {
    return std::pair{Array(), Array()};
  } else {
    const std::tuple<Plain<A>...> args(a...);
    const auto chosen = select_arguments<I...>(args);
    const auto of_chosen = function_of_chosen<I...>(f, args);
    Flattened flat(of_chosen, chosen);
    using R = typename decltype(flat)::Output;
    constexpr bool differentiable = std::is_same_v<R, Array> || ValueWithAux<R>;
    static_assert(differentiable, "grad: the function must return one scalar Array, or pair{scalar Array, aux}");
    if constexpr (differentiable) {
      const Arrays wrt = tree::leaves(chosen);
      flat::ValueAndGrad result =
          flat::value_and_grad(flat, wrt, transform, lazy_paths_at<I...>(chosen), options.holomorphic);
      return std::pair{flat.filled(result.outputs), unwrap_single(tree::unflatten(chosen, result.grads))};
    } else {
      return std::pair{Array(), unwrap_single(chosen)};
    }
  }
}

}  // namespace detail

/// Value and gradient with respect to the first argument, or to arguments I…: {value, grads}. The function
/// returns a scalar Array, or pair{scalar, aux}; gradients have the type of the arguments. `jax.value_and_grad`.
///
///     auto [value, grads] = ct::value_and_grad(loss)(model, x, y);         // grads is a Model
template <std::size_t... I, class F>
auto value_and_grad(F f, DerivativeOptions options, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f), options]<class... A>(const A&... a)
        requires detail::differentiable_with<F, detail::PositionsOrFirst<I...>, A...>
      {
        if constexpr (sizeof...(I) == 0)
          return detail::value_and_grad_call<0>(f, "value_and_grad", options, a...);
        else
          return detail::value_and_grad_call<I...>(f, "value_and_grad", options, a...);
      },
      where);
}
/// The same without options.
template <std::size_t... I, class F>
auto value_and_grad(F f, const std::source_location& where = COTAN_HERE) {
  return value_and_grad<I...>(std::move(f), DerivativeOptions{}, where);
}
/// The same, where it is said that the function returns {scalar, aux}.
template <std::size_t... I, class F>
auto value_and_grad(F f, HasAux, DerivativeOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return value_and_grad<I...>(std::move(f), options, where);
}
/// The gradient with respect to the first argument, or to arguments I… as a tuple; where the function returns
/// pair{scalar, aux}: {gradient, aux}. A result that is no floating scalar raises. `jax.grad`: ct::grad<0, 2>(f)(a, b,
/// c).
template <std::size_t... I, class F>
auto grad(F f, DerivativeOptions options, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::DerivativeReason>(
      [f = std::move(f), options]<class... A>(const A&... a)
        requires detail::differentiable_with<F, detail::PositionsOrFirst<I...>, A...>
      {
        auto result = [&] {
          if constexpr (sizeof...(I) == 0)
            return detail::value_and_grad_call<0>(f, "grad", options, a...);
          else
            return detail::value_and_grad_call<I...>(f, "grad", options, a...);
        }();
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result.first)>, Array>)
          return std::move(result.second);
        else
          return std::pair{std::move(result.second), std::get<1>(std::move(result.first))};
      },
      where);
}
/// The same without options.
template <std::size_t... I, class F>
auto grad(F f, const std::source_location& where = COTAN_HERE) {
  return grad<I...>(std::move(f), DerivativeOptions{}, where);
}

/// The same, where it is said that the function returns {scalar, aux}.
template <std::size_t... I, class F>
auto grad(F f, HasAux, DerivativeOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return grad<I...>(std::move(f), options, where);
}

}  // namespace cotan
