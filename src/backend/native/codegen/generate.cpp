#include "backend/native/codegen/generate.hpp"

#include "backend/native/codegen/emit_program.hpp"
#include "backend/native/codegen/engine.hpp"
#include "compiler/kernels.hpp"
#include "core/error.hpp"

namespace cotan::native {

std::string host_cpu() { return Engine::instance().cpu(); }
int vector_bytes() { return Engine::instance().vector_bytes(); }

ScheduledKernel schedule_for_host(compiler::Program& program, const compiler::Kernel& kernel, bool in_loop) {
  expr::GraphScope scope(program.graph);
  ScheduledKernel out{kernel, false, {}};
  out.unrolled = compiler::unroll_small(out.kernel, program, in_loop);
  out.schedule = schedule_kernel(program, out.kernel, Engine::instance().vector_bytes(), in_loop);
  return out;
}

Code generate(compiler::Program& program, GeneratedText* text) {
  expr::GraphScope scope(program.graph);
  Engine& engine = Engine::instance();
  OwnedModule owned;
  owned.module = std::make_unique<llvm::Module>("cotan", *owned.context);
  engine.prepare(*owned.module);
  emit_program(*owned.module, program);
  const Compiled compiled = engine.compile(std::move(owned), entry_name,
                                           text ? &text->llvm_ir : nullptr, text ? &text->assembly : nullptr);
  return {reinterpret_cast<Entry>(compiled.entry), compiled.memory, compiled.from_disk};
}

}  // namespace cotan::native
