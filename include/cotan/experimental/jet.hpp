// Higher derivatives along a curve: `jax.experimental.jet`.
#pragma once
#include <cotan/transforms/transformed.hpp>
#include <cotan/tree.hpp>

namespace cotan {

namespace flat {
/// Outputs, and of each order the derivatives of the outputs; `series` has those of the arguments by order.
std::pair<Arrays, std::vector<Arrays>> jet(const FlatFn& f, std::span<const Array> primals,
                                           const std::vector<Arrays>& series, bool factorial_scaled,
                                           const Paths& paths);
}  // namespace flat

namespace experimental {

/// Of jet.
struct JetOptions {
  bool factorial_scaled = true;  ///< series are derivatives; else Taylor coefficients, derivatives over k!
};

namespace detail {
template <class... A>
std::vector<Arrays> series_by_order(const std::tuple<std::vector<A>...>& series) {
  std::size_t orders = 0;
  std::vector<Arrays> out;
  std::apply([&](const auto&... list) { ((orders = std::max(orders, list.size())), ...); }, series);
  for (std::size_t k = 0; k < orders; ++k) {
    Arrays& leaves = out.emplace_back();
    std::apply(
        [&](const auto&... list) {
          const auto add = [&](const auto& terms) {
            if (terms.size() != orders)
              throw ValueError("[jet] series have " + std::to_string(orders) + " and " + std::to_string(terms.size()) +
                               " terms; give as many for every argument." + cotan::detail::call_note());
            const Arrays more = tree::leaves(terms[k]);
            leaves.insert(leaves.end(), more.begin(), more.end());
          };
          (add(list), ...);
        },
        series);
  }
  return out;
}
}  // namespace detail

/// {f(x), its derivatives along a curve up to the order of the series}: jet(f, std::tuple{x},
/// std::tuple{std::vector{x1, x2}}) for the curve with derivatives x1, x2 at x. The second of the pair has an output of
/// f per order. `jax.experimental.jet.jet`. Made of forward mode in forward mode, so that it goes through everything
/// that has a derivative, loops too; work doubles with each order, where JAX's own rules let it grow with its square.
template <class F, class... A, class... B>
auto jet(const F& f, const std::tuple<A...>& primals, const std::tuple<std::vector<B>...>& series,
         JetOptions options = {}, const std::source_location& where = COTAN_HERE) {
  static_assert(sizeof...(A) == sizeof...(B), "jet: as many series as primals are needed");
  const cotan::detail::CallSite site(where);
  const std::tuple<cotan::detail::AsArray<A>...> x(primals);
  cotan::detail::Flattened flat(f, x);
  using R = typename decltype(flat)::Output;
  const auto [y, terms] = flat::jet(flat, tree::leaves(x), detail::series_by_order(series), options.factorial_scaled,
                                    cotan::detail::lazy_paths(x));
  R out = tree::unflatten(flat.output(), y);
  std::vector<R> derivatives;
  for (const Arrays& term : terms) derivatives.push_back(tree::unflatten(flat.output(), term));
  return std::pair<R, std::vector<R>>{std::move(out), std::move(derivatives)};
}

}  // namespace experimental
}  // namespace cotan
