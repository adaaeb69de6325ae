// What a routine step of a program is given, and how routines are attached to primitives.
#pragma once
#include "compiler/program.hpp"
#include "core/backend.hpp"
#include "core/rules.hpp"

namespace cotan::native {

/// What a routine step works on: the first elements of its operands, then of its results; nullptr for literals, and
/// for results that the program has no use for.
struct RoutineCall {
  const compiler::Program& program;
  const compiler::Routine& routine;
  void* const* memory;
  Backend& backend;
  std::byte* operand(std::size_t k) const;  ///< of a literal its value
  std::byte* result(std::size_t k) const { return static_cast<std::byte*>(memory[routine.operands.size() + k]); }
};

/// This device's own implementation of a primitive. A RuleFor<NativeRoutine> in its file attaches it; primitives
/// without one are evaluated by their rule.
struct NativeRoutine {
  void (*run)(const RoutineCall&);
  bool takes_strides = false;  ///< of operands
  /// Which operands it is for, of which there is at least one; where it is not, the primitive is expanded. Null: all.
  bool (*takes)(std::span<const AbstractValue> types, const Params& params) = nullptr;
  /// For a primitive that could be a kernel as well: whether it is a routine on these operands.
  bool (*pays)(std::span<const AbstractValue> types, const Params& params) = nullptr;
};

/// Any operation on batches of matrices by its evaluation rule, matrices in parallel.
void evaluate_matrices(const RoutineCall& call);

}  // namespace cotan::native
