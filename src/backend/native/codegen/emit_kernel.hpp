// One kernel as one LLVM function. It gets the addresses of what it reads and writes and the indices of the loops
// around it, so kernels that differ in nothing else share one function.
#pragma once
#include <llvm/IR/Module.h>

#include "backend/native/codegen/schedule.hpp"

namespace cotan::native {

/// What a kernel is given, in order.
struct KernelArguments {
  std::vector<compiler::BufferId> buffers;
  std::vector<expr::Expr> indices;  ///< of loops around it
};
KernelArguments arguments_of(const compiler::Program& program, const compiler::Kernel& kernel);
/// Equal for kernels that can share a function.
std::string signature_of(const compiler::Program& program, const compiler::Kernel& kernel);

/// void(ptr arguments, i64 begin, i64 end), over a range of its parallel iterations; `arguments` holds addresses, then
/// indices. Where it is to become part of its caller: void(address…, index…), over all of them.
llvm::Function* emit_kernel(llvm::Module& module, const compiler::Program& program, const compiler::Kernel& kernel,
                            const KernelArguments& arguments, const KernelSchedule& schedule, bool inlined,
                            const std::string& name);

}  // namespace cotan::native
