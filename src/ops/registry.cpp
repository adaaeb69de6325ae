// The list of all primitives.
#include <algorithm>

#include "ops/ops.hpp"
#include "ops/window.hpp"

namespace cotan::ops {

namespace {

// Made by the first file that has something for it: files begin in any order.
std::vector<const Primitive*>& list() {
  static std::vector<const Primitive*> all;
  return all;
}

}  // namespace

Listed::Listed(std::initializer_list<const Primitive*> primitives) {
  list().insert(list().end(), primitives.begin(), primitives.end());
}

std::vector<const Primitive*> all_primitives() {
  std::vector<const Primitive*> all = list();
  std::sort(all.begin(), all.end(), [](const Primitive* a, const Primitive* b) { return a->name < b->name; });
  return all;
}

}  // namespace cotan::ops
