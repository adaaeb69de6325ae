// One kernel as one LLVM function: void(ptr buffers, i64 begin, i64 end), over a range of its parallel iterations.
// `buffers` holds the addresses of what the kernel reads and writes, so kernels that differ in nothing else share
// one function.
#pragma once
#include <llvm/IR/Module.h>

#include "backend/native/codegen/schedule.hpp"

namespace cotan::native {

/// What the function's first argument points at, in order.
std::vector<compiler::BufferId> buffers_of(const compiler::Program& program, const compiler::Kernel& kernel);
/// Equal for kernels that can share a function.
std::string signature_of(const compiler::Program& program, const compiler::Kernel& kernel);

llvm::Function* emit_kernel(llvm::Module& module, const compiler::Program& program, const compiler::Kernel& kernel,
                            const std::vector<compiler::BufferId>& buffers, const KernelSchedule& schedule,
                            const std::string& name);

}  // namespace cotan::native
