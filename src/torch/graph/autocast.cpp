// What autocast does to the operands of an operation.
#include "torch/graph/generator.hpp"
#include "torch/graph/modes.hpp"
#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::detail {

Value autocast(const Value& value, Cast cast) {
  static const auto op = define("to", {}, [](const Array& x, DType t) { return x.astype(t); });
  const DType now = value.type()->dtype;
  if (!is_floating(now) || now == f64) return value;
  const DType then = cast == Cast::lower ? *modes().autocast : cast == Cast::f32 ? f32 : now;
  return then == now ? value : op.value(tensor_of(value), then);
}

}  // namespace cotan::torch::detail
