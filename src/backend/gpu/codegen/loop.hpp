// Several steps, whole loops among them, as one shader: a group of threads with barriers between the parts of a step,
// or a thread by itself. Lanes run side by side, each in a group or in a thread of its own.
#pragma once
#include "backend/gpu/codegen/kernel.hpp"

namespace cotan::gpu {

using compiler::Choice;
using compiler::Repeat;
using compiler::Step;

struct LoopPlan {
  bool one_thread = false;    ///< per lane; else a group
  std::uint32_t threads = 1;  ///< in a group
  std::int64_t chunk = 0;     ///< steps of a dispatch, where the loop, or the one in the lanes, is cut; 0: all of them
};
/// How the steps run as one shader, of one group unless they are a loop over lanes; nothing where they have too much to
/// do for one group, or need routines.
std::optional<LoopPlan> plan_steps(const Program& program, std::span<const Step> steps, const Capabilities& device);
/// The one loop of a lane that takes too long for one dispatch, and how many of its steps do not; or nothing, where
/// there is none or it cannot be cut. What comes before it is computed again in every dispatch.
struct LaneCut {
  std::size_t at;  ///< among the steps of the lane
  std::int64_t chunk;
};
std::optional<LaneCut> cut_of_lanes(const Program& program, const Repeat& lanes, const LoopPlan& plan);
/// Whether a step writes nothing but arrays of the shader's own.
bool writes_only_locals(const Program& program, const Step& step);
/// Whether the step is small enough to be one of several in the shader of one group.
bool fits_one_group(const Program& program, const Step& step, const Capabilities& device);
/// A loop that is cut takes its first and last step as the last two indices.
Shader steps_shader(Program& program, std::span<const Step> steps, const std::string& name, const LoopPlan& plan,
                    const Surroundings& around, const Capabilities& device);

}  // namespace cotan::gpu
