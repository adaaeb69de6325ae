#include "backend/webgpu/pipelines.hpp"

namespace cotan::webgpu {

std::shared_ptr<const CompiledShader> find_pipeline(Device& device, const Shader& shader,
                                                    const std::vector<int>& blocks) {
  const std::scoped_lock lock(device.mutex());
  auto& known = device.shaders[{shader.text, blocks}];
  if (auto compiled = std::static_pointer_cast<const CompiledShader>(known)) return compiled;
  auto compiled = std::make_shared<CompiledShader>();
  compiled->text = gpu::with_blocks(shader, blocks, *device.capabilities().dialect);
  int count = 0;
  for (int b : blocks) count = std::max(count, b + 1);
  compiled->pipeline = device.compile(compiled->text, count, shader.name);
  known = compiled;
  return compiled;
}

WGPUComputePipeline wait_for(Device& device, const CompiledShader& shader) {
  return device.wait(*shader.pipeline, shader.text);
}

}  // namespace cotan::webgpu
