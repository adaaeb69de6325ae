// Kernels alike: those that differ in their arrays alone and know nothing of each other run side by side, as one
// dispatch. What an optimizer does to every parameter is a dispatch for each size of them.
#pragma once
#include "backend/gpu/codegen/kernel.hpp"

namespace cotan::gpu {

/// So many steps of the program, from the first one on, are instances of one shader.
struct AlikeSteps {
  std::size_t first = 0, count = 0;
  Shader shader;  ///< of all of them
};
/// Puts such steps next to each other and says which they are, in the order of the program.
std::vector<AlikeSteps> group_alike_steps(Program& program, const Capabilities& device);

}  // namespace cotan::gpu
