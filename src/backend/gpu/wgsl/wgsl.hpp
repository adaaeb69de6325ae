// WGSL, the language of WebGPU's shaders.
#pragma once
#include "backend/gpu/dialect.hpp"

namespace cotan::gpu {

const Dialect& wgsl();

}  // namespace cotan::gpu
