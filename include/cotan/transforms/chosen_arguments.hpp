// Derivatives with respect to some of the arguments: which these are, and calls with others in their places.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// Of derivatives where numbers are complex.
struct DerivativeOptions {
  /// Arguments and results are complex, and the derivative is that of a holomorphic function. Without it the result is
  /// real, and the gradient with respect to a complex argument x + iy is, as JAX's, ∂f/∂x - i ∂f/∂y.
  bool holomorphic = false;
};

namespace detail {

/// lazy_paths for a selection of the arguments, which sit at positions I.
template <std::size_t... I, class T>
flat::Paths lazy_paths_at(const T& chosen) {
  return [&chosen](std::size_t leaf) {
    std::vector<std::string> out;
    std::apply([&](const auto&... a) { (tree::detail::append_paths(out, "argument " + std::to_string(I), a), ...); },
               chosen);
    return out[leaf];
  };
}

/// The arguments at positions I, numbers there as Arrays.
template <std::size_t... I, class Tuple>
auto select_arguments(const Tuple& args) {
  return std::tuple<AsArray<std::tuple_element_t<I, Tuple>>...>(std::get<I>(args)...);
}
template <std::size_t... I, class Tuple, class Chosen, std::size_t... k>
auto replace_arguments(const Tuple& args, const Chosen& chosen, std::index_sequence<k...>) {
  const auto pick = [&]<std::size_t at>() -> decltype(auto) {
    constexpr std::array<std::size_t, sizeof...(I)> wanted{I...};
    constexpr std::size_t position = [&] {
      for (std::size_t p = 0; p < sizeof...(I); ++p)
        if (wanted[p] == at) return p;
      return sizeof...(I);
    }();
    if constexpr (position < sizeof...(I))
      return (std::get<position>(chosen));
    else
      return (std::get<at>(args));
  };
  return std::tuple<std::remove_cvref_t<decltype(pick.template operator()<k>())>...>(pick.template operator()<k>()...);
}
/// f as a function of the arguments at positions I alone; the others are those of `args`.
template <std::size_t... I, class F, class... A>
auto function_of_chosen(const F& f, const std::tuple<A...>& args) {
  return [&](const auto&... chosen) {
    return std::apply(f, replace_arguments<I...>(args, std::tie(chosen...), std::index_sequence_for<A...>()));
  };
}
template <std::size_t k, class At>
inline constexpr bool is_among = false;
template <std::size_t k, std::size_t... I>
inline constexpr bool is_among<k, std::index_sequence<I...>> = ((k == I) || ...);
/// CallableWith for derivatives with respect to the arguments at positions `At`, of which the numbers are
/// Arrays.
template <class F, class At, class... A>
inline constexpr bool differentiable_with = []<std::size_t... k>(std::index_sequence<k...>) {
  return std::is_invocable_v<const F&, std::conditional_t<is_among<k, At>, const AsArray<A>&, const A&>...>;
}(std::index_sequence_for<A...>());
template <std::size_t... I>
using PositionsOrFirst = std::conditional_t<sizeof...(I) == 0, std::index_sequence<0>, std::index_sequence<I...>>;

}  // namespace detail

}  // namespace cotan
