// Steps of a Program: which values are in memory, kernels for groups that are computed together, loops and branches.
#include <algorithm>

#include "compiler/flatten.hpp"
#include "compiler/fuse.hpp"
#include "compiler/in_place.hpp"
#include "compiler/kernels.hpp"
#include "compiler/memory.hpp"
#include "compiler/side_by_side.hpp"
#include "core/error.hpp"
#include "core/overloaded.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

class Compiler {
 public:
  Compiler(const Flat& flat, const Target& target, Program& program)
      : flat_(flat), target_(target), program_(program), definitions_(flat, target) {
    for (const AbstractValue& type : flat.types) program_.buffers.push_back({.type = type});
    for (const auto& [v, elements] : flat.padded) program_.buffers[static_cast<std::size_t>(v)].padded = elements;
    schedule_ = fuse(flat, definitions_, target, materialized_);
    for (std::size_t v = 0; v < flat.types.size(); ++v) {
      if (materialized_[v]) program_.buffers[v].storage = Storage::arena;
      if (definitions_.kind(static_cast<BufferId>(v)) == Kind::pointwise)
        definitions_.set_loaded(static_cast<BufferId>(v), materialized_[v]);
    }
    definitions_.forget();
    assign_inputs_and_outputs();
    for_each_item(flat.top, [&](const Item& item) {
      if (const auto* whole = item.control ? std::get_if<Concatenation>(item.control.get()) : nullptr)
        place_pieces(*whole, item.equation);
    });
  }
  void run() { add_steps(schedule_, program_.steps, 0); }

 private:
  Buffer& buffer(Var v) { return program_.buffers[static_cast<std::size_t>(v.id)]; }

  void assign_inputs_and_outputs() {
    for (std::size_t k = 0; k < flat_.inputs.size(); ++k) {
      Buffer& b = buffer(flat_.inputs[k]);
      b.storage = Storage::input;
      b.place = static_cast<std::int64_t>(k);
      program_.inputs.push_back(flat_.inputs[k].id);
      program_.input_bytes += b.bytes();
    }
    for (std::size_t k = 0; k < flat_.top.outputs.size(); ++k) {
      Output out{-1, {}, flat_.output_types[k]};
      if (const Var* v = std::get_if<Var>(&flat_.top.outputs[k])) {
        out.buffer = v->id;
        Buffer& b = buffer(*v);
        if (b.storage != Storage::input && b.storage != Storage::output) {
          b.storage = Storage::output;
          b.place = static_cast<std::int64_t>(k);
          program_.output_bytes += b.bytes();
        }
      } else {
        out.literal = std::get<Literal>(flat_.top.outputs[k]).value;
      }
      program_.outputs.push_back(std::move(out));
    }
  }

  void add_steps(Schedule& schedule, std::vector<Step>& steps, int scope) {
    for (Schedule::Node& node : schedule.nodes) {
      const std::size_t first = program_.buffers.size();
      if (node.group) {
        for (const Member& m : node.group->members) program_.buffers[static_cast<std::size_t>(m.value)].scope = scope;
        build_kernels(*node.group, definitions_, materialized_, target_, program_, steps);
      } else {
        const Item& item = *node.item;
        for (Var v : item.equation.outputs) buffer(v).scope = scope;
        if (auto kernel = update_kernel(item.equation, definitions_))
          steps.emplace_back(std::move(*kernel));
        else if (!item.control)
          add_routine(item.equation, std::move(node.operands), steps);
        else
          std::visit(Overloaded{[](const Concatenation&) {},  // its pieces are there already
                                [&](const Branching& choice) { add_choice(choice, item, node.blocks, steps, scope); },
                                [&](const auto& loop) { add_repeat(loop, item, node.blocks, steps, scope); }},
                     *item.control);
      }
      for (std::size_t k = first; k < program_.buffers.size(); ++k)
        if (program_.buffers[k].scope < 0) program_.buffers[k].scope = scope;
    }
  }

  static void add_routine(const Equation& e, std::vector<Operand> operands, std::vector<Step>& steps) {
    Routine routine{e.primitive, e.params, std::move(operands), {}};
    for (Var v : e.outputs) routine.results.push_back(v.id);
    steps.emplace_back(std::move(routine));
  }

  void make_part(Var v, BufferId whole, Expr start) {
    Buffer& b = buffer(v);
    b.storage = Storage::part;
    b.whole = whole;
    b.start = start;
  }

  void make_part(Var v, Var whole, Expr start) { make_part(v, whole.id, start); }
  void place_pieces(const Concatenation& whole, const Equation& e) {
    const Var result = e.outputs[0];
    const auto axis = static_cast<std::size_t>(e.params.integer("dimension"));
    const auto known = flat_.strides.find(result.id);
    const std::int64_t stride =
        (known != flat_.strides.end() ? known->second : ops::strides_of(flat_.type(result).shape))[axis];
    std::int64_t at = 0;
    for (std::size_t k = 0; k < whole.pieces.size(); ++k) {
      make_part(whole.pieces[k], result, expr::integer(at * stride));
      at += whole.extents[k];
    }
  }

  template <class Loop>
  void add_repeat(const Loop& loop, const Item& item, std::vector<Schedule>& blocks, std::vector<Step>& steps,
                  int scope) {
    auto repeat = std::make_unique<Repeat>();
    repeat->name = item.equation.primitive->name;
    repeat->index = definitions_.index_variable(loop.index);
    repeat->scope = ++scopes_;
    describe(loop, *repeat);
    for (std::size_t i = 0; i < loop.carries.size(); ++i)
      repeat->carries.push_back(carried(loop.carries[i], item.equation.outputs[i], *repeat, scope));
    place_results(loop, item, repeat->index);
    add_steps(blocks[0], repeat->steps, repeat->scope);
    if constexpr (std::is_same_v<Loop, WhileLoop>) {
      const Var holds = std::get<Var>(loop.condition.outputs[0]);
      repeat->holds = holds.id;
      buffer(holds).storage = Storage::local;
      add_steps(blocks[1], repeat->condition, repeat->scope);
    }
    program_.loops.push_back({repeat->scope, scope,
                              repeat->parallel ? (repeat->length + repeat->grain - 1) / repeat->grain : 1,
                              floor_div(repeat->index, repeat->grain)});
    steps.emplace_back(std::move(repeat));
  }

  static void describe(const ForLoop& loop, Repeat& repeat) {
    repeat.length = loop.length;
    repeat.unroll = loop.unroll;
    repeat.parallel = loop.parallel;
    repeat.grain = loop.grain;
  }
  static void describe(const WhileLoop&, Repeat&) {}
  static void describe(const LaneLoop& loop, Repeat& repeat) {
    repeat.length = loop.groups;
    repeat.parallel = true;
    repeat.grain = loop.grain;
  }

  /// Where the values of a carry are.
  Carried carried(const Carry& carry, Var result, const Repeat& repeat, int scope) {
    Carried out{carry.start.id, carry.in.id, carry.out.id, result.id};
    buffer(carry.in).scope = repeat.scope;
    if (carry.in_place) {
      out.in_place = true;
      for (Var v : {carry.start, carry.in, carry.out}) make_part(v, result, expr::integer(0));
      for (Var v : carry.aliases) make_part(v, result, expr::integer(0));
    } else if (buffer(carry.in).bytes() <= target_.small_bytes) {
      // Small carries are copied from step to step, which for most of them means: they stay in registers.
      buffer(carry.in).storage = buffer(carry.out).storage = Storage::local;
    } else {
      // A large carry has two places that take turns, so that the last value ends up where it is wanted.
      out.spare = static_cast<BufferId>(program_.buffers.size());
      program_.buffers.push_back({.type = buffer(carry.in).type, .storage = Storage::arena, .scope = scope});
      const bool at_result = repeat.length < 0 || repeat.length % 2 == 0;
      const BufferId first = at_result ? out.result : out.spare, second = at_result ? out.spare : out.result;
      make_part(carry.start, first, expr::integer(0));
      make_part(carry.in, first, expr::integer(0));
      make_part(carry.out, second, expr::integer(0));
    }
    return out;
  }

  /// The slices of ys are parts of the stacked results.
  void place_results(const ForLoop& loop, const Item& item, Expr step) {
    if (loop.reverse) step = expr::integer(loop.length - 1) - step;
    for (std::size_t i = 0; i < loop.slices.size(); ++i) {
      // A value that is the same in all lanes is stored once.
      const Var whole = item.equation.outputs[loop.carries.size() + i];
      const std::int64_t size = flat_.type(loop.slices[i]).size();
      make_part(loop.slices[i], whole,
                flat_.type(whole).size() == size ? expr::integer(0) : step * expr::integer(size));
    }
    for (const ForLoop::LaneSlice& s : loop.lane_slices) {  // rows of a result that has the lanes first
      const std::int64_t row = flat_.strides.at(loop.slices[s.slice].id)[0],
                         size = row / std::max<std::int64_t>(loop.length, 1);
      make_part(loop.slices[s.slice], s.whole, first_lane_ * expr::integer(row) + step * expr::integer(size));
    }
  }
  void place_results(const WhileLoop&, const Item&, Expr) {}
  /// What a group of lanes gives out is its rows of the results.
  void place_results(const LaneLoop& loop, const Item& item, Expr group) {
    first_lane_ = first_lane(group, loop.lanes, loop.width);
    for (std::size_t i = 0; i < item.equation.outputs.size(); ++i) {
      const Var out = std::get<Var>(loop.body.outputs[i]), whole = item.equation.outputs[i];
      const AbstractValue &part = flat_.type(out), &all = flat_.type(whole);
      if (part.size() == 0) continue;
      const bool per_lane = all.ndim() > 0 && all.shape.size() == part.shape.size() && all.shape[0] == loop.lanes &&
                            part.shape[0] == loop.width;
      make_part(out, whole, per_lane ? first_lane_ * expr::integer(part.size() / loop.width) : expr::integer(0));
    }
  }

  void add_choice(const Branching& branching, const Item& item, std::vector<Schedule>& blocks, std::vector<Step>& steps,
                  int scope) {
    auto choice = std::make_unique<Choice>();
    choice->name = item.equation.primitive->name;
    choice->index = std::get<Var>(branching.chosen).id;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const Block& block = branching.branches[b];
      for (std::size_t k = 0; k < block.outputs.size(); ++k)
        make_part(std::get<Var>(block.outputs[k]), item.equation.outputs[k], expr::integer(0));
      choice->branches.emplace_back();
      add_steps(blocks[b], choice->branches.back(), scope);
    }
    steps.emplace_back(std::move(choice));
  }

  const Flat& flat_;
  const Target& target_;
  Program& program_;
  Definitions definitions_;
  std::vector<bool> materialized_;
  Schedule schedule_;
  int scopes_ = 0;
  Expr first_lane_;  ///< of the group whose loop is being compiled
};

/// Whether a program is a few kernels on small arrays and nothing else. (Many kernels would take long to compile.)
bool is_small(const Flat& flat, const Program& program) {
  constexpr std::int64_t most_elements = 64;
  constexpr std::size_t most_steps = 16;
  return program.steps.size() <= most_steps &&
         std::all_of(flat.types.begin(), flat.types.end(),
                     [](const AbstractValue& t) { return t.size() <= most_elements; }) &&
         std::all_of(program.steps.begin(), program.steps.end(),
                     [](const Step& s) { return std::holds_alternative<Kernel>(s); });
}

}  // namespace

int Program::count(Storage storage) const {
  int n = 0;
  for (const Buffer& b : buffers) n += b.storage == storage;
  return n;
}

void build_steps(const Flat& flat, const Target& target, Program& program) {
  if (target.check_size)
    for (const AbstractValue& type : flat.types) target.check_size(type);
  Compiler(flat, target, program).run();
  if (target.joins_alike) put_side_by_side(program);
  program.small = is_small(flat, program);
  if (target.item_bytes)
    for (Buffer& b : program.buffers) b.item_bytes = target.item_bytes(b.type.dtype);
}

}  // namespace cotan::compiler
