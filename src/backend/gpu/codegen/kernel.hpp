// Kernels as shaders: a fused loop nest by a grid of threads, by one group of threads, or by a single thread.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

using compiler::Kernel;

/// Elements of the kept and of the reduced loops.
std::int64_t kept_count(const Kernel& kernel);
std::int64_t reduced_count(const Kernel& kernel);

/// A dispatch of its own.
Shader kernel_shader(Program& program, const Kernel& kernel, const Surroundings& around, const Capabilities& device);

/// Who runs a kernel inside a larger shader: all threads of a group, or the one thread that is there.
struct Team {
  std::uint32_t threads = 1;
};
/// Writes the kernel into a shader. Threads may leave it at different times: who reads what it wrote waits.
void write_kernel(ShaderBuilder& shader, const Kernel& kernel, const Team& team);

}  // namespace cotan::gpu
