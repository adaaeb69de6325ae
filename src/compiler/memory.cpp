#include "compiler/memory.hpp"

#include <algorithm>
#include <map>

#include "compiler/definitions.hpp"
#include "core/error.hpp"

namespace cotan::compiler {

namespace {

void add_unique(std::vector<BufferId>& list, BufferId b) {
  if (std::find(list.begin(), list.end(), b) == list.end()) list.push_back(b);
}

/// Free ranges of the arena, by offset.
class FreeList {
 public:
  /// The smallest range that fits, or new room at the end.
  std::int64_t take(std::int64_t bytes) {
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
      if (at->second >= bytes && (best == free_.end() || at->second < best->second)) best = at;
    if (best == free_.end()) {
      // Grow the last range if it touches the end.
      std::int64_t start = end_;
      if (!free_.empty()) {
        const auto last = std::prev(free_.end());
        if (last->first + last->second == end_) {
          start = last->first;
          free_.erase(last);
        }
      }
      end_ = start + bytes;
      return start;
    }
    const auto [offset, size] = *best;
    free_.erase(best);
    if (size > bytes) free_.emplace(offset + bytes, size - bytes);
    return offset;
  }
  void give(std::int64_t offset, std::int64_t bytes) {
    auto at = free_.emplace(offset, bytes).first;
    if (const auto next = std::next(at); next != free_.end() && offset + bytes == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at != free_.begin())
      if (const auto before = std::prev(at); before->first + before->second == at->first) {
        before->second += at->second;
        free_.erase(at);
      }
  }
  std::int64_t end() const { return end_; }

 private:
  std::map<std::int64_t, std::int64_t> free_;
  std::int64_t end_ = 0;
};

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

void plan_memory(Program& program) {
  const int steps = static_cast<int>(program.steps.size());
  std::vector<int> last_use(program.buffers.size(), -1);
  for (int s = 0; s < steps; ++s) {
    for (BufferId b : reads_of(program.steps[s])) last_use[b] = s;
    for (BufferId b : writes_of(program.steps[s])) last_use[b] = std::max(last_use[b], s);
  }
  use_output_memory(program, last_use);
  FreeList arena;
  std::vector<bool> placed(program.buffers.size(), false);
  for (int s = 0; s < steps; ++s) {
    const Step& step = program.steps[s];
    std::vector<BufferId> dying;
    for (BufferId b : reads_of(step))
      if (program.buffers[b].storage == Storage::arena && last_use[b] == s && placed[b]) dying.push_back(b);
    for (BufferId result : writes_of(step)) {
      Buffer& buffer = program.buffers[result];
      if (buffer.storage != Storage::arena || placed[result]) continue;
      placed[result] = true;
      program.temporary_bytes += static_cast<std::size_t>(rounded(buffer));
      const auto reusable = std::find_if(dying.begin(), dying.end(), [&](BufferId operand) {
        return can_overwrite(program, step, operand, result);
      });
      if (reusable != dying.end()) {
        buffer.place = program.buffers[*reusable].place;
        dying.erase(reusable);
      } else {
        buffer.place = arena.take(rounded(buffer));
      }
    }
    for (BufferId b : dying) arena.give(program.buffers[b].place, rounded(program.buffers[b]));
    // Results that nobody reads.
    for (BufferId b : writes_of(step))
      if (program.buffers[b].storage == Storage::arena && last_use[b] == s && placed[b])
        arena.give(program.buffers[b].place, rounded(program.buffers[b]));
  }
  program.arena_bytes = static_cast<std::size_t>(arena.end());
}

}  // namespace cotan::compiler
