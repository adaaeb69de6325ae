// Functions mapped over an axis of their arguments.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// An axis, `none`, or a list: one entry per argument, or inside it per leaf of that argument in order.
class MappedAxes {
 public:
  MappedAxes(int axis) : axis_(axis) {}
  MappedAxes(None) : axis_(flat::no_axis) {}
  MappedAxes(std::initializer_list<MappedAxes> list) : list_(list), is_list_(true) {}
  explicit MappedAxes(std::vector<MappedAxes> list) : list_(std::move(list)), is_list_(true) {}
  /// Axes of `counts[i]` leaves for each of several parts.
  std::vector<int> expand(const std::vector<std::size_t>& counts, std::string_view what) const;

 private:
  int axis_ = 0;
  std::vector<MappedAxes> list_;
  bool is_list_ = false;
};

/// Of vmap.
struct VmapOptions {
  MappedAxes in_axes = 0;   ///< of each argument, or `none`, which is not mapped over
  MappedAxes out_axes = 0;  ///< where the axis is in the results
};

/// f for every index along an axis of its arguments at once, as one function of arrays with that axis; `jax.vmap`.
/// Sizes that are mapped must agree, else ShapeError. {.in_axes = {0, none}} maps over the first argument alone; a list
/// inside names the leaves of an argument.
///
///     auto per_example = ct::vmap(ct::grad(loss), {.in_axes = {ct::none, 0, 0}})(model, xs, ys);
template <class F>
auto vmap(F f, VmapOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::transformed<detail::CallReason>(
      [f = std::move(f), options = std::move(options)]<class... A>(const A&... a)
        requires detail::CallableWith<F, A...>
      {
        const auto args = detail::call_arguments<F, A...>(a...);
        using R = std::remove_cvref_t<decltype(std::apply(f, args))>;
        std::vector<std::size_t> counts;
        std::apply([&](const auto&... each) { (counts.push_back(tree::leaves(each).size()), ...); }, args);
        const std::vector<int> in_axes = options.in_axes.expand(counts, "in_axes");
        std::optional<R> like;
        const Arrays out = flat::vmap(
            [&](std::span<const Array> in) {
              like = std::apply(f, tree::unflatten(args, in));
              return tree::leaves(*like);
            },
            tree::leaves(args), in_axes,
            [&](std::size_t) {
              std::vector<std::size_t> out_counts;
              if constexpr (tree::detail::is_tuple<R>)
                std::apply([&](const auto&... each) { (out_counts.push_back(tree::leaves(each).size()), ...); }, *like);
              else
                out_counts.push_back(tree::leaves(*like).size());
              return options.out_axes.expand(out_counts, "out_axes");
            },
            detail::lazy_paths(args));
        return tree::unflatten(std::move(*like), out);
      },
      where);
}

}  // namespace cotan
