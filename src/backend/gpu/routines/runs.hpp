// The order of few words, each of which counts those before it, and sums of values by key: what scatters that add are
// made of.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

/// Whether this is for the routine, and not for the expansion.
bool prefers_counting_sort(const Primitive& p, std::span<const AbstractValue> types, const Capabilities& device);
Shader counting_sort_shader(const Program& program, const compiler::Routine& routine, const Surroundings& around,
                            const Capabilities& device);

bool prefers_sum_of_runs(const Primitive& p);
Shader sum_of_runs_shader(const Program& program, const compiler::Routine& routine, const Surroundings& around,
                          const Capabilities& device);

}  // namespace cotan::gpu
