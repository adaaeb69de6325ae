// What a program becomes on a GPU: dispatches, memory, and the shaders themselves.
#pragma once
#include <cotan/debug.hpp>

#include "backend/gpu/plan.hpp"
#include "backend/step_times.hpp"

namespace cotan::gpu {

/// Fills in what follows from a plan; `out.donated_bytes` is known. `blocks` of memory the device has by now.
void describe(const Plan& plan, std::uint64_t blocks, const Dialect& dialect, Explanation& out);
/// Every shader with what it took, in the order of the plan.
std::string table_of_shaders(const Plan& plan, ProgramTimes& times);
/// The sizes of all arrays that a dispatch is given, as far as it is given arrays and not all temporary memory.
std::int64_t bytes_named(const Program& program, const Shader& shader);

}  // namespace cotan::gpu
