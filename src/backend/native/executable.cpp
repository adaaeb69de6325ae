#include "backend/native/executable.hpp"

#include <time.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include "backend/native/routines/fft_kernels.hpp"
#include "backend/native/runtime/host_memory.hpp"
#include "backend/native/runtime/symbols.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "backend/program_cache.hpp"
#include "compiler/memory.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"
#include "core/trace.hpp"
#include "ops/scalar_math.hpp"

namespace cotan::native {

namespace {

/// Who runs a program: passed through generated code to routine steps.
struct Caller {
  std::int64_t* marks;  ///< when each step began and the last one ended, for a profile; first: generated code reads it
  const compiler::Program& program;
  const std::vector<const compiler::Routine*>& routines;
  Backend& backend;
  const Code* code;
  std::int64_t began;  ///< by work_ns, where the code is one that was made in a hurry
  std::mutex mutex;    // routines may run in parallel lanes
  std::exception_ptr failure;
};

/// CPU time of this thread, in nanoseconds: on a busy machine wall-clock time says little about what better code would
/// save.
std::int64_t work_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

// Generated code cannot be unwound: exceptions wait in the Caller.
extern "C" int cotan_native_routine(void* context, std::int64_t number, void* const* memory) {
  Caller& caller = *static_cast<Caller*>(context);
  try {
    run_routine({caller.program, *caller.routines[static_cast<std::size_t>(number)], memory, caller.backend});
    return 0;
  } catch (...) {
    const std::scoped_lock lock(caller.mutex);
    if (!caller.failure) caller.failure = std::current_exception();
    return 1;
  }
}
extern "C" void cotan_native_mark(std::int64_t* marks, std::int64_t step) { marks[step] = recorder::now(); }
extern "C" int cotan_native_failed(void* context) { return static_cast<Caller*>(context)->failure ? 1 : 0; }
extern "C" const void* cotan_native_step(void* context, std::int64_t number) {
  const Caller& caller = *static_cast<const Caller*>(context);
  if (caller.began) caller.code->has_run(work_ns() - caller.began, false);
  return caller.code->now().steps[static_cast<std::size_t>(number)];
}
extern "C" int cotan_native_parallel(void (*kernel)(void* const*, std::int64_t, std::int64_t), void* const* buffers,
                                     std::int64_t iterations, std::int64_t grain) {
  parallel_for((iterations + grain - 1) / grain, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * grain;
    kernel(buffers, begin, std::min(iterations, begin + grain));
  });
  return 0;
}

namespace {

bool prefers_routine(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  const NativeRoutine* routine = RuleFor<NativeRoutine>::find(p);
  return routine && routine->pays && routine->pays(types, params);
}
bool takes_strides(const Primitive& p, const AbstractValue&) {
  const NativeRoutine* routine = RuleFor<NativeRoutine>::find(p);
  return routine && routine->takes_strides;
}

void check_size(const AbstractValue& type) {
  const std::size_t bytes = checked_bytes(type, "jit");
  if (bytes > physical_memory())
    raise<OutOfMemoryError>("[jit] the device 'native' has no room for {} ({} bytes); work in smaller pieces.", type,
                            bytes);
}

/// Routines that a CPU runs as programs of other operations: there is neither a routine for them nor code.
bool is_expanded(const Primitive& p, std::span<const AbstractValue> types, const Params& params) {
  const NativeRoutine* routine = RuleFor<NativeRoutine>::find(p);
  if (routine && routine->takes) return types.empty() || !routine->takes(types, params);  // may be, if none are given
  return !p.scalar && !routine;
}

/// Where a routine outside of loops finds its operands and results.
std::vector<void*> memory_of(const compiler::Program& program, const compiler::Routine& routine, void* const* io,
                             std::byte* arena) {
  const auto address = [&](compiler::BufferId id) -> std::byte* {
    const compiler::Buffer& b = program.buffers[static_cast<std::size_t>(id)];
    switch (b.storage) {
      case compiler::Storage::input:
        return static_cast<std::byte*>(io[b.place]);
      case compiler::Storage::output:
        return static_cast<std::byte*>(io[static_cast<std::size_t>(b.place) + program.inputs.size()]);
      case compiler::Storage::arena:
        return arena + b.place;
      default:
        return nullptr;
    }
  };
  std::vector<void*> out;
  for (const compiler::Operand& o : routine.operands) {
    const std::int64_t first = o.offset ? *expr::as_integer(o.offset) : 0;
    out.push_back(o.buffer < 0 ? nullptr
                               : address(o.buffer) + first * static_cast<std::int64_t>(itemsize(o.type.dtype)));
  }
  for (compiler::BufferId b : routine.results) out.push_back(address(b));
  return out;
}

}  // namespace

const lowering::Target& native_target() {
  static const lowering::Target target = [] {
    lowering::Target t{.in_pairs = has_fft_routine, .expands_first = is_expanded, .block = 512};
    t.control.keep_lanes = true;
    t.compiler = {.prefers_routine = prefers_routine,
                  .takes_strides = takes_strides,
                  .lane_bytes = vector_bytes(),
                  .check_size = check_size};
    // Depends on the machine and not on the number of threads in use, which must not change results. Chunks double the
    // work.
    constexpr unsigned enough_cores = 4;
    constexpr std::int64_t chunks = 32;
    if (std::thread::hardware_concurrency() >= enough_cores) t.control.chunks = chunks;
    if (const auto setting = environment::number("COTAN_SCAN_CHUNKS")) {
      t.control.chunks = std::min<std::int64_t>(*setting, 1 << 16);
      t.control.chunk_always = true;
    }
    return t;
  }();
  return target;
}

Executable::Executable(const JaxprPtr& jaxpr, Backend& backend, Effort effort) : backend_(backend) {
  try {
    program_ = lowering::lower(jaxpr, native_target()).program;
    const bool has_code = std::any_of(program_->steps.begin(), program_->steps.end(), [](const auto& step) {
      return !std::holds_alternative<compiler::Routine>(step);
    });
    if (has_code) code_ = generate(*program_, effort);
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const std::exception& e) {
    raise<CompileError>("[jit] this program could not be compiled: {}\n{}", e.what(), to_string(*jaxpr));
  }
  compiler::for_each_step(program_->steps, [&](const compiler::Step& step) {
    if (const auto* r = std::get_if<compiler::Routine>(&step)) routines_.push_back(r);
  });
  donations_ = std::make_unique<compiler::Donations>(*program_);
}

Arrays Executable::run(std::span<const Array> args, const std::vector<bool>* donated) const {
  using compiler::Storage;
  const compiler::Program& p = *program_;
  const std::size_t inputs = p.inputs.size(), outputs = p.outputs.size();
  constexpr std::size_t few = 32;
  void* on_stack[few];
  std::vector<void*> on_heap;
  void** io = on_stack;
  if (inputs + outputs > few) {
    on_heap.resize(inputs + outputs);
    io = on_heap.data();
  }
  for (std::size_t k = 0; k < inputs; ++k) io[k] = concrete(args[k])->buffer->data();
  Arrays out(outputs);
  std::optional<compiler::SoleOwners> owners;
  const std::vector<int>* taken = nullptr;
  if (donated) {
    owners.emplace(args);
    taken = &donations_->when(*donated);
  }
  std::vector<std::size_t> written_over;
  for (std::size_t k = 0; k < outputs; ++k) {
    const compiler::Output& o = p.outputs[k];
    if (o.buffer < 0) {
      out[k] = copy_to_backend(o.literal, backend_);
      continue;
    }
    const compiler::Buffer& buffer = p.buffers[static_cast<std::size_t>(o.buffer)];
    if (buffer.storage == Storage::input) {
      out[k] = args[static_cast<std::size_t>(buffer.place)];
      continue;
    }
    if (static_cast<std::size_t>(buffer.place) != k) {  // the same value twice
      out[k] = out[static_cast<std::size_t>(buffer.place)];
      continue;
    }
    if (taken && (*taken)[k] >= 0) {
      if (const auto arg = static_cast<std::size_t>((*taken)[k]); owners->contain(arg)) {
        const BufferPtr& given = concrete(args[arg])->buffer;
        out[k] = Array(std::make_shared<detail::Concrete>(o.type, given));
        io[inputs + k] = given->data();
        written_over.push_back(arg);
        continue;
      }
    }
    auto memory = std::make_shared<Buffer>(backend_, buffer.bytes(), o.type.dtype);
    io[inputs + k] = memory->data();
    out[k] = Array(std::make_shared<detail::Concrete>(o.type, std::move(memory)));
  }
  std::optional<Buffer> arena;
  if (program_->arena_bytes) arena.emplace(backend_, program_->arena_bytes);
  try {
    run_in_place(io, arena ? arena->data() : nullptr);
  } catch (...) {
    for (std::size_t k : written_over) donate(args[k]);  // their memory may hold anything by now
    throw;
  }
  return out;
}

void Executable::run_in_place(void* const* io) const {
  std::optional<Buffer> arena;
  if (program_->arena_bytes) arena.emplace(backend_, program_->arena_bytes);
  run_in_place(io, arena ? arena->data() : nullptr);
}

void Executable::run_in_place(void* const* io, std::byte* temporaries) const {
  std::vector<std::int64_t> marks(recorder::on() && !program_->small ? program_->steps.size() + 1 : 0);
  if (!code_) {  // routines alone
    for (std::size_t k = 0; k < routines_.size(); ++k) {
      if (!marks.empty()) marks[k] = recorder::now();
      const auto memory = memory_of(*program_, *routines_[k], io, temporaries);
      run_routine({*program_, *routines_[k], memory.data(), backend_});
    }
    if (!marks.empty()) marks.back() = recorder::now();
  } else {
    const std::int64_t began = code_->is_first() ? work_ns() : 0;
    code_->begin_call();
    Caller caller{
        marks.empty() ? nullptr : marks.data(), *program_, routines_, backend_, code_.get(), began, {}, nullptr};
    const int failed = code_->now().entry(io, temporaries, &caller);
    if (began) code_->has_run(work_ns() - began, true);
    if (failed) std::rethrow_exception(caller.failure);
  }
  if (!marks.empty()) record(marks);
}

namespace {

std::string name_of(const compiler::Step& step) {
  return compiler::visit_step(
      step, Overloaded{[](const compiler::Routine& routine) { return std::string(routine.primitive->name); },
                       [](const auto& named) { return named.name; }});
}

}  // namespace

std::vector<StepDescription> Executable::steps() const {
  std::vector<StepDescription> out;
  for (const compiler::Step& step : program_->steps) {
    std::set<compiler::BufferId> seen;
    for (const auto& list : {compiler::all_reads_of(*program_, step), compiler::all_writes_of(*program_, step)})
      seen.insert(list.begin(), list.end());
    std::size_t bytes = 0;
    for (compiler::BufferId b : seen) bytes += program_->buffers[static_cast<std::size_t>(b)].bytes();
    out.push_back({name_of(step), static_cast<std::int64_t>(bytes)});
  }
  return out;
}

void Executable::record(const std::vector<std::int64_t>& marks) const {
  const std::vector<StepDescription> all = steps();
  for (std::size_t k = 0; k < all.size(); ++k)
    recorder::add({all[k].name, "kernel", "native", marks[k], marks[k + 1] - marks[k], {{"bytes", all[k].bytes}}});
  const std::scoped_lock lock(times_->mutex);
  times_->steps.resize(all.size());
  ++times_->calls;
  for (std::size_t k = 0; k < all.size(); ++k) times_->steps[k].add(marks[k + 1] - marks[k]);
}

// The cache -------------------------------------------------------------------------------------------

namespace {

ProgramCache<Executable>& cache() {
  static ProgramCache<Executable>& c = *new ProgramCache<Executable>;
  return c;
}

}  // namespace

void clear_cache() { cache().clear(); }

const Executable& executable_of(const JaxprPtr& jaxpr, Backend& backend, Effort effort) {
  return cache().find(jaxpr, backend,
                      [&](const JaxprPtr& source) { return std::make_unique<Executable>(source, backend, effort); });
}

}  // namespace cotan::native
