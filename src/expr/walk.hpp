// Walks that are at each node of expressions once.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "expr/expr.hpp"

namespace cotan::expr {

/// The nodes of one graph that a walk has been at. Nodes are marked by their ids in memory that walks of a thread pass
/// on to each other, since compilers walk the same expressions over and over; walks inside walks have memory of their
/// own.
class Visited {
 public:
  Visited();
  ~Visited();
  Visited(const Visited&) = delete;
  Visited& operator=(const Visited&) = delete;
  /// Whether the walk is there for the first time.
  bool insert(Expr e) {
    std::vector<std::uint32_t>& walks = marks_->last_walk;
    if (e->id >= walks.size()) walks.resize(2 * std::size_t{e->id} + 64);
    if (walks[e->id] == marks_->walk) return false;
    walks[e->id] = marks_->walk;
    return true;
  }
  bool contains(Expr e) const { return e->id < marks_->last_walk.size() && marks_->last_walk[e->id] == marks_->walk; }

  struct Marks {
    std::uint32_t walk = 0;                ///< the number of the one that goes on
    std::vector<std::uint32_t> last_walk;  ///< by id: which was there last
  };

 private:
  std::unique_ptr<Marks> marks_;
};

/// f(node) for everything that the expressions on the stack are computed of, themselves included.
template <class F>
void for_each_node(std::vector<Expr> stack, F&& f) {
  Visited seen;
  while (!stack.empty()) {
    const Expr at = stack.back();
    stack.pop_back();
    if (!seen.insert(at)) continue;
    f(at);
    stack.insert(stack.end(), at->operands.begin(), at->operands.end());
  }
}

}  // namespace cotan::expr
