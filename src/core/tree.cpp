// What pytrees need of the library.
#include <algorithm>
#include <cotan/numpy.hpp>
#include <cotan/tree.hpp>

#include "core/error.hpp"

namespace cotan::tree::detail {

Array stack_leaves(std::vector<Array> leaves, int axis) { return numpy::stack(std::move(leaves), axis); }
std::vector<Array> unstack_leaf(const Array& leaf, int axis) { return numpy::unstack(leaf, axis); }

std::string join_elements(const std::vector<std::string>& elements) {
  constexpr std::ptrdiff_t many = 4;
  std::string out;
  for (auto at = elements.begin(); at != elements.end();) {
    const auto next = std::find_if(at, elements.end(), [&](const std::string& e) { return e != *at; });
    const auto alike = next - at;
    if (at != elements.begin()) out += ", ";
    if (alike >= many)
      out += fmt::format("{} times {}", alike, *at);
    else
      out += fmt::format("{}", fmt::join(at, next, ", "));
    at = next;
  }
  return out;
}

std::string shortened(std::string outline) {
  constexpr std::size_t longest = 300;
  if (outline.size() <= longest) return outline;
  std::size_t end = longest;
  while (end > 0 && outline[end] != ',') --end;
  return outline.substr(0, end == 0 ? longest : end) + ", …";
}

std::string first_difference(const std::vector<Place>& a, const std::vector<Place>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size()) return fmt::format(" The one has no {}.", b[i].path);
    if (i >= b.size()) return fmt::format(" The other has no {}.", a[i].path);
    if (a[i].path != b[i].path) return fmt::format(" The one has {} where the other has {}.", a[i].path, b[i].path);
    if (a[i].what == b[i].what) continue;
    if (a[i].path.empty()) return {};  // the whole: the outlines say it
    return fmt::format(" They differ at {}: {} and {}.", a[i].path, a[i].what, b[i].what);
  }
  return {};
}

}  // namespace cotan::tree::detail
