#include "compiler/memory.hpp"

#include <algorithm>

#include "compiler/definitions.hpp"
#include "core/error.hpp"

namespace cotan::compiler {

namespace {

void add_unique(std::vector<BufferId>& list, BufferId b) {
  if (std::find(list.begin(), list.end(), b) == list.end()) list.push_back(b);
}

std::int64_t rounded(const Buffer& b) {
  return (static_cast<std::int64_t>(b.bytes()) + alignment - 1) / alignment * alignment;
}

}  // namespace

std::vector<BufferId> reads_of(const Step& step) {
  std::vector<BufferId> out;
  if (const auto* routine = std::get_if<Routine>(&step)) {
    for (const Operand& o : routine->operands)
      if (o.buffer >= 0) add_unique(out, o.buffer);
    return out;
  }
  std::vector<Expr> loads;
  for (const Pass& pass : std::get<Kernel>(step).passes) {
    for (const Reduce& r : pass.reductions) collect_loads(r.value, loads);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) {
        collect_loads(s.value, loads);
        collect_loads(s.offset, loads);
      }
  }
  for (Expr l : loads) add_unique(out, static_cast<BufferId>(l->bits));
  return out;
}

std::vector<BufferId> writes_of(const Step& step) {
  if (const auto* routine = std::get_if<Routine>(&step)) return routine->results;
  std::vector<BufferId> out;
  for (const Pass& pass : std::get<Kernel>(step).passes)
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores) add_unique(out, s.buffer);
  return out;
}

bool can_overwrite(const Program& program, const Step& step, BufferId operand, BufferId result) {
  const auto* kernel = std::get_if<Kernel>(&step);
  if (!kernel) return false;
  const Buffer &from = program.buffers[operand], &to = program.buffers[result];
  if (from.bytes() != to.bytes() || itemsize(from.type.dtype) != itemsize(to.type.dtype)) return false;
  // The one store of the result, over the whole domain, and in the last pass.
  const Store* store = nullptr;
  for (const Pass& pass : kernel->passes)
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& s : *stores)
        if (s.buffer == result) {
          if (store || &pass != &kernel->passes.back() || stores != &pass.stores) return false;
          store = &s;
        }
  if (!store) return false;
  std::vector<Expr> loads, after;
  for (const Pass& pass : kernel->passes) {
    for (const Reduce& r : pass.reductions) collect_loads(r.value, loads);
    for (const Store& s : pass.stores) {
      collect_loads(s.value, loads);
      collect_loads(s.offset, loads);
    }
    for (const Store& s : pass.rows) {
      collect_loads(s.value, after);
      collect_loads(s.offset, after);
    }
  }
  const auto reads_elsewhere = [&](Expr l) { return l->bits == operand && !(l->operands[0] == store->offset); };
  const auto reads = [&](Expr l) { return l->bits == operand; };
  return std::none_of(loads.begin(), loads.end(), reads_elsewhere) && std::none_of(after.begin(), after.end(), reads);
}

namespace {

/// A temporary that a kernel turns into an output, element by element, lives in the output's memory from the
/// beginning: nothing else is there before.
void use_output_memory(Program& program, const std::vector<int>& last_use) {
  std::vector<bool> taken(program.buffers.size(), false);
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    const Step& step = program.steps[static_cast<std::size_t>(s)];
    for (BufferId result : writes_of(step)) {
      Buffer& to = program.buffers[static_cast<std::size_t>(result)];
      if (to.storage != Storage::output || taken[static_cast<std::size_t>(result)]) continue;
      for (BufferId operand : reads_of(step)) {
        Buffer& from = program.buffers[static_cast<std::size_t>(operand)];
        if (from.storage != Storage::arena || last_use[static_cast<std::size_t>(operand)] != s ||
            !can_overwrite(program, step, operand, result))
          continue;
        taken[static_cast<std::size_t>(result)] = true;
        from.storage = Storage::output;
        from.place = to.place;
        break;
      }
    }
  }
}

}  // namespace

namespace {

/// Buffers that share one place: each overwrites the one before.
struct Tenancy {
  std::vector<BufferId> buffers;
  int from, to;  ///< steps
  std::int64_t bytes;
  std::int64_t place = -1;
};

/// Who needs memory, and when.
std::vector<Tenancy> tenancies(Program& program, const std::vector<int>& last_use) {
  std::vector<Tenancy> out;
  std::vector<int> tenancy_of(program.buffers.size(), -1);
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    const Step& step = program.steps[static_cast<std::size_t>(s)];
    std::vector<BufferId> dying;
    for (BufferId b : reads_of(step))
      if (tenancy_of[static_cast<std::size_t>(b)] >= 0 && last_use[static_cast<std::size_t>(b)] == s) dying.push_back(b);
    for (BufferId result : writes_of(step)) {
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(result)];
      if (buffer.storage != Storage::arena || tenancy_of[static_cast<std::size_t>(result)] >= 0) continue;
      program.temporary_bytes += static_cast<std::size_t>(rounded(buffer));
      const int end = last_use[static_cast<std::size_t>(result)];
      const auto overwritten = std::find_if(dying.begin(), dying.end(), [&](BufferId operand) {
        return can_overwrite(program, step, operand, result);
      });
      int& tenancy = tenancy_of[static_cast<std::size_t>(result)];
      if (overwritten != dying.end()) {
        tenancy = tenancy_of[static_cast<std::size_t>(*overwritten)];
        out[static_cast<std::size_t>(tenancy)].buffers.push_back(result);
        out[static_cast<std::size_t>(tenancy)].to = end;
        dying.erase(overwritten);
      } else {
        tenancy = static_cast<int>(out.size());
        out.push_back({{result}, s, end, rounded(buffer)});
      }
    }
  }
  return out;
}

}  // namespace

void plan_memory(Program& program) {
  std::vector<int> last_use(program.buffers.size(), -1);
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    const Step& step = program.steps[static_cast<std::size_t>(s)];
    for (BufferId b : reads_of(step)) last_use[static_cast<std::size_t>(b)] = s;
    for (BufferId b : writes_of(step))
      last_use[static_cast<std::size_t>(b)] = std::max(last_use[static_cast<std::size_t>(b)], s);
  }
  use_output_memory(program, last_use);
  // The largest first, each as low as those that live at the same time allow.
  std::vector<Tenancy> all = tenancies(program, last_use);
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
      place = std::max(place, n->place + n->bytes);
    }
    t.place = place;
    end = std::max(end, place + t.bytes);
    for (BufferId b : t.buffers) program.buffers[static_cast<std::size_t>(b)].place = place;
  }
  program.arena_bytes = static_cast<std::size_t>(end);
}

}  // namespace cotan::compiler
