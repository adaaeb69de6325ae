#include "backend/gpu/explain.hpp"

#include <algorithm>
#include <set>

namespace cotan::gpu {

namespace {

class Listing {
 public:
  explicit Listing(const Plan& plan) : plan_(plan) {}
  std::string text;
  int kernels = 0, routines = 0;

  void add(const std::vector<PlannedStep>& steps, int depth) {
    const std::string in(static_cast<std::size_t>(2 * depth), ' ');
    for (const PlannedStep& s : steps) {
      if (s.shader >= 0) {
        const Shader& shader = plan_.shaders[static_cast<std::size_t>(s.shader)];
        text += fmt::format("{}dispatch {}: {} groups of {} threads, {} buffers\n", in, shader.name,
                            group_count(shader), shader.threads, shader.slots.size());
        ++kernels;
      } else if (s.host) {
        text += fmt::format("{}on the host: {}\n", in, s.host->routine->primitive->name);
        ++routines;
      } else if (s.choice) {
        text += fmt::format("{}one of {} branches, which the host looks up:\n", in, s.choice->branches.size());
        for (const auto& branch : s.choice->branches) add(branch, depth + 1);
      } else if (s.loop->chunk) {
        text += fmt::format("{}{} steps, {} per dispatch:\n", in, s.loop->length, s.loop->chunk);
        add(s.loop->even, depth + 1);
      } else {
        text += s.loop->length < 0 ? fmt::format("{}as long as a condition holds, looked at {}:\n", in,
                                                 s.loop->waits ? "before each step" : "now and then")
                                   : fmt::format("{}{} steps, encoded one by one:\n", in, s.loop->length);
        add(s.loop->even, depth + 1);
      }
    }
  }

 private:
  const Plan& plan_;
};

}  // namespace

std::int64_t bytes_named(const Program& program, const Shader& shader) {
  std::size_t bytes = 0;
  for (const Slot& slot : shader.slots)
    if (slot.buffer >= 0) bytes += program.buffers[static_cast<std::size_t>(slot.buffer)].bytes();
  return static_cast<std::int64_t>(bytes);
}

std::string table_of_shaders(const Plan& plan, ProgramTimes& times) {
  std::vector<StepDescription> shaders;
  for (const Shader& s : plan.shaders) shaders.push_back({s.name, bytes_named(*plan.program, s)});
  return table_of(times, shaders, "the device's clock");
}

void describe(const Plan& plan, std::uint64_t blocks, const Dialect& dialect, Explanation& out) {
  const PlanCounts counts = count(plan);
  Listing listing(plan);
  listing.add(plan.steps, 0);
  out.kernels = listing.kernels;
  out.routines = listing.routines;
  out.dispatches = static_cast<int>(counts.dispatches);
  compiler::for_each_step(plan.program->steps, [&](const Step& s) {
    out.loops += !std::holds_alternative<Kernel>(s) && !std::holds_alternative<compiler::Routine>(s);
  });
  out.submissions = static_cast<int>(counts.host_steps) + 1;
  out.temporary_bytes = static_cast<std::int64_t>(plan.arena_bytes());
  out.peak_bytes =
      static_cast<std::int64_t>(plan.program->input_bytes + plan.program->output_bytes + plan.arena_bytes()) -
      out.donated_bytes;
  out.steps = listing.text;
  std::set<std::string> seen;
  blocks = std::max<std::uint64_t>(blocks, 1);
  for (const Shader& s : plan.shaders) {
    // Buffers may be in any of the blocks that the device has by now.
    out.bindings = std::max(out.bindings, static_cast<int>(std::min<std::uint64_t>(s.slots.size(), blocks)));
    if (seen.insert(s.text).second)
      out.wgsl += fmt::format("// {}\n{}\n", s.name, with_blocks(s, std::vector<int>(s.slots.size(), 0), dialect));
  }
}

}  // namespace cotan::gpu
