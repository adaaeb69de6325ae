#include "backend/native/codegen/generate.hpp"

#include <algorithm>
#include <cstdlib>

#include "backend/native/codegen/disk_cache.hpp"
#include "backend/native/codegen/emit_program.hpp"
#include "backend/native/codegen/engine.hpp"
#include "compiler/definitions.hpp"
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
  // LLVM's scheduler takes time by the square of a block's loads and stores, and arrays that need so many are not in registers.
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

/// Elementary operations of one call, about. Of loops that run until something holds nobody knows.
double operations_of(const std::vector<compiler::Step>& steps) {
  constexpr double unknown_steps = 100;
  double all = 0;
  for (const compiler::Step& step : steps) {
    if (const auto* kernel = std::get_if<compiler::Kernel>(&step)) {
      double elements = 1, each = 0;
      for (const compiler::Loop& l : kernel->loops) elements *= static_cast<double>(l.extent);
      for (const compiler::Pass& pass : kernel->passes) {
        for (const compiler::Reduce& r : pass.reductions) each += 1 + compiler::cost_of(r.value);
        for (const auto* stores : {&pass.stores, &pass.rows})
          for (const compiler::Store& s : *stores) each += 1 + compiler::cost_of(s.value);
      }
      all += elements * each;
    } else if (const auto* repeat = std::get_if<std::unique_ptr<compiler::Repeat>>(&step)) {
      const compiler::Repeat& loop = **repeat;
      all += (loop.length < 0 ? unknown_steps : static_cast<double>(loop.length)) *
             (operations_of(loop.steps) + operations_of(loop.condition));
    } else if (const auto* choice = std::get_if<std::unique_ptr<compiler::Choice>>(&step)) {
      double most = 0;
      for (const auto& branch : (*choice)->branches) most = std::max(most, operations_of(branch));
      all += most;
    }
  }
  return all;
}

/// Whether the first call is over sooner with code that is made in a hurry: an operation of it takes some nanoseconds
/// longer, an instruction of the module microseconds less.
bool is_worth_hurrying(const compiler::Program& program, const llvm::Module& module) {
  constexpr double longer_ns = 2, saved_ns = 4000;
  constexpr unsigned most_instructions = 20000;  // every value has a place on the stack there
  if (const char* setting = std::getenv("COTAN_FIRST_CODE")) {
    if (std::string_view(setting) == "full") return false;
    if (std::string_view(setting) == "quick") return true;
  }
  const unsigned instructions = module.getInstructionCount();
  return instructions < most_instructions && operations_of(program.steps) * longer_ns < instructions * saved_ns;
}

}  // namespace

std::shared_ptr<const Code> generate(compiler::Program& program, Effort effort) {
  Engine& engine = Engine::instance();
  OwnedModule owned = module_of(program);
  std::string source = bitcode_of(*owned.module);
  if (const auto object = read_cached_object(source, engine.key(true)))
    return std::make_shared<const Code>(engine.link(*object, entry_name), "", true);
  const bool hurry = effort == Effort::automatic && is_worth_hurrying(program, *owned.module);
  auto object = hurry ? read_cached_object(source, engine.key(false)) : std::nullopt;
  const bool from_disk = object.has_value();
  if (!object) {
    object = engine.object_of(*owned.module, !hurry);
    write_cached_object(source, engine.key(!hurry), *object);
  }
  return std::make_shared<const Code>(engine.link(*object, entry_name), hurry ? std::move(source) : "", from_disk);
}

LinkedCode generate_in_full(const std::string& source) {
  Engine& engine = Engine::instance();
  OwnedModule owned = module_of_bitcode(source);
  const std::string object = engine.object_of(*owned.module, true);
  write_cached_object(source, engine.key(true), object);
  return engine.link(object, entry_name);
}

GeneratedText listing_of(compiler::Program& program) {
  OwnedModule owned = module_of(program);
  GeneratedText out;
  Engine::instance().object_of(*owned.module, true, &out.llvm_ir, &out.assembly);
  return out;
}

}  // namespace cotan::native
