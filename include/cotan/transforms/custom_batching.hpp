// vmap by hand: custom_vmap, sequential_vmap; `jax.custom_batching`.
#pragma once
#include <cotan/control_flow.hpp>

namespace cotan {

namespace flat {
/// The size of the batch, per argument whether it has the batch as axis 0, the arguments -> results, and per result
/// whether it has the batch as axis 0.
using VmapRule = std::function<std::pair<Arrays, std::vector<bool>>(std::int64_t size, const std::vector<bool>& batched,
                                                                    std::span<const Array>)>;
/// f, which vmap replaces by the rule.
Arrays custom_vmap(const FlatFn& f, VmapRule rule, std::span<const Array> args, std::string_view name);
}  // namespace flat

namespace custom_batching {

namespace detail {

inline std::vector<bool> per_leaf(bool all, std::size_t leaves) { return std::vector<bool>(leaves, all); }
inline std::vector<bool> per_leaf(std::vector<bool> each, std::size_t leaves) {
  if (each.size() != leaves)
    throw TreeError("[custom_vmap] the rule says of " + std::to_string(each.size()) +
                    " results whether they are batched, and gives " + std::to_string(leaves) +
                    "; say it once for all, or per leaf." + cotan::detail::call_note());
  return each;
}

/// f with a rule that is made from the arguments' exemplar and the place for the output's.
template <class F, class MakeRule>
auto with_vmap_rule(F f, MakeRule make_rule, std::string name, const std::source_location& where) {
  return cotan::detail::transformed<cotan::detail::CallReason>(
      [f = std::move(f), make_rule = std::move(make_rule), name = std::move(name)]<class... A>(const A&... a)
        requires cotan::detail::CallableWith<F, A...>
      {
        const auto args = cotan::detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        auto like = std::make_shared<std::optional<R>>();
        const Arrays out = flat::custom_vmap(
            [&](std::span<const Array> in) {
              const R y = std::apply(f, tree::unflatten(args, in));
              *like = tree::blank(y);
              return tree::leaves(y);
            },
            make_rule(f, tree::blank(args), like), tree::leaves(args), name);
        return tree::unflatten(**like, out);
      },
      where);
}

}  // namespace detail

/// f, for which vmap calls rule(axis_size, in_batched, args…) instead: arguments where `in_batched`, a
/// std::vector<bool> with an entry per leaf of all of them, have the batch as axis 0. The rule returns
/// std::pair{output, batched}: whether the output's leaves have the batch as axis 0, as one bool or a
/// std::vector<bool>. Forward mode differentiates f, and the rule; reverse mode differentiates f, and vmap of that
/// batches what f is made of. `jax.custom_batching.custom_vmap` with def_vmap.
///
///     const auto f = ct::custom_batching::custom_vmap(
///         [](ct::Array x) { return np::sin(x); },
///         [](std::int64_t, std::vector<bool>, ct::Array xs) { return std::pair{np::sin(xs), true}; });
template <class F, class Rule>
auto custom_vmap(F f, Rule rule, std::string name = "custom_vmap", const std::source_location& where = COTAN_HERE) {
  const auto make_rule = [rule = std::move(rule)](const F&, auto exemplar, auto like) -> flat::VmapRule {
    return [rule, exemplar = std::move(exemplar), like](std::int64_t size, const std::vector<bool>& batched,
                                                        std::span<const Array> in) {
      const auto args = tree::unflatten(exemplar, in);
      const auto [out, of_out] = std::apply([&](const auto&... each) { return rule(size, batched, each...); }, args);
      if (tree::structure(out) != tree::structure(**like))
        throw TreeError("[custom_vmap] the rule returned " + tree::outline(out) + " but the function " +
                        tree::outline(**like) + "; they must be alike." + cotan::detail::call_note());
      Arrays leaves = tree::leaves(out);
      std::vector<bool> flags = detail::per_leaf(of_out, leaves.size());
      return std::pair{std::move(leaves), std::move(flags)};
    };
  };
  return detail::with_vmap_rule(std::move(f), make_rule, std::move(name), where);
}

/// What custom_vmap(f) without a rule gives; def_vmap makes a function of it.
template <class F>
class CustomVmap {
 public:
  CustomVmap(F f, std::string name) : f_(std::move(f)), name_(std::move(name)) {}
  /// The function with that rule.
  template <class Rule>
  auto def_vmap(Rule rule, const std::source_location& where = COTAN_HERE) const {
    return custom_vmap(f_, std::move(rule), name_, where);
  }

 private:
  F f_;
  std::string name_;
};
/// The same in JAX's two steps: custom_vmap(f).def_vmap(rule).
template <class F>
CustomVmap<F> custom_vmap(F f, std::string name = "custom_vmap") {
  return {std::move(f), std::move(name)};
}

/// f, for which vmap is a loop that calls it once per element of the batch. `jax.custom_batching.sequential_vmap`.
template <class F>
auto sequential_vmap(F f, std::string name = "sequential_vmap", const std::source_location& where = COTAN_HERE) {
  const auto make_rule = [](const F& function, auto exemplar, auto) -> flat::VmapRule {
    return [function, exemplar = std::move(exemplar)](std::int64_t, const std::vector<bool>& batched,
                                                      std::span<const Array> in) {
      Arrays mapped;
      for (std::size_t i = 0; i < in.size(); ++i)
        if (batched[i]) mapped.push_back(in[i]);
      Arrays out = flat::map(
          [&](std::span<const Array> slices) {
            Arrays all(in.begin(), in.end());
            for (std::size_t i = 0, k = 0; i < all.size(); ++i)
              if (batched[i]) all[i] = slices[k++];
            return tree::leaves(std::apply(function, tree::unflatten(exemplar, all)));
          },
          mapped, std::nullopt, [](std::size_t i) { return "argument leaf " + std::to_string(i); });
      std::vector<bool> flags(out.size(), true);
      return std::pair{std::move(out), std::move(flags)};
    };
  };
  return detail::with_vmap_rule(std::move(f), make_rule, std::move(name), where);
}

}  // namespace custom_batching
}  // namespace cotan
