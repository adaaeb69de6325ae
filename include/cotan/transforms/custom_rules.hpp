// Derivatives by hand: stop_gradient, custom_jvp, custom_vjp.
#pragma once
#include <cotan/transforms/transformed.hpp>
#include <cotan/tree.hpp>

namespace cotan {

/// The value itself, a constant to differentiation: `jax.lax.stop_gradient`.
Array stop_gradient(const ArrayLike& x);
/// The same of a tree.
template <tree::Tree T>
  requires(!std::is_same_v<T, Array> && !std::is_arithmetic_v<T>)
T stop_gradient(const T& t) {
  return tree::map([](const Array& a) { return stop_gradient({a, {}}); }, t, detail::CallLine({}));
}

namespace detail {

template <class T>
auto static_part(const T& arg) {
  if constexpr (tree::detail::is_static<T>)
    return std::tuple<T>(arg);
  else
    return std::tuple<>();
}
inline void append(Arrays& to, const Arrays& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace detail

/// f with a forward-mode rule. rule(primals, tangents), both tuples of the arguments, returns
/// std::pair{output, output tangent}. Numbers and strings among the arguments are static. `jax.custom_jvp`.
///
///     const auto f = ct::custom_jvp([](ct::Array x) { return np::abs(x); }, [](auto x, auto t) {
///       return std::pair{np::abs(std::get<0>(x)), np::sign(std::get<0>(x)) * std::get<0>(t)};
///     });
template <class F, class Rule>
auto custom_jvp(F f, Rule rule, std::string name = "custom_jvp", const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), rule = std::move(rule), name = std::move(name)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        // Where the call is differentiated at once only the rule runs, else only f: either leaves the exemplar.
        auto like = std::make_shared<std::optional<R>>();
        const Arrays out = flat::custom_jvp(
            [&](std::span<const Array> in) {
              const R y = std::apply(f, tree::unflatten(args, in));
              *like = tree::blank(y);
              return tree::leaves(y);
            },
            [rule, like, exemplar = tree::blank(args)](std::span<const Array> in) {
              const std::size_t n = in.size() / 2;
              const std::pair<R, R> result =
                  rule(tree::unflatten(exemplar, in.subspan(0, n)), tree::unflatten(exemplar, in.subspan(n)));
              if (tree::structure(result.first) != tree::structure(result.second))
                throw TreeError("[custom_jvp] the rule's output " + tree::outline(result.first) + " and tangent " +
                                tree::outline(result.second) + " differ in structure; they must be alike." +
                                tree::difference(result.first, result.second) + detail::call_note());
              *like = tree::blank(result.first);
              Arrays flat_out = tree::leaves(result.first);
              detail::append(flat_out, tree::leaves(result.second));
              return flat_out;
            },
            tree::leaves(args), name);
        return tree::unflatten(**like, out);
      },
      where);
}

namespace detail {

/// What a forward rule gives for arguments in a tuple, or void where it does not take them.
template <class Forward, class Args>
struct ForwardResult;
template <class Forward, class... A>
struct ForwardResult<Forward, std::tuple<A...>> {
  static constexpr bool callable = std::is_invocable_v<const Forward&, const A&...>;
  using Type =
      std::remove_cvref_t<typename std::conditional_t<callable, std::invoke_result<const Forward&, const A&...>,
                                                      std::type_identity<void>>::type>;
};
/// Stops the compiler, with the reason, where a forward rule does not fit. Returns whether it does.
template <class Forward, class Args>
constexpr bool check_forward() {
  using Result = ForwardResult<Forward, Args>;
  static_assert(Result::callable, "custom_vjp: forward must take the arguments of the function");
  constexpr bool fits = requires(typename Result::Type& pair) {
    pair.first;
    pair.second;
  };
  static_assert(!Result::callable || fits, "custom_vjp: forward must return std::pair{output, residuals}");
  return fits;
}

template <class R, class F, class Forward, class Backward, class Args>
R custom_vjp_call(const F& f, const Forward& forward, const Backward& backward, const std::string& name,
                  const Args& args) {
  using Residuals = std::remove_cvref_t<decltype(std::declval<typename ForwardResult<Forward, Args>::Type&>().second)>;
  const auto statics =
      std::apply([](const auto&... each) { return std::tuple_cat(detail::static_part(each)...); }, args);
  struct Exemplars {
    std::optional<R> output;
    std::optional<Residuals> residuals;
  };
  auto like = std::make_shared<Exemplars>();
  const Arrays out = flat::custom_vjp(
      [&](std::span<const Array> in) {
        const R y = std::apply(f, tree::unflatten(args, in));
        like->output = tree::blank(y);
        return tree::leaves(y);
      },
      [forward, like, exemplar = tree::blank(args)](std::span<const Array> in) {
        const auto result = std::apply(forward, tree::unflatten(exemplar, in));
        like->output = tree::blank(result.first);
        like->residuals = tree::blank(result.second);
        return std::pair<Arrays, Arrays>{tree::leaves(result.first), tree::leaves(result.second)};
      },
      [backward, like, statics](std::span<const Array> in) {
        const std::size_t n = tree::leaves(*like->residuals).size();
        const Residuals residuals = tree::unflatten(*like->residuals, in.subspan(0, n));
        const R ct = tree::unflatten(*like->output, in.subspan(n));
        (void)statics;
        if constexpr (std::is_invocable_v<const Backward&, const Residuals&, const R&>)
          return tree::leaves(backward(residuals, ct));
        else
          return tree::leaves(std::apply([&](const auto&... s) { return backward(s..., residuals, ct); }, statics));
      },
      tree::leaves(args), name);
  return tree::unflatten(*like->output, out);
}

}  // namespace detail

/// f with a reverse-mode rule. forward(args…) returns std::pair{output, residuals}; backward(residuals,
/// cotangent) returns the cotangents of the arguments, as a tuple or, for one argument, by itself; an empty
/// Array among them is zero. Numbers and strings among the arguments are static; backward may take them
/// first: backward(static…, residuals, cotangent). `jax.custom_vjp`.
///
///     const auto clipped = ct::custom_vjp([](ct::Array x) { return x; },
///                                         [](ct::Array x) { return std::pair{x, ct::none}; },
///                                         [](ct::None, ct::Array g) { return np::clip(g, -1.0, 1.0); });
template <class F, class Forward, class Backward>
auto custom_vjp(F f, Forward forward, Backward backward, std::string name = "custom_vjp",
                const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), forward = std::move(forward), backward = std::move(backward),
       name = std::move(name)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        if constexpr (!detail::check_forward<Forward, std::remove_const_t<decltype(args)>>())
          return std::apply(f, args);  // of the right type, so that nothing else is said
        else
          return detail::custom_vjp_call<R>(f, forward, backward, name, args);
      },
      where);
}

}  // namespace cotan
