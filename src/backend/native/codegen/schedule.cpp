#include "backend/native/codegen/schedule.hpp"

#include <algorithm>
#include <bit>

#include "backend/native/codegen/interleaved.hpp"
#include "compiler/definitions.hpp"
#include "compiler/kernels.hpp"
#include "core/error.hpp"
#include "expr/walk.hpp"

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

/// The same for a store: two that lie between each other write whole vectors.
int contiguity(const compiler::Program& program, const Contents& c, const Store& store, Expr variable) {
  const auto affine = affine_in(store.offset, variable);
  if (affine && affine->coefficient == 2)
    for (const Store* other : c.stores)
      if (is_behind(program, store, *other) || is_behind(program, *other, store)) return 2;
  return contiguity(store.offset, variable);
}

int choose_vector_loop(const compiler::Program& program, const Kernel& kernel, const Contents& c) {
  int best = -1;
  double best_score = 0;
  for (int k = 0; k < static_cast<int>(kernel.loops.size()); ++k) {
    const Loop& loop = kernel.loops[static_cast<std::size_t>(k)];
    const bool is_piece = std::any_of(kernel.loops.begin(), kernel.loops.end(), [&](const Loop& l) {
      return l.piece && l.piece == loop.variable;  // the bounds of another loop depend on it
    });
    if (loop.extent < 2 || is_piece) continue;
    double score = 0;
    for (Expr l : c.loads)
      if (!is_result(kernel, l->bits)) score += contiguity(l->operands[0], loop.variable);
    for (const Store* s : c.stores) score += 3 * contiguity(program, c, *s, loop.variable);
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

/// Whether what is stored there is read by others than the kernel itself.
bool goes_away(const compiler::Program& program, compiler::BufferId buffer, const Contents& c) {
  return program.buffers[static_cast<std::size_t>(buffer)].storage != compiler::Storage::row &&
         std::none_of(c.loads.begin(), c.loads.end(), [&](Expr l) { return l->bits == buffer; });
}

/// Whether memory is read and written contiguously, or at one place, along the variable.
bool all_contiguous(const compiler::Program& program, const Kernel& kernel, const Contents& c, Expr variable) {
  for (Expr l : c.loads)
    if (!is_result(kernel, l->bits) && (contiguity(l->operands[0], variable) < 1 || l->operands.size() > 1))
      return false;
  for (const Store* s : c.stores)
    if (contiguity(program, c, *s, variable) < 1) return false;
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

/// A number of equal vectors that covers all elements: no loop, and every place is known.
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

/// Makes the schedule of a kernel, decision by decision.
class Scheduler {
 public:
  Scheduler(const compiler::Program& program, const Kernel& kernel, int vector_bytes, bool in_loop)
      : program_(program), kernel_(kernel), vector_bytes_(vector_bytes), in_loop_(in_loop), c_(contents_of(kernel)) {
    reduces_ =
        std::any_of(kernel.passes.begin(), kernel.passes.end(), [](const Pass& p) { return !p.reductions.empty(); });
    for (const Loop& l : kernel.loops) {
      elements_ *= l.extent;
      if (l.reduced) reduced_ *= l.extent;
    }
  }
  KernelSchedule run() {
    s_.vector_loop = choose_vector_loop(program_, kernel_, c_);
    for (std::size_t k = 0; k < kernel_.loops.size(); ++k)
      if (!kernel_.loops[k].reduced && static_cast<int>(k) != s_.vector_loop) s_.iterations *= kernel_.loops[k].extent;
    if (s_.vector_loop >= 0) choose_lanes(loop(s_.vector_loop));
    choose_grain();
    choose_streamed();
    return std::move(s_);
  }

 private:
  const Loop& loop(int k) const { return kernel_.loops[static_cast<std::size_t>(k)]; }

  void choose_lanes(const Loop& lanes) {
    choose_width(lanes);
    const bool light = c_.cost < light_work;
    if (lanes.reduced) {
      unroll_passes(lanes);
    } else if (reduces_ && can_sum_in_memory(kernel_) && reduced_ >= 8 && lanes.extent >= 4 * s_.width) {
      s_.sums_in_memory = true;
      s_.block = sums_in_memory;
    } else if (reduces_) {
      while (light && reduced_ >= 4 && s_.unroll < 4 && run_ >= 2 * s_.unroll * s_.width) s_.unroll *= 2;
      s_.block = std::int64_t{s_.unroll} * s_.width;
    } else {
      if (lanes.extent > 2 * block_elements) s_.block = block_elements;
      // A few whole vectors are no loop: what all of them use stays in registers, unless there is more than those hold.
      constexpr int many_operations = 256;
      for (const int n : {2, 4})
        if (c_.cost < many_operations && lanes.extent == std::int64_t{n} * s_.width) s_.unroll = n;
      find_transposition(lanes);
      if (s_.tiled_loop >= 0) choose_tile(lanes);
    }
    if (in_loop_ && !lanes.reduced && !reduces_ && lanes.extent <= std::int64_t{most_vectors} * widest_ &&
        s_.tiled_loop < 0)
      cover_exactly(lanes.extent, widest_, s_);
    if (s_.block >= lanes.extent) s_.block = 0;
    if (!lanes.reduced && s_.block) s_.iterations *= ceil_div(lanes.extent, s_.block);
  }
  void choose_width(const Loop& lanes) {
    // Index vectors are 64 bits a lane: with those, narrow elements would need many registers for each.
    const int most_lanes = all_contiguous(program_, kernel_, c_, lanes.variable) ? 64 : std::max(vector_bytes_ / 4, 1);
    widest_ = std::clamp(vector_bytes_ / lane_bytes(program_, c_), 1, most_lanes);
    if (const std::int64_t row = in_loop_ ? compiler::shortest_row(kernel_, program_, lanes.variable) : 0;
        row > 1 && row < widest_)
      widest_ = static_cast<int>(row);
    run_ = lanes.length ? lanes.length : lanes.extent;
    s_.width = static_cast<int>(
        std::min<std::int64_t>(std::bit_floor(static_cast<unsigned>(widest_)),
                               static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(run_)))));
  }
  void unroll_passes(const Loop& lanes) {
    for (const Pass& pass : kernel_.passes) {
      const int cost = cost_in_lanes(pass, lanes.variable);
      int unroll = 1;
      while (cost * unroll < light_work && unroll < 4 && run_ >= 2 * unroll * s_.width) unroll *= 2;
      s_.unroll_of_pass.push_back(unroll);
    }
  }
  /// A kept loop along which a load is contiguous that is not contiguous along the lanes.
  void find_transposition(const Loop& lanes) {
    for (int k = 0; k < static_cast<int>(kernel_.loops.size()); ++k) {
      const Loop& other = loop(k);
      if (k == s_.vector_loop || other.extent < 8 || lanes.extent < 8) continue;
      for (Expr l : c_.loads)
        if (!is_result(kernel_, l->bits) && contiguity(l->operands[0], other.variable) == 2 &&
            contiguity(l->operands[0], lanes.variable) < 0)
          s_.tiled_loop = k;
    }
  }
  void choose_tile(const Loop& lanes) {
    const Loop& other = loop(s_.tiled_loop);
    const std::int64_t extent = other.extent;
    s_.squares = !in_loop_ && s_.width >= 4 && s_.unroll == 1 && extent >= s_.width &&
                 c_.cost * s_.width <= square_operations && reads_squares(kernel_, c_, lanes.variable, other.variable);
    // Squares use whole cache lines at once, and no tile has to stay in the cache: long runs suit memory, and long runs
    // of reads more than those of writes, which bypass the cache.
    const bool large = s_.squares && elements_ >= large_transposition;
    s_.tile = std::min(extent, large ? 4 * tile_elements : tile_elements);
    s_.iterations = s_.iterations / extent * ceil_div(extent, s_.tile);
    s_.block =
        std::min<std::int64_t>(ceil_div(lanes.extent, s_.width) * s_.width, large ? 2 * tile_elements : tile_elements);
  }

  void choose_grain() {
    const std::int64_t work = elements_ * (2 + c_.cost + static_cast<std::int64_t>(c_.loads.size()));
    if (work < parallel_work || s_.iterations <= 1) return;
    const std::int64_t chunks = std::clamp<std::int64_t>(work / chunk_work, 2, most_chunks);
    s_.grain = ceil_div(s_.iterations, chunks);
    if (s_.grain >= s_.iterations) s_.grain = 0;
  }
  /// Cache lines that are not written whole at once should stay in the cache.
  void choose_streamed() {
    constexpr int line_bytes = 64;
    const bool whole_lines = s_.tiled_loop < 0 || (s_.squares && s_.width * lane_bytes(program_, c_) >= line_bytes);
    if (!whole_lines || (reduces_ && !s_.lanes_reduce(kernel_)) || bytes_touched(program_, kernel_, c_) < stream_bytes)
      return;
    for (const Store* store : c_.stores)
      if (goes_away(program_, store->buffer, c_)) s_.streamed.push_back(store->buffer);
  }

  static constexpr int light_work = 48;
  const compiler::Program& program_;
  const Kernel& kernel_;
  const int vector_bytes_;
  const bool in_loop_;
  const Contents c_;
  bool reduces_ = false;
  std::int64_t elements_ = 1, reduced_ = 1;
  int widest_ = 1;        ///< lanes that fit into a vector, a power of two or not
  std::int64_t run_ = 1;  ///< elements that lanes go through
  KernelSchedule s_;
};

}  // namespace

KernelSchedule schedule_kernel(const compiler::Program& program, const Kernel& kernel, int vector_bytes, bool in_loop) {
  return Scheduler(program, kernel, vector_bytes, in_loop).run();
}

int instructions_of(const Kernel& kernel, const KernelSchedule& s) {
  const Expr lanes = s.vector_loop >= 0 ? kernel.loops[static_cast<std::size_t>(s.vector_loop)].variable : Expr();
  std::vector<Expr> open;
  int all = 0;
  expr::Visited seen;
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
    if (!seen.insert(e)) continue;
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
