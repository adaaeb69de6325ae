#include "backend/gpu/walk.hpp"

#include <algorithm>

#include "backend/gpu/elements.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

void PlanWalk::walk(const std::vector<PlannedStep>& steps) {
  for (const PlannedStep& s : steps) {
    if (s.shader >= 0)
      add_dispatch(plan_.shaders[static_cast<std::size_t>(s.shader)]);
    else if (s.host)
      run_on_host(*s.host);
    else if (s.choice)
      walk(s.choice->branches.at(word_at(range_for_host(s.choice->index, s.choice->swapped))));
    else
      walk_loop(*s.loop);
  }
}

void PlanWalk::walk_loop(const PlannedLoop& loop) {
  if (loop.chunk) {
    for (std::int64_t at = 0; at < loop.length; at += loop.chunk) {
      indices_[loop.first.get()] = at;
      indices_[loop.end.get()] = std::min(loop.length, at + loop.chunk);
      walk(loop.even);
    }
    return;
  }
  if (loop.length >= 0) {
    for (std::int64_t i = 0; i < loop.length; ++i) {
      indices_[loop.index.get()] = i;
      walk(i % 2 ? loop.odd : loop.even);
    }
    return;
  }
  if (loop.waits) {
    for (std::int64_t i = 0; word_at(range_for_host(loop.holds, loop.swapped)) != 0; ++i) {
      indices_[loop.index.get()] = i;
      walk(loop.even);
    }
    return;
  }
  // Steps after the last one do nothing; how many are encoded before the host looks grows with their number.
  constexpr std::int64_t most = 256;
  std::int64_t i = 0;
  for (std::int64_t ahead = 4;; ahead = std::min(2 * ahead, most)) {
    for (std::int64_t k = 0; k < ahead; ++k) {
      indices_[loop.index.get()] = i++;
      walk(loop.even);
    }
    if (word_at(range_for_host(loop.holds, loop.swapped)) == 0) return;
  }
}

Range PlanWalk::range_of(BufferId id) const {
  const compiler::Buffer& b = program_.buffers[static_cast<std::size_t>(id)];
  Range out;
  switch (b.storage) {
    case Storage::input:
      return inputs_[static_cast<std::size_t>(b.place)];
    case Storage::output:
      return outputs_[static_cast<std::size_t>(b.place)];
    case Storage::arena:
      out = arenas_[static_cast<std::size_t>(plan_.arena_of(b))];
      out.offset += static_cast<std::uint64_t>(plan_.place_in_arena(b));
      return out;
    case Storage::part:
      out = range_of(b.whole);
      out.offset += static_cast<std::uint64_t>(evaluate(b.start)) * element_bytes;
      return out;
    default:
      raise<InternalError>("[gpu] a value has no memory; this is a bug in cotan.");
  }
}

Range PlanWalk::range_for_host(BufferId id, const Swapped& swapped) const {
  for (const auto& [a, b] : swapped)
    if (id == a || id == b) {
      id = id == a ? b : a;
      break;
    }
  const compiler::Buffer& b = program_.buffers[static_cast<std::size_t>(id)];
  if (b.storage != Storage::part) {
    Range out = range_of(id);
    if (b.copies > 1) out.offset += static_cast<std::uint64_t>(evaluate(b.copy) * compiler::stride_of(b));
    return out;
  }
  Range out = range_for_host(b.whole, swapped);
  out.offset += static_cast<std::uint64_t>(evaluate(b.start)) * element_bytes;
  return out;
}

std::int64_t PlanWalk::evaluate(Expr e) const {
  if (const auto c = expr::as_integer(e)) return *c;
  std::vector<std::int64_t> x;
  if (e->op == expr::Op::variable) return indices_.at(e.get());
  for (Expr operand : e->operands) x.push_back(evaluate(operand));
  switch (e->op) {
    case expr::Op::linear: {
      std::int64_t sum = e->bits;
      for (std::size_t k = 0; k < x.size(); ++k) sum += e->coefficients[k] * x[k];
      return sum;
    }
    case expr::Op::add:
      return x[0] + x[1];
    case expr::Op::sub:
      return x[0] - x[1];
    case expr::Op::mul:
      return x[0] * x[1];
    case expr::Op::min:
      return std::min(x[0], x[1]);
    case expr::Op::max:
      return std::max(x[0], x[1]);
    case expr::Op::floor_div:
      return x[0] / x[1];
    case expr::Op::floor_mod:
      return x[0] % x[1];
    default:
      raise<InternalError>("[gpu] the host cannot compute {}; this is a bug in cotan.", expr::name(e->op));
  }
}

void PlanWalk::add_dispatch(const Shader& shader) {
  std::vector<Range> ranges;
  for (const Slot& slot : shader.slots)
    ranges.push_back(slot.buffer < 0 ? arenas_[static_cast<std::size_t>(slot.arena)] : range_of(slot.buffer));
  // Instances whose arrays are in the same blocks are one dispatch.
  const std::size_t own = shader.own_slots();
  std::vector<bool> done(shader.instances, false);
  for (std::size_t first = 0; first < shader.instances; ++first) {
    if (done[first]) continue;
    std::vector<std::size_t> which;
    for (std::size_t k = first; k < shader.instances; ++k) {
      bool same = !done[k];
      for (std::size_t slot = 0; same && slot < own; ++slot)
        same = ranges[k * own + slot].slab == ranges[first * own + slot].slab;
      if (!same) continue;
      done[k] = true;
      which.push_back(k);
    }
    add_instances(shader, which, ranges);
  }
}

void PlanWalk::add_instances(const Shader& shader, const std::vector<std::size_t>& which,
                             const std::vector<Range>& ranges) {
  const std::size_t own = shader.own_slots();
  std::vector<int> blocks, slabs;
  for (std::size_t slot = 0; slot < own; ++slot) {
    const int slab = ranges[which[0] * own + slot].slab;
    const auto at = std::find(slabs.begin(), slabs.end(), slab);
    blocks.push_back(static_cast<int>(at - slabs.begin()));
    if (at == slabs.end()) slabs.push_back(slab);
  }
  std::vector<std::uint32_t> words;
  for (std::size_t instance : which)
    for (std::size_t slot = 0; slot < own; ++slot)
      words.push_back(static_cast<std::uint32_t>(ranges[instance * own + slot].offset / element_bytes));
  for (Expr i : shader.indices) words.push_back(static_cast<std::uint32_t>(indices_.at(i.get())));
  std::array<std::uint32_t, 3> groups = shader.groups;
  if (shader.instances > 1) groups[2] = static_cast<std::uint32_t>(which.size());
  launch({shader, std::move(slabs), std::move(blocks), std::move(words), groups});
}

}  // namespace cotan::gpu
