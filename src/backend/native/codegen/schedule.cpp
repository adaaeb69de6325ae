#include "backend/native/codegen/schedule.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "compiler/definitions.hpp"
#include "compiler/kernels.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

using compiler::collect_loads;
using compiler::cost_along;
using compiler::cost_of;
using compiler::Kernel;
using compiler::Loop;
using compiler::Pass;
using compiler::Reduce;
using compiler::Store;
using expr::Expr;

constexpr std::int64_t parallel_work = 1 << 19;  ///< operations below which threads cost more than they bring
constexpr std::int64_t chunk_work = 1 << 18;
constexpr std::int64_t most_chunks = 64;
constexpr std::int64_t block_elements = 8192;  ///< of a long vector loop, per parallel iteration
constexpr std::int64_t sums_in_memory = 2048;  ///< elements of a row of sums
constexpr std::int64_t tile_elements = 64;
constexpr std::int64_t large_transposition = 1 << 20;
constexpr int square_operations = 1024;          ///< of all elements that a square of registers computes side by side
constexpr int most_vectors = 16;                 ///< of a kernel that is all vectors and no loop
constexpr std::size_t stream_bytes = 24u << 20;  ///< memory traffic that no cache holds

/// Everything the kernel computes.
struct Contents {
  std::vector<Expr> loads;
  std::vector<const Store*> stores;
  int cost = 0;
};
Contents contents_of(const Kernel& kernel) {
  Contents out;
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) {
      collect_loads(r.value, out.loads);
      out.cost += 1 + cost_of(r.value);
    }
    for (const Store& s : pass.stores) {
      collect_loads(s.value, out.loads);
      out.cost += 1 + cost_of(s.value);
      out.stores.push_back(&s);
    }
    for (const Store& s : pass.rows) collect_loads(s.value, out.loads);
  }
  return out;
}
/// What a pass computes for each element, without what all of the row share.
int cost_in_lanes(const Pass& pass, Expr variable) {
  int cost = 0;
  for (const Reduce& r : pass.reductions) cost += 1 + cost_along(variable, r.value);
  for (const Store& s : pass.stores) cost += 1 + cost_along(variable, s.value);
  return cost;
}
bool is_result(const Kernel& kernel, std::int64_t buffer) {
  for (const Pass& pass : kernel.passes)
    for (const Reduce& r : pass.reductions)
      if (r.result == buffer) return true;
  return false;
}

/// How well a memory access suits lanes that run along `variable`.
int contiguity(Expr offset, Expr variable) {
  const auto affine = affine_in(offset, variable);
  if (!affine) return -3;
  return affine->coefficient == 1 ? 2 : affine->coefficient == 0 ? 1 : affine->coefficient == -1 ? 1 : -3;
}

int lane_bytes(const compiler::Program& program, const Contents& c) {
  std::size_t bytes = 1;
  const auto see = [&](DType t) { bytes = std::max(bytes, t == DType::f16 || t == DType::bf16 ? 4 : itemsize(t)); };
  for (Expr l : c.loads) see(l->dtype);
  for (const Store* s : c.stores) {
    see(program.buffers[static_cast<std::size_t>(s->buffer)].type.dtype);
    see(s->value->dtype);
  }
  return static_cast<int>(bytes);
}

int choose_vector_loop(const Kernel& kernel, const Contents& c) {
  int best = -1;
  double best_score = 0;
  for (int k = 0; k < static_cast<int>(kernel.loops.size()); ++k) {
    const Loop& loop = kernel.loops[static_cast<std::size_t>(k)];
    const bool is_piece = std::any_of(kernel.loops.begin(), kernel.loops.end(), [&](const Loop& l) {
      return l.piece && l.piece == loop.variable;  // bounds of another loop depend on it
    });
    if (loop.extent < 2 || is_piece) continue;
    double score = 0;
    for (Expr l : c.loads)
      if (!is_result(kernel, l->bits)) score += contiguity(l->operands[0], loop.variable);
    for (const Store* s : c.stores) score += 3 * contiguity(s->offset, loop.variable);
    if (c.stores.empty() && c.loads.empty()) score += 1;
    if (loop.extent < 8) score -= 4;
    if (best < 0 || score >= best_score) {
      best = k;
      best_score = score;
    }
  }
  return best;
}

std::size_t bytes_touched(const compiler::Program& program, const Kernel& kernel, const Contents& c) {
  std::vector<std::int64_t> seen;
  std::size_t bytes = 0;
  const auto see = [&](std::int64_t b) {
    if (is_result(kernel, b) || std::find(seen.begin(), seen.end(), b) != seen.end()) return;
    seen.push_back(b);
    if (program.buffers[static_cast<std::size_t>(b)].storage != compiler::Storage::row)
      bytes += program.buffers[static_cast<std::size_t>(b)].bytes();
  };
  for (Expr l : c.loads) see(l->bits);
  for (const Store* s : c.stores) see(s->buffer);
  return bytes;
}

/// Whether what is stored there is not for the kernel itself.
bool goes_away(const compiler::Program& program, compiler::BufferId buffer, const Contents& c) {
  return program.buffers[static_cast<std::size_t>(buffer)].storage != compiler::Storage::row &&
         std::none_of(c.loads.begin(), c.loads.end(), [&](Expr l) { return l->bits == buffer; });
}

/// Whether memory is read and written contiguously, or at one place, along the variable.
bool all_contiguous(const Kernel& kernel, const Contents& c, Expr variable) {
  for (Expr l : c.loads)
    if (!is_result(kernel, l->bits) && (contiguity(l->operands[0], variable) < 1 || l->operands.size() > 1))
      return false;
  for (const Store* s : c.stores)
    if (contiguity(s->offset, variable) < 1) return false;
  return true;
}

/// Whether what is not contiguous in the lanes can be loaded along the other loop, in squares.
bool reads_squares(const Kernel& kernel, const Contents& c, Expr lanes, Expr other) {
  for (Expr l : c.loads) {
    const Expr offset = l->operands[0];
    if (is_result(kernel, l->bits) || contiguity(offset, lanes) > 0) continue;
    const auto across = affine_in(offset, lanes);
    if (!across || across->coefficient < 0 || depends_on(across->rest, lanes) || contiguity(across->rest, other) != 2 ||
        l->operands.size() > 1)
      return false;
  }
  return std::all_of(c.stores.begin(), c.stores.end(), [&](const Store* s) {
    const auto along = affine_in(s->offset, lanes);
    return along && along->coefficient == 1;
  });
}

/// One pass whose sums need no positions.
bool can_sum_in_memory(const Kernel& kernel) {
  if (kernel.passes.size() != 1) return false;
  for (const Reduce& r : kernel.passes[0].reductions)
    if (r.position) return false;
  return true;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// As many equal vectors as there are elements for: no loop, and no place that is not known.
void cover_exactly(std::int64_t extent, int widest, KernelSchedule& s) {
  for (int width = static_cast<int>(std::min<std::int64_t>(widest, extent)); width > 1; --width)
    if (extent % width == 0) {
      if (extent / width > most_vectors) return;
      s.width = width;
      s.unroll = static_cast<int>(extent / width);
      s.block = 0;
      return;
    }
}

}  // namespace

KernelSchedule schedule_kernel(const compiler::Program& program, const Kernel& kernel, int vector_bytes, bool in_loop) {
  const Contents c = contents_of(kernel);
  KernelSchedule s;
  s.vector_loop = choose_vector_loop(kernel, c);
  const bool reduces =
      std::any_of(kernel.passes.begin(), kernel.passes.end(), [](const Pass& p) { return !p.reductions.empty(); });
  std::int64_t elements = 1, reduced = 1;
  for (const Loop& l : kernel.loops) {
    elements *= l.extent;
    if (l.reduced) reduced *= l.extent;
  }
  for (std::size_t k = 0; k < kernel.loops.size(); ++k)
    if (!kernel.loops[k].reduced && static_cast<int>(k) != s.vector_loop) s.iterations *= kernel.loops[k].extent;
  if (s.vector_loop >= 0) {
    const Loop& lanes = kernel.loops[static_cast<std::size_t>(s.vector_loop)];
    // Index vectors are 64 bits a lane: with those, narrow elements would need many registers for each.
    const int most_lanes = all_contiguous(kernel, c, lanes.variable) ? 64 : std::max(vector_bytes / 4, 1);
    int widest = std::clamp(vector_bytes / lane_bytes(program, c), 1, most_lanes);
    if (const std::int64_t row = in_loop ? compiler::shortest_row(kernel, program, lanes.variable) : 0;
        row > 1 && row < widest)
      widest = static_cast<int>(row);
    const std::int64_t run = lanes.length ? lanes.length : lanes.extent;
    s.width = static_cast<int>(
        std::min<std::int64_t>(std::bit_floor(static_cast<unsigned>(widest)),
                               static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(run)))));
    constexpr int light_work = 48;
    const bool light = c.cost < light_work;
    if (lanes.reduced) {
      for (const Pass& pass : kernel.passes) {
        const int cost = cost_in_lanes(pass, lanes.variable);
        int unroll = 1;
        while (cost * unroll < light_work && unroll < 4 && run >= 2 * unroll * s.width) unroll *= 2;
        s.unroll_of_pass.push_back(unroll);
      }
    } else if (reduces && can_sum_in_memory(kernel) && reduced >= 8 && lanes.extent >= 4 * s.width) {
      s.sums_in_memory = true;
      s.block = sums_in_memory;
    } else if (reduces) {
      while (light && reduced >= 4 && s.unroll < 4 && run >= 2 * s.unroll * s.width) s.unroll *= 2;
      s.block = std::int64_t{s.unroll} * s.width;
    } else {
      if (lanes.extent > 2 * block_elements) s.block = block_elements;
      // A few whole vectors are no loop: what all of them use stays in registers, unless there is more than those hold.
      constexpr int many_operations = 256;
      for (const int n : {2, 4})
        if (c.cost < many_operations && lanes.extent == std::int64_t{n} * s.width) s.unroll = n;
      for (int k = 0; k < static_cast<int>(kernel.loops.size()); ++k) {
        // A kept loop in which a load is contiguous that is not so in the lanes: a transposition.
        const Loop& other = kernel.loops[static_cast<std::size_t>(k)];
        if (k == s.vector_loop || other.extent < 8 || lanes.extent < 8) continue;
        for (Expr l : c.loads)
          if (!is_result(kernel, l->bits) && contiguity(l->operands[0], other.variable) == 2 &&
              contiguity(l->operands[0], lanes.variable) < 0)
            s.tiled_loop = k;
      }
      if (s.tiled_loop >= 0) {
        const std::int64_t extent = kernel.loops[static_cast<std::size_t>(s.tiled_loop)].extent;
        s.squares =
            !in_loop && s.width >= 4 && s.unroll == 1 && extent >= s.width && c.cost * s.width <= square_operations &&
            reads_squares(kernel, c, lanes.variable, kernel.loops[static_cast<std::size_t>(s.tiled_loop)].variable);
        // Squares use whole lines of the cache at once, and no tile has to stay in it: long runs suit memory, and runs
        // of reads more than those of writes, which go past the cache.
        const bool large = s.squares && elements >= large_transposition;
        s.tile = std::min(extent, large ? 4 * tile_elements : tile_elements);
        s.iterations = s.iterations / extent * ceil_div(extent, s.tile);
        s.block = std::min<std::int64_t>(ceil_div(lanes.extent, s.width) * s.width,
                                         large ? 2 * tile_elements : tile_elements);
      }
    }
    if (in_loop && !lanes.reduced && !reduces && lanes.extent <= std::int64_t{most_vectors} * widest &&
        s.tiled_loop < 0)
      cover_exactly(lanes.extent, widest, s);
    if (s.block >= lanes.extent) s.block = 0;
    if (!lanes.reduced && s.block) s.iterations *= ceil_div(lanes.extent, s.block);
  }
  const std::int64_t work = elements * (2 + c.cost + static_cast<std::int64_t>(c.loads.size()));
  if (work >= parallel_work && s.iterations > 1) {
    const std::int64_t chunks = std::clamp<std::int64_t>(work / chunk_work, 2, most_chunks);
    s.grain = ceil_div(s.iterations, chunks);
    if (s.grain >= s.iterations) s.grain = 0;
  }
  // Lines of the cache that are not written whole at once had better stay in it.
  constexpr int line_bytes = 64;
  const bool whole_lines = s.tiled_loop < 0 || (s.squares && s.width * lane_bytes(program, c) >= line_bytes);
  if (whole_lines && (!reduces || s.lanes_reduce(kernel)) && bytes_touched(program, kernel, c) >= stream_bytes)
    for (const Store* store : c.stores)
      if (goes_away(program, store->buffer, c)) s.streamed.push_back(store->buffer);
  return s;
}

int instructions_of(const Kernel& kernel, const KernelSchedule& s) {
  const Expr lanes = s.vector_loop >= 0 ? kernel.loops[static_cast<std::size_t>(s.vector_loop)].variable : Expr();
  std::unordered_set<const expr::Node*> seen;
  std::vector<Expr> open;
  int all = 0;
  for (const Pass& pass : kernel.passes) {
    for (const Reduce& r : pass.reductions) open.push_back(r.value);
    for (const auto* stores : {&pass.stores, &pass.rows})
      for (const Store& store : *stores) {
        open.push_back(store.value);
        all += s.unroll;
      }
  }
  while (!open.empty()) {
    const Expr e = open.back();
    open.pop_back();
    if (!seen.insert(e.get()).second) continue;
    if (e->op == expr::Op::load) {
      const bool one_by_one = lanes && contiguity(e->operands[0], lanes) < 0;
      all += s.unroll * (one_by_one ? 2 * s.width : 1);  // loaded, and inserted
    } else if (e->op != expr::Op::constant && e->op != expr::Op::variable && e->op != expr::Op::linear) {
      all += s.unroll;
      open.insert(open.end(), e->operands.begin(), e->operands.end());
    }
  }
  return all;
}

std::string describe(const Kernel& kernel, const KernelSchedule& s) {
  std::string out;
  if (s.vector_loop >= 0)
    out += fmt::format("lanes: {} of {}", s.width,
                       to_string(kernel.loops[static_cast<std::size_t>(s.vector_loop)].variable));
  else
    out += "scalar";
  if (s.sums_in_memory) out += ", sums in memory";
  if (s.unroll > 1) out += fmt::format(", unrolled {}", s.unroll);
  if (std::any_of(s.unroll_of_pass.begin(), s.unroll_of_pass.end(), [](int n) { return n > 1; }))
    out += fmt::format(", unrolled {}", fmt::join(s.unroll_of_pass, " "));
  if (s.tiled_loop >= 0)
    out += fmt::format(", tiles of {} by {}{}", s.tile, s.block, s.squares ? " in squares" : "");
  else if (s.block)
    out += fmt::format(", blocks of {}", s.block);
  out += s.grain ? fmt::format(", parallel: {} chunks", ceil_div(s.iterations, s.grain)) : ", serial";
  if (!s.streamed.empty()) out += ", streaming stores";
  return out;
}

}  // namespace cotan::native
