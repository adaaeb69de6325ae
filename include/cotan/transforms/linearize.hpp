// Derivatives at a point, forwards and backwards: jvp, vjp, linearize, linear_transpose.
#pragma once
#include <cotan/transforms/fwd_and_bwd.hpp>
#include <cotan/transforms/has_aux.hpp>
#include <cotan/tree.hpp>

namespace cotan {

/// {f(x), directional derivative}: jvp(f, std::tuple{x}, std::tuple{tx}). Tangents have the shapes of the arguments;
/// `jax.jvp`.
template <class F, class... A, class... B>
auto jvp(const F& f, const std::tuple<A...>& primals, const std::tuple<B...>& tangents,
         const std::source_location& where = COTAN_HERE) {
  const detail::CallSite site(where);
  static_assert(sizeof...(A) == sizeof...(B), "jvp: as many tangents as primals are needed");
  const std::tuple<detail::AsArray<A>...> x(primals);
  const std::tuple<detail::AsArray<B>...> t(tangents);
  if (tree::structure(x) != tree::structure(t))
    throw TreeError("[jvp] primals and tangents differ in structure: " + tree::outline(x) + " and " + tree::outline(t) +
                    "; they must be alike." + tree::difference(x, t) + detail::call_note());
  detail::Flattened flat(f, x);
  using R = typename decltype(flat)::Output;
  auto [y, ty] = flat::jvp(flat, tree::leaves(x), tree::leaves(t), detail::lazy_paths(x));
  R out = tree::unflatten(flat.output(), y);
  return std::pair<R, R>{std::move(out), flat.filled(ty)};
}
/// The same of a function that returns {value, aux}: std::tuple{value, its tangent, aux}.
template <class F, class... A, class... B>
auto jvp(const F& f, const std::tuple<A...>& primals, const std::tuple<B...>& tangents, HasAux,
         const std::source_location& where = COTAN_HERE) {
  auto [y, ty] = jvp(f, primals, tangents, where);
  static_assert(detail::check_aux<decltype(y)>());
  return std::tuple{std::get<0>(std::move(y)), std::get<0>(std::move(ty)), std::get<1>(y)};
}

namespace detail {

/// Raises where `given` has not the structure of `like`: the cotangent's or tangents' of a linear function.
template <class T, class Like>
void check_like(std::string_view what, const T& given, std::string_view whose, const Like& like) {
  if (tree::structure(given) != tree::structure(like))
    throw TreeError("[" + std::string(what) + " structure " + tree::outline(given) + " but the " + std::string(whose) +
                    " had " + tree::outline(like) + "; they must be alike." + tree::difference(given, like) +
                    call_note());
}

template <class F, class... A>
auto vjp_at(const CallLine& line, const F& f, const A&... a) {
  const CallSite site(line);
  const std::tuple<detail::AsArray<A>...> x(a...);
  Flattened flat(f, x);
  using R = typename decltype(flat)::Output;
  auto [y, pull] = flat::vjp(flat, tree::leaves(x), "vjp", detail::lazy_paths(x));
  R out = flat.filled(y);
  auto pullback = [back = std::move(pull), exemplar = tree::blank(x), output = tree::blank(out), made = line.where()](
                      const detail::AsArray<R>& ct, CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    check_like("vjp] the cotangent has", ct, "output", output);
    return tree::unflatten(exemplar, back.apply(tree::leaves(ct), detail::output_paths(ct)));
  };
  return std::pair<R, decltype(pullback)>{std::move(out), std::move(pullback)};
}

template <class F, class... A>
auto vjp_at(const CallLine& line, HasAux, const F& f, const A&... a) {
  const CallSite site(line);
  const std::tuple<detail::AsArray<A>...> x(a...);
  FlattenedWithAux flat(f, x);
  using Output = typename decltype(flat)::Value;
  flat::ForwardPass pass = flat::forward_pass(flat, tree::leaves(x), "vjp", detail::lazy_paths(x), flat.counter());
  Output out = flat.value(pass.outputs);
  auto aux = flat.aux(pass.outputs);
  auto pullback = [residuals = std::move(pass.residuals), backward = std::move(pass.backward),
                   exemplar = tree::blank(x), output = tree::blank(out),
                   made = line.where()](const detail::AsArray<Output>& ct, CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    check_like("vjp] the cotangent has", ct, "output", output);
    return tree::unflatten(exemplar, backward.apply(residuals, tree::leaves(ct), detail::output_paths(ct)));
  };
  return std::tuple{std::move(out), std::move(pullback), std::move(aux)};
}

template <class F, class... A>
auto linearize_at(const CallLine& line, const F& f, const A&... a) {
  const CallSite site(line);
  const std::tuple<detail::AsArray<A>...> x(a...);
  Flattened flat(f, x);
  using R = typename decltype(flat)::Output;
  auto [y, push] = flat::linearize(flat, tree::leaves(x), detail::lazy_paths(x));
  R out = tree::unflatten(flat.output(), y);
  auto pushforward = [linear = std::move(push), exemplar = tree::blank(std::move(flat.output())),
                      arguments = tree::blank(x), made = line.where()](const detail::AsArray<A>&... tangents,
                                                                       CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    const std::tuple<detail::AsArray<A>...> t(tangents...);
    check_like("linearize] the tangents have", t, "arguments", arguments);
    return tree::unflatten(exemplar, linear.apply(tree::leaves(t), detail::lazy_paths(t)));
  };
  return std::pair<R, decltype(pushforward)>{std::move(out), std::move(pushforward)};
}

template <class F, class... A>
auto linearize_at(const CallLine& line, HasAux, const F& f, const A&... a) {
  auto [y, push] = linearize_at(line, f, a...);
  static_assert(check_aux<decltype(y)>());
  auto pushforward = [all = std::move(push)](const detail::AsArray<A>&... tangents,
                                             CallLine call = CallLine(COTAN_HERE)) {
    return std::get<0>(all(tangents..., call));
  };
  return std::tuple{std::get<0>(std::move(y)), std::move(pushforward), std::get<1>(y)};
}

template <class F, class... A>
auto linear_transpose_at(const CallLine& line, const F& f, const A&... like) {
  return [f, x = std::tuple<detail::AsArray<A>...>(like...), made = line.where()](
             const auto& cotangent, CallLine call = CallLine(COTAN_HERE)) {
    const CallSite here(call, made);
    const detail::AsArray<std::remove_cvref_t<decltype(cotangent)>> ct(cotangent);
    Flattened flat(f, x);
    return tree::unflatten(x, flat::linear_transpose(flat, tree::leaves(x), tree::leaves(ct), detail::lazy_paths(x),
                                                     detail::output_paths(ct)));
  };
}

struct Vjp : LocatedCalls<Vjp> {
  template <class... A>
  static constexpr bool takes = sizeof...(A) > 0;
  template <class... A>
  static auto at_line(const CallLine& line, const A&... a) {
    return vjp_at(line, a...);
  }
};
struct Linearize : LocatedCalls<Linearize> {
  template <class... A>
  static constexpr bool takes = sizeof...(A) > 0;
  template <class... A>
  static auto at_line(const CallLine& line, const A&... a) {
    return linearize_at(line, a...);
  }
};
struct LinearTranspose : LocatedCalls<LinearTranspose> {
  template <class... A>
  static constexpr bool takes = sizeof...(A) > 0;
  template <class... A>
  static auto at_line(const CallLine& line, const A&... a) {
    return linear_transpose_at(line, a...);
  }
};

}  // namespace detail

/// `jax.vjp`: vjp(f, args…) is {f(args…), pullback}; pullback(cotangent of the output) gives a tuple of cotangents of
/// the arguments. vjp(has_aux, f, args…) of a function that returns {value, aux} is std::tuple{value, pullback, aux}.
inline constexpr detail::Vjp vjp{};
/// `jax.linearize`: linearize(f, args…) is {f(args…), pushforward}; pushforward(tangents…) is linear and reuses what f
/// computed. linearize(has_aux, f, args…) of a function that returns {value, aux} is std::tuple{value, pushforward,
/// aux}.
inline constexpr detail::Linearize linearize{};
/// `jax.linear_transpose`: linear_transpose(f, like…), the transpose of a linear function at arguments like those:
/// transpose(cotangent) gives a tuple of cotangents.
inline constexpr detail::LinearTranspose linear_transpose{};

}  // namespace cotan
