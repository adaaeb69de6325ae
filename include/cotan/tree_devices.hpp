// Functions of devices on whole pytrees: device_put, block_until_ready, copy_to_host_async.
#pragma once
#include <cotan/device.hpp>
#include <cotan/tree_map.hpp>

namespace cotan {

namespace tree::detail {
/// What the functions on one Array do not take.
template <class T>
concept NoArray = !std::is_convertible_v<const T&, ArrayLike>;
}  // namespace tree::detail

/// Every leaf of a pytree on another device; leaves that are there already are taken as they are.
template <tree::detail::NoArray T>
T device_put(const T& tree, std::string_view device) {
  return tree::map([&](const Array& leaf) { return device_put(leaf, device); }, tree);
}
/// Waits until all leaves of a pytree have been computed, and returns it.
template <tree::detail::NoArray T>
T block_until_ready(const T& tree) {
  for (const Array& leaf : tree::leaves(tree)) block_until_ready(leaf);
  return tree;
}
/// Starts to copy all leaves of a pytree to the host and returns at once.
template <tree::detail::NoArray T>
void copy_to_host_async(const T& tree) {
  for (const Array& leaf : tree::leaves(tree)) copy_to_host_async(leaf);
}

}  // namespace cotan
