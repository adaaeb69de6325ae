// Primitives that are programs of others, with derivatives of their own: one evaluation for all devices. A device that
// has no code for one runs its program.
#pragma once
#include "ops/elementwise.hpp"

namespace cotan::special {

using Operands = std::span<const Array>;
/// Operands of one shape, f32 or f64, to the result.
using Function = Array (*)(Operands x);

/// The function on operands as the primitive gets them: 0-d ones beside others, and halves, which are computed in f32.
Arrays evaluate(Function f, Operands x);

/// An elementwise primitive. A partial derivative that is nullptr is zero.
template <Function f>
Primitive composed(std::string_view name, std::vector<PartialRule> partials) {
  return {.name = name,
          .op_class = OpClass::routine,
          .type = ops::elementwise_type<ops::Accepts::floating>,
          .eval = [](const Primitive&, Operands x, const Params&) { return evaluate(f, x); },
          .partials = std::move(partials),
          .batch = ops::elementwise_batch,
          .is_composed = true};
}

[[noreturn]] void raise_not_known(std::string_view name);
/// The partial derivative that JAX does not know either.
template <const Primitive* p>
Array not_known(const Partial&) {
  raise_not_known(p->name);
}

/// Machine epsilon of f32 or f64.
double epsilon_of(const Array& x);
/// The number for the dtype of x.
inline double pick(const Array& x, double of_f32, double of_f64) { return x.dtype() == DType::f64 ? of_f64 : of_f32; }

}  // namespace cotan::special
