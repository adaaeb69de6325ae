// Functions looked at instead of run: their programs, how a device runs them, the shapes of their outputs.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// The program f is on arguments like these, which prints as JAX's: std::cout << ct::make_jaxpr(f)(x).
/// `jax.make_jaxpr`.
template <class F>
auto make_jaxpr(F f, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        detail::Flattened flat(f, args);
        return flat::make_jaxpr(flat, tree::leaves(args), "f", detail::lazy_paths(args));
      },
      where);
}

/// How the default device runs f on arguments like these: explain(f, x).text(). Of a jitted function, what is left to
/// do of the program that it traced, with its donation.
template <class F, class... A>
  requires detail::CallableWith<F, A...>
Explanation explain(const F& f, const A&... a) {
  std::vector<bool> donated;
  if constexpr (requires { f.donated_leaves(a...); })
    donated =
        std::apply([&](const auto&... x) { return f.donated_leaves(x...); }, detail::call_arguments<F, A...>(a...));
  return flat::explain(make_jaxpr([&f](const auto&... x) { return f(x...); })(a...), {}, donated);
}

/// Shapes and dtypes of f's outputs without computing them: Arrays that have no elements. `jax.eval_shape`:
/// ct::eval_shape(f)(ct::shape_dtype({8, 3})).shape().
template <class F>
auto eval_shape(F f, const std::source_location& where = COTAN_HERE) {
  return detail::like_function(
      std::move(f),
      [](auto& flat, const Arrays& leaves) {
        return flat::eval_shape(flat, leaves, detail::lazy_paths(flat.arguments()));
      },
      where);
}
/// An argument for eval_shape and make_jaxpr: a shape and a dtype. `jax.ShapeDtypeStruct`.
Array shape_dtype(const Shape& shape, DType dtype = f32, const std::source_location& where = COTAN_HERE);

}  // namespace cotan
