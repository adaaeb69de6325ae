// How several steps run as one shader: by a thread, by a group, or not at all.
#include <algorithm>

#include "backend/gpu/codegen/loop_uses.hpp"
#include "core/environment.hpp"

namespace cotan::gpu {

std::set<BufferId> locals_of(const Program& program, std::span<const Step> steps) {
  std::set<BufferId> out;
  for_each_use(steps, [&](BufferId b, bool, bool) {
    b = program.root(b);
    if (program.buffers[static_cast<std::size_t>(b)].storage == Storage::local) out.insert(b);
  });
  return out;
}
std::size_t local_bytes(const Program& program, std::span<const Step> steps) {
  std::size_t out = 0;
  for (BufferId b : locals_of(program, steps)) out += program.buffers[static_cast<std::size_t>(b)].bytes();
  return out;
}
const Repeat* only_loop(std::span<const Step> steps) {
  if (steps.size() != 1) return nullptr;
  const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&steps[0]);
  return repeat ? repeat->get() : nullptr;
}
bool has_loops(const Repeat& lanes) {
  return std::any_of(lanes.steps.begin(), lanes.steps.end(),
                     [](const Step& step) { return std::holds_alternative<std::unique_ptr<Repeat>>(step); });
}

namespace {

/// What the steps of a loop have to do.
struct Work {
  std::int64_t rows = 1, terms = 1;  ///< of the largest kernel
  double total = 0;                  ///< per step
  std::size_t local_bytes = 0;
  bool routines = false;
  double once = 0;  ///< if every loop took one step
  int loops = 0;
  std::int64_t loop_rows = 0;  ///< of the largest kernel that is in a loop
};

void add_work(const Program& program, std::span<const Step> steps, double times, Work& work, bool in_loop) {
  for (const Step& step : steps) {
    if (const auto* kernel = std::get_if<Kernel>(&step)) {
      const std::int64_t rows = kept_count(*kernel), terms = rows * reduced_count(*kernel);
      work.rows = std::max(work.rows, rows);
      work.terms = std::max(work.terms, terms);
      work.total += times * static_cast<double>(terms);
      work.once += static_cast<double>(terms);
      if (in_loop) work.loop_rows = std::max(work.loop_rows, rows);
    } else if (const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step)) {
      const double inner = (*repeat)->length < 0 ? 16 : static_cast<double>((*repeat)->length);
      ++work.loops;
      add_work(program, (*repeat)->condition, times * inner, work, true);
      add_work(program, (*repeat)->steps, times * inner, work, true);
    } else if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
      for (const auto& branch : (*choice)->branches) add_work(program, branch, times, work, in_loop);
    } else {
      work.routines = true;
    }
  }
}

/// Steps of a loop that one dispatch takes, if each takes so many terms: no more than a driver has patience for.
std::int64_t chunk_of(double terms) {
  const double count = static_cast<double>(1 << 24) / std::max(terms, 1.0);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(count) / 2 * 2, 2048, 1 << 17);
}

}  // namespace

bool writes_only_locals(const Program& program, const Step& step) {
  const auto written = compiler::writes_of(step);
  return std::all_of(written.begin(), written.end(), [&](BufferId b) {
    return program.buffers[static_cast<std::size_t>(program.root(b))].storage == Storage::local;
  });
}

std::optional<LaneCut> cut_of_lanes(const Program& program, const Repeat& lanes, const LoopPlan& plan) {
  const auto buffer = [&](BufferId b) -> const compiler::Buffer& {
    return program.buffers[static_cast<std::size_t>(program.root(b))];
  };
  std::optional<LaneCut> out;
  for (std::size_t k = 0; k < lanes.steps.size(); ++k) {
    const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&lanes.steps[k]);
    if (!repeat) continue;
    const Repeat& loop = **repeat;
    Work work;
    add_work(program, loop.steps, 1, work, true);
    // More lanes than a device has room for wait for each other.
    const double side_by_side = plan.one_thread ? 1 << 14 : 1 << 11;
    const std::int64_t chunk = chunk_of(work.total * std::max(1.0, static_cast<double>(lanes.length) / side_by_side));
    if (loop.length <= chunk) continue;
    if (out) return std::nullopt;  // two of them
    for (const compiler::Carried& c : loop.carries)
      if (c.in_place || c.spare >= 0) return std::nullopt;
    out = LaneCut{k, chunk};
  }
  if (!out) return out;
  for (std::size_t k = 0; k < out->at; ++k) {
    const Step& step = lanes.steps[k];
    if (!std::holds_alternative<Kernel>(step)) return std::nullopt;
    const auto written = compiler::writes_of(step), read = compiler::reads_of(step);
    const bool again = writes_only_locals(program, step);
    const bool once =
        std::none_of(written.begin(), written.end(), [&](BufferId b) { return buffer(b).storage == Storage::local; });
    if (!again && !once) return std::nullopt;
    // What is computed again must find what it reads: memory of the lane's own may be used for something else by then.
    for (BufferId b : read)
      if (again && buffer(b).storage == Storage::arena && buffer(b).copies > 1) return std::nullopt;
  }
  return out;
}

std::optional<LoopPlan> plan_steps(const Program& program, std::span<const Step> steps, const Capabilities& device) {
  constexpr double much = 1 << 17;  // terms of a kernel from which on the whole device is wanted
  constexpr std::size_t most_private = 16 << 10;
  constexpr std::int64_t enough_lanes = 16;
  const Repeat* loop = only_loop(steps);
  const bool lanes = loop && loop->parallel;
  Work work;
  if (loop) {
    ++work.loops;
    add_work(program, loop->condition, 1, work, true);
    add_work(program, loop->steps, 1, work, true);
  } else {
    add_work(program, steps, 1, work, false);
  }
  if (work.routines) return std::nullopt;
  work.local_bytes = local_bytes(program, steps);
  if (!lanes && static_cast<double>(work.terms) > much) return std::nullopt;
  LoopPlan plan;
  const bool scalars = work.rows <= 1 && work.terms <= 8;
  // Few lanes of many steps: a group for each is there sooner, if a step has something to do for all of it.
  constexpr std::int64_t few_lanes = 2048, wide_step = 16;
  constexpr double many_steps = 128, long_step = 128;
  const bool group_per_lane = lanes && loop->length <= few_lanes && work.loop_rows >= wide_step &&
                              work.once >= long_step && work.total >= many_steps * work.once;
  if (lanes ? !group_per_lane && loop->length >= enough_lanes && work.terms <= most_unrolled &&
                  work.local_bytes <= most_private
            : scalars) {
    plan.one_thread = true;
    // Few in a group, so that lanes are spread over the device and do not wait for each other's memory.
    constexpr std::int64_t groups = 256;
    plan.threads = 1;
    if (lanes)
      for (plan.threads = 4; plan.threads < 32 && loop->length >= 2 * groups * plan.threads; plan.threads *= 2) {
      }
  } else {
    // As many as the loops have use for: more would only have to be waited for.
    // (Threads share long rows.)
    const std::int64_t rows = work.loops > 0 ? work.loop_rows : std::max(work.rows, work.terms / work.rows / 2);
    std::uint32_t wanted = rows <= 32 ? 32 : rows <= 128 ? 64 : rows <= 512 ? 128 : 256;
    if (const auto forced = environment::number("COTAN_WEBGPU_THREADS")) wanted = static_cast<std::uint32_t>(*forced);
    plan.threads = std::min(device.workgroup_threads, wanted);
    // Room for what reductions of all threads share.
    std::int64_t shared = ShaderBuilder::for_reductions(plan.threads);
    for (BufferId b : locals_of(program, steps))
      shared += ShaderBuilder::shared_bytes(program.buffers[static_cast<std::size_t>(b)].type.size());
    if (shared > device.workgroup_bytes) return std::nullopt;
  }
  if (loop && !lanes && loop->length > 0) {
    const std::int64_t chunk = chunk_of(work.total);
    if (loop->length > chunk) plan.chunk = chunk;
  }
  return plan;
}

bool fits_one_group(const Program& program, const Step& step, const Capabilities& device) {
  constexpr std::int64_t most_rows = 1024, most_terms = 1 << 13;
  if (const auto* kernel = std::get_if<Kernel>(&step))
    return kept_count(*kernel) <= most_rows && kept_count(*kernel) * reduced_count(*kernel) <= most_terms;
  if (const auto* choice = std::get_if<std::unique_ptr<Choice>>(&step)) {
    for (const auto& branch : (*choice)->branches)
      for (const Step& inner : branch)
        if (!fits_one_group(program, inner, device)) return false;
    return true;
  }
  const auto* repeat = std::get_if<std::unique_ptr<Repeat>>(&step);
  if (!repeat || ((*repeat)->parallel && (*repeat)->length > 1)) return false;
  const auto plan = plan_steps(program, std::span(&step, 1), device);
  return plan && !plan->chunk;
}

}  // namespace cotan::gpu
