#include "backend/webgpu/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "backend/webgpu/features.hpp"
#include "backend/webgpu/pipeline_cache.hpp"
#include "backend/webgpu/readback.hpp"
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
  c.subgroups = c.subgroups && !environment::is_on("COTAN_WEBGPU_NO_SUBGROUPS") && accepts("enable subgroups;");
  if (!c.subgroups) c.subgroup_size = 0;
}

Device::~Device() {
  timeline_ = nullptr;
  bind_groups_.clear();
  layouts_.clear();
  staging_.clear();
  slabs_.clear();
}

void Device::poll() {
  const std::scoped_lock lock(mutex_);
  process_events();
}

void Device::wait_for(const std::function<bool()>& done, std::string_view what) {
  using clock = std::chrono::steady_clock;
  constexpr auto spinning = std::chrono::milliseconds(1);  // a sleep is at least a tenth of that too long
  constexpr auto patience = std::chrono::minutes(10);
  const auto start = clock::now();
  while (true) {
    if (done()) return;
    poll();
    if (done()) return;
    const auto waited = clock::now() - start;
    if (waited > patience) raise<DeviceError>("[webgpu] the device does not answer ({}); it may hang.", what);
    if (waited > spinning) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
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

void Device::request_device() {
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

  std::vector<WGPUFeatureName> features;
  const auto want = [&](WGPUFeatureName feature, bool& has) {
    has = api().AdapterHasFeature(adapter_.get(), feature);
    if (has) features.push_back(feature);
  };
  const FeatureNumbers& numbers = feature_numbers(instance_);
  want(numbers.f16, c.f16);
  want(numbers.subgroups, c.subgroups);
  if (!environment::is_on("COTAN_WEBGPU_NO_TIMESTAMPS")) want(numbers.timestamps, c.timestamps);  // to test without

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
  if (c.software) off.push_back("use_vulkan_zero_initialize_workgroup_memory_extension");
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

// Work -------------------------------------------------------------------------------------------------

Device::Layout& Device::layout(int slabs) {
  const auto at = layouts_.find(slabs);
  if (at != layouts_.end()) return at->second;
  std::vector<WGPUBindGroupLayoutEntry> entries;
  for (int k = 0; k <= slabs; ++k) {
    WGPUBindGroupLayoutEntry entry{};
    entry.binding = static_cast<std::uint32_t>(k);
    entry.visibility = WGPUShaderStage_Compute;
    entry.buffer.type = k == 0 ? WGPUBufferBindingType_Uniform : WGPUBufferBindingType_Storage;
    entry.buffer.hasDynamicOffset = k == 0;
    entries.push_back(entry);
  }
  WGPUBindGroupLayoutDescriptor group{};
  group.entries = entries.data();
  group.entryCount = entries.size();
  Layout out;
  out.group = BindGroupLayoutHandle(api().DeviceCreateBindGroupLayout(device_.get(), &group));
  WGPUPipelineLayoutDescriptor pipeline{};
  const WGPUBindGroupLayout groups[] = {out.group.get()};
  pipeline.bindGroupLayouts = groups;
  pipeline.bindGroupLayoutCount = 1;
  out.pipeline = PipelineLayoutHandle(api().DeviceCreatePipelineLayout(device_.get(), &pipeline));
  return layouts_.emplace(slabs, std::move(out)).first->second;
}

std::shared_ptr<Device::Pipeline> Device::compile(const std::string& wgsl, int slabs, const std::string& label) {
  const std::scoped_lock lock(mutex_);
  check("compiling");
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(wgsl);
  WGPUShaderModuleDescriptor module{};
  module.nextInChain = &source.chain;
  module.label = view(label);
  const ShaderHandle shader(api().DeviceCreateShaderModule(device_.get(), &module));
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view(label);
  descriptor.layout = layout(slabs).pipeline.get();
  descriptor.compute.module = shader.get();
  descriptor.compute.entryPoint = view("main");
  auto out = std::make_shared<Pipeline>();
  WGPUCreateComputePipelineAsyncCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = new std::shared_ptr<Pipeline>(out);
  callback.callback = [](WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline pipeline, WGPUStringView message,
                         void* to, void*) {
    const std::unique_ptr<std::shared_ptr<Pipeline>> made(static_cast<std::shared_ptr<Pipeline>*>(to));
    if (status == WGPUCreatePipelineAsyncStatus_Success)
      (*made)->handle = PipelineHandle(pipeline);
    else
      (*made)->error = text(message);
    (*made)->done = true;
  };
  api().DeviceCreateComputePipelineAsync(device_.get(), &descriptor, callback);
  counts_.pipelines++;
  return out;
}

WGPUComputePipeline Device::wait(const Pipeline& pipeline, const std::string& wgsl) {
  if (!pipeline.done) {
    const recorder::Span span("compile", "wait for a shader");
    const std::scoped_lock lock(mutex_);
    wait_for([&] { return pipeline.done.load(); }, "compiling a shader");
  }
  if (!pipeline.handle) {
    std::string why;
    {
      const std::scoped_lock lock(mutex_);
      why = std::exchange(error_, {});
    }
    raise<CompileError>("[webgpu] a shader could not be compiled: {}{}; this is a bug in cotan.\n{}", why,
                        pipeline.error, wgsl);
  }
  return pipeline.handle.get();
}

void Device::write_parameters(const void* data, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > parameter_bytes_) {
    const std::uint64_t size =
        std::max<std::uint64_t>(2 * parameter_bytes_, std::max<std::uint64_t>(whole_granules(bytes), 1 << 16));
    parameters_ = new_buffer(size, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, "cotan parameters");
    parameter_bytes_ = size;
    bind_groups_.clear();
  }
  api().QueueWriteBuffer(queue_.get(), parameters_.get(), 0, data, bytes);
}

WGPUBindGroup Device::bind_group(const std::vector<int>& slabs, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  BindGroupHandle& known = bind_groups_[{bytes, slabs}];
  if (known) return known.get();
  std::vector<WGPUBindGroupEntry> entries;
  WGPUBindGroupEntry entry{};
  entry.binding = 0;
  entry.buffer = parameters_.get();
  entry.size = bytes;
  entries.push_back(entry);
  for (std::size_t k = 0; k < slabs.size(); ++k) {
    entry.binding = static_cast<std::uint32_t>(k + 1);
    entry.buffer = slab(slabs[k]);
    entry.size = slabs_[static_cast<std::size_t>(slabs[k])]->bytes;
    entries.push_back(entry);
  }
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = layout(static_cast<int>(slabs.size())).group.get();
  descriptor.entries = entries.data();
  descriptor.entryCount = entries.size();
  known = BindGroupHandle(api().DeviceCreateBindGroup(device_.get(), &descriptor));
  return known.get();
}

void Device::submit(EncoderHandle encoder, std::uint64_t dispatches) {
  const std::scoped_lock lock(mutex_);
  const CommandsHandle commands(api().CommandEncoderFinish(encoder.get(), nullptr));
  const WGPUCommandBuffer list[] = {commands.get()};
  api().QueueSubmit(queue_.get(), 1, list);
  counts_.submissions++;
  busy_ = true;
  counts_.dispatches += dispatches;
  process_events();
  check("running a program");
}

void Device::synchronize() {
  std::unique_lock lock(mutex_);
  if (slabs_.empty() || !busy_) return;
  const std::uint64_t before = counts_.submissions;
  lock.unlock();
  std::uint32_t word = 0;  // the queue runs in order: when this is here, all that was before is done
  read({0, 0, granule}, &word, sizeof(word));
  lock.lock();
  if (counts_.submissions == before + 1) busy_ = false;  // none but the one that read
}

bool Device::is_done(std::uint64_t submissions) {
  const std::scoped_lock lock(mutex_);
  if (*done_ >= submissions) return true;
  if (asked_ < submissions) {
    struct Question {
      std::shared_ptr<std::atomic<std::uint64_t>> done;
      std::uint64_t submissions;
    };
    asked_ = counts_.submissions;
    WGPUQueueWorkDoneCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.userdata1 = new Question{done_, asked_};
    callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* from, void*) {
      const std::unique_ptr<Question> question(static_cast<Question*>(from));
      *question->done = std::max(question->done->load(), question->submissions);
    };
    api().QueueOnSubmittedWorkDone(queue_.get(), callback);
  }
  process_events();
  return *done_ >= submissions;
}

Timeline& Device::timeline() {
  const std::scoped_lock lock(mutex_);
  if (!timeline_) timeline_ = std::make_unique<Timeline>(*this);
  return *timeline_;
}

void Device::lose() {
  const std::scoped_lock lock(mutex_);
  api().DeviceDestroy(device_.get());
  wait_for([&] { return lost_.load(); }, "losing the device");
}

void Device::check(std::string_view doing) {
  if (lost_)
    raise<DeviceError>(
        "[webgpu] the device '{}' was lost while {} ({}); arrays whose elements only it had are gone, and the next use "
        "of "
        "\"webgpu\" starts a new one.",
        capabilities_.name, doing, lost_reason_);
  if (error_.empty()) return;
  const std::string error = std::exchange(error_, {});
  raise<DeviceError>("[webgpu] the device '{}' reports an error while {}: {}", capabilities_.name, doing, error);
}

DeviceCounts Device::counts() const {
  const std::scoped_lock lock(const_cast<std::recursive_mutex&>(mutex_));
  return counts_;
}

namespace {
struct InUse {
  std::mutex mutex;
  std::shared_ptr<Device> device;
};
InUse& in_use() {
  static InUse& i = *new InUse;
  return i;
}

/// At the end of a process drivers are taken down whether they have work or not, and crash where they have.
void finish_work_at_exit() {
  const auto d = current_device();
  if (!d || d->lost()) return;
  constexpr auto patience = std::chrono::seconds(10);
  const auto end = std::chrono::steady_clock::now() + patience;
  const std::uint64_t all = d->submissions();
  while (!d->is_done(all) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}
}  // namespace

std::shared_ptr<Device> device() {
  InUse& i = in_use();
  const std::scoped_lock lock(i.mutex);
  if (!i.device || i.device->lost()) {
    i.device = nullptr;
    i.device = std::make_shared<Device>();
    // After the driver was loaded, so that this runs before it is gone.
    static const bool registered = std::atexit(finish_work_at_exit) == 0;
    (void)registered;
  }
  return i.device;
}
std::shared_ptr<Device> current_device() {
  InUse& i = in_use();
  const std::scoped_lock lock(i.mutex);
  return i.device;
}

}  // namespace cotan::webgpu
