// Machine code for a Program. The only door to LLVM: nothing outside this folder sees its headers.
#pragma once
#include <memory>
#include <string>

#include "backend/native/codegen/code.hpp"
#include "backend/native/codegen/schedule.hpp"

namespace cotan::native {

struct GeneratedText {
  std::string llvm_ir, assembly;
};

/// A kernel as it runs on this machine: small ones unrolled.
struct ScheduledKernel {
  compiler::Kernel kernel;
  bool unrolled;
  KernelSchedule schedule;
};
/// `in_loop`: it becomes part of the code of a loop, where small arrays are in registers.
ScheduledKernel schedule_for_host(compiler::Program& program, const compiler::Kernel& kernel, bool in_loop = false);

/// How a program is compiled the first time.
enum class Effort {
  automatic,  ///< in a hurry where that takes longer than the code will run; better code comes later
  full,
};
/// Raises CompileError.
std::shared_ptr<const Code> generate(compiler::Program& program, Effort effort);
/// The code at its best, and its listings.
GeneratedText listing_of(compiler::Program& program);
/// From the source of code that was made in a hurry.
LinkedCode generate_in_full(const std::string& source);

/// Of the widest registers of the CPU that code is generated for.
int vector_bytes();

}  // namespace cotan::native
