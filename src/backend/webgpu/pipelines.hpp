// Compiled shaders of a device, by their text: layers of a network share what is the same in them.
#pragma once
#include "backend/gpu/codegen/shader.hpp"
#include "backend/webgpu/device.hpp"

namespace cotan::webgpu {

using gpu::Shader;

struct CompiledShader {
  std::string text;
  std::shared_ptr<Device::Pipeline> pipeline;
};
/// Starts to compile the shader with its slots in these blocks of memory, or finds it.
std::shared_ptr<const CompiledShader> find_pipeline(Device& device, const Shader& shader,
                                                    const std::vector<int>& blocks);
WGPUComputePipeline wait_for(Device& device, const CompiledShader& shader);

}  // namespace cotan::webgpu
