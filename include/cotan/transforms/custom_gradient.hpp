// Functions that come with what the backward pass calls: custom_gradient, linear_call; and functions freed from what
// they close over: closure_convert.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

namespace flat {
/// Runs a traced program: its constants, then arguments of the types that it was traced with.
Arrays run_program(const Program& program, std::span<const Array> consts, std::span<const Array> args,
                   std::string_view who, const Paths& paths);
/// f: residuals, linear operands -> outputs; transpose: residuals, cotangents of the outputs -> those of the linear
/// ones.
Arrays linear_call(const FlatFn& f, const FlatFn& transpose, std::span<const Array> residuals,
                   std::span<const Array> linear);
}  // namespace flat

namespace detail {

template <class R, class F, class Args>
R custom_gradient_call(const F& f, const Args& args, const std::string& name) {
  struct Forward {
    std::optional<R> output;
    std::optional<Program> backward;  ///< of what the pullback closed over, and the cotangent
  };
  const auto last = std::make_shared<Forward>();
  const auto number = [](std::size_t i) { return "output leaf " + std::to_string(i); };
  const Arrays out = flat::custom_vjp(
      [&](std::span<const Array> in) {
        const auto result = std::apply(f, tree::unflatten(args, in));
        last->output = tree::blank(result.first);
        return tree::leaves(result.first);
      },
      [f, last, number, exemplar = tree::blank(args)](std::span<const Array> in) {
        const auto result = std::apply(f, tree::unflatten(exemplar, in));
        last->output = tree::blank(result.first);
        const Arrays outputs = tree::leaves(result.first);
        last->backward = flat::make_jaxpr(
            [&](std::span<const Array> ct) { return tree::leaves(result.second(tree::unflatten(*last->output, ct))); },
            outputs, "custom_gradient", number);
        return std::pair<Arrays, Arrays>{outputs, last->backward->consts()};
      },
      [last, number](std::span<const Array> in) {
        const std::size_t kept = last->backward->consts().size();
        return flat::run_program(*last->backward, in.subspan(0, kept), in.subspan(kept), "custom_gradient", number);
      },
      tree::leaves(args), name);
  return tree::unflatten(*last->output, out);
}

}  // namespace detail

/// A function whose value and gradient rule f gives together: f(args…) returns std::pair{output, pullback}, and
/// pullback(cotangent) the cotangents of the arguments, a tuple or, of one argument, by itself. What the pullback
/// closes over is kept for the backward pass. `jax.custom_gradient`.
///
///     const auto f = ct::custom_gradient([](ct::Array x) {
///       return std::pair{np::square(x), [x](ct::Array g) { return g * x; }};
///     });
template <class F>
auto custom_gradient(F f, std::string name = "custom_gradient", const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), name = std::move(name)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args).first)>;
        return detail::custom_gradient_call<R>(f, args, name);
      },
      where);
}

/// f without what it closes over: {converted, values}, where converted(args…, values) is f(args…) for arguments of the
/// same shapes and dtypes as these, and `values` the Arrays that f used beside its arguments, in the order of use.
/// Rules of custom_vjp and its kin see those so. `jax.closure_convert`.
///
///     const auto [g, values] = ct::closure_convert([&](ct::Array x) { return np::matmul(w, x); }, x);
///     g(x, values);
template <class F, class... A>
auto closure_convert(const F& f, const A&... a) {
  const auto args = detail::call_arguments<F, A...>(a...);
  detail::Flattened flat(f, args);
  Program program = flat::make_jaxpr(flat, tree::leaves(args), "closure_convert", detail::lazy_paths(args));
  std::vector<Array> values = program.consts();
  auto converted = [program = std::move(program), like = tree::blank(flat.output()), exemplar = tree::blank(args)](
                       const detail::AsArray<detail::Plain<A>>&... in, const std::vector<Array>& consts) {
    const std::tuple<detail::AsArray<detail::Plain<A>>...> given(in...);
    return tree::unflatten(
        like, flat::run_program(program, consts, tree::leaves(given), "closure_convert", detail::lazy_paths(given)));
  };
  return std::pair{std::move(converted), std::move(values)};
}

namespace custom_derivatives {

/// f(residuals, x), which is linear in x, with its transpose by hand: transpose(residuals, cotangent of the output)
/// gives the cotangent of x. Derivatives with respect to the residuals raise. `jax.custom_derivatives.linear_call`.
///
///     custom_derivatives::linear_call([](ct::Array s, ct::Array x) { return x / s; },
///                                     [](ct::Array s, ct::Array g) { return g / s; }, scale, x);
template <class F, class T, class R, class X>
auto linear_call(const F& f, const T& transpose, const R& residuals, const X& x,
                 const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const cotan::detail::AsArray<R> kept(residuals);
  const cotan::detail::AsArray<X> linear(x);
  using Y = std::remove_cvref_t<decltype(f(kept, linear))>;
  std::optional<Y> like;
  const Arrays r = tree::leaves(kept);
  const Arrays out = flat::linear_call(
      [&](std::span<const Array> in) {
        like = f(tree::unflatten(kept, in.subspan(0, r.size())), tree::unflatten(linear, in.subspan(r.size())));
        return tree::leaves(*like);
      },
      [&](std::span<const Array> in) {
        return tree::leaves(
            transpose(tree::unflatten(kept, in.subspan(0, r.size())), tree::unflatten(*like, in.subspan(r.size()))));
      },
      r, tree::leaves(linear));
  return tree::unflatten(*like, out);
}

}  // namespace custom_derivatives
}  // namespace cotan
