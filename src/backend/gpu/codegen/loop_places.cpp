#include "backend/gpu/codegen/loop_places.hpp"

#include <algorithm>
#include <functional>

#include "backend/gpu/codegen/loop_uses.hpp"
#include "compiler/definitions.hpp"

namespace cotan::gpu {

using compiler::Carried;

namespace {

/// Whether the kernel is no more than sums along one axis, which can be written out.
bool is_sums(const Kernel& kernel) {
  if (kernel.passes.size() != 1) return false;
  const compiler::Pass& pass = kernel.passes[0];
  const auto reduced =
      std::count_if(kernel.loops.begin(), kernel.loops.end(), [](const compiler::Loop& l) { return l.reduced; });
  if (reduced == 0) return pass.reductions.empty();
  return reduced == 1 && pass.stores.empty() &&
         std::all_of(pass.reductions.begin(), pass.reductions.end(), [](const compiler::Reduce& r) {
           return !r.position && r.op == expr::ReduceOp::sum && is_floating(r.value->dtype);
         });
}
bool has_branches(std::span<const Step> steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step))
      return (*repeat)->length < 0 || has_branches((*repeat)->steps);
    return !std::holds_alternative<Kernel>(step);
  });
}

}  // namespace

bool is_short(const Kernel& kernel) {
  constexpr std::int64_t most_operations = 2048;
  std::int64_t operations = 0;
  for (const compiler::Pass& pass : kernel.passes) {
    for (const compiler::Reduce& r : pass.reductions) operations += compiler::cost_of(r.value);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const compiler::Store& s : *stores) operations += compiler::cost_of(s.value);
  }
  return kept_count(kernel) * reduced_count(kernel) * operations <= most_operations;
}

Places::Places(const Program& program, std::span<const Step> steps, const LoopPlan& plan, std::uint32_t subgroup_size,
               const std::set<BufferId>& not_spread)
    : program_(&program), plan_(plan) {
  if (plan.one_thread || plan.threads <= 1) return;
  // All threads must be there whenever somebody asks.
  can_ask_ = plan.threads == subgroup_size && !has_branches(steps);
  find_private(steps);
  if (can_ask_) find_spread(steps, not_spread);
}

std::set<BufferId> Places::own() const {
  std::set<BufferId> out = private_;
  out.insert(spread_.begin(), spread_.end());
  return out;
}

/// Kernels that every thread does for itself: so little that waiting for others would take longer.
bool Places::is_tiny(const Kernel& kernel) const {
  constexpr std::int64_t tiny = 32;
  if (kept_count(kernel) * reduced_count(kernel) > tiny || !is_sums(kernel) || !is_short(kernel)) return false;
  if (!can_ask_ || kept_count(kernel) == 1) return true;
  // To ask others is faster than to do their work, if they can be asked.
  const auto writes = compiler::writes_of(Step(kernel));
  return std::any_of(writes.begin(), writes.end(),
                     [&](BufferId b) { return buffer(program_->root(b)).type.dtype != DType::f32; });
}

/// Arrays that only tiny kernels write are each thread's own.
void Places::find_private(std::span<const Step> all) {
  std::set<BufferId> candidates, excluded;
  std::vector<std::pair<BufferId, BufferId>> taking_turns;  // both or none
  const std::function<void(std::span<const Step>)> visit = [&](std::span<const Step> steps) {
    for (const Step& step : steps) {
      if (const auto* kernel = std::get_if<Kernel>(&step)) {
        for (BufferId b : compiler::writes_of(step))
          (is_tiny(*kernel) ? candidates : excluded).insert(program_->root(b));
      } else if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
        for (const Carried& c : (*repeat)->carries) {
          const bool scalar = buffer(c.in).type.size() == 1 && (*repeat)->length >= 0 && c.spare < 0;
          for (BufferId b : {c.start, c.in, c.out, c.result})
            if (!scalar) excluded.insert(program_->root(b));
          if (!scalar) continue;
          candidates.insert({program_->root(c.in), program_->root(c.result)});  // which only copies write
          taking_turns.emplace_back(program_->root(c.in), program_->root(c.out));
        }
        visit((*repeat)->condition);
        visit((*repeat)->steps);
      } else if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
        for (const auto& branch : (*choice)->branches) visit(branch);
      }
    }
  };
  visit(all);
  const auto fits = [&](BufferId b) {
    return candidates.contains(b) && !excluded.contains(b) && buffer(b).storage == Storage::local;
  };
  for (std::size_t before = excluded.size() + 1; before != excluded.size();) {
    before = excluded.size();
    for (const auto& [in, out] : taking_turns)
      if (!fits(in) || !fits(out)) excluded.insert({in, out});
  }
  for (BufferId b : candidates)
    if (fits(b)) private_.insert(b);
}

/// Where the group is one subgroup, arrays of which each thread writes its own element stay in registers, and nobody
/// waits: threads ask each other. All of them must be there whenever somebody asks.
void Places::find_spread(std::span<const Step> all, const std::set<BufferId>& not_spread) {
  std::set<BufferId> excluded = not_spread;
  std::vector<std::pair<BufferId, BufferId>> taking_turns;  // both or none
  const auto exclude = [&](const std::vector<BufferId>& buffers) {
    for (BufferId b : buffers) excluded.insert(program_->root(b));
  };
  const std::function<void(std::span<const Step>)> visit = [&](std::span<const Step> steps) {
    for (const Step& step : steps) {
      if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
        for (const Carried& c : (*repeat)->carries)
          taking_turns.emplace_back(program_->root(c.in), program_->root(c.out));
        visit((*repeat)->steps);
      } else if (const auto* kernel = std::get_if<Kernel>(&step)) {
        if (!everyone_computes(*kernel)) exclude(compiler::reads_of(step));
        if (is_tiny(*kernel) && writes_private(*kernel)) exclude(compiler::writes_of(step));
        for (const compiler::Pass& pass : kernel->passes)
          for (const auto* list : {&pass.stores, &pass.rows})
            for (const compiler::Store& store : *list)
              if (!everyone_computes(*kernel) || kernel->passes.size() > 1 || !is_own_element(*kernel, store))
                exclude({store.buffer});
        for (BufferId b : compiler::reads_of(step))
          if (program_->root(b) != b) exclude({b});
      }
    }
  };
  visit(all);
  const std::set<BufferId> locals = locals_of(*program_, all);
  const auto fits = [&](BufferId b) {
    const AbstractValue& type = buffer(b).type;
    return locals.contains(b) && !excluded.contains(b) && !private_.contains(b) && type.dtype == DType::f32 &&
           type.size() <= plan_.threads;
  };
  for (std::size_t before = excluded.size() + 1; before != excluded.size();) {
    before = excluded.size();
    for (const auto& [in, out] : taking_turns)
      if (!fits(in) || !fits(out)) exclude({in, out});
  }
  for (BufferId b : locals)
    if (fits(b)) spread_.insert(b);
}

bool Places::everyone_computes(const Kernel& kernel) const {
  const std::int64_t rows = kept_count(kernel);
  return rows <= plan_.threads && !(rows * 8 <= plan_.threads && reduced_count(kernel) >= 64);
}

/// Whether row k of the kernel writes element k.
bool Places::is_own_element(const Kernel& kernel, const compiler::Store& store) const {
  if (program_->root(store.buffer) != store.buffer) return false;
  std::vector<compiler::Loop> kept;
  for (const compiler::Loop& l : kernel.loops)
    if (!l.reduced) kept.push_back(l);
  std::int64_t row = 0;
  bool same = true;
  expr::Substitution map;
  each_index(kept, 0, map,
             [&](expr::Substitution& at) { same = same && expr::as_integer(fresh(store.offset, at)) == row++; });
  return same;
}

bool Places::writes_private(const Kernel& kernel) const {
  const auto writes = compiler::writes_of(Step(kernel));
  return std::any_of(writes.begin(), writes.end(), [&](BufferId b) { return private_.contains(program_->root(b)); });
}

}  // namespace cotan::gpu
