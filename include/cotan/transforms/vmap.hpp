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
  MappedAxes in_axes = 0;                      ///< of each argument, or `none`, which is not mapped over
  MappedAxes out_axes = 0;                     ///< where the axis is in the results
  std::string axis_name = {};                  ///< by which lax::psum and its kin call the axis (collectives.hpp)
  std::optional<std::int64_t> axis_size = {};  ///< needed where no argument is mapped; else it must agree
};

namespace flat {
/// The mapped axis itself.
struct AxisOptions {
  std::string name = {};                  ///< for collectives; empty: none
  std::optional<std::int64_t> size = {};  ///< that of the arguments' axes, where it is not given
};
/// vmap over an axis with a name or a size of its own.
Arrays vmap(const FlatFn& f, std::span<const Array> args, std::span<const int> in_axes,
            const std::function<std::vector<int>(std::size_t outputs)>& out_axes, const Paths& paths,
            const AxisOptions& axis);
}  // namespace flat

namespace detail {

/// How many leaves each part of a tuple has, or a tree that is none.
template <class T>
std::vector<std::size_t> leaf_counts(const T& t) {
  if constexpr (tree::detail::is_tuple<T>)
    return std::apply([](const auto&... part) { return std::vector<std::size_t>{tree::leaves(part).size()...}; }, t);
  else
    return {tree::leaves(t).size()};
}

}  // namespace detail

/// f for every index along an axis of its arguments at once, as one function of arrays with that axis; `jax.vmap`.
/// Sizes that are mapped must agree, else ShapeError. {.in_axes = {0, none}} maps over the first argument alone; a list
/// inside names the leaves of an argument. {.axis_name = "i"} names the axis for lax::psum and its kin.
///
///     auto per_example = ct::vmap(ct::grad(loss), {.in_axes = {ct::none, 0, 0}})(model, xs, ys);
template <class F>
auto vmap(F f, VmapOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::like_function(
      std::move(f),
      [options = std::move(options)](auto& flat, const Arrays& leaves) {
        return flat::vmap(
            flat, leaves, options.in_axes.expand(detail::leaf_counts(flat.arguments()), "in_axes"),
            [&](std::size_t) { return options.out_axes.expand(detail::leaf_counts(flat.output()), "out_axes"); },
            detail::lazy_paths(flat.arguments()), {options.axis_name, options.axis_size});
      },
      where);
}

}  // namespace cotan
