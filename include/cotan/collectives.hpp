// cotan::lax: operations across a mapped axis that has a name, vmap(f, {.axis_name = "i"}).
#pragma once
#include <cotan/transforms/transformed.hpp>
#include <cotan/tree.hpp>

namespace cotan::lax {

/// The name of a mapped axis, or several: psum(x, "i"), psum(x, {"i", "j"}).
class AxisNames {
 public:
  AxisNames(const char* name) : names_{name} {}
  AxisNames(std::string name) : names_{std::move(name)} {}
  AxisNames(std::initializer_list<std::string> names) : names_(names) {}
  explicit AxisNames(std::vector<std::string> names) : names_(std::move(names)) {}
  /// All of them.
  const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
};
/// Lists of indices that belong together. Only devices have those: under vmap they raise, as in JAX.
using AxisIndexGroups = std::vector<std::vector<std::int64_t>>;

/// Of collectives that have no other options.
struct CollectiveOptions {
  AxisIndexGroups axis_index_groups = {};  ///< raises where it is not empty
};
/// Of all_gather.
struct AllGatherOptions {
  AxisIndexGroups axis_index_groups = {};  ///< raises where it is not empty
  int axis = 0;                            ///< where the new axis is in the result
  bool tiled = false;                      ///< side by side along that axis of x, without a new one
};
/// Of psum_scatter.
struct PsumScatterOptions {
  int scatter_dimension = 0;               ///< the axis of x that is distributed
  AxisIndexGroups axis_index_groups = {};  ///< raises where it is not empty
  bool tiled = false;                      ///< in parts along that axis, which stays
};
/// Of all_to_all.
struct AllToAllOptions {
  AxisIndexGroups axis_index_groups = {};  ///< raises where it is not empty
  bool tiled = false;                      ///< in parts of split_axis, side by side along concat_axis
};

/// @name Collectives
/// Inside of vmap(f, {.axis_name = "i"}), also under jit and in loops there: what the elements of the batch have
/// together. A name that is not bound raises ValueError, and says which are. Derivatives are JAX's: the cotangent of a
/// sum goes to all who added to it, from all who read it.
/// @{
/// How many elements the axis has; of several the product. `jax.lax.axis_size`.
std::int64_t axis_size(const AxisNames& axis_name, const std::source_location& where = COTAN_HERE);
/// Which element this is, i32 from 0; of several axes in row-major order. `jax.lax.axis_index`.
Array axis_index(const AxisNames& axis_name, const std::source_location& where = COTAN_HERE);
/// The sum over the axis, for every element; of bool a count. `jax.lax.psum`.
///
///     ct::vmap([](ct::Array x) { return x / lax::psum(x, "i"); }, {.axis_name = "i"})(xs);
Array psum(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options = {});
/// The mean over the axis. `jax.lax.pmean`.
Array pmean(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options = {});
/// The largest over the axis. It has a derivative, which JAX's has not: equal shares to all that are the largest.
Array pmax(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options = {});
/// The smallest over the axis, likewise.
Array pmin(const ArrayLike& x, const AxisNames& axis_name, const CollectiveOptions& options = {});
/// What all elements have, along a new axis, for every element. `jax.lax.all_gather`; several names give one axis.
Array all_gather(const ArrayLike& x, const AxisNames& axis_name, const AllGatherOptions& options = {});
/// The sum over the axis, of which element k gets slice k of an axis of x, which is as long. `jax.lax.psum_scatter`.
Array psum_scatter(const ArrayLike& x, const AxisNames& axis_name, const PsumScatterOptions& options = {});
/// Slice k of split_axis, which is as long as the mapped axis, goes to element k, which has those it gets along a new
/// axis at concat_axis. `jax.lax.all_to_all`.
Array all_to_all(const ArrayLike& x, const std::string& axis_name, int split_axis, int concat_axis,
                 const AllToAllOptions& options = {});
/// The mapped axis exchanged with `axis` of x, which is as long. `jax.lax.pswapaxes`.
Array pswapaxes(const ArrayLike& x, const std::string& axis_name, int axis, const CollectiveOptions& options = {});
/// x of the element that sends to this one, by pairs {source, target}; zeros where nobody sends. `jax.lax.ppermute`.
Array ppermute(const ArrayLike& x, const std::string& axis_name,
               const std::vector<std::pair<std::int64_t, std::int64_t>>& perm);
/// x of element perm[k] for element k. `jax.lax.pshuffle`.
Array pshuffle(const ArrayLike& x, const std::string& axis_name, const std::vector<std::int64_t>& perm);
/// x of the element `source`, for every element. `jax.lax.pbroadcast`.
Array pbroadcast(const ArrayLike& x, const std::string& axis_name, std::int64_t source);
/// @}

namespace detail {
/// A pytree that is no Array and no number.
template <class T>
concept TreeOfArrays = tree::Tree<T> && !std::is_same_v<T, Array> && !std::is_arithmetic_v<T>;
/// f of every leaf.
template <class T, class F>
T on_leaves(const T& x, const F& f) {
  return tree::map([&](const Array& a) { return f(ArrayLike(a, {})); }, x, cotan::detail::CallLine({}));
}
}  // namespace detail

/// The same of every leaf of a tree.
template <detail::TreeOfArrays T>
T psum(const T& x, const AxisNames& axis_name, const CollectiveOptions& options = {}) {
  return detail::on_leaves(x, [&](const ArrayLike& a) { return psum(a, axis_name, options); });
}
/// The same of every leaf of a tree.
template <detail::TreeOfArrays T>
T pmean(const T& x, const AxisNames& axis_name, const CollectiveOptions& options = {}) {
  return detail::on_leaves(x, [&](const ArrayLike& a) { return pmean(a, axis_name, options); });
}
/// The same of every leaf of a tree.
template <detail::TreeOfArrays T>
T pmax(const T& x, const AxisNames& axis_name, const CollectiveOptions& options = {}) {
  return detail::on_leaves(x, [&](const ArrayLike& a) { return pmax(a, axis_name, options); });
}
/// The same of every leaf of a tree.
template <detail::TreeOfArrays T>
T pmin(const T& x, const AxisNames& axis_name, const CollectiveOptions& options = {}) {
  return detail::on_leaves(x, [&](const ArrayLike& a) { return pmin(a, axis_name, options); });
}
/// The same of every leaf of a tree.
template <detail::TreeOfArrays T>
T all_gather(const T& x, const AxisNames& axis_name, const AllGatherOptions& options = {}) {
  return detail::on_leaves(x, [&](const ArrayLike& a) { return all_gather(a, axis_name, options); });
}
/// The same of every leaf of a tree.
template <detail::TreeOfArrays T>
T pbroadcast(const T& x, const std::string& axis_name, std::int64_t source) {
  return detail::on_leaves(x, [&](const ArrayLike& a) { return pbroadcast(a, axis_name, source); });
}

}  // namespace cotan::lax
