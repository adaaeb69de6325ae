// Flat: a program and those nested in it, with one numbering of all values. The inside of a loop reads outside values
// by their own numbers; only what changes from step to step has a number inside.
#pragma once
#include <memory>
#include <unordered_map>
#include <variant>

#include "compiler/program.hpp"

namespace cotan::compiler {

struct ForLoop;
struct WhileLoop;
struct LaneLoop;
struct Branching;
struct Concatenation;
/// What is not one equation of one kernel or routine.
using Control = std::variant<ForLoop, WhileLoop, LaneLoop, Branching, Concatenation>;

/// An equation; `control` where it is a loop or a choice, or where its result is put together.
struct Item {
  Equation equation;
  std::unique_ptr<Control> control;
};
struct Block {
  std::vector<Item> items;
  std::vector<Atom> outputs;  ///< values that must be in memory at its end
};

/// A value that a loop hands from step to step: `start` is a copy of the first one. The results of the equation are
/// those after the last step …
struct Carry {
  Var start, in, out;
  /// The next value is written over the last one; values of the body that lie there as well.
  bool in_place = false;
  std::vector<Var> aliases = {};
};
/// What all loops are.
struct FlatLoop {
  Var index{};  ///< the number of the step, an i64
  std::vector<Carry> carries = {};
  Block body = {};
};
/// A scan, or lanes one by one: as many steps as are known.
struct ForLoop : FlatLoop {
  std::int64_t length = 0, unroll = 1;
  bool reverse = false;
  /// … then the ys, stacked; the slices are values of the body.
  std::vector<Var> slices = {};
  /// Slices that are written right into the result of the lanes around the loop, a row per lane.
  struct LaneSlice {
    std::size_t slice;
    Var whole;
  };
  std::vector<LaneSlice> lane_slices = {};
  bool parallel = false;   ///< its steps are independent of each other
  std::int64_t grain = 1;  ///< and run in pieces of so many
};
struct WhileLoop : FlatLoop {
  Block condition = {};  ///< before each step
};
/// Lanes side by side: a loop over groups of `width` out of `lanes`, which may run in parallel, `grain` groups at a
/// time.
struct LaneLoop : FlatLoop {
  std::int64_t lanes = 0, width = 0, groups = 0, grain = 1;
};
struct Branching {
  Atom chosen;  ///< the number of the branch
  std::vector<Block> branches = {};
};
/// A result that is put together from values that lie one after the other in it, along its axis.
struct Concatenation {
  std::vector<Var> pieces = {};
  Ints extents = {};  ///< of the pieces along the axis
};

/// The loop that it is, or nullptr.
const FlatLoop* loop_of(const Control& control);
/// The blocks inside, in the order in which they run.
std::vector<const Block*> blocks_of(const Control& control);

struct Flat {
  Types types;
  /// Per value: the number of lanes that lie side by side in a last axis, which its type has but its equation does not.
  std::vector<std::int64_t> lanes;
  std::unordered_map<std::int32_t, Ints> strides;               ///< of values that do not lie densely in memory
  std::unordered_map<std::int32_t, std::int64_t> padded;        ///< elements that some of those take
  std::unordered_map<std::int32_t, std::int32_t> written_over;  ///< values that are put where another one lies
  std::vector<Var> inputs;
  Block top;
  Types output_types;  ///< of the outputs of `top`, which may have another shape
  const AbstractValue& type(Var v) const { return types[static_cast<std::size_t>(v.id)]; }
  const AbstractValue& type(const Atom& a) const {
    if (const Var* v = std::get_if<Var>(&a)) return type(*v);
    return std::get<Literal>(a).value.aval();
  }
};
Flat flatten(const Jaxpr& jaxpr, const Target& target);
/// Computed matrices with long rows, which products read and nothing asks for as a whole, get rows of whole vectors.
void pad_rows(Flat& flat);
/// Buffers and steps for all values: what is computed together (fuse.cpp) becomes kernels (kernels.cpp).
void build_steps(const Flat& flat, const Target& target, Program& program);
/// The first lane of a group. The last group begins early enough to be a whole one.
inline Expr first_lane(Expr group, std::int64_t lanes, std::int64_t width) {
  return min(group * expr::integer(width), expr::integer(lanes - width));
}

/// f(item) for every equation, nested ones after the loop that holds them.
template <class F>
void for_each_item(const Block& block, F&& f) {
  for (const Item& item : block.items) {
    f(item);
    if (item.control)
      for (const Block* nested : blocks_of(*item.control)) for_each_item(*nested, f);
  }
}

}  // namespace cotan::compiler
