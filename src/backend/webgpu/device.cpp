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
