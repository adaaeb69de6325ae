// What pytrees need of the library.
#include <cotan/numpy.hpp>
#include <cotan/tree.hpp>

namespace cotan::tree::detail {

Array stack_leaves(std::vector<Array> leaves, int axis) { return numpy::stack(std::move(leaves), axis); }
std::vector<Array> unstack_leaf(const Array& leaf, int axis) { return numpy::unstack(leaf, axis); }

}  // namespace cotan::tree::detail
