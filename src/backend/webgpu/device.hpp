// Device: an adapter's queue and memory. One at a time; a lost one is replaced by a new one on next use.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/gpu/capabilities.hpp"
#include "backend/webgpu/api.hpp"

namespace cotan::webgpu {

using gpu::Capabilities;
using gpu::granule;
using gpu::Range;
using gpu::whole_granules;

/// Counts since the device was made.
struct DeviceCounts {
  std::uint64_t submissions = 0, dispatches = 0, pipelines = 0, readbacks = 0, uploads = 0;
  std::uint64_t slabs = 0, slab_bytes = 0, used_bytes = 0;
};

class Timeline;

class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;

  const Capabilities& capabilities() const { return capabilities_; }
  DeviceCounts counts() const;

  // Memory. What is released may be given out again at once: the queue runs what uses it in order.
  Range allocate(std::uint64_t bytes);
  void release(const Range& range) noexcept;
  WGPUBuffer slab(int number) const;
  void write(const Range& range, const void* data, std::uint64_t bytes);
  /// Waits for everything that was handed in before, then for the bytes (readback.hpp).
  void read(const Range& range, void* data, std::uint64_t bytes);
  /// Memory that the host can map, with room for so many bytes; some of it is kept when it comes back.
  struct Staging {
    BufferHandle buffer;
    std::uint64_t bytes = 0;
  };
  Staging take_staging(std::uint64_t bytes);
  void give_staging(Staging staging);
  void count_readback() { counts_.readbacks++; }

  // Code. Pipelines are made in the background until somebody waits for them.
  struct Pipeline {
    PipelineHandle handle;
    std::string error;
    std::atomic<bool> done{false};
  };
  /// `slabs`: how many blocks of memory the shader binds, after the uniform parameters.
  std::shared_ptr<Pipeline> compile(const std::string& wgsl, int slabs, const std::string& label);
  /// Raises what went wrong.
  WGPUComputePipeline wait(const Pipeline& pipeline, const std::string& wgsl);
  /// The bind group of these slabs after `bytes` of parameters, which are at a dynamic offset.
  WGPUBindGroup bind_group(const std::vector<int>& slabs, std::uint64_t bytes);
  /// Parameters of the dispatches that are handed in next.
  void write_parameters(const void* data, std::uint64_t bytes);

  BufferHandle new_buffer(std::uint64_t bytes, WGPUBufferUsage usage, const char* label);
  WGPUDevice raw() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }
  /// Hands in work. Raises where the device has found something wrong with it.
  void submit(EncoderHandle encoder, std::uint64_t dispatches);
  /// Until everything that was handed in is done.
  void synchronize();
  /// How many submissions there were, and whether the first so many of them are done, without waiting.
  std::uint64_t submissions() const { return counts().submissions; }
  bool is_done(std::uint64_t submissions);
  /// Calls back those whose wishes are fulfilled.
  void poll();
  /// Until done() says so. Others may use the device meanwhile, as far as the caller does not hold its lock.
  void wait_for(const std::function<bool()>& done, std::string_view what);

  /// Times of dispatches, for profiles.
  Timeline& timeline();

  /// Compiled shaders (pipelines.hpp), by text and blocks.
  std::map<std::pair<std::string, std::vector<int>>, std::shared_ptr<const void>> shaders;

  bool lost() const { return lost_; }
  /// As a driver would: for tests.
  void lose();
  /// Raises if there was an error or if the device is lost.
  void check(std::string_view doing);
  /// Everything that touches the device is done under this lock.
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  struct Slab {
    BufferHandle buffer;
    std::uint64_t bytes;
    std::map<std::uint64_t, std::uint64_t> free;  ///< offset -> bytes
  };
  void request_adapter();
  void request_device();
  WGPULimits choose_limits();
  std::vector<WGPUFeatureName> choose_features();
  /// Whether shaders may begin with this.
  bool accepts(std::string_view directive);
  void process_events() { api().InstanceProcessEvents(instance_); }
  bool take(Slab& slab, std::uint64_t bytes, Range& out);
  void add_slab(std::uint64_t bytes);

  std::recursive_mutex mutex_;
  const WGPUInstance instance_;
  AdapterHandle adapter_;
  DeviceHandle device_;
  QueueHandle queue_;
  Capabilities capabilities_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  struct Layout {
    BindGroupLayoutHandle group;
    PipelineLayoutHandle pipeline;
  };
  std::map<int, Layout> layouts_;
  Layout& layout(int slabs);
  std::map<std::pair<std::uint64_t, std::vector<int>>, BindGroupHandle> bind_groups_;
  BufferHandle parameters_;
  std::uint64_t parameter_bytes_ = 0;
  std::vector<Staging> staging_;
  std::unique_ptr<Timeline> timeline_;
  DeviceCounts counts_;
  std::string error_;
  std::uint64_t asked_ = 0;  ///< submissions whose end was asked for …
  std::shared_ptr<std::atomic<std::uint64_t>> done_ = std::make_shared<std::atomic<std::uint64_t>>(0);  ///< … and came
  bool busy_ = false;  ///< something was handed in since the host last waited for all of it
  std::atomic<bool> lost_{false};
  std::string lost_reason_;
};

/// The device in use; raises DeviceError where there is none, and says what to install.
std::shared_ptr<Device> device();
/// The same, or nullptr where none is in use.
std::shared_ptr<Device> current_device();

}  // namespace cotan::webgpu
