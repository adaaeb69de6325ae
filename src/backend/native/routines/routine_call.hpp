// What a routine step of a program is given.
#pragma once
#include "compiler/program.hpp"
#include "core/backend.hpp"

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

}  // namespace cotan::native
