// cotan::flatten_util: the Arrays of a pytree as one vector.
#pragma once
#include <cotan/control_flow.hpp>
#include <cotan/tree.hpp>
#include <utility>
#include <vector>

/// `jax.flatten_util`.
///
///     auto [vector, unravel] = ct::flatten_util::ravel_pytree(model);
///     Model next = unravel(vector - 0.1 * step);
namespace cotan::flatten_util {

namespace detail {

/// What leaves a vector is made of.
struct Layout {
  std::vector<AbstractValue> leaves;
  DType dtype = f32;   ///< of the vector: theirs, promoted
  bool mixed = false;  ///< they have different ones
};
Layout layout_of(const std::vector<Array>& leaves);
Array raveled(const std::vector<Array>& leaves, const Layout& layout);
std::vector<Array> unraveled(const Array& vector, const Layout& layout);

}  // namespace detail

/// What turns vectors into trees like T again. Leaves get their dtypes back if they differ, and else have that of the
/// vector.
template <class T>
class Unravel {
 public:
  Unravel(T like, detail::Layout layout) : like_(std::move(like)), layout_(std::move(layout)) {}
  /// The tree; the vector is as long as the tree has elements, and where the leaves' dtypes differ of the promoted one.
  T operator()(const ArrayLike& vector) const { return tree::unflatten(like_, detail::unraveled(vector, layout_)); }

 private:
  T like_;
  detail::Layout layout_;
};

/// All elements of a tree's Arrays, one after the other, in their promoted dtype, and a function that makes a tree of
/// such a vector. A tree without Arrays gives f32[0].
template <class T>
auto ravel_pytree(const T& pytree, const std::source_location& where = COTAN_HERE) {
  const cotan::detail::CallSite site(where);
  const auto tree = lax::detail::traced(pytree);
  using Tree = std::remove_cvref_t<decltype(tree)>;
  tree::check<Tree>();
  const std::vector<Array> leaves = tree::leaves(tree);
  const detail::Layout layout = detail::layout_of(leaves);
  return std::pair<Array, Unravel<Tree>>{detail::raveled(leaves, layout), Unravel<Tree>(tree::blank(tree), layout)};
}

}  // namespace cotan::flatten_util
