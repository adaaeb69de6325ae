// A whole program as one LLVM function: int(ptr io, ptr arena, ptr caller). Loops and branches are part of it;
// kernels inside loops become part of it too.
#pragma once
#include <llvm/IR/Module.h>

#include "compiler/program.hpp"

namespace cotan::native {

inline constexpr const char* entry_name = "cotan_program";
/// Some parts of loops are functions of their own, `cotan_step0` and so on: a single step, where steps take long,
/// int(ptr places, i64 step), and a range of steps that run in parallel, void(ptr places, i64 begin, i64 end).
inline constexpr const char* step_name = "cotan_step";
/// What the single step returns where the loop's condition does not hold; otherwise 0, or what a routine returned.
inline constexpr int loop_is_over = -1;

void emit_program(llvm::Module& module, compiler::Program& program);

}  // namespace cotan::native
