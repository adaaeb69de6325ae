// Flat: a program and those nested in it, in one numbering of values. What is inside a loop reads what is
// outside by its own number; only what changes from step to step has a number inside.
#pragma once
#include "compiler/program.hpp"

namespace cotan::compiler {

struct Control;
/// An equation; `control` where it is a loop or a choice.
struct Item {
  Equation equation;
  std::unique_ptr<Control> control;
};
struct Block {
  std::vector<Item> items;
  std::vector<Atom> outputs;  ///< values that must be in memory at its end
};

struct Control {
  Var index{};  ///< the number of the step, an i64; loops only
  std::int64_t length = -1, unroll = 1;
  /// Carries: `start` is a copy of the first value. The results of the equation are those after the last step …
  struct Carry {
    Var start, in, out;
  };
  std::vector<Carry> carries;
  /// … then the ys, stacked: slices, which are values of the body.
  std::vector<Var> slices;
  bool reverse = false;
  std::vector<Block> blocks;  ///< the body; or the body and the condition; or branches
  Atom chosen{};              ///< the number of the branch
  /// Neither: a result that is put together from values that lie one after the other in it.
  std::vector<Var> pieces;
};

struct Flat {
  Types types;
  std::vector<Var> inputs;
  Block top;
  const AbstractValue& type(Var v) const { return types[static_cast<std::size_t>(v.id)]; }
  const AbstractValue& type(const Atom& a) const {
    if (const Var* v = std::get_if<Var>(&a)) return type(*v);
    return std::get<Literal>(a).value.aval();
  }
};
Flat flatten(const Jaxpr& jaxpr);

/// f(item) for every equation, nested ones after the loop that holds them.
template <class F>
void for_each_item(const Block& block, F&& f) {
  for (const Item& item : block.items) {
    f(item);
    if (item.control)
      for (const Block& nested : item.control->blocks) for_each_item(nested, f);
  }
}

// Operations that only compilers see.
/// The slice of operand 0 for a step of a loop, whose number is operand 1.
extern const Primitive step_slice_p;
extern const Primitive copy_p;

}  // namespace cotan::compiler
