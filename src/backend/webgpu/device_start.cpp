// How a device is found and asked for: the adapter, all that it offers, and what Dawn is told besides.
#include <algorithm>
#include <thread>

#include "backend/gpu/wgsl/wgsl.hpp"
#include "backend/webgpu/device.hpp"
#include "backend/webgpu/features.hpp"
#include "backend/webgpu/pipeline_cache.hpp"
#include "backend/webgpu/timeline.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"

namespace cotan::webgpu {

namespace {

constexpr const char* no_adapter =
    "[webgpu] the library {} found no GPU{}; install a Vulkan driver and libvulkan1, or for tests the software driver "
    "of Debian's chromium-common, with VK_ICD_FILENAMES naming its vk_swiftshader_icd.json.";

/// One for all devices, and never released: drivers that are taken down and loaded again crash at the end of the
/// process.
WGPUInstance the_instance() {
  static const WGPUInstance instance = [] {
    const WGPUInstanceDescriptor descriptor{};
    const WGPUInstance made = api().CreateInstance(&descriptor);
    if (!made) raise<DeviceError>("[webgpu] the library {} gives no instance; try another one.", api().library);
    return made;
  }();
  return instance;
}

/// To test with less than the device has: with what every WebGPU guarantees, or with less of one thing.
void shrink(WGPULimits& limits) {
  const auto lower = [](auto& limit, std::uint64_t most) {
    limit = static_cast<std::remove_reference_t<decltype(limit)>>(std::min<std::uint64_t>(limit, most));
  };
  if (environment::is_on("COTAN_WEBGPU_MINIMUM_LIMITS")) {
    lower(limits.maxStorageBuffersPerShaderStage, 8);
    lower(limits.maxStorageBufferBindingSize, 128u << 20);
    lower(limits.maxUniformBufferBindingSize, 64u << 10);
    lower(limits.maxBufferSize, 256u << 20);
    lower(limits.maxComputeWorkgroupStorageSize, 16u << 10);
    lower(limits.maxComputeInvocationsPerWorkgroup, 256);
    lower(limits.maxComputeWorkgroupSizeX, 256);
    lower(limits.maxComputeWorkgroupSizeY, 256);
    lower(limits.maxComputeWorkgroupSizeZ, 64);
    lower(limits.maxComputeWorkgroupsPerDimension, 65535);
    limits.minUniformBufferOffsetAlignment = std::max(limits.minUniformBufferOffsetAlignment, 256u);
    limits.minStorageBufferOffsetAlignment = std::max(limits.minStorageBufferOffsetAlignment, 256u);
  }
  const auto lower_to = [&](auto& limit, const char* variable) {
    if (const auto most = environment::number(variable)) lower(limit, static_cast<std::uint64_t>(*most));
  };
  lower_to(limits.maxStorageBuffersPerShaderStage, "COTAN_WEBGPU_STORAGE_BUFFERS");
  lower_to(limits.maxStorageBufferBindingSize, "COTAN_WEBGPU_BINDING_BYTES");
  lower_to(limits.maxComputeWorkgroupStorageSize, "COTAN_WEBGPU_GROUP_BYTES");
}

}  // namespace

Device::Device() : instance_(the_instance()) {
  const recorder::Span span("start", "device webgpu");
  request_adapter();
  request_device();
  queue_ = QueueHandle(api().DeviceGetQueue(device_.get()));
  Capabilities& c = capabilities_;
  c.dialect = &gpu::wgsl();
  c.subgroups = c.subgroups && !environment::is_on("COTAN_WEBGPU_NO_SUBGROUPS") && accepts("enable subgroups;");
  if (!c.subgroups) c.subgroup_size = 0;
}

void Device::request_adapter() {
  struct Answer {
    std::atomic<bool> done = false;
    WGPUAdapter adapter = nullptr;
    std::string message;
  } answer;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView message, void* to, void*) {
    Answer& answer = *static_cast<Answer*>(to);
    answer.adapter = adapter;
    answer.message = text(message);
    answer.done = true;
  };
  WGPURequestAdapterOptions options{};
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  api().InstanceRequestAdapter(instance_, &options, callback);
  wait_for([&] { return answer.done.load(); }, "asking for an adapter");
  if (!answer.adapter)
    raise<DeviceError>(no_adapter, api().library, answer.message.empty() ? "" : " (" + answer.message + ")");
  adapter_ = AdapterHandle(answer.adapter);

  WGPUAdapterInfo info{};
  api().AdapterGetInfo(adapter_.get(), &info);
  capabilities_.name = text(info.device);
  capabilities_.vendor = text(info.vendor);
  capabilities_.driver = text(info.description);
  capabilities_.software = info.adapterType == WGPUAdapterType_CPU;
  capabilities_.fused_fma = !capabilities_.software;
  if (info.subgroupMinSize == info.subgroupMaxSize) capabilities_.subgroup_size = info.subgroupMinSize;
  const bool null = info.backendType == WGPUBackendType_Null || info.backendType == WGPUBackendType_Undefined;
  api().AdapterInfoFreeMembers(info);
  // Dawn's last resort computes nothing.
  if (null) raise<DeviceError>(no_adapter, api().library, "");
}

/// What the adapter offers is what the device is asked for, and what the capabilities say.
WGPULimits Device::choose_limits() {
  // Room for libraries whose header has more limits than ours.
  struct {
    WGPULimits limits{};
    char more[256]{};
  } offered;
  api().AdapterGetLimits(adapter_.get(), &offered.limits);
  WGPULimits limits = offered.limits;
  limits.nextInChain = nullptr;
  shrink(limits);
  Capabilities& c = capabilities_;
  c.storage_buffers = limits.maxStorageBuffersPerShaderStage;
  c.workgroup_bytes = limits.maxComputeWorkgroupStorageSize;
  c.workgroup_threads = std::min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX);
  c.groups = limits.maxComputeWorkgroupsPerDimension;
  c.uniform_alignment = limits.minUniformBufferOffsetAlignment;
  c.uniform_bytes = limits.maxUniformBufferBindingSize;
  c.binding_bytes = limits.maxStorageBufferBindingSize / granule * granule;
  c.buffer_bytes = limits.maxBufferSize;
  return limits;
}

std::vector<WGPUFeatureName> Device::choose_features() {
  Capabilities& c = capabilities_;
  std::vector<WGPUFeatureName> features;
  const auto want = [&](WGPUFeatureName feature, bool& has) {
    has = api().AdapterHasFeature(adapter_.get(), feature);
    if (has) features.push_back(feature);
  };
  const FeatureNumbers& numbers = feature_numbers(instance_);
  want(numbers.f16, c.f16);
  want(numbers.subgroups, c.subgroups);
  if (!environment::is_on("COTAN_WEBGPU_NO_TIMESTAMPS")) want(numbers.timestamps, c.timestamps);  // to test without
  return features;
}

void Device::request_device() {
  const WGPULimits limits = choose_limits();
  const std::vector<WGPUFeatureName> features = choose_features();
  struct Answer {
    std::atomic<bool> done = false;
    WGPUDevice device = nullptr;
    std::string message;
  } answer;
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* to, void*) {
    Answer& answer = *static_cast<Answer*>(to);
    answer.device = device;
    answer.message = text(message);
    answer.done = true;
  };
  WGPUDeviceDescriptor descriptor{};
  descriptor.label = view("cotan");
  descriptor.requiredFeatures = features.data();
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredLimits = &limits;
  descriptor.uncapturedErrorCallbackInfo.userdata1 = this;
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType, WGPUStringView message,
                                                       void* to, void*) {
    Device& device = *static_cast<Device*>(to);
    if (device.error_.empty()) device.error_ = text(message);
  };
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.userdata1 = this;
  descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason reason,
                                                  WGPUStringView message, void* to, void*) {
    if (reason == WGPUDeviceLostReason_CallbackCancelled) return;  // it is being released
    Device& device = *static_cast<Device*>(to);
    device.lost_reason_ = text(message);
    device.lost_ = true;
  };
  const bool safe = environment::is_on("COTAN_WEBGPU_CHECKED");
  // Times are for the one who asks.
  std::vector<const char*> on, off{"timestamp_quantization"};
  if (!safe) {
    // Bounds are checked by the compiler, and memory is never read before it is written.
    on.push_back("disable_robustness");
    off.push_back("lazy_clear_resource_on_first_use");
  }
  // SwiftShader takes a zero for all that a group shares as a store per element, and compiles each of them: a second
  // for a product's tiles. Without the extension it is a loop.
  if (capabilities_.software) off.push_back("use_vulkan_zero_initialize_workgroup_memory_extension");
  WGPUDawnTogglesDescriptor toggles{};
  toggles.chain.sType = WGPUSType_DawnTogglesDescriptor;
  toggles.disabledToggles = off.data();
  toggles.disabledToggleCount = off.size();
  toggles.enabledToggles = on.data();
  toggles.enabledToggleCount = on.size();
  if (api().is_dawn) {
    descriptor.nextInChain = &toggles.chain;
    toggles.chain.next = pipeline_cache_descriptor();
  }
  api().AdapterRequestDevice(adapter_.get(), &descriptor, callback);
  wait_for([&] { return answer.done.load(); }, "asking for a device");
  if (!answer.device)
    raise<DeviceError>("[webgpu] the adapter '{}' gives no device: {}; try another driver.", capabilities_.name,
                       answer.message);
  device_ = DeviceHandle(answer.device);
}

bool Device::accepts(std::string_view directive) {
  const std::string text = fmt::format("{}\n@compute @workgroup_size(1) fn main() {{}}\n", directive);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(text);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  struct Answer {
    std::atomic<bool> done = false;
    bool accepted = false;
  } answer;
  api().DevicePushErrorScope(device_.get(), WGPUErrorFilter_Validation);
  const ShaderHandle shader(api().DeviceCreateShaderModule(device_.get(), &descriptor));
  WGPUPopErrorScopeCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView, void* to, void*) {
    Answer& answer = *static_cast<Answer*>(to);
    answer.accepted = type == WGPUErrorType_NoError;
    answer.done = true;
  };
  api().DevicePopErrorScope(device_.get(), callback);
  wait_for([&] { return answer.done.load(); }, "asking what it understands");
  return answer.accepted;
}

}  // namespace cotan::webgpu
