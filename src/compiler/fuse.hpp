// Fusion: which values are computed together. Groups share one domain: a full shape, some axes of which may be
// reduced. A value of the group is computed per element of the full domain, or per row (the kept axes).
#pragma once
#include "compiler/definitions.hpp"

namespace cotan::compiler {

struct Member {
  BufferId value;
  bool row;   ///< lives on the kept axes
  int level;  ///< passes over the reduced axes that must have ended before it is known
};

struct Group {
  std::vector<std::int64_t> extents;  ///< without axes of size 1
  std::vector<bool> reduced;
  std::vector<Expr> variables;
  std::vector<Member> members;
  bool has_reduction = false;

  const Member* find(BufferId v) const;
  /// The index of an array of `shape` on the full domain, or on the rows. The shape must fit.
  std::vector<Expr> index(const Shape& shape, bool row) const;
  std::vector<std::int64_t> kept_extents() const;
  std::int64_t row_size() const;  ///< elements reduced per row
};

/// Groups, routines, loops and choices of a block, in an order in which they can run.
struct Schedule {
  struct Node {
    std::unique_ptr<Group> group;
    const Item* item = nullptr;     ///< a routine, or control
    std::vector<Operand> operands;  ///< of a routine
    std::vector<Schedule> blocks;   ///< of control
  };
  std::vector<Node> nodes;
};

/// `materialized`, by value: has memory of its own.
Schedule fuse(const Flat& program, Definitions& definitions, const Target& target, std::vector<bool>& materialized);

}  // namespace cotan::compiler
