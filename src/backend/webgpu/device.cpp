#include "backend/webgpu/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/error.hpp"

namespace cotan::webgpu {

namespace {

constexpr std::uint64_t granule = 256;  ///< what offsets of bindings and of vectors must be a multiple of
std::uint64_t rounded(std::uint64_t bytes) { return std::max<std::uint64_t>((bytes + granule - 1) / granule * granule, granule); }

constexpr const char* no_adapter =
    "[webgpu] the library {} found no GPU{}; install a Vulkan driver and libvulkan1, or for tests the software driver "
    "of Debian's chromium-common, with VK_ICD_FILENAMES naming its vk_swiftshader_icd.json.";

}  // namespace

Device::Device() {
  WGPUInstanceDescriptor descriptor{};
  instance_ = InstanceHandle(api().CreateInstance(&descriptor));
  if (!instance_) raise<DeviceError>("[webgpu] the library {} gives no instance; try another one.", api().library);
  request_adapter();
  request_device();
  queue_ = QueueHandle(api().DeviceGetQueue(device_.get()));
  Capabilities& c = capabilities_;
  c.subgroups = c.subgroups && !std::getenv("COTAN_WEBGPU_NO_SUBGROUPS") && accepts("enable subgroups;");
  if (!c.subgroups) c.subgroup_size = 0;
}

Device::~Device() {
  bind_groups_.clear();
  layouts_.clear();
  staging_.clear();
  slabs_.clear();
}

template <class Done>
void Device::wait_until(Done&& done, std::string_view what) {
  using clock = std::chrono::steady_clock;
  constexpr auto spinning = std::chrono::milliseconds(1);  // a sleep is at least a tenth of that too long
  constexpr auto patience = std::chrono::minutes(10);
  const auto start = clock::now();
  while (true) {
    process_events();
    if (done()) return;
    const auto waited = clock::now() - start;
    if (waited > patience) raise<DeviceError>("[webgpu] the device does not answer ({}); it may hang.", what);
    if (waited > spinning) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Device::request_adapter() {
  struct Answer {
    bool done = false;
    WGPUAdapter adapter = nullptr;
    std::string message;
  } answer;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView message, void* to, void*) {
    *static_cast<Answer*>(to) = {true, adapter, text(message)};
  };
  WGPURequestAdapterOptions options{};
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  api().InstanceRequestAdapter(instance_.get(), &options, callback);
  wait_until([&] { return answer.done; }, "asking for an adapter");
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
  if (const char* most = std::getenv("COTAN_WEBGPU_STORAGE_BUFFERS"))  // to test with less than the device has
    limits.maxStorageBuffersPerShaderStage =
        std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::atoi(most)), 1, limits.maxStorageBuffersPerShaderStage);
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
  want(WGPUFeatureName_ShaderF16, c.f16);
  want(WGPUFeatureName_Subgroups, c.subgroups);
  // Some builds of Dawn take this one for leave to enable subgroups in WGSL: their numbers of features are off by one.
  if (bool has = false; c.subgroups) want(WGPUFeatureName_DualSourceBlending, has);
  want(WGPUFeatureName_TimestampQuery, c.timestamps);
  want(WGPUFeatureName_ChromiumExperimentalSubgroupMatrix, c.subgroup_matrix);

  struct Answer {
    bool done = false;
    WGPUDevice device = nullptr;
    std::string message;
  } answer;
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* to, void*) {
    *static_cast<Answer*>(to) = {true, device, text(message)};
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
  // Bounds are checked by the compiler, and memory is never read before it is written.
  static constexpr const char* off[] = {"lazy_clear_resource_on_first_use"};
  static constexpr const char* on[] = {"disable_robustness"};
  WGPUDawnTogglesDescriptor toggles{};
  toggles.chain.sType = WGPUSType_DawnTogglesDescriptor;
  toggles.disabledToggles = off;
  toggles.disabledToggleCount = 1;
  toggles.enabledToggles = on;
  toggles.enabledToggleCount = 1;
  const bool safe = std::getenv("COTAN_WEBGPU_CHECKED") != nullptr;
  if (!safe) descriptor.nextInChain = &toggles.chain;
  api().AdapterRequestDevice(adapter_.get(), &descriptor, callback);
  wait_until([&] { return answer.done; }, "asking for a device");
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
    bool done = false, accepted = false;
  } answer;
  api().DevicePushErrorScope(device_.get(), WGPUErrorFilter_Validation);
  const ShaderHandle shader(api().DeviceCreateShaderModule(device_.get(), &descriptor));
  WGPUPopErrorScopeCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView, void* to, void*) {
    *static_cast<Answer*>(to) = {true, type == WGPUErrorType_NoError};
  };
  api().DevicePopErrorScope(device_.get(), callback);
  wait_until([&] { return answer.done; }, "asking what it understands");
  return answer.accepted;
}

// Memory -----------------------------------------------------------------------------------------------

BufferHandle Device::new_buffer(std::uint64_t bytes, WGPUBufferUsage usage, const char* label) {
  const std::scoped_lock lock(mutex_);
  WGPUBufferDescriptor descriptor{};
  descriptor.label = view(label);
  descriptor.size = bytes;
  descriptor.usage = usage;
  struct Answer {
    bool done = false, failed = false;
    std::string message;
  } answer;
  api().DevicePushErrorScope(device_.get(), WGPUErrorFilter_OutOfMemory);
  BufferHandle buffer(api().DeviceCreateBuffer(device_.get(), &descriptor));
  WGPUPopErrorScopeCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* to, void*) {
    *static_cast<Answer*>(to) = {true, type != WGPUErrorType_NoError, text(message)};
  };
  api().DevicePopErrorScope(device_.get(), callback);
  wait_until([&] { return answer.done; }, "allocating");
  check("allocating");
  if (answer.failed || !buffer)
    raise<OutOfMemoryError>("[webgpu] the device '{}' has no room for {} bytes ({}); free arrays or work in smaller pieces.",
                            capabilities_.name, bytes, answer.message);
  return buffer;
}

void Device::add_slab(std::uint64_t bytes) {
  // Few and large: what is in one block needs one binding. Twice as large each time.
  std::uint64_t size = capabilities_.software ? 64u << 20 : 1u << 30;
  if (const char* megabytes = std::getenv("COTAN_WEBGPU_SLAB_MB"))
    size = static_cast<std::uint64_t>(std::max(1, std::atoi(megabytes))) << 20;
  for (std::size_t k = 0; k < slabs_.size() && k < 8; ++k) size *= 2;
  const std::uint64_t most = std::min(capabilities_.binding_bytes, capabilities_.buffer_bytes);
  size = std::min(std::max(size, bytes), most);
  if (bytes > most)
    raise<OutOfMemoryError>(
        "[webgpu] an array of {} bytes is larger than what '{}' can bind ({} bytes); work in smaller pieces.", bytes,
        capabilities_.name, most);
  const auto usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst | WGPUBufferUsage_Indirect;
  BufferHandle buffer;
  while (true) {
    try {
      buffer = new_buffer(size, usage, "cotan memory");
      break;
    } catch (const OutOfMemoryError&) {  // less will do
      if (size / 2 < bytes) throw;
      size = rounded(size / 2);
    }
  }
  auto slab = std::make_unique<Slab>(Slab{std::move(buffer), size, {}});
  slab->free.emplace(0, size);
  slabs_.push_back(std::move(slab));
  counts_.slabs++;
  counts_.slab_bytes += size;
}

bool Device::take(Slab& slab, std::uint64_t bytes, Range& out) {
  // The smallest hole that is large enough: large ones stay.
  auto best = slab.free.end();
  for (auto at = slab.free.begin(); at != slab.free.end(); ++at)
    if (at->second >= bytes && (best == slab.free.end() || at->second < best->second)) best = at;
  if (best == slab.free.end()) return false;
  const auto [offset, size] = *best;
  slab.free.erase(best);
  if (size > bytes) slab.free.emplace(offset + bytes, size - bytes);
  out.offset = offset;
  out.bytes = bytes;
  return true;
}

Range Device::allocate(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  check("allocating");
  bytes = rounded(bytes);
  Range out;
  for (std::size_t k = 0; k < slabs_.size(); ++k)
    if (take(*slabs_[k], bytes, out)) {
      out.slab = static_cast<int>(k);
      counts_.used_bytes += bytes;
      return out;
    }
  add_slab(bytes);
  take(*slabs_.back(), bytes, out);
  out.slab = static_cast<int>(slabs_.size()) - 1;
  counts_.used_bytes += bytes;
  return out;
}

void Device::release(const Range& range) noexcept {
  const std::scoped_lock lock(mutex_);
  auto& free = slabs_[static_cast<std::size_t>(range.slab)]->free;
  counts_.used_bytes -= range.bytes;
  auto [at, added] = free.emplace(range.offset, range.bytes);
  if (const auto next = std::next(at); next != free.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free.erase(next);
  }
  if (at != free.begin())
    if (const auto before = std::prev(at); before->first + before->second == at->first) {
      before->second += at->second;
      free.erase(at);
    }
}

WGPUBuffer Device::slab(int number) const { return slabs_[static_cast<std::size_t>(number)]->buffer.get(); }

void Device::write(const Range& range, const void* data, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0) return;
  counts_.uploads++;
  api().QueueWriteBuffer(queue_.get(), slab(range.slab), range.offset, data, bytes);
  check("writing to the device");
}

void Device::read(const Range& range, void* data, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0) return;
  const std::uint64_t size = rounded(bytes);
  Staging staging{};
  for (auto at = staging_.begin(); at != staging_.end(); ++at)
    if (at->bytes >= size && at->bytes <= 4 * size) {
      staging = std::move(*at);
      staging_.erase(at);
      break;
    }
  if (!staging.buffer)
    staging = {new_buffer(size, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, "cotan readback"), size};
  EncoderHandle encoder(api().DeviceCreateCommandEncoder(device_.get(), nullptr));
  api().CommandEncoderCopyBufferToBuffer(encoder.get(), slab(range.slab), range.offset, staging.buffer.get(), 0,
                                         (bytes + 3) / 4 * 4);
  submit(std::move(encoder), 0);
  counts_.readbacks++;
  struct Answer {
    bool done = false, failed = false;
    std::string message;
  } answer;
  WGPUBufferMapCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* to, void*) {
    *static_cast<Answer*>(to) = {true, status != WGPUMapAsyncStatus_Success, text(message)};
  };
  api().BufferMapAsync(staging.buffer.get(), WGPUMapMode_Read, 0, size, callback);
  wait_until([&] { return answer.done; }, "reading from the device");
  check("reading from the device");
  if (answer.failed)
    raise<DeviceError>("[webgpu] reading from '{}' failed: {}; see whether the driver has reset it.",
                       capabilities_.name, answer.message);
  std::memcpy(data, api().BufferGetConstMappedRange(staging.buffer.get(), 0, size), bytes);
  api().BufferUnmap(staging.buffer.get());
  constexpr std::size_t most_kept = 4;
  constexpr std::uint64_t largest_kept = 16u << 20;
  if (staging_.size() < most_kept && staging.bytes <= largest_kept) staging_.push_back(std::move(staging));
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
    const std::scoped_lock lock(mutex_);
    wait_until([&] { return pipeline.done.load(); }, "compiling a shader");
  }
  if (!pipeline.handle) {
    std::string why;
    {
      const std::scoped_lock lock(mutex_);
      why = std::exchange(error_, {});
    }
    raise<CompileError>("[webgpu] a shader could not be compiled: {}{}; this is a bug in cotan.\n{}", why, pipeline.error,
                        wgsl);
  }
  return pipeline.handle.get();
}

void Device::write_parameters(const void* data, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > parameter_bytes_) {
    const std::uint64_t size = std::max<std::uint64_t>(2 * parameter_bytes_, std::max<std::uint64_t>(rounded(bytes), 1 << 16));
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
  const std::scoped_lock lock(mutex_);
  if (slabs_.empty() || !busy_) return;
  std::uint32_t word = 0;  // the queue runs in order: when this is here, all that was before is done
  read({0, 0, granule}, &word, sizeof(word));
  busy_ = false;
}

void Device::lose() {
  const std::scoped_lock lock(mutex_);
  api().DeviceDestroy(device_.get());
  wait_until([&] { return lost_.load(); }, "losing the device");
}

void Device::check(std::string_view doing) {
  if (lost_)
    raise<DeviceError>(
        "[webgpu] the device '{}' was lost while {} ({}); arrays whose elements only it had are gone, and the next use of "
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

std::shared_ptr<Device> device() {
  static std::mutex mutex;
  static std::shared_ptr<Device>& current = *new std::shared_ptr<Device>;
  const std::scoped_lock lock(mutex);
  if (!current || current->lost()) {
    current = nullptr;
    current = std::make_shared<Device>();
  }
  return current;
}

}  // namespace cotan::webgpu
