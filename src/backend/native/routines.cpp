// Steps of a program that work on whole arrays.
#include <algorithm>

#include "backend/native/executable.hpp"
#include "backend/native/routines/conv.hpp"
#include "backend/native/routines/conv_problem.hpp"
#include "backend/native/routines/cumulative.hpp"
#include "backend/native/routines/dot.hpp"
#include "backend/native/routines/linalg.hpp"
#include "backend/native/routines/scatter.hpp"
#include "backend/native/routines/sort.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"
#include "ops/conv.hpp"
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

void convolve(const RoutineCall& call) {
  const auto &lhs = call.routine.operands[0], &rhs = call.routine.operands[1];
  const Shape& out = call.program.buffers[static_cast<std::size_t>(call.routine.results[0])].type.shape;
  const Convolution problem = conv_problem(ops::ConvParams(call.routine.params), {lhs.type.shape, lhs.strides},
                                           {rhs.type.shape, rhs.strides}, {out, ops::strides_of(out)});
  dispatch(lhs.type.dtype, [&]<class T>() {
    conv<T>(problem, reinterpret_cast<const T*>(call.operand(0)), reinterpret_cast<const T*>(call.operand(1)),
            reinterpret_cast<T*>(call.result(0)));
  });
}

/// Primitives with an implementation of this back end's own. Operands come with strides where it says so.
struct NativeRoutine {
  const Primitive* primitive;
  bool takes_strides;
  void (*run)(const RoutineCall&);
};
const NativeRoutine* find_routine(const Primitive& p) {
  static const NativeRoutine routines[] = {
      {&ops::dot_general_p, true, dot_general},
      {&ops::conv_general_dilated_p, true, convolve},
      {&ops::cumsum_p, false, cumulative_sum},
      {&ops::cumprod_p, false, cumulative_product},
      {&ops::cummax_p, false, cumulative_max},
      {&ops::cummin_p, false, cumulative_min},
      {&ops::cumlogsumexp_p, false, cumulative_logsumexp},
      {&ops::linear_recurrence_p, false, linear_recurrence},
      {&ops::scatter_p, false, scatter},
      {&ops::scatter_add_p, false, scatter_add},
      {&ops::scatter_mul_p, false, scatter_mul},
      {&ops::scatter_min_p, false, scatter_min},
      {&ops::scatter_max_p, false, scatter_max},
      {&ops::cholesky_p, false, cholesky},
      {&ops::triangular_solve_p, false, triangular_solve},
      {&ops::lu_p, false, lu},
      {&ops::qr_p, false, evaluate_matrices},
      {&ops::eigh_p, false, evaluate_matrices},
      {&ops::svd_p, false, evaluate_matrices},
      {&ops::sort_p, false, sort},
      {&ops::top_k_p, false, top_k},
  };
  for (const NativeRoutine& r : routines)
    if (r.primitive == &p) return &r;
  return nullptr;
}

}  // namespace

bool routine_takes_strides(const Primitive& p) {
  const NativeRoutine* r = find_routine(p);
  return r && r->takes_strides;
}

void run_routine(const RoutineCall& call) {
  const NativeRoutine* r = find_routine(*call.routine.primitive);
  (r ? r->run : evaluate)(call);
}

}  // namespace cotan::native
