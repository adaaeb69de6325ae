#include "backend/native/codegen/generate.hpp"

#include <llvm/IR/IRBuilder.h>

#include <unordered_map>

#include "backend/native/codegen/emit_kernel.hpp"
#include "backend/native/codegen/engine.hpp"
#include "compiler/kernels.hpp"
#include "core/error.hpp"

namespace cotan::native {

namespace {

using compiler::Kernel;
using compiler::Program;
using compiler::Routine;

constexpr const char* entry_name = "cotan_program";

/// A kernel step: its function, and what that works on.
struct KernelCall {
  llvm::Function* function;
  KernelSchedule schedule;
  std::vector<compiler::BufferId> buffers;
};

/// The function that runs all steps: int(ptr io, ptr arena, ptr caller).
void emit_entry(llvm::Module& module, const Program& program, const std::vector<KernelCall>& calls) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type *ptr = llvm::PointerType::getUnqual(c), *i64 = llvm::Type::getInt64Ty(c), *i32 = llvm::Type::getInt32Ty(c);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(i32, {ptr, ptr, ptr}, false),
                                          llvm::Function::ExternalLinkage, entry_name, module);
  const auto parallel = module.getOrInsertFunction("cotan_native_parallel",
                                                   llvm::FunctionType::get(i32, {ptr, ptr, i64, i64}, false));
  const auto routine = module.getOrInsertFunction("cotan_native_routine",
                                                  llvm::FunctionType::get(i32, {ptr, i64, ptr, ptr}, false));
  llvm::Value *io = function->getArg(0), *arena = function->getArg(1), *caller = function->getArg(2);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(c, "entry", function));
  std::size_t most = 0;
  for (const KernelCall& call : calls) most = std::max(most, call.buffers.size());
  llvm::Value* buffers = b.CreateAlloca(ptr, b.getInt64(std::max<std::size_t>(most, 1)));
  const auto address = [&](compiler::BufferId id) -> llvm::Value* {
    const compiler::Buffer& buffer = program.buffers[static_cast<std::size_t>(id)];
    if (buffer.storage == compiler::Storage::arena)
      return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), arena, static_cast<std::uint64_t>(buffer.place));
    const auto slot = static_cast<std::uint64_t>(buffer.place) +
                      (buffer.storage == compiler::Storage::output ? program.inputs.size() : 0);
    return b.CreateLoad(ptr, b.CreateConstInBoundsGEP1_64(ptr, io, slot));
  };
  std::size_t next_kernel = 0, next_routine = 0;
  const auto leave_on_failure = [&](llvm::Value* status) {
    auto *fail = llvm::BasicBlock::Create(c, "fail", function), *on = llvm::BasicBlock::Create(c, "on", function);
    b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(0)), on, fail);
    b.SetInsertPoint(fail);
    b.CreateRet(status);
    b.SetInsertPoint(on);
  };
  for (const compiler::Step& step : program.steps) {
    if (std::holds_alternative<Kernel>(step)) {
      const auto& [kernel, s, operands] = calls[next_kernel++];
      std::uint64_t k = 0;
      for (auto id : operands)
        b.CreateStore(address(id), b.CreateConstInBoundsGEP1_64(ptr, buffers, k++));
      llvm::Value* iterations = b.getInt64(static_cast<std::uint64_t>(s.iterations));
      if (s.grain)
        leave_on_failure(
            b.CreateCall(parallel, {kernel, buffers, iterations, b.getInt64(static_cast<std::uint64_t>(s.grain))}));
      else
        b.CreateCall(kernel, {buffers, b.getInt64(0), iterations});
    } else {
      leave_on_failure(b.CreateCall(routine, {caller, b.getInt64(next_routine++), io, arena}));
    }
  }
  b.CreateRet(b.getInt32(0));
}

}  // namespace

std::string host_cpu() { return Engine::instance().cpu(); }

ScheduledKernel schedule_for_host(Program& program, const Kernel& kernel) {
  expr::GraphScope scope(program.graph);
  ScheduledKernel out{kernel, false, {}};
  out.unrolled = compiler::unroll_small(out.kernel, program);
  out.schedule = schedule_kernel(program, out.kernel, Engine::instance().vector_bytes());
  return out;
}

Code generate(Program& program, GeneratedText* text) {
  expr::GraphScope scope(program.graph);
  Engine& engine = Engine::instance();
  OwnedModule owned;
  owned.module = std::make_unique<llvm::Module>("cotan", *owned.context);
  llvm::Module* module = owned.module.get();
  engine.prepare(*module);
  std::vector<KernelCall> calls;
  std::unordered_map<std::string, KernelCall> emitted;  // layers of a network repeat each other
  for (const compiler::Step& step : program.steps)
    if (const auto* kernel = std::get_if<Kernel>(&step)) {
      KernelCall& shared = emitted[signature_of(program, *kernel)];
      const auto buffers = buffers_of(program, *kernel);
      if (!shared.function) {
        const ScheduledKernel scheduled = schedule_for_host(program, *kernel);
        shared.schedule = scheduled.schedule;
        shared.function = emit_kernel(*module, program, scheduled.kernel, buffers, scheduled.schedule,
                                      fmt::format("kernel{}", emitted.size() - 1));
      }
      calls.push_back({shared.function, shared.schedule, buffers});
    }
  emit_entry(*module, program, calls);
  const Compiled compiled = engine.compile(std::move(owned), entry_name,
                                           text ? &text->llvm_ir : nullptr, text ? &text->assembly : nullptr);
  return {reinterpret_cast<Entry>(compiled.entry), compiled.memory, compiled.from_disk};
}

}  // namespace cotan::native
