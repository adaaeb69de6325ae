// A whole program as one LLVM function: int(ptr io, ptr arena, ptr caller). Loops and branches are part of it;
// kernels inside loops become part of it too.
#pragma once
#include <llvm/IR/Module.h>

#include "compiler/program.hpp"

namespace cotan::native {

inline constexpr const char* entry_name = "cotan_program";

void emit_program(llvm::Module& module, compiler::Program& program);

}  // namespace cotan::native
