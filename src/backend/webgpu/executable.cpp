#include "backend/webgpu/executable.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "backend/program_cache.hpp"
#include "backend/webgpu/memory.hpp"
#include "backend/webgpu/pipelines.hpp"
#include "backend/webgpu/routines/attention.hpp"
#include "backend/webgpu/routines/cumulative.hpp"
#include "backend/webgpu/routines/matmul.hpp"
#include "backend/webgpu/routines/radix_sort.hpp"
#include "backend/webgpu/routines/runs.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"
#include "core/trace.hpp"

namespace cotan::webgpu {

namespace {

bool prefers_routine(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  return is_matmul(p) && prefers_matmul(types, params);
}
bool takes_strides(const Primitive& p, const AbstractValue&) { return is_matmul(p) || is_attention(p); }

std::size_t item_bytes(DType) { return element_bytes; }

void check_size(const AbstractValue& type) {
  constexpr std::int64_t most = std::int64_t{1} << 30;  // indices are i32, in elements
  checked_bytes(type, "jit");
  if (type.size() >= most)
    raise<OutOfMemoryError>("[jit] the device 'webgpu' has no room for {}; work in smaller pieces.", type);
}

/// Routines that there are no shaders for.
bool is_expanded(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  const Capabilities& c = device()->capabilities();
  return !prefers_cumulative(p, types, params) && !prefers_counting_sort(p, types, c) &&
         !prefers_radix_sort(p, types, c) && !prefers_sum_of_runs(p) && !prefers_attention(p, types, params, c);
}
/// Inside loops everything is expanded: one shader can hold it all.
bool is_expanded_in_loops(const Primitive&, std::span<const AbstractValue>, const Params&) { return true; }

}  // namespace

const lowering::Target& webgpu_target() {
  static const lowering::Target target = [] {
    lowering::Target out{.expands = is_expanded, .expands_in_loops = is_expanded_in_loops};
    out.shares_scans = 2048;  // so many groups run side by side
    out.sinks_outputs = out.puts_rows_in_lanes = out.splits_constants = true;
    out.control = {.keep_lanes = true, .in_levels = true};
    compiler::Target& t = out.compiler = {.prefers_routine = prefers_routine, .takes_strides = takes_strides};
    t.lane_bytes = element_bytes;  // a lane is a thread or a group of them: none are side by side in an array
    t.lane_equations = 4000;
    t.check_size = check_size;
    t.item_bytes = item_bytes;
    t.keeps_rows = false;
    t.block_bytes = static_cast<std::int64_t>(device()->capabilities().block_bytes());
    t.parallel_work = 0;
    t.parallel_pieces = std::int64_t{1} << 40;
    t.small_bytes = 4096;
    // Of what a group shares, after what reductions want; the more the better up to a point.
    constexpr std::size_t reductions = 4 << 10, enough = 24 << 10;
    t.kept_close_bytes = 6 << 10;
    t.local_bytes = std::min(enough, device()->capabilities().workgroup_bytes - reductions - t.kept_close_bytes);
    t.cut = {.long_reduction = 1 << 14, .few_results = 1 << 13, .piece_elements = 1 << 12, .most_pieces = 1024};
    return out;
  }();
  return target;
}

Executable::Executable(const JaxprPtr& jaxpr, Backend& backend) : backend_(backend) {
  const auto on = device();
  for (const AbstractValue& t : jaxpr->output_types())
    if (!is_supported(t.dtype)) raise_unsupported(t.dtype, "jit");
  lowering::Lowered lowered = lowering::lower(jaxpr, webgpu_target());
  if (lowered.constants) constants_program_ = std::make_unique<Executable>(lowered.constants, backend);
  plan_ = make_plan(std::move(lowered.program), on->capabilities());
  donations_ = std::make_unique<compiler::Donations>(*plan_.program, plan_.units, plan_.side_by_side, true);
  times_->steps.resize(plan_.shaders.size());
}

std::int64_t bytes_named(const Program& program, const Shader& shader) {
  std::size_t bytes = 0;
  for (const Slot& slot : shader.slots)
    if (slot.buffer >= 0) bytes += program.buffers[static_cast<std::size_t>(slot.buffer)].bytes();
  return static_cast<std::int64_t>(bytes);
}

/// One call: from arrays to encoded commands, and where the host has to compute something, several of those.
class Executable::Call {
 public:
  Call(const Executable& executable, std::span<const Array> args, const std::vector<bool>* donated)
      : executable_(executable),
        donated_(donated),
        plan_(executable.plan_),
        program_(*executable.plan_.program),
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
  ~Call() { release_arenas(); }

  Arrays run() {
    Arrays out = make_outputs();
    try {
      add(plan_.steps);
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

  void add(const std::vector<PlannedStep>& steps) {
    for (const PlannedStep& s : steps) {
      if (s.shader >= 0)
        add_dispatch(plan_.shaders[static_cast<std::size_t>(s.shader)]);
      else if (s.routine)
        run_on_host(*s.routine);
      else
        add_loop(*s.loop);
    }
  }

  void add_loop(const PlannedLoop& loop) {
    if (loop.chunk) {
      for (std::int64_t at = 0; at < loop.length; at += loop.chunk) {
        indices_[loop.first.get()] = at;
        indices_[loop.end.get()] = std::min(loop.length, at + loop.chunk);
        add(loop.even);
      }
      return;
    }
    if (loop.length >= 0) {
      for (std::int64_t i = 0; i < loop.length; ++i) {
        indices_[loop.index.get()] = i;
        add(i % 2 ? loop.odd : loop.even);
      }
      return;
    }
    // Steps after the last one do nothing; how many are encoded before the host looks grows with their number.
    constexpr std::int64_t most = 256;
    std::int64_t i = 0;
    for (std::int64_t ahead = 4;; ahead = std::min(2 * ahead, most)) {
      for (std::int64_t k = 0; k < ahead; ++k) {
        indices_[loop.index.get()] = i++;
        add(loop.even);
      }
      submit();
      std::uint32_t holds = 0;
      const Range at = range_of(loop.holds);
      device_->read(at, &holds, sizeof(holds));
      if (!holds) return;
    }
  }

  void release_arenas() {
    for (const Range& arena : arenas_) device_->release(arena);
    arenas_.clear();
  }

  /// Where a buffer begins; not for parts whose place depends on loops.
  Range range_of(BufferId id) const {
    const compiler::Buffer& b = program_.buffers[static_cast<std::size_t>(id)];
    Range out;
    switch (b.storage) {
      case Storage::input:
        return inputs_[static_cast<std::size_t>(b.place)];
      case Storage::output:
        return outputs_[static_cast<std::size_t>(b.place)];
      case Storage::arena:
        out = arenas_[static_cast<std::size_t>(plan_.arena_of(b))];
        out.offset += static_cast<std::uint64_t>(plan_.place_in_arena(b));
        return out;
      case Storage::part:
        out = range_of(b.whole);
        out.offset += static_cast<std::uint64_t>(evaluate(b.start)) * element_bytes;
        return out;
      default:
        raise<InternalError>("[webgpu] a value has no memory; this is a bug in cotan.");
    }
  }
  std::int64_t evaluate(Expr e) const {
    if (const auto c = expr::as_integer(e)) return *c;
    std::vector<std::int64_t> x;
    if (e->op == expr::Op::variable) return indices_.at(e.get());
    for (Expr operand : e->operands) x.push_back(evaluate(operand));
    switch (e->op) {
      case expr::Op::linear: {
        std::int64_t sum = e->bits;
        for (std::size_t k = 0; k < x.size(); ++k) sum += e->coefficients[k] * x[k];
        return sum;
      }
      case expr::Op::add:
        return x[0] + x[1];
      case expr::Op::sub:
        return x[0] - x[1];
      case expr::Op::mul:
        return x[0] * x[1];
      case expr::Op::min:
        return std::min(x[0], x[1]);
      case expr::Op::max:
        return std::max(x[0], x[1]);
      case expr::Op::floor_div:
        return x[0] / x[1];
      case expr::Op::floor_mod:
        return x[0] % x[1];
      default:
        raise<InternalError>("[webgpu] the host cannot compute {}; this is a bug in cotan.", expr::name(e->op));
    }
  }

  struct Command {
    const Shader* shader;
    WGPUComputePipeline pipeline;
    std::vector<int> slabs;
    std::uint64_t offset, bytes;
    std::array<std::uint32_t, 3> groups;
  };

  void add_dispatch(const Shader& shader) {
    std::vector<Range> ranges;
    for (const Slot& slot : shader.slots)
      ranges.push_back(slot.buffer < 0 ? arenas_[static_cast<std::size_t>(slot.arena)] : range_of(slot.buffer));
    // Instances whose arrays are in the same blocks are one dispatch.
    const std::size_t own = shader.own_slots();
    std::vector<bool> done(shader.instances, false);
    for (std::size_t first = 0; first < shader.instances; ++first) {
      if (done[first]) continue;
      std::vector<std::size_t> which;
      for (std::size_t k = first; k < shader.instances; ++k) {
        bool same = !done[k];
        for (std::size_t slot = 0; same && slot < own; ++slot)
          same = ranges[k * own + slot].slab == ranges[first * own + slot].slab;
        if (!same) continue;
        done[k] = true;
        which.push_back(k);
      }
      add_instances(shader, which, ranges);
    }
  }
  void add_instances(const Shader& shader, const std::vector<std::size_t>& which, const std::vector<Range>& ranges) {
    const std::size_t own = shader.own_slots();
    std::vector<int> blocks, slabs;
    for (std::size_t slot = 0; slot < own; ++slot) {
      const int slab = ranges[which[0] * own + slot].slab;
      const auto at = std::find(slabs.begin(), slabs.end(), slab);
      blocks.push_back(static_cast<int>(at - slabs.begin()));
      if (at == slabs.end()) slabs.push_back(slab);
    }
    if (slabs.size() > device_->capabilities().storage_buffers)
      raise<OutOfMemoryError>(
          "[webgpu] '{}' works on arrays in {} blocks of memory, and the device '{}' binds {} at once; use fewer or "
          "smaller "
          "arrays in one expression.",
          shader.name, slabs.size(), device_->capabilities().name, device_->capabilities().storage_buffers);
    const std::uint64_t alignment = device_->capabilities().uniform_alignment;
    const std::uint64_t bytes = (shader.words() * 4 + alignment - 1) / alignment * alignment;
    const std::size_t first = parameters_.size();
    parameters_.resize(first + bytes / 4);
    std::uint32_t* word = parameters_.data() + first + 1;
    for (std::size_t instance : which)
      for (std::size_t slot = 0; slot < own; ++slot)
        *word++ = static_cast<std::uint32_t>(ranges[instance * own + slot].offset / element_bytes);
    for (Expr i : shader.indices) *word++ = static_cast<std::uint32_t>(indices_.at(i.get()));
    std::array<std::uint32_t, 3> groups = shader.groups;
    if (shader.instances > 1) groups[2] = static_cast<std::uint32_t>(which.size());
    commands_.push_back({&shader, nullptr, slabs, first * 4, bytes, groups});
    pending_.push_back(find_pipeline(*device_, shader, blocks));
    constexpr std::size_t most = 1 << 14;
    if (commands_.size() >= most) submit();
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
      const PassHandle pass = passes.begin_pass(encoder.get(), {.name = shader.name,
                                                                .details = {{"groups", group_count(shader)},
                                                                            {"threads", shader.threads},
                                                                            {"bytes", bytes_named(program_, shader)}},
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

  /// What the device has no code for: the operands come to the host, and the results go back.
  void run_on_host(const compiler::Routine& routine) {
    submit();
    Backend& host = host_backend();
    Arrays args;
    for (const compiler::Operand& o : routine.operands) {
      if (o.buffer < 0) {
        args.push_back(copy_to_backend(o.literal, host));
        continue;
      }
      Range range = range_of(o.buffer);
      if (o.offset) range.offset += static_cast<std::uint64_t>(evaluate(o.offset)) * element_bytes;
      args.push_back(read_elements(*device_, range, o.type, host));
    }
    Arrays results;
    {
      TraceScope scope(eval_trace());
      results = routine.primitive->eval(*routine.primitive, args, routine.params);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      const BufferId b = routine.results[k];
      if (program_.buffers[static_cast<std::size_t>(program_.root(b))].storage == Storage::none) continue;
      write_elements(*device_, range_of(b), results[k]);
    }
  }

  const Executable& executable_;
  const std::vector<bool>* const donated_;
  std::optional<compiler::SoleOwners> owners_;
  std::vector<std::size_t> written_over_;  ///< arguments whose memory results have
  const Plan& plan_;
  const Program& program_;
  Backend& backend_;
  const std::shared_ptr<Device> device_;
  std::unique_lock<std::recursive_mutex> lock_;
  bool timed_ = false;
  std::vector<Range> arenas_;
  Arrays arguments_;
  std::vector<Range> inputs_, outputs_;
  std::unordered_map<const expr::Node*, std::int64_t> indices_;
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
