// Tiles: a kernel that reads along another axis than it writes goes through squares of both, which a group of threads
// reads along the one and writes along the other.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

/// The kernel in tiles; nothing where all of its reads are along the axis that it writes along, or where it is small.
std::optional<Shader> tiled_shader(Program& program, const compiler::Kernel& kernel, const Surroundings& around,
                                   const Capabilities& device);

}  // namespace cotan::gpu
