// The compiler: passes over a Jaxpr, then over the Program, in order.
#include "compiler/fuse.hpp"
#include "compiler/kernels.hpp"
#include "compiler/memory.hpp"
#include "core/error.hpp"
#include "passes/passes.hpp"

namespace cotan::compiler {

namespace {

/// Inputs, outputs and temporaries of the program.
void assign_storage(const Jaxpr& jaxpr, const Schedule& schedule, Program& program) {
  for (std::size_t k = 0; k < jaxpr.inputs.size(); ++k) {
    Buffer& b = program.buffers[jaxpr.inputs[k].id];
    b.storage = Storage::input;
    b.place = static_cast<std::int64_t>(k);
    program.inputs.push_back(jaxpr.inputs[k].id);
    program.input_bytes += b.bytes();
  }
  for (std::size_t v = 0; v < program.buffers.size(); ++v)
    if (schedule.materialized[v]) program.buffers[v].storage = Storage::arena;
  for (std::size_t k = 0; k < jaxpr.outputs.size(); ++k) {
    Output out{-1, {}, jaxpr.type(jaxpr.outputs[k])};
    if (const Var* v = std::get_if<Var>(&jaxpr.outputs[k])) {
      out.buffer = v->id;
      Buffer& b = program.buffers[v->id];
      if (b.storage != Storage::input && b.storage != Storage::output) {
        b.storage = Storage::output;
        b.place = static_cast<std::int64_t>(k);
        program.output_bytes += b.bytes();
      }
    } else {
      out.literal = std::get<Literal>(jaxpr.outputs[k]).value;
    }
    program.outputs.push_back(std::move(out));
  }
}

}  // namespace

int Program::count(Storage storage) const {
  int n = 0;
  for (const Buffer& b : buffers) n += b.storage == storage;
  return n;
}

std::unique_ptr<Program> compile(const JaxprPtr& source, const Target& target,
                                 std::vector<std::pair<std::string, std::string>>* passes) {
  const JaxprPtr jaxpr = fold_transposed_products(eliminate_dead_code(inline_all_calls(source)));
  if (passes) passes->push_back({"inlined", to_string(*jaxpr)});
  auto program = std::make_unique<Program>();
  program->name = jaxpr->name;
  expr::GraphScope scope(program->graph);
  for (const AbstractValue& type : jaxpr->types) program->buffers.push_back({type});

  if (target.check_size)
    for (const AbstractValue& type : jaxpr->types) target.check_size(type);
  Definitions definitions(*jaxpr, target);
  Schedule schedule = fuse(*jaxpr, definitions, target);
  assign_storage(*jaxpr, schedule, *program);
  for (std::size_t v = 0; v < jaxpr->types.size(); ++v)
    if (definitions.kind(static_cast<BufferId>(v)) == Kind::pointwise)
      definitions.set_loaded(static_cast<BufferId>(v), schedule.materialized[v]);
  definitions.forget();
  for (std::size_t n = 0; n < schedule.nodes.size(); ++n) {
    if (const Group* group = schedule.nodes[n].group.get()) {
      build_kernels(*group, definitions, schedule, *program);
      continue;
    }
    const Equation& e = *schedule.nodes[n].routine;
    Routine routine{e.primitive, e.params, std::move(schedule.routine_operands[n]), {}};
    for (Var v : e.outputs) routine.results.push_back(v.id);
    program->steps.push_back(std::move(routine));
  }
  if (passes) passes->push_back({"fused", to_string(*program)});
  plan_memory(*program);
  if (passes) passes->push_back({"planned", to_string(*program)});
  return program;
}

}  // namespace cotan::compiler
