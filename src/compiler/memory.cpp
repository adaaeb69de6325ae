#include "compiler/memory.hpp"

#include <algorithm>

#include "compiler/definitions.hpp"
#include "compiler/in_place.hpp"
#include "core/error.hpp"

namespace cotan::compiler {

namespace {

void add_unique(std::vector<BufferId>& list, BufferId b) {
  if (std::find(list.begin(), list.end(), b) == list.end()) list.push_back(b);
}

std::vector<Expr> loads_of(const Kernel& kernel) {
  std::vector<Expr> loads;
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) collect_loads(r.value, loads);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) {
        collect_loads(s.value, loads);
        collect_loads(s.offset, loads);
      }
  }
  return loads;
}

std::int64_t rounded(const Buffer& b) { return stride_of(b) * b.copies; }

}  // namespace

std::vector<BufferId> reads_of(const Step& step) {
  std::vector<BufferId> out;
  visit_step(step, Overloaded{[&](const Repeat& loop) {
                                for (const Carried& c : loop.carries) add_unique(out, c.start);
                              },
                              [&](const Choice& choice) { out = {choice.index}; },
                              [&](const Routine& routine) {
                                for (const Operand& o : routine.operands)
                                  if (o.buffer >= 0) add_unique(out, o.buffer);
                              },
                              [&](const Kernel& kernel) {
                                for (Expr l : loads_of(kernel)) add_unique(out, static_cast<BufferId>(l->bits));
                              }});
  return out;
}

std::vector<BufferId> writes_of(const Step& step) {
  std::vector<BufferId> out;
  visit_step(step, Overloaded{[&](const Repeat& loop) {
                                for (const Carried& c : loop.carries) {
                                  add_unique(out, c.result);
                                  if (c.spare >= 0) add_unique(out, c.spare);
                                }
                              },
                              [](const Choice&) {}, [&](const Routine& routine) { out = routine.results; },
                              [&](const Kernel& kernel) {
                                for (const Pass& pass : kernel.passes)
                                  for (const auto* stores : {&pass.stores, &pass.rows})
                                    for (const Store& s : *stores) add_unique(out, s.buffer);
                              }});
  return out;
}

namespace {
template <class F>
std::vector<BufferId> with_nested(const Program& program, const Step& step, F&& of) {
  std::vector<BufferId> out;
  const auto add = [&](const Step& s) {
    for (BufferId b : of(s)) add_unique(out, program.root(b));
  };
  add(step);
  for_each_list(step, [&](const std::vector<Step>& inside) { for_each_step(inside, add); });
  return out;
}
}  // namespace

std::vector<BufferId> all_reads_of(const Program& program, const Step& step) {
  return with_nested(program, step, reads_of);
}
std::vector<BufferId> all_writes_of(const Program& program, const Step& step) {
  return with_nested(program, step, writes_of);
}

bool can_overwrite(const Program& program, const Step& step, BufferId operand, BufferId result) {
  const Buffer &from = program.buffers[operand], &to = program.buffers[result];
  if (from.bytes() != to.bytes() || from.copies != to.copies || itemsize(from.type.dtype) != itemsize(to.type.dtype))
    return false;
  if (const auto* routine = std::get_if<Routine>(&step)) {
    // The routine starts by copying its operand; in place there is nothing to copy.
    const auto reads = [&](const Operand& o) {
      return o.buffer >= 0 && program.root(o.buffer) == program.root(operand);
    };
    return routine->primitive->window && reads(routine->operands[0]) &&
           std::none_of(routine->operands.begin() + 1, routine->operands.end(), reads);
  }
  const auto* kernel = std::get_if<Kernel>(&step);
  if (!kernel) return false;
  // The one store of the result, in the last pass: of every element, or of every row once its sums are known.
  const Store* store = nullptr;
  bool of_rows = false;
  for (const Pass& pass : kernel->passes)
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores)
        if (s.buffer == result) {
          if (store || &pass != &kernel->passes.back()) return false;
          store = &s;
          of_rows = stores == &pass.rows;
        }
  if (!store) return false;
  // Reads at the same place and time, and those that other iterations may make.
  std::vector<Expr> beside, others;
  for (const Pass& pass : kernel->passes) {
    const bool last = &pass == &kernel->passes.back();
    std::vector<Expr>&in_loop = of_rows ? others : beside, &in_rows = of_rows && last ? beside : others;
    for (const Reduce& r : pass.reductions) collect_loads(r.value, in_loop);
    for (const Store& s : pass.stores) {
      collect_loads(s.value, in_loop);
      collect_loads(s.offset, in_loop);
    }
    for (const Store& s : pass.rows) {
      collect_loads(s.value, in_rows);
      collect_loads(s.offset, in_rows);
    }
  }
  const auto reads_elsewhere = [&](Expr l) { return l->bits == operand && !(l->operands[0] == store->offset); };
  const auto reads = [&](Expr l) { return l->bits == operand; };
  return std::none_of(beside.begin(), beside.end(), reads_elsewhere) &&
         std::none_of(others.begin(), others.end(), reads);
}

bool may_overwrite(const Program& program, const Step& step) {
  const auto in_one_place = [&](BufferId a, BufferId b) {
    if (program.root(a) == program.root(b)) return true;
    const Buffer &from = program.buffers[program.root(a)], &to = program.buffers[program.root(b)];
    if (from.storage == Storage::input && to.storage == Storage::output) return true;
    return from.storage == to.storage && from.storage != Storage::local && from.place == to.place;
  };
  for (BufferId result : writes_of(step))
    for (BufferId operand : reads_of(step))
      if (in_one_place(operand, result) && can_overwrite(program, step, operand, result)) return true;
  return false;
}

namespace {

std::size_t at(BufferId b) { return static_cast<std::size_t>(b); }

/// All steps in one sequence, with the time for which each buffer is in use. What a loop reads or writes of the outside
/// is in use for the whole loop.
class Lifetimes {
 public:
  explicit Lifetimes(const Program& program) : program_(program), first_(program.buffers.size(), -1), last_(first_) {
    parent_.resize(program.loops.size() + 1);
    span_.resize(program.loops.size() + 1);
    for (const Program::Scope& s : program.loops) parent_[static_cast<std::size_t>(s.loop)] = s.parent;
    walk(program.steps, 0);
    for (const auto& [step, scope, position] : line_) {
      for (BufferId b : reads_of(*step)) use(b, scope, position);
      for (BufferId b : writes_of(*step)) use(b, scope, position);
    }
    for (const auto& [index, scope, end] : chosen_) use(index, scope, end);
    // A carry is handed on after the last step of the body.
    for (const Repeat* repeat : repeats_)
      for (const Carried& c : repeat->carries)
        for (BufferId b : {c.in, c.out}) use_all(b, repeat->scope);
    for (const Repeat* repeat : repeats_)  // devices may look at it again before each step
      if (repeat->holds >= 0) use_all(repeat->holds, repeat->scope);
    // Pieces of a parallel loop may be at different steps: a buffer that one no longer needs may be in use by another.
    for (const Program::Scope& s : program.loops)
      if (s.copies > 1)
        for (std::size_t b = 0; b < program.buffers.size(); ++b)
          if (program.buffers[b].copies > 1 && is_inside(program.buffers[b].scope, s.loop))
            use_all(static_cast<BufferId>(b), s.loop);
  }
  struct Placed {
    const Step* step;
    int scope, position;
  };
  const std::vector<Placed>& line() const { return line_; }
  int first(BufferId b) const { return first_[at(b)]; }
  int last(BufferId b) const { return last_[at(b)]; }

 private:
  void walk(const std::vector<Step>& steps, int scope) {
    for (const Step& step : steps) {
      // Those that run at the same time have one position.
      const auto* routine = std::get_if<Routine>(&step);
      const int position = static_cast<int>(line_.size()) - (routine && routine->beside_last ? 1 : 0);
      line_.push_back({&step, scope, position});
      visit_step(step, Overloaded{[&](const Repeat& loop) {
                                    const auto inside = static_cast<std::size_t>(loop.scope);
                                    repeats_.push_back(&loop);
                                    span_[inside].first = static_cast<int>(line_.size()) - 1;
                                    walk(loop.condition, loop.scope);
                                    walk(loop.steps, loop.scope);
                                    span_[inside].second = static_cast<int>(line_.size()) - 1;
                                  },
                                  [&](const Choice& choice) {
                                    for (const auto& branch : choice.branches) walk(branch, scope);
                                    // Devices may look at it again before each step of a branch.
                                    chosen_.push_back({choice.index, scope, static_cast<int>(line_.size()) - 1});
                                  },
                                  [](const auto&) {}});
    }
  }
  void use(BufferId b, int scope, int position) {
    b = program_.root(b);
    const int owner = std::max(program_.buffers[at(b)].scope, 0);
    std::pair<int, int> when{position, position};
    for (; scope != owner && scope != 0; scope = parent_[static_cast<std::size_t>(scope)])
      when = span_[static_cast<std::size_t>(scope)];
    extend(b, when);
  }
  bool is_inside(int scope, int loop) const {
    for (; scope > 0; scope = parent_[static_cast<std::size_t>(scope)])
      if (scope == loop) return true;
    return false;
  }
  void use_all(BufferId b, int scope) { extend(program_.root(b), span_[static_cast<std::size_t>(scope)]); }
  void extend(BufferId b, std::pair<int, int> when) {
    first_[at(b)] = first_[at(b)] < 0 ? when.first : std::min(first_[at(b)], when.first);
    last_[at(b)] = std::max(last_[at(b)], when.second);
  }

  struct Chosen {
    BufferId index;
    int scope, end;
  };
  const Program& program_;
  std::vector<Placed> line_;
  std::vector<Chosen> chosen_;
  std::vector<const Repeat*> repeats_;
  std::vector<int> parent_;
  std::vector<std::pair<int, int>> span_;  ///< of loops, by scope
  std::vector<int> first_, last_;
};

/// Temporaries inside parallel loops exist once for each step that runs at the same time.
void separate_steps(Program& program) {
  std::vector<const Program::Scope*> scopes(program.loops.size() + 1, nullptr);
  for (const Program::Scope& s : program.loops) scopes[static_cast<std::size_t>(s.loop)] = &s;
  for (Buffer& b : program.buffers) {
    if (b.storage != Storage::arena) continue;
    for (int scope = std::max(b.scope, 0); scope != 0; scope = scopes[static_cast<std::size_t>(scope)]->parent)
      if (const Program::Scope& s = *scopes[static_cast<std::size_t>(scope)]; s.copies > 1) {
        b.copies = s.copies;
        b.copy = s.index;
      }
  }
}

/// Small values of loops go to the stack.
void use_stack(Program& program, const Target& target) {
  std::size_t room = target.local_bytes;
  for (Buffer& b : program.buffers)
    if (b.storage == Storage::arena && (b.scope > 0 || program.small) && b.bytes() <= target.small_bytes &&
        b.bytes() <= room) {
      b.storage = Storage::local;
      room -= b.bytes();
    }
}

/// Small arrays that a loop only reads are copied next to it: nothing that the loop stores can change them.
/// Gives the arrays that are close inside the loop.
std::vector<bool> keep_close(const Program& program, const Target& target, Repeat& loop,
                             const std::vector<bool>& close) {
  std::vector<bool> written(program.buffers.size(), false);
  std::vector<BufferId> read;
  for (const Carried& c : loop.carries)
    for (BufferId b : {c.start, c.result, c.spare})
      if (b >= 0) written[at(program.root(b))] = true;
  for (const auto* inner : {&loop.condition, &loop.steps})
    for_each_step(*inner, [&](const Step& s) {
      for (BufferId b : reads_of(s)) add_unique(read, b);
      for (BufferId b : writes_of(s)) written[at(program.root(b))] = true;
    });
  std::size_t room = target.kept_close_bytes;
  std::vector<bool> inside = close;
  for (BufferId b : read) {
    const Buffer& buffer = program.buffers[at(b)];
    const bool in_memory = buffer.storage == Storage::input || buffer.storage == Storage::arena;
    if (!in_memory || written[at(b)] || close[at(b)] || buffer.bytes() > target.small_bytes || buffer.bytes() > room)
      continue;
    room -= buffer.bytes();
    inside[at(b)] = true;
    loop.kept_close.push_back(b);
  }
  return inside;
}
void keep_close(const Program& program, const Target& target, const std::vector<Step>& steps,
                const std::vector<bool>& close) {
  for (const Step& step : steps) {
    auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step);
    const std::vector<bool> inside = repeat ? keep_close(program, target, **repeat, close) : close;
    for_each_list(step, [&](const std::vector<Step>& list) { keep_close(program, target, list, inside); });
  }
}

/// A temporary that a kernel turns into an output, element by element, lives in the output's memory from the
/// beginning: nothing else is there before.
void use_output_memory(Program& program, const Lifetimes& lives) {
  std::vector<bool> taken(program.buffers.size(), false);
  for (const auto& [step, scope, position] : lives.line()) {
    if (scope != 0) continue;
    for (BufferId result : writes_of(*step)) {
      Buffer& to = program.buffers[at(result)];
      if (to.storage != Storage::output || taken[at(result)] || lives.first(result) != position) continue;
      for (BufferId operand : reads_of(*step)) {
        Buffer& from = program.buffers[at(operand)];
        if (from.storage != Storage::arena || lives.last(operand) != position ||
            !can_overwrite(program, *step, operand, result))
          continue;
        taken[at(result)] = true;
        from.storage = Storage::output;
        from.place = to.place;
        break;
      }
    }
  }
}

/// The same for the next value of a large carry: its place is free until it is written.
void use_carry_memory(Program& program, const Lifetimes& lives) {
  std::vector<bool> next(program.buffers.size(), false);
  for (const auto& [step, scope, position] : lives.line())
    if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(step))
      for (const Carried& c : (*repeat)->carries) next[at(c.out)] = c.spare >= 0;
  for (const auto& [step, scope, position] : lives.line())
    for (BufferId result : writes_of(*step)) {
      if (!next[at(result)]) continue;
      for (BufferId operand : reads_of(*step)) {
        Buffer& from = program.buffers[at(operand)];
        if (from.storage != Storage::arena || from.scope != scope || lives.last(operand) != position ||
            !can_overwrite(program, *step, operand, result))
          continue;
        from.storage = Storage::part;
        from.whole = result;
        from.start = expr::integer(0);
        break;
      }
    }
}

/// Buffers that share one place: each overwrites the one before.
struct Tenancy {
  std::vector<BufferId> buffers;
  int from, to;  ///< steps
  std::int64_t bytes;
  std::int64_t place = -1;
};

/// Which buffers need memory, and when.
std::vector<Tenancy> tenancies(Program& program, const Lifetimes& lives) {
  std::vector<Tenancy> out;
  std::vector<int> tenancy_of(program.buffers.size(), -1);
  const auto move_in = [&](BufferId b) {
    program.temporary_bytes += static_cast<std::size_t>(rounded(program.buffers[at(b)]));
    tenancy_of[at(b)] = static_cast<int>(out.size());
    out.push_back({{b}, lives.first(b), lives.last(b), rounded(program.buffers[at(b)])});
  };
  for (const auto& [step, scope, position] : lives.line()) {
    std::vector<BufferId> dying;
    for (BufferId b : reads_of(*step))
      if (tenancy_of[at(b)] >= 0 && lives.last(b) == position) dying.push_back(b);
    for (BufferId written : writes_of(*step)) {
      const BufferId result = program.root(written);
      const Buffer& buffer = program.buffers[at(result)];
      if (buffer.storage != Storage::arena || tenancy_of[at(result)] >= 0) continue;
      const auto overwritten = std::find_if(dying.begin(), dying.end(), [&](BufferId operand) {
        return result == written && lives.first(result) == position && can_overwrite(program, *step, operand, result);
      });
      if (overwritten == dying.end()) {
        move_in(result);
        continue;
      }
      const int tenancy = tenancy_of[at(*overwritten)];
      program.temporary_bytes += static_cast<std::size_t>(rounded(buffer));
      tenancy_of[at(result)] = tenancy;
      out[static_cast<std::size_t>(tenancy)].buffers.push_back(result);
      out[static_cast<std::size_t>(tenancy)].to = lives.last(result);
      dying.erase(overwritten);
    }
  }
  return out;
}

}  // namespace

void plan_memory(Program& program, const Target& target) {
  use_stack(program, target);
  separate_steps(program);
  const Lifetimes lives(program);
  use_output_memory(program, lives);
  use_carry_memory(program, lives);
  // The largest first, each at the lowest place that those in use at the same time leave free.
  std::vector<Tenancy> all = tenancies(program, lives);
  std::stable_sort(all.begin(), all.end(), [](const Tenancy& a, const Tenancy& b) { return a.bytes > b.bytes; });
  std::int64_t end = 0;
  for (Tenancy& t : all) {
    std::vector<const Tenancy*> neighbours;
    for (const Tenancy& other : all)
      if (other.place >= 0 && other.from <= t.to && t.from <= other.to) neighbours.push_back(&other);
    std::sort(neighbours.begin(), neighbours.end(),
              [](const Tenancy* a, const Tenancy* b) { return a->place < b->place; });
    std::int64_t place = 0;
    for (const Tenancy* n : neighbours) {
      if (place + t.bytes <= n->place) break;
      place = in_one_block(std::max(place, n->place + n->bytes), t.bytes, target.block_bytes);
    }
    t.place = place;
    end = std::max(end, place + t.bytes);
    for (BufferId b : t.buffers) program.buffers[at(b)].place = place;
  }
  program.arena_bytes = static_cast<std::size_t>(end);
  keep_close(program, target, program.steps, std::vector<bool>(program.buffers.size(), false));
}

}  // namespace cotan::compiler
