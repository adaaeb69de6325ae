// Definitions: each value of a program as a function from indices to an expression. Inlining one value into
// another is calling its definition with other indices.
#pragma once
#include <memory>

#include "compiler/flatten.hpp"

namespace cotan::compiler {

enum class Kind : std::uint8_t {
  input,
  inlined,    ///< a view, or cheaper to compute again than to store and load
  pointwise,  ///< an expression per element
  reduction,
  routine,
};

class Definitions {
 public:
  Definitions(const Flat& program, const Target& target);

  const Flat& program() const { return program_; }
  Kind kind(BufferId v) const { return kinds_[v]; }
  const Equation* equation(BufferId v) const { return equations_[v]; }
  const AbstractValue& type(BufferId v) const { return program_.types[v]; }
  const AbstractValue& type(const Atom& a) const { return program_.type(a); }
  /// Where the element at `index` lies in the value's memory.
  Expr offset(BufferId v, std::span<const Expr> index) const;
  /// The loop variable that the number of a step is.
  Expr index_variable(Var v) const { return indices_.at(v.id); }
  /// Reductions only.
  const expr::Reduction& reduction(BufferId v) const { return *reductions_[v]; }
  /// How many operations an element costs, without those of values that it loads.
  int cost(BufferId v) const { return costs_[v]; }

  /// Values that other definitions load from memory. By default: all but inlined ones.
  void set_loaded(BufferId v, bool loaded) { loaded_[v] = loaded; }
  bool loaded(BufferId v) const { return loaded_[v]; }
  /// The element at `index` as other definitions see it: a load, or the expression.
  Expr read(BufferId v, std::span<const Expr> index, Expr predicate = {});
  Expr read(const Atom& a, std::span<const Expr> index, Expr predicate = {});
  /// The expression that defines it; of a reduction the term, at an index of the whole domain.
  Expr expand(BufferId v, std::span<const Expr> index, Expr predicate = {});
  void forget();  ///< drops cached expansions: needed after set_loaded

 private:
  class EquationOperands;
  void classify_all(const Block& block, const Target& target, bool in_loop);
  void classify(const Equation& e, const Target& target, bool in_loop);
  /// The type as the equations know it: without the axis of lanes.
  const AbstractValue& plain_type(const Atom& a) const;
  bool in_lanes(const Atom& a) const {
    const Var* v = std::get_if<Var>(&a);
    return v && program_.lanes[static_cast<std::size_t>(v->id)] > 0;
  }
  const Flat& program_;
  std::unordered_map<BufferId, AbstractValue> plain_types_;  ///< of values with lanes
  std::unordered_map<BufferId, Expr> indices_;
  std::vector<Kind> kinds_;
  std::vector<const Equation*> equations_;
  std::vector<std::size_t> result_numbers_;
  std::vector<std::unique_ptr<expr::Reduction>> reductions_;
  std::vector<int> costs_, inlined_costs_;
  std::vector<bool> loaded_;
  struct Key {
    BufferId v;
    std::vector<const expr::Node*> index;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const;
  };
  std::unordered_map<Key, Expr, KeyHash> expanded_;
};

/// The buffers that `e` loads from.
void collect_loads(Expr e, std::vector<Expr>& loads);
/// Operations in an expression, by weight: an addition counts 1.
int cost_of(Expr e);
/// The same, counting only what differs along the variable.
int cost_along(Expr variable, Expr e);

}  // namespace cotan::compiler
