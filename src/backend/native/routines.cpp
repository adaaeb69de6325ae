// Steps of a program that work on whole arrays.
#include "backend/native/executable.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
#include "ops/ops.hpp"

namespace cotan::native {

std::byte* RoutineCall::operand(std::size_t k) const {
  if (routine.operands[k].buffer < 0) return concrete(routine.operands[k].literal)->buffer->data();
  return static_cast<std::byte*>(memory[k]);
}

namespace {

/// The primitive's own rule, on arrays that borrow the program's memory.
void evaluate(const RoutineCall& call) {
  Arrays args;
  for (std::size_t k = 0; k < call.routine.operands.size(); ++k) {
    const compiler::Operand& o = call.routine.operands[k];
    if (o.buffer < 0) {
      args.push_back(copy_to_backend(o.literal, call.backend));
      continue;
    }
    const std::size_t bytes = static_cast<std::size_t>(o.type.size()) * itemsize(o.type.dtype);
    args.push_back(Array(
        std::make_shared<detail::Concrete>(o.type, std::make_shared<Buffer>(call.backend, call.operand(k), bytes))));
  }
  TraceScope scope(eval_trace());
  const Arrays results = call.routine.primitive->eval(*call.routine.primitive, args, call.routine.params);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Buffer& from = *concrete(results[k])->buffer;
    if (call.result(k) && from.bytes()) std::memcpy(call.result(k), from.data(), from.bytes());
  }
}

/// Expanded where there are no routines; here their rule is one.
const RuleFor<NativeRoutine> runs_as_evaluated{{&ops::optimization_barrier_p, &ops::platform_index_p}, {evaluate}};

}  // namespace

void run_routine(const RoutineCall& call) {
  const NativeRoutine* own = RuleFor<NativeRoutine>::find(*call.routine.primitive);
  (own ? own->run : evaluate)(call);
}

}  // namespace cotan::native
