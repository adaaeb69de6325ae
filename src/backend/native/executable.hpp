// A compiled program, ready to be called with arrays.
#pragma once
#include "backend/native/codegen/generate.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/step_times.hpp"
#include "compiler/donation.hpp"
#include "core/backend.hpp"
#include "lowering/pipeline.hpp"

namespace cotan::native {

/// The device "native".
Backend& backend();

class Executable {
 public:
  Executable(const JaxprPtr& jaxpr, Backend& backend, Effort effort);
  /// Arguments must be of the program's types. Where `donated`, an argument's memory may become a result's.
  Arrays run(std::span<const Array> args, const std::vector<bool>* donated = nullptr) const;
  /// The same on memory that is there already: inputs, then outputs.
  void run_in_place(void* const* io) const;
  /// What its steps are called, and how much memory each goes through.
  std::vector<StepDescription> steps() const;
  /// Of the calls that were profiled.
  ProgramTimes& times() const { return *times_; }
  const compiler::Program& program() const { return *program_; }
  /// nullptr where there are routines alone.
  const Code* code() const { return code_.get(); }

 private:
  void run_in_place(void* const* io, std::byte* temporaries) const;
  void record(const std::vector<std::int64_t>& marks) const;
  Backend& backend_;
  std::unique_ptr<compiler::Program> program_;
  std::vector<const compiler::Routine*> routines_;
  std::unique_ptr<compiler::Donations> donations_;
  std::unique_ptr<ProgramTimes> times_ = std::make_unique<ProgramTimes>();
  std::shared_ptr<const Code> code_;
};

/// The executable of a program: compiled once, however many threads ask; equal programs share one.
const Executable& executable_of(const JaxprPtr& jaxpr, Backend& backend, Effort effort = Effort::automatic);
/// Equal programs that are compiled from now on do not share what was compiled before.
void clear_cache();
void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out);
const lowering::Target& native_target();

/// Runs the fastest implementation there is; at last the primitive's own evaluation rule.
void run_routine(const RoutineCall& call);

}  // namespace cotan::native
