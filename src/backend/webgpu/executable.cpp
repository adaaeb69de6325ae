#include "backend/webgpu/executable.hpp"

#include <algorithm>
#include <cstring>

#include "backend/gpu/explain.hpp"
#include "backend/gpu/target.hpp"
#include "backend/gpu/walk.hpp"
#include "backend/gpu/wgsl/wgsl.hpp"
#include "backend/program_cache.hpp"
#include "backend/webgpu/pipelines.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"
#include "core/trace.hpp"

namespace cotan::webgpu {

namespace {

/// Seconds that a product takes with a tile.
double time_on_device(const gpu::MatmulProblem& problem, const gpu::MatmulTile& tile) {
  return gpu::time_of_tile(problem, tile, [](const JaxprPtr& program, const Arrays& args) -> gpu::Runs {
    auto executable = std::make_shared<const Executable>(program, backend());
    return [executable, args](int calls) {
      for (int k = 0; k < calls; ++k) (void)executable->run(args, nullptr);
      device()->synchronize();
    };
  });
}

bool is_expanded(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  return gpu::is_expanded(p, types, params, device()->capabilities());
}
void check_size(const AbstractValue& type) { gpu::check_size(type, "webgpu"); }

}  // namespace

const lowering::Target& webgpu_target() {
  static const lowering::Target target = gpu::target_of(device()->capabilities(), is_expanded, check_size);
  return target;
}

Executable::Executable(const JaxprPtr& jaxpr, Backend& backend) : backend_(backend) {
  const auto on = device();
  for (const AbstractValue& t : jaxpr->output_types())
    if (!is_supported(t.dtype)) gpu::raise_unsupported(gpu::wgsl(), t.dtype, "jit");
  lowering::Lowered lowered = lowering::lower(jaxpr, webgpu_target());
  if (lowered.constants) constants_program_ = std::make_unique<Executable>(lowered.constants, backend);
  plan_ = gpu::make_plan(std::move(lowered.program), on->capabilities(), time_on_device);
  donations_ = std::make_unique<compiler::Donations>(*plan_.program, plan_.units, plan_.side_by_side, true);
  times_->steps.resize(plan_.shaders.size());
}

/// One call: from arrays to encoded commands, and where the host has to compute something, several of those.
class Executable::Call : gpu::PlanWalk {
 public:
  Call(const Executable& executable, std::span<const Array> args, const std::vector<bool>* donated)
      : PlanWalk(executable.plan_),
        executable_(executable),
        donated_(donated),
        backend_(executable.backend_),
        device_(webgpu::device()),
        lock_(device_->mutex(), std::defer_lock) {
    // Before the lock: somebody who holds an array's own may be waiting for the device.
    for (const Array& a : args) {
      arguments_.push_back(on_this_backend(a, backend_));
      inputs_.push_back(memory_of(arguments_.back()).on_device(device_));
    }
    for (const auto& constant : executable.constants_) inputs_.push_back(constant->on_device(device_));
    if (donated_) owners_.emplace(arguments_);
    lock_.lock();
    try {
      for (std::uint64_t bytes : plan_.arenas) arenas_.push_back(device_->allocate(bytes));
    } catch (...) {
      release_arenas();
      throw;
    }
  }
  ~Call() override { release_arenas(); }

  Arrays run() {
    Arrays out = make_outputs();
    try {
      walk(plan_.steps);
      submit();
    } catch (...) {
      for (std::size_t k : written_over_) donate(arguments_[k]);  // who knows what is in them
      throw;
    }
    const std::uint64_t submissions = device_->submissions();
    for (std::size_t k = 0; k < out.size(); ++k)
      if (outputs_[k].slab >= 0) memory_of(out[k]).set_ready_after(submissions);
    return out;
  }

 private:
  Arrays make_outputs() {
    Arrays out(program_.outputs.size());
    outputs_.resize(out.size());
    for (std::size_t k = 0; k < out.size(); ++k) {
      const compiler::Output& o = program_.outputs[k];
      if (o.buffer < 0) {
        out[k] = on_this_backend(o.literal, backend_);
        continue;
      }
      const compiler::Buffer& buffer = program_.buffers[static_cast<std::size_t>(o.buffer)];
      if (buffer.storage == Storage::input) {
        out[k] = arguments_[static_cast<std::size_t>(buffer.place)];
      } else if (static_cast<std::size_t>(buffer.place) != k) {  // the same value twice
        out[k] = out[static_cast<std::size_t>(buffer.place)];
      } else {
        out[k] = take_donated(k);
        if (!out[k].defined()) out[k] = allocate(backend_, o.type).first;
        outputs_[k] = memory_of(out[k]).place(device_);
      }
    }
    return out;
  }

  /// A result in the memory of an argument that the caller gives up, or nothing.
  Array take_donated(std::size_t output) {
    if (!donated_) return {};
    const int taken = executable_.donations_->when(*donated_)[output];
    if (taken < 0 || !owners_->contain(static_cast<std::size_t>(taken))) return {};
    const auto k = static_cast<std::size_t>(taken);
    written_over_.push_back(k);
    return Array(std::make_shared<detail::Concrete>(program_.outputs[output].type, concrete(arguments_[k])->buffer));
  }

  void release_arenas() {
    for (const Range& arena : arenas_) device_->release(arena);
    arenas_.clear();
  }

  struct Command {
    const Shader* shader;
    WGPUComputePipeline pipeline;
    std::vector<int> slabs;
    std::uint64_t offset, bytes;
    std::array<std::uint32_t, 3> groups;
  };

  void launch(gpu::Launch l) override {
    const Capabilities& device = device_->capabilities();
    if (l.slabs.size() > device.storage_buffers)
      raise<OutOfMemoryError>(
          "[webgpu] '{}' works on arrays in {} blocks of memory, and the device '{}' binds {} at once; use fewer or "
          "smaller arrays in one expression.",
          l.shader.name, l.slabs.size(), device.name, device.storage_buffers);
    const std::uint64_t alignment = device.uniform_alignment;
    const std::uint64_t bytes = (l.shader.words() * 4 + alignment - 1) / alignment * alignment;
    const std::size_t first = parameters_.size();
    parameters_.resize(first + bytes / 4);
    std::copy(l.words.begin(), l.words.end(), parameters_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    commands_.push_back({&l.shader, nullptr, std::move(l.slabs), first * 4, bytes, l.groups});
    pending_.push_back(find_pipeline(*device_, l.shader, l.blocks));
    constexpr std::size_t most = 1 << 14;
    if (commands_.size() >= most) submit();
  }
  std::uint32_t word_at(const gpu::Range& range) override {
    submit();
    std::uint32_t word = 0;
    device_->read(range, &word, sizeof(word));
    return word;
  }

  void submit() {
    if (commands_.empty()) return;
    for (std::size_t k = 0; k < commands_.size(); ++k) commands_[k].pipeline = wait_for(*device_, *pending_[k]);
    device_->write_parameters(parameters_.data(), parameters_.size() * 4);
    EncoderHandle encoder(api().DeviceCreateCommandEncoder(device_->raw(), nullptr));
    if (recorder::on() && device_->timeline().is_there()) {
      submit_timed(std::move(encoder));
    } else {
      const PassHandle pass(api().CommandEncoderBeginComputePass(encoder.get(), nullptr));
      WGPUComputePipeline current = nullptr;
      for (const Command& c : commands_) encode(c, pass.get(), current);
      api().ComputePassEncoderEnd(pass.get());
      device_->submit(std::move(encoder), commands_.size());
    }
    commands_.clear();
    pending_.clear();
    parameters_.clear();
  }

  void encode(const Command& c, WGPUComputePassEncoder pass, WGPUComputePipeline& current) {
    if (c.pipeline != current) api().ComputePassEncoderSetPipeline(pass, c.pipeline);
    current = c.pipeline;
    const auto offset = static_cast<std::uint32_t>(c.offset);
    api().ComputePassEncoderSetBindGroup(pass, 0, device_->bind_group(c.slabs, c.bytes), 1, &offset);
    const auto& groups = c.groups;
    api().ComputePassEncoderDispatchWorkgroups(pass, groups[0], groups[1], groups[2]);
  }

  /// For a profile: a pass for each dispatch, with its times.
  void submit_timed(EncoderHandle encoder) {
    const std::shared_ptr<ProgramTimes>& times = executable_.times_;
    if (!std::exchange(timed_, true)) {
      const std::scoped_lock lock(times->mutex);
      ++times->calls;
    }
    Timeline::Passes passes(device_->timeline());
    for (const Command& c : commands_) {
      const Shader& shader = *c.shader;
      const auto number = static_cast<std::size_t>(&shader - plan_.shaders.data());
      const PassHandle pass =
          passes.begin_pass(encoder.get(), {.name = shader.name,
                                            .details = {{"groups", gpu::group_count(shader)},
                                                        {"threads", shader.threads},
                                                        {"bytes", gpu::bytes_named(program_, shader)}},
                                            .times = times,
                                            .shader = number});
      WGPUComputePipeline none = nullptr;
      encode(c, pass.get(), none);
      api().ComputePassEncoderEnd(pass.get());
    }
    passes.resolve(encoder.get());
    device_->submit(std::move(encoder), commands_.size());
    passes.submitted();
  }

  struct Unlocked {
    explicit Unlocked(std::unique_lock<std::recursive_mutex>& lock) : lock(lock) { lock.unlock(); }
    ~Unlocked() { lock.lock(); }
    Unlocked(const Unlocked&) = delete;
    std::unique_lock<std::recursive_mutex>& lock;
  };

  /// What the device has no code for: the operands come to the host, and the results go back.
  void run_on_host(const gpu::HostStep& step) override {
    const compiler::Routine& routine = *step.routine;
    submit();
    Backend& host = host_backend();
    Arrays args;
    for (const compiler::Operand& o : routine.operands) {
      if (o.buffer < 0) {
        args.push_back(copy_to_backend(o.literal, host));
        continue;
      }
      Range range = range_for_host(o.buffer, step.swapped);
      if (o.offset) range.offset += static_cast<std::uint64_t>(evaluate(o.offset)) * element_bytes;
      args.push_back(read_elements(*device_, range, o.type, host));
    }
    Arrays results;
    {
      const TraceScope scope(eval_trace());
      const Unlocked others_may_work(lock_);  // the user's function may wait for another thread
      results = routine.primitive->eval(*routine.primitive, args, routine.params);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      const BufferId b = routine.results[k];
      if (program_.buffers[static_cast<std::size_t>(program_.root(b))].storage == Storage::none) continue;
      write_elements(*device_, range_for_host(b, step.swapped), results[k]);
    }
  }

  const Executable& executable_;
  const std::vector<bool>* const donated_;
  std::optional<compiler::SoleOwners> owners_;
  std::vector<std::size_t> written_over_;  ///< arguments whose memory results have
  Backend& backend_;
  const std::shared_ptr<Device> device_;
  std::unique_lock<std::recursive_mutex> lock_;
  bool timed_ = false;
  Arrays arguments_;
  std::vector<Command> commands_;
  std::vector<std::shared_ptr<const CompiledShader>> pending_;
  std::vector<std::uint32_t> parameters_;
};

Arrays Executable::run(std::span<const Array> args, const std::vector<bool>* donated) const {
  if (constants_program_) std::call_once(computed_, [&] { compute_constants(); });
  return Call(*this, args, donated).run();
}

/// They outlive a device that is lost, and are no arrays of the user: the host has them too.
void Executable::compute_constants() const {
  for (const Array& a : constants_program_->run({}, nullptr)) {
    const std::size_t bytes = static_cast<std::size_t>(a.size()) * itemsize(a.dtype());
    constants_.push_back(std::make_unique<Memory>(bytes, a.dtype()));
    std::memcpy(constants_.back()->host(), memory_of(a).host(), bytes);
  }
}

// The cache -------------------------------------------------------------------------------------------

namespace {
ProgramCache<Executable>& cache() {
  static ProgramCache<Executable>& c = *new ProgramCache<Executable>;
  return c;
}
}  // namespace

void clear_cache() { cache().clear(); }

const Executable& executable_of(const JaxprPtr& jaxpr, Backend& backend) {
  return cache().find(jaxpr, backend,
                      [&](const JaxprPtr& source) { return std::make_unique<Executable>(source, backend); });
}

}  // namespace cotan::webgpu
