// One kernel as one LLVM function: void(ptr io, ptr arena, i64 begin, i64 end), over a range of its parallel
// iterations.
#pragma once
#include <llvm/IR/Module.h>

#include "backend/native/codegen/schedule.hpp"

namespace cotan::native {

llvm::Function* emit_kernel(llvm::Module& module, const compiler::Program& program, const compiler::Kernel& kernel,
                            const KernelSchedule& schedule, const std::string& name);

}  // namespace cotan::native
