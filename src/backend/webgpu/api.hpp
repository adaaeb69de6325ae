// The functions of webgpu.h, from a library that is loaded at run time, and handles that release themselves.
#pragma once
#include <string>
#include <utility>

// The declarations are only needed for their types: nothing is linked.
#include <webgpu.h>

namespace cotan::webgpu {

// What cotan calls; all of it is in the standard header.
// clang-format off
#define COTAN_WEBGPU_FUNCTIONS(X) \
  X(CreateInstance) X(InstanceRequestAdapter) X(InstanceProcessEvents) X(InstanceRelease) X(AdapterGetInfo) \
  X(AdapterInfoFreeMembers) X(AdapterGetLimits) X(AdapterHasFeature) X(AdapterRequestDevice) X(AdapterRelease) \
  X(DeviceGetQueue) X(DeviceCreateBuffer) X(DeviceCreateShaderModule) X(DeviceCreateBindGroupLayout) \
  X(DeviceCreatePipelineLayout) X(DeviceCreateComputePipelineAsync) X(DeviceCreateBindGroup) \
  X(DeviceCreateCommandEncoder) X(DeviceCreateQuerySet) X(DevicePushErrorScope) X(DevicePopErrorScope) \
  X(DeviceHasFeature) X(DeviceDestroy) X(DeviceRelease) X(CommandEncoderBeginComputePass) \
  X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderResolveQuerySet) X(CommandEncoderFinish) \
  X(CommandEncoderRelease) X(CommandBufferRelease) X(ComputePassEncoderSetPipeline) \
  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderDispatchWorkgroups) \
  X(ComputePassEncoderDispatchWorkgroupsIndirect) X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) \
  X(QueueSubmit) X(QueueWriteBuffer) X(QueueOnSubmittedWorkDone) X(QueueRelease) X(BufferMapAsync) \
  X(BufferGetConstMappedRange) X(BufferUnmap) X(BufferDestroy) X(BufferRelease) X(ShaderModuleRelease) \
  X(BindGroupLayoutRelease) X(PipelineLayoutRelease) X(ComputePipelineRelease) X(BindGroupRelease) \
  X(QuerySetRelease)
// clang-format on

struct Api {
#define COTAN_WEBGPU_MEMBER(name) decltype(&::wgpu##name) name = nullptr;
  COTAN_WEBGPU_FUNCTIONS(COTAN_WEBGPU_MEMBER)
#undef COTAN_WEBGPU_MEMBER
  std::string library;   ///< the file it came from
  bool is_dawn = false;  ///< and not another implementation, which would not know Dawn's own extensions
};
/// Loads the library on first use; raises DeviceError where there is none: COTAN_WEBGPU_LIBRARY, then the names that
/// systems give it, then what tools/setup.sh fetched.
const Api& api();

/// Owns one reference. `release` is a member of Api.
template <class T, auto release>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_) (api().*release)(raw_);
  }
  T get() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }

 private:
  T raw_ = nullptr;
};
using InstanceHandle = Handle<WGPUInstance, &Api::InstanceRelease>;
using AdapterHandle = Handle<WGPUAdapter, &Api::AdapterRelease>;
using DeviceHandle = Handle<WGPUDevice, &Api::DeviceRelease>;
using QueueHandle = Handle<WGPUQueue, &Api::QueueRelease>;
using BufferHandle = Handle<WGPUBuffer, &Api::BufferRelease>;
using ShaderHandle = Handle<WGPUShaderModule, &Api::ShaderModuleRelease>;
using BindGroupLayoutHandle = Handle<WGPUBindGroupLayout, &Api::BindGroupLayoutRelease>;
using PipelineLayoutHandle = Handle<WGPUPipelineLayout, &Api::PipelineLayoutRelease>;
using PipelineHandle = Handle<WGPUComputePipeline, &Api::ComputePipelineRelease>;
using BindGroupHandle = Handle<WGPUBindGroup, &Api::BindGroupRelease>;
using EncoderHandle = Handle<WGPUCommandEncoder, &Api::CommandEncoderRelease>;
using CommandsHandle = Handle<WGPUCommandBuffer, &Api::CommandBufferRelease>;
using PassHandle = Handle<WGPUComputePassEncoder, &Api::ComputePassEncoderRelease>;
using QuerySetHandle = Handle<WGPUQuerySet, &Api::QuerySetRelease>;

inline WGPUStringView view(std::string_view s) { return {s.data(), s.size()}; }
inline std::string text(WGPUStringView s) {
  if (!s.data) return {};
  return s.length == WGPU_STRLEN ? std::string(s.data) : std::string(s.data, s.length);
}

}  // namespace cotan::webgpu
