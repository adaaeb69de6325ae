#include "backend/gpu/plan.hpp"

#include <algorithm>

#include "backend/gpu/alike.hpp"
#include "backend/gpu/routines/attention.hpp"
#include "backend/gpu/routines/cumulative.hpp"
#include "backend/gpu/routines/matmul.hpp"
#include "backend/gpu/routines/radix_sort.hpp"
#include "backend/gpu/routines/runs.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

using compiler::Carried;
using compiler::Routine;

namespace {

class Planner {
 public:
  Planner(Plan& plan, const Capabilities& device, const TileTimer& timer)
      : plan_(plan), program_(*plan.program), device_(device), timer_(timer), graph_(program_.graph) {
    end_ = static_cast<std::int64_t>(program_.arena_bytes);
    plan_.block_bytes = static_cast<std::int64_t>(device.block_bytes());
    for (const compiler::Buffer& b : program_.buffers)
      if (b.storage == Storage::arena) check_fits(b.type, compiler::stride_of(b) * b.copies);
  }
  void run() {
    values_in_memory(0);
    add_program();
    place_scratch();
    for (const compiler::Buffer& b : program_.buffers) {
      if (b.storage != Storage::arena) continue;
      const auto arena = static_cast<std::size_t>(plan_.arena_of(b));
      if (arena >= plan_.arenas.size()) plan_.arenas.resize(arena + 1, granule);
      const auto end = static_cast<std::uint64_t>(plan_.place_in_arena(b) + compiler::stride_of(b) * b.copies);
      plan_.arenas[arena] = std::max(plan_.arenas[arena], end);
    }
  }

 private:
  void check_fits(const AbstractValue& type, std::int64_t bytes) const {
    if (bytes > plan_.block_bytes)
      raise<OutOfMemoryError>(
          "[jit] a temporary {} takes {} bytes, and the device '{}' can bind {} at once; work in smaller pieces.", type,
          bytes, device_.name, plan_.block_bytes);
  }
  /// More temporary memory, which nothing else shares.
  std::int64_t new_place(const AbstractValue& type, std::int64_t bytes) {
    check_fits(type, bytes);
    const std::int64_t place = compiler::in_one_block(end_, bytes, plan_.block_bytes);
    end_ = place + bytes;
    return place;
  }
  compiler::Buffer& buffer(BufferId b) { return program_.buffers[static_cast<std::size_t>(b)]; }

  /// Values that live inside one shader elsewhere have memory where the host runs the loop.
  void in_memory(BufferId b) {
    if (b < 0) return;
    compiler::Buffer& root = buffer(program_.root(b));
    if (root.storage != Storage::local) return;
    root.storage = Storage::arena;
    root.copies = 1;
    root.place = new_place(root.type, compiler::stride_of(root));
  }

  /// Those that the steps of a loop hand to each other.
  void values_in_memory(int scope) {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b)
      if (std::max(program_.buffers[b].scope, 0) == scope) in_memory(static_cast<BufferId>(b));
  }

  /// What a thread that works by itself keeps only for itself is in its registers, or in memory that is its own.
  void values_of_threads(int scope) {
    constexpr std::size_t small = 1024;
    for (compiler::Buffer& b : program_.buffers)
      if (b.storage == Storage::arena && b.bytes() <= small && is_inside(b.scope, scope)) b.storage = Storage::local;
  }
  /// What a loop in lanes hands on from one dispatch to the next: where its results are in the end.
  void kept_between_dispatches(const Repeat& loop, const Repeat& lanes) {
    for (const Carried& c : loop.carries) {
      compiler::Buffer& b = buffer(program_.root(c.result));
      if (b.storage != Storage::local && b.storage != Storage::none) continue;
      b.storage = Storage::arena;
      b.copies = lanes.length;
      b.copy = lanes.index;
      b.place = new_place(b.type, compiler::stride_of(b) * b.copies);
    }
  }
  bool is_inside(int scope, int outer) const {
    while (scope > 0 && scope != outer) scope = outer_scope(scope);
    return scope == outer;
  }
  int outer_scope(int scope) const {
    for (const auto& loop : program_.loops)
      if (loop.loop == scope) return loop.parent;
    return 0;
  }

  int add_shader(Shader shader) {
    plan_.shaders.push_back(std::move(shader));
    return static_cast<int>(plan_.shaders.size()) - 1;
  }
  static PlannedStep dispatch(int shader) { return {.shader = shader}; }
  void add_kernel(const Kernel& kernel, const Surroundings& around, std::vector<PlannedStep>& out) {
    if (kept_count(kernel) == 0) return;
    out.push_back(dispatch(add_shader(kernel_shader(program_, kernel, around, device_))));
  }
  void add_copy(BufferId to, BufferId from, BufferId like, const Surroundings& around, std::vector<PlannedStep>& out) {
    const AbstractValue& type = buffer(like).type;
    if (type.size() == 0) return;
    const Expr i = expr::variable(type.size());
    Kernel kernel;
    kernel.name = "copy";
    kernel.loops.push_back({i, type.size(), false});
    kernel.passes.push_back({{}, {{to, i, expr::load(from, type.dtype, i)}}, {}});
    add_kernel(kernel, around, out);
  }

  void add_program() {
    std::vector<AlikeSteps> alike = group_alike_steps(program_, device_);
    const std::span<const Step> steps(program_.steps);
    plan_.side_by_side.resize(steps.size(), false);
    std::size_t at = 0;
    for (AlikeSteps& a : alike) {
      add(steps.subspan(at, a.first - at), {}, plan_.steps, at);
      plan_.units.insert(plan_.units.end(), a.count, static_cast<int>(a.first));
      std::fill_n(plan_.side_by_side.begin() + static_cast<std::ptrdiff_t>(a.first), a.count, true);
      plan_.steps.push_back(dispatch(add_shader(std::move(a.shader))));
      at = a.first + a.count;
    }
    add(steps.subspan(at), {}, plan_.steps, at);
  }

  /// `number`: of the first step in the program, where these are its own.
  void add(std::span<const Step> steps, const Surroundings& around, std::vector<PlannedStep>& out,
           std::optional<std::size_t> number = std::nullopt) {
    for (std::size_t k = 0; k < steps.size();) {
      std::size_t taken = add_small(steps.subspan(k), around, out);
      const bool as_one = taken > 0;
      bool pair = false;
      if (taken == 0 && number) {
        taken = add_products(steps.subspan(k), around, out);
        pair = taken > 1 && is_beside(steps[k + 1]);
      }
      if (taken == 0) add_step(steps[k], around, out);
      taken = std::max<std::size_t>(taken, 1);
      for (std::size_t n = 0; number && n < taken; ++n) {
        const std::size_t first = as_one || (pair && n < 2) ? 0 : n;
        plan_.units.push_back(static_cast<int>(*number + k + first));
        if (pair && n < 2) plan_.side_by_side[*number + k + n] = true;
      }
      k += taken;
    }
  }
  static bool is_beside(const Step& step) {
    const auto* routine = std::get_if<Routine>(&step);
    return routine && routine->beside_last;
  }

  /// Small steps in a row are one dispatch. How many it took.
  std::size_t add_small(std::span<const Step> steps, const Surroundings& around, std::vector<PlannedStep>& out) {
    std::size_t n = 0;
    bool one_thread = false;
    for (; n < steps.size() && fits_one_group(program_, steps[n], device_); ++n) {
      const auto with = plan_steps(program_, steps.subspan(0, n + 1), device_);
      if (!with) break;
      // Loops that one thread does best stay with what is as small.
      const auto alone = plan_steps(program_, steps.subspan(n, 1), device_);
      const bool is_loop = std::holds_alternative<std::unique_ptr<Repeat>>(steps[n]);
      if (!with->one_thread && (one_thread || (is_loop && alone && alone->one_thread))) break;
      one_thread = with->one_thread && (one_thread || is_loop);
    }
    if (n == 0 || (n == 1 && !std::holds_alternative<std::unique_ptr<Choice>>(steps[0]))) return 0;
    const auto how = plan_steps(program_, steps.subspan(0, n), device_);
    out.push_back(dispatch(
        add_shader(steps_shader(program_, steps.subspan(0, n), names_of(steps.subspan(0, n)), *how, around, device_))));
    return n;
  }
  static std::string names_of(std::span<const Step> steps) {
    std::vector<std::string> names;
    for (const Step& step : steps) {
      std::string name;
      if (const auto* kernel = std::get_if<Kernel>(&step)) name = kernel->name;
      if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) name = (*repeat)->name;
      if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) name = (*choice)->name;
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    constexpr std::size_t most = 8;
    if (names.size() > most) {
      names.resize(most);
      names.push_back("...");
    }
    return fmt::format("{}", fmt::join(names, "; "));
  }

  void add_step(const Step& step, const Surroundings& around, std::vector<PlannedStep>& out) {
    if (const auto* kernel = std::get_if<Kernel>(&step)) {
      add_kernel(*kernel, around, out);
    } else if (std::holds_alternative<std::unique_ptr<Repeat>>(step)) {
      add_repeat(step, around, out);
    } else if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
      if (needs_host((*choice)->branches)) {
        auto planned = std::make_shared<PlannedChoice>();
        planned->index = (*choice)->index;
        planned->swapped = around.swapped;
        for (const auto& branch : (*choice)->branches) add(branch, around, planned->branches.emplace_back());
        out.push_back({.choice = std::move(planned)});
        return;
      }
      for (std::size_t k = 0; k < (*choice)->branches.size(); ++k) {
        Surroundings inside = around;
        inside.guards.push_back({(*choice)->index, static_cast<std::int64_t>(k)});
        add((*choice)->branches[k], inside, out);
      }
    } else {
      const Routine& routine = std::get<Routine>(step);
      if (is_for_host(routine)) {
        internal_check(around.guards.empty(), "a step of the host is in a branch that the host does not know");
        out.push_back({.host = std::make_shared<HostStep>(HostStep{&routine, around.swapped})});
        return;
      }
      if (is_matmul(*routine.primitive)) {
        add_matmul(routine, around, out);
        return;
      }
      if (is_attention(*routine.primitive)) {
        for (Shader& shader : attention_shaders(program_, routine, around, device_))
          out.push_back(dispatch(add_shader(std::move(shader))));
        return;
      }
      if (prefers_cumulative(*routine.primitive, std::span(&routine.operands[0].type, 1), routine.params)) {
        add_cumulative(routine, around, out);
        return;
      }
      const bool counts = prefers_counting_sort(*routine.primitive, std::span(&routine.operands[0].type, 1), device_);
      if (counts || prefers_sum_of_runs(*routine.primitive)) {
        if (buffer(program_.root(routine.results[0])).storage == Storage::none) return;
        out.push_back(dispatch(
            add_shader((counts ? counting_sort_shader : sum_of_runs_shader)(program_, routine, around, device_))));
        return;
      }
      if (buffer(program_.root(routine.results[0])).storage != Storage::none) {
        const BufferId words = scratch({DType::u32, {radix_sort_words(routine.operands[0].type.size(), device_)}});
        for (Shader& shader : radix_sort_shaders(program_, routine, words, around, device_))
          out.push_back(dispatch(add_shader(std::move(shader))));
      }
    }
  }
  /// Whether no shader does it.
  bool is_for_host(const Routine& routine) const {
    const Primitive& p = *routine.primitive;
    if (is_matmul(p) || is_attention(p)) return false;
    if (routine.operands.empty()) return true;
    const std::span type(&routine.operands[0].type, 1);
    return !(prefers_cumulative(p, type, routine.params) || prefers_counting_sort(p, type, device_) ||
             prefers_sum_of_runs(p) || prefers_radix_sort(p, type, device_));
  }
  bool needs_host(const std::vector<Step>& steps) const {
    bool found = false;
    compiler::for_each_step(steps, [&](const Step& step) {
      const auto* routine = std::get_if<Routine>(&step);
      found = found || (routine && is_for_host(*routine));
    });
    return found;
  }
  bool needs_host(const std::vector<std::vector<Step>>& branches) const {
    return std::any_of(branches.begin(), branches.end(), [&](const auto& branch) { return needs_host(branch); });
  }

  void add_matmul(const Routine& routine, const Surroundings& around, std::vector<PlannedStep>& out) {
    const MatmulProblem problem = matmul_problem(routine);
    if (buffer(program_.root(problem.result)).storage == Storage::none) return;
    tune_if_wanted(problem, device_, timer_);
    const MatmulTile tile = choose_tile(problem, device_);
    const BufferId parts = tile.splits > 1 ? scratch({sum_type(problem.dtype), {problem.size() * tile.splits}}) : -1;
    for (Shader& shader : matmul_shaders(program_, problem, tile, parts, around, device_))
      out.push_back(dispatch(add_shader(std::move(shader))));
  }

  /// Two products at the same time; and the kernel that alone reads the last one, which adds up its parts. How many
  /// steps it took: none if it is neither.
  std::size_t add_products(std::span<const Step> steps, const Surroundings& around, std::vector<PlannedStep>& out) {
    const auto product_at = [&](std::size_t k) -> const Routine* {
      const auto* routine = k < steps.size() ? std::get_if<Routine>(&steps[k]) : nullptr;
      if (!routine || !is_matmul(*routine->primitive)) return nullptr;
      return buffer(program_.root(routine->results[0])).storage == Storage::none ? nullptr : routine;
    };
    const Routine* routine = product_at(0);
    if (!routine) return 0;
    const MatmulProblem problem = matmul_problem(*routine);
    tune_if_wanted(problem, device_, timer_);
    if (const Routine* other = product_at(1); other && other->beside_last) {
      const MatmulProblem second = matmul_problem(*other);
      tune_if_wanted(second, device_, timer_);
      if (const auto tiles = tiles_of_pair(problem, second, device_)) {
        const CutMatmul x = with_scratch({problem, tiles->first}), y = with_scratch({second, tiles->second}, x.scratch);
        out.push_back(dispatch(add_shader(matmul_pair_shader(program_, x, y, around, device_))));
        if (x.scratch >= 0) out.push_back(dispatch(add_shader(sum_of_parts(program_, x, around, device_))));
        if (y.scratch < 0 || add_reader(steps.subspan(2), y, around, out)) return y.scratch < 0 ? 2 : 3;
        out.push_back(dispatch(add_shader(sum_of_parts(program_, y, around, device_))));
        return 2;
      }
    }
    const CutMatmul cut = with_scratch({problem, choose_tile(problem, device_)});
    std::vector<Shader> shaders = matmul_shaders(program_, problem, cut.tile, cut.scratch, around, device_);
    out.push_back(dispatch(add_shader(std::move(shaders[0]))));
    if (shaders.size() == 1) return 1;
    if (add_reader(steps.subspan(1), cut, around, out)) return 2;
    out.push_back(dispatch(add_shader(std::move(shaders[1]))));
    return 1;
  }
  /// Memory for the parts, where there are any.
  CutMatmul with_scratch(CutMatmul cut, BufferId behind = -1) {
    const std::int64_t count = cut.tile.splits;
    if (count > 1) cut.scratch = scratch({sum_type(cut.problem.dtype), {cut.problem.size() * count}}, behind);
    return cut;
  }
  /// Whether the first step is a kernel that can add up the parts of the product, which nobody else reads.
  bool add_reader(std::span<const Step> steps, const CutMatmul& product, const Surroundings& around,
                  std::vector<PlannedStep>& out) {
    constexpr int most_parts = 16;
    const auto* kernel = steps.empty() ? nullptr : std::get_if<Kernel>(&steps[0]);
    const BufferId result = product.problem.result;
    const bool is_result = std::any_of(program_.outputs.begin(), program_.outputs.end(),
                                       [&](const compiler::Output& o) { return o.buffer == result; });
    if (!kernel || product.tile.splits > most_parts || fits_one_group(program_, steps[0], device_) || is_result ||
        product.problem.dtype != DType::f32 || program_.root(result) != result || readers_of(result) != 1)
      return false;
    const auto reader = reading_parts(*kernel, product);
    if (reader) add_kernel(*reader, around, out);
    return reader.has_value();
  }
  /// Steps that read a buffer or a part of it.
  int readers_of(BufferId b) {
    if (readers_.empty()) {
      readers_.resize(program_.buffers.size());
      compiler::for_each_step(program_.steps, [&](const Step& step) {
        for (BufferId read : compiler::reads_of(step)) ++readers_[static_cast<std::size_t>(program_.root(read))];
      });
    }
    return readers_[static_cast<std::size_t>(b)];
  }

  void add_cumulative(const Routine& routine, const Surroundings& around, std::vector<PlannedStep>& out) {
    const CumulativeProblem problem = cumulative_problem(routine);
    if (buffer(program_.root(problem.result)).storage == Storage::none) return;
    const std::int64_t tiles = problem.tiles();
    const BufferId totals = tiles > 1 ? scratch({sum_type(problem.dtype), {problem.rows * tiles}}) : -1;
    for (Shader& shader : cumulative_shaders(program_, problem, totals, around, device_))
      out.push_back(dispatch(add_shader(std::move(shader))));
  }

  /// Memory between two dispatches that follow each other: all of it is in one place, after everything else; or where
  /// two are needed, behind the other.
  BufferId scratch(const AbstractValue& type, BufferId behind = -1) {
    program_.buffers.push_back({.type = type, .storage = Storage::arena, .scope = 0, .item_bytes = element_bytes});
    const auto b = static_cast<BufferId>(program_.buffers.size()) - 1;
    buffer(b).place = behind < 0 ? 0 : buffer(behind).place + compiler::stride_of(buffer(behind));
    scratch_.push_back(b);
    return b;
  }
  void place_scratch() {
    BufferId last = -1;
    const auto end = [&](BufferId b) { return buffer(b).place + compiler::stride_of(buffer(b)); };
    for (BufferId b : scratch_)
      if (last < 0 || end(b) > end(last)) last = b;
    if (last < 0) return;
    const std::int64_t place = new_place(buffer(last).type, end(last));
    for (BufferId b : scratch_) buffer(b).place += place;
  }

  void add_repeat(const Step& step, const Surroundings& around, std::vector<PlannedStep>& out) {
    const Repeat& loop = *std::get<std::unique_ptr<Repeat>>(step);
    if (loop.length == 0 && loop.parallel) return;
    const std::span<const Step> alone(&step, 1);
    if (auto how = plan_steps(program_, alone, device_)) {
      if (how->one_thread && loop.parallel) values_of_threads(loop.scope);
      const Repeat* long_loop = &loop;
      if (const auto cut = loop.parallel ? cut_of_lanes(program_, loop, *how) : std::nullopt) {
        long_loop = std::get<std::unique_ptr<Repeat>>(loop.steps[cut->at]).get();
        how->chunk = cut->chunk;
        kept_between_dispatches(*long_loop, loop);
      }
      const int shader = add_shader(steps_shader(program_, alone, loop.name, *how, around, device_));
      if (!how->chunk) {
        out.push_back(dispatch(shader));
        return;
      }
      auto cut = std::make_shared<PlannedLoop>();
      cut->length = long_loop->length;
      cut->chunk = how->chunk;
      cut->even.push_back(dispatch(shader));
      const auto& indices = plan_.shaders.back().indices;
      cut->first = indices[indices.size() - 2];
      cut->end = indices.back();
      out.push_back({.loop = std::move(cut)});
      return;
    }
    values_in_memory(loop.scope);
    for (const Carried& c : loop.carries)
      if (!c.in_place && c.spare < 0) add_copy(c.in, c.start, c.in, around, out);
    auto planned = std::make_shared<PlannedLoop>();
    planned->index = loop.index;
    planned->length = loop.length;
    Surroundings inside = around;
    inside.indices.push_back(loop.index);
    if (loop.length < 0) {
      planned->holds = loop.holds;
      planned->swapped = around.swapped;
      planned->waits = needs_host(loop.steps) || needs_host(loop.condition);
      // The condition once more before each step; nothing happens after it has failed.
      Surroundings guarded = inside;
      if (!planned->waits) guarded.guards.push_back({loop.holds, 1});
      add(loop.condition, around, out);
      add(loop.steps, guarded, planned->even);
      for (const Carried& c : loop.carries)
        if (!c.in_place) add_copy(c.in, c.out, c.in, guarded, planned->even);
      add(loop.condition, guarded, planned->even);
      out.push_back({.loop = planned});
      for (const Carried& c : loop.carries)
        if (!c.in_place && c.spare < 0) add_copy(c.result, c.in, c.in, around, out);
      return;
    }
    add(loop.steps, inside, planned->even);
    for (const Carried& c : loop.carries)
      if (!c.in_place) inside.swapped.emplace_back(c.in, c.out);
    add(loop.steps, inside, planned->odd);
    out.push_back({.loop = planned});
    for (const Carried& c : loop.carries)
      if (!c.in_place && c.spare < 0) add_copy(c.result, loop.length % 2 ? c.out : c.in, c.in, around, out);
  }

  Plan& plan_;
  Program& program_;
  const Capabilities& device_;
  const TileTimer& timer_;
  expr::GraphScope graph_;
  std::vector<BufferId> scratch_;
  std::vector<int> readers_;
  std::int64_t end_ = 0;  ///< of the places that are taken
};

void count_steps(const std::vector<PlannedStep>& steps, std::int64_t times, PlanCounts& out) {
  for (const PlannedStep& s : steps) {
    if (s.shader >= 0) out.dispatches += times;
    if (s.host) out.host_steps += times;
    if (s.choice)
      for (const auto& branch : s.choice->branches) count_steps(branch, times, out);
    if (!s.loop) continue;
    ++out.loops;
    if (s.loop->chunk)
      out.dispatches += times * ((s.loop->length + s.loop->chunk - 1) / s.loop->chunk);
    else if (s.loop->length < 0)
      count_steps(s.loop->even, times, out);
    else {
      count_steps(s.loop->even, times * ((s.loop->length + 1) / 2), out);
      count_steps(s.loop->odd, times * (s.loop->length / 2), out);
    }
  }
}

}  // namespace

Plan make_plan(std::unique_ptr<Program> program, const Capabilities& device, const TileTimer& timer) {
  Plan plan;
  plan.program = std::move(program);
  Planner(plan, device, timer).run();
  return plan;
}

PlanCounts count(const Plan& plan) {
  PlanCounts out;
  count_steps(plan.steps, 1, out);
  return out;
}

}  // namespace cotan::gpu
