// Inside fuse: what is known while the values of a block are put into groups.
#pragma once
#include <unordered_map>

#include "compiler/fuse.hpp"

namespace cotan::compiler {

/// Fuses one block. Values of the blocks around it are in memory, or inlined.
class Fuser {
 public:
  Fuser(const Block& block, bool in_loop, Definitions& definitions, const Target& target,
        std::vector<bool>& materialized);

  Schedule run();
  /// Values of blocks around this one that it reads.
  const std::vector<BufferId>& outer_reads() const { return outer_reads_; }

 private:
  void in_memory(const Atom& a) {
    if (const Var* v = std::get_if<Var>(&a)) in_memory(v->id);
  }
  void in_memory(BufferId v);
  void add_control(const Item& item);
  /// The value that an item overwrites.
  std::optional<BufferId> written_over(const Item& item) const;
  /// What later items need and compute from the value that item `i` overwrites is computed before it.
  void keep_before(std::size_t i, BufferId overwritten);
  /// Gives operands of operations in place memory of their own.
  Operand dense_operand(const Atom& a);
  void add_routine(const Item& item);
  void add_node(Schedule::Node node, const Equation& e);

  /// The memory that holds the operand, with its strides where the routine can take those.
  Operand routine_operand(const Equation& e, const Atom& a);

  /// A view whose elements lie in one buffer at an affine offset.
  std::optional<Operand> as_strides(BufferId v);

  /// In memory whatever happens: an output, or what a routine reads or writes.
  void require(BufferId v);

  void keep_in_memory(BufferId v);

  /// A value that other groups read is computed again there, if that costs little and reads no more memory than loading
  /// it: then it need not be stored.
  void recompute_if_cheaper(BufferId v);
  /// Whether a product in the group reads `v` on its left. Vectors lie along the right operand's columns, so that it
  /// would compute `v` element by element.
  bool is_left_of_product(BufferId v, int node);
  /// What `v` would be read from, and the operations it would take.
  void expand_to_memory(BufferId v, std::vector<BufferId>& leaves, int& cost);

  struct Fit {
    bool row;
    int level;
  };

  Shape domain_of(BufferId v) const {
    return definitions_.kind(v) == Kind::reduction ? definitions_.reduction(v).shape : definitions_.type(v).shape;
  }

  void place(BufferId v);
  /// Where the chosen group is an operand that is computed by itself, and that nobody else has read yet: both go to the
  /// group that computes the last of the others, if they can. (What a label is compared with, before it is added to a
  /// softmax.) The group to take.
  int join_alone(BufferId v, int chosen);
  struct Moved {
    Member member;
    int from;
  };
  /// Moves `u`, and before it what it is computed from, where nobody but `reader` reads it.
  bool move_alone(BufferId u, int home, int reader, std::vector<Moved>& moved);
  void add_member(BufferId v, int node, const Fit& fit);

  int new_group(BufferId v);

  std::vector<bool> squeezed_mask(BufferId v) const;

  /// An arbitrary index of its elements.
  const std::vector<Expr>& index_of(BufferId v);
  /// Groups that compute an operand, the latest first; then groups that read the same memory, the earliest first.
  std::vector<int> candidates(BufferId v);
  /// Of a loop, and held in registers.
  bool is_small(BufferId v) const;
  std::vector<int> groups_among(const std::vector<int>& nodes) const;

  /// Whether `v` can be computed in the group of `node`, and where in it.
  std::optional<Fit> fits(BufferId v, int node);
  std::optional<Fit> fits_at(BufferId v, int node, bool row);
  void note_reads(BufferId v, const Group& g, bool row, int node);

  const Equation* indexed_ = nullptr;
  std::vector<Expr> index_;  ///< of the results of `indexed_`
  const Block& block_;
  const bool in_loop_;
  Definitions& definitions_;
  const Target& target_;
  std::vector<bool>& materialized_;
  Schedule out_;
  std::vector<int> node_of_;  ///< by value: where it is computed; -1 for those from outside
  std::vector<bool> here_, placed_, required_;
  std::vector<BufferId> outer_reads_;
  std::unordered_map<BufferId, std::vector<int>> readers_;        ///< nodes that load a value
  std::unordered_map<BufferId, std::vector<BufferId>> operands_;  ///< what a value loads
  std::unordered_map<BufferId, int> chains_;                      ///< operations on the way to a value in its group
};

}  // namespace cotan::compiler
