#include "backend/native/codegen/generate.hpp"

#include "backend/native/codegen/cost.hpp"
#include "backend/native/codegen/disk_cache.hpp"
#include "backend/native/codegen/emit_program.hpp"
#include "backend/native/codegen/engine.hpp"
#include "compiler/kernels.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan::native {

int vector_bytes() { return Engine::instance().vector_bytes(); }

ScheduledKernel schedule_for_host(compiler::Program& program, const compiler::Kernel& kernel, bool in_loop) {
  expr::GraphScope scope(program.graph);
  ScheduledKernel out{kernel, false, {}};
  out.unrolled = compiler::unroll_small(out.kernel, program, in_loop);
  out.schedule = schedule_kernel(program, out.kernel, Engine::instance().vector_bytes(), in_loop);
  // The time of LLVM's scheduler grows with the square of a block's loads and stores; arrays that need more than this
  // are not in registers anyway.
  constexpr int most_straight_line = 1088;
  if (in_loop && out.unrolled && instructions_of(out.kernel, out.schedule) > most_straight_line)
    return schedule_for_host(program, kernel, false);
  return out;
}

namespace {

OwnedModule module_of(compiler::Program& program) {
  expr::GraphScope scope(program.graph);
  OwnedModule owned;
  owned.module = std::make_unique<llvm::Module>("cotan", *owned.context);
  Engine::instance().prepare(*owned.module);
  emit_program(*owned.module, program);
  Engine::instance().validate(*owned.module);
  return owned;
}

/// LLVM's time per instruction of the module for the best code, and how much of it a hurry saves.
constexpr double full_ns = 50e3, saved_ns = 16e3;

/// Whether the first call, compilation included, ends sooner with code that is made in a hurry: that code runs a little
/// slower until better code takes over.
bool is_worth_hurrying(const compiler::Program& program, const llvm::Module& module) {
  constexpr double longer_ns = 0.2;
  if (const auto setting = environment::one_of("COTAN_FIRST_CODE", {"full", "quick"})) return *setting == "quick";
  return operations_before_better_code(program.steps) * longer_ns < module.getInstructionCount() * saved_ns;
}

/// Names of the functions of steps that are looked up one by one, in their order.
std::vector<std::string> steps_of(const llvm::Module& module) {
  std::vector<std::string> out;
  for (std::string name; module.getFunction(name = fmt::format("{}{}", step_name, out.size()));) out.push_back(name);
  return out;
}

}  // namespace

std::shared_ptr<const Code> generate(compiler::Program& program, Effort effort) {
  Engine& engine = Engine::instance();
  OwnedModule owned = module_of(program);
  const std::vector<std::string> steps = steps_of(*owned.module);
  std::string source = bitcode_of(*owned.module);
  const auto linked = [&](const std::string& object) { return engine.link(object, entry_name, steps); };
  if (const auto object = read_cached_object(source, engine.key(true)))
    return std::make_shared<const Code>(linked(*object), "", true, 0);
  if (effort == Effort::automatic && is_worth_hurrying(program, *owned.module)) {
    const auto patience = static_cast<std::int64_t>(owned.module->getInstructionCount() * full_ns);
    auto object = read_cached_object(source, engine.key(false));
    const bool from_disk = object.has_value();
    if (!object && (object = engine.quick_object_of(*owned.module)))
      write_cached_object(source, engine.key(false), *object);
    if (object) return std::make_shared<const Code>(linked(*object), std::move(source), from_disk, patience);
    owned = module_of_bitcode(source);
  }
  const std::string object = engine.object_of(*owned.module);
  write_cached_object(source, engine.key(true), object);
  return std::make_shared<const Code>(linked(object), "", false, 0);
}

LinkedCode generate_in_full(const std::string& source) {
  Engine& engine = Engine::instance();
  OwnedModule owned = module_of_bitcode(source);
  const std::vector<std::string> steps = steps_of(*owned.module);
  const std::string object = engine.object_of(*owned.module);
  write_cached_object(source, engine.key(true), object);
  return engine.link(object, entry_name, steps);
}

GeneratedText listing_of(compiler::Program& program) {
  OwnedModule owned = module_of(program);
  GeneratedText out;
  Engine::instance().object_of(*owned.module, &out.llvm_ir, &out.assembly);
  return out;
}

}  // namespace cotan::native
