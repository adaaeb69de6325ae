// Machine code for a Program. The only door to LLVM: nothing outside this folder sees its headers.
#pragma once
#include <memory>
#include <string>

#include "backend/native/codegen/schedule.hpp"

namespace cotan::native {

/// A compiled program: `io` holds the inputs, then the outputs; routines are called through `caller`. Returns 0,
/// or what a routine returned that was not 0; then the later steps did not run.
using Entry = int (*)(void* const* io, std::byte* arena, void* caller);

struct GeneratedText {
  std::string llvm_ir, assembly;
};

/// A kernel as it runs on this machine: small ones unrolled.
struct ScheduledKernel {
  compiler::Kernel kernel;
  bool unrolled;
  KernelSchedule schedule;
};
/// `in_loop`: it is to become part of the code of a loop, where small arrays are in registers.
ScheduledKernel schedule_for_host(compiler::Program& program, const compiler::Kernel& kernel, bool in_loop = false);

struct Code {
  Entry entry = nullptr;
  std::shared_ptr<const void> memory;  ///< keeps the code alive
  bool from_disk = false;
};
/// Raises CompileError. Writes the listings where asked to.
Code generate(compiler::Program& program, GeneratedText* text = nullptr);

/// The CPU that code is generated for, as LLVM names it.
std::string host_cpu();
/// Of its widest registers.
int vector_bytes();

}  // namespace cotan::native
