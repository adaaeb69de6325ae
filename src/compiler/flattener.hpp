// Inside flatten: what is known while equations are put into blocks.
#pragma once
#include "compiler/flatten.hpp"
#include "control/control.hpp"
#include "core/def_use.hpp"

namespace cotan::compiler {

class Flattener {
 public:
  explicit Flattener(const Target& target);
  Flat run(const Jaxpr& jaxpr);

 private:
  /// What the variables of a program are here.
  using Map = std::vector<Atom>;
  static Atom& at(Map& map, Var v) { return map[static_cast<std::size_t>(v.id)]; }

  Var new_var(const AbstractValue& type, bool varies = false);
  Var new_index() { return new_var({DType::i64, {}, false}); }
  /// Whether it differs between lanes.
  bool varies(const Atom& a) const;
  Mask vary(const std::vector<Atom>& atoms) const;
  static Atom read(const Atom& a, const Map& map);
  static std::vector<Atom> read_all(const std::vector<Atom>& atoms, const Map& map);
  bool is_given_out(Var v) const;
  /// A value of its own, equal to `a`, computed in `block`.
  Var copy(const Atom& a, const AbstractValue& type, bool in_lanes, Block& block);
  /// What a block outputs: computed in it, and output once. Its memory is the place where the result is wanted.
  Var own_output(const Atom& a, const AbstractValue& type, bool in_lanes, Block& block);
  static void add(Equation e, Control control, Block& block);

  void add_equations(const Jaxpr& jaxpr, Map& map, Block& block);
  /// Calls that place their results themselves. Gives whether the equation is one.
  bool add_special(const Equation& e, Equation& copy, const Jaxpr& jaxpr, Map& map, Block& block);
  void add_control(Equation e, Block& block);
  void inline_branch(const Equation& e, std::int64_t chosen, const std::vector<Atom>& inputs, Map& map, Block& block);
  void add_scan(Equation e, Block& block);
  void add_while(Equation e, Block& block);
  void add_cond(Equation e, Block& block);
  /// The slice of `x` for a step of a loop.
  Var slice_of(const Atom& x, const AbstractValue& type, const ForLoop& loop, Block& body);

  // Concatenations whose parts are written where they belong (flatten_concatenation.cpp).

  /// What an output of the program is another shape of, if nobody else wants it in that one.
  static Atom shaped(Atom output, const DefUse& values);
  Ints extents_along_axis(const Equation& e) const;
  /// The stacked results of loops among the parts.
  bool add_pieces(Equation& e, Block& block);
  /// The results of a butterfly that nobody else reads: it computes all of them at once.
  bool add_transforms(Equation& copy, const Equation& e, const DefUse& values, Block& block);
  /// Columns of a result of the program, as the parts of complex numbers are: each is computed element by element.
  bool add_columns(Equation& copy, const Equation& e, const Jaxpr& jaxpr, const DefUse& values, Block& block);
  /// The value that has a column's elements, in their order, and can be put there; `source` is the column in the
  /// program that is flattened.
  Var column_of(Atom column, Atom source, const DefUse& values, Block& block);
  static bool is_put_together(const Atom& a, const Block& block);
  /// What `a` is another shape of, in the same order.
  static Atom before_reshaping(Atom a, const Block& block);
  /// Whether it is the ys of a loop in the block, or the results of lanes, and can still be placed elsewhere.
  bool is_stacked(const Atom& a, const Block& block) const;

  // Lanes (flatten_lanes.cpp).

  void add_results(Equation& e, const Equation& source, const Jaxpr& jaxpr, Map& outer);
  /// A loop over groups of lanes. Inside, what differs between lanes has them as a last axis.
  void add_lanes(Equation e, const Equation& source, const Jaxpr& jaxpr, Map& outer, Block& block);
  /// The value of input `x` in a group of lanes.
  Var lane_of(const Atom& x, const AbstractValue& type, const LaneLoop& loop, Block& body);
  /// What the group gives out of an output of the lanes' program: rows of `whole`, if it is mapped.
  Var lane_output(std::size_t k, bool mapped, const Jaxpr& program, const Map& map, Var whole, Block& body);
  /// A loop over lanes one by one.
  void add_lanes_apart(Equation e, const Equation& source, const Jaxpr& jaxpr, Map& outer, Block& block);
  /// The lanes of a value as its first axis.
  Var front(const Atom& value, const AbstractValue& type, Block& block);
  /// If a value is the ys of a loop and nothing else reads it, its slices are written right into the lanes' rows of
  /// `whole`.
  bool write_slices_to(Var whole, const Atom& value, const Jaxpr& program, std::size_t output, Block& block);

  const Target& target_;
  const std::int64_t pieces_;  ///< of a loop that runs in parallel, at most
  std::int64_t width_ = 0;     ///< lanes side by side, inside a loop over them
  Flat out_;
  std::vector<std::int32_t> given_out_;
};

}  // namespace cotan::compiler
