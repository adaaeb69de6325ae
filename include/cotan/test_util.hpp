// Derivatives of functions of yours beside finite differences: `jax.test_util`.
#pragma once
#include <cotan/transforms/transformed.hpp>
#include <cotan/tree.hpp>

namespace cotan {

namespace test_util {
/// Of check_grads and its kin. Without tolerances 1e-5 for f64 and c128, 2e-3 for f32, 1e-3 for c64, 1e-2 for f16 and
/// 1e-1 for bf16, relative and absolute.
struct CheckOptions {
  std::vector<std::string> modes = {"fwd", "rev"};  ///< of check_grads: which derivatives
  std::optional<double> atol = {}, rtol = {};
  std::optional<double> eps = {};  ///< step of the finite differences; without it 1e-4, 5e-3 of f32 and 0.1 of halves
};
}  // namespace test_util

namespace flat {
/// Primals and tangents -> outputs and their tangents.
using JvpOfLists = std::function<std::pair<Arrays, Arrays>(std::span<const Array>, std::span<const Array>)>;
/// Primals -> outputs and the pullback.
using VjpOfLists = std::function<std::pair<Arrays, FlatFunction>(std::span<const Array>)>;
/// Raises ValueError where the tangents are not those of f.
void check_jvp(const FlatFunction& f, const JvpOfLists& jvp, std::span<const Array> args,
               const test_util::CheckOptions& options, const std::string& what, const Paths& paths);
/// Raises ValueError where the cotangents are not those of f.
void check_vjp(const FlatFunction& f, const VjpOfLists& vjp, std::span<const Array> args,
               const test_util::CheckOptions& options, const std::string& what, const Paths& paths);
/// Both, up to an order.
void check_grads(const FlatFunction& f, std::span<const Array> args, int order, const test_util::CheckOptions& options,
                 const Paths& paths);
}  // namespace flat

namespace test_util {

namespace detail {
template <class... A>
using ArgumentsOf = std::tuple<cotan::detail::AsArray<A>...>;
template <class F, class Args>
FlatFunction on_lists(const F& f, const Args& args) {
  return [&f, &args](std::span<const Array> in) { return tree::leaves(std::apply(f, tree::unflatten(args, in))); };
}
}  // namespace detail

/// Derivatives of f at the arguments, forwards ("fwd") and backwards ("rev"), beside finite differences in a random
/// direction; up to `order`. Raises ValueError, which says which argument's derivative is wrong and how far off.
/// `jax.test_util.check_grads`.
///
///     ct::test_util::check_grads(loss, std::tuple{w, x}, 2, {.modes = {"rev"}});
template <class F, class... A>
void check_grads(const F& f, const std::tuple<A...>& args, int order, const CheckOptions& options = {},
                 const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const detail::ArgumentsOf<A...> x(args);
  flat::check_grads(detail::on_lists(f, x), tree::leaves(x), order, options, cotan::detail::lazy_paths(x));
}

/// f_jvp(primals, tangents), tuples both, which gives {output, tangent}, beside finite differences of f.
/// `jax.test_util.check_jvp`.
template <class F, class Jvp, class... A>
void check_jvp(const F& f, const Jvp& f_jvp, const std::tuple<A...>& args, const CheckOptions& options = {},
               const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const detail::ArgumentsOf<A...> x(args);
  const flat::JvpOfLists jvp = [&](std::span<const Array> primals, std::span<const Array> tangents) {
    const auto [y, ty] = f_jvp(tree::unflatten(x, primals), tree::unflatten(x, tangents));
    return std::pair<Arrays, Arrays>{tree::leaves(y), tree::leaves(ty)};
  };
  flat::check_jvp(detail::on_lists(f, x), jvp, tree::leaves(x), options, "JVP", cotan::detail::lazy_paths(x));
}

/// f_vjp(args…), which gives {output, pullback} as ct::vjp does, beside finite differences of f.
/// `jax.test_util.check_vjp`.
template <class F, class Vjp, class... A>
void check_vjp(const F& f, const Vjp& f_vjp, const std::tuple<A...>& args, const CheckOptions& options = {},
               const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const detail::ArgumentsOf<A...> x(args);
  const flat::VjpOfLists vjp = [&](std::span<const Array> primals) {
    auto result = std::apply(f_vjp, tree::unflatten(x, primals));
    FlatFunction pull = [pullback = result.second, like = tree::blank(result.first)](std::span<const Array> ct) {
      return tree::leaves(pullback(tree::unflatten(like, ct)));
    };
    return std::pair<Arrays, FlatFunction>{tree::leaves(result.first), std::move(pull)};
  };
  flat::check_vjp(detail::on_lists(f, x), vjp, tree::leaves(x), options, "VJP", cotan::detail::lazy_paths(x));
}

}  // namespace test_util
}  // namespace cotan
