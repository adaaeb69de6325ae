#include "compiler/operations.hpp"

#include "core/error.hpp"
#include "expr/lowering.hpp"
#include "ops/ops.hpp"

namespace cotan::compiler {

namespace {

using expr::Expr;

Types no_type(const Primitive& p, std::span<const AbstractValue>, const Params&) {
  raise<InternalError>("[{}] is for compilers; this is a bug in cotan.", p.name);
}
Arrays no_eval(const Primitive& p, std::span<const Array>, const Params&) {
  raise<InternalError>("[{}] is for compilers; this is a bug in cotan.", p.name);
}

Expr slice_element(const expr::Operands& x, std::span<const Expr> index, const Params& params) {
  Expr step = x.at(1, {});
  if (params.flag("reverse")) step = expr::integer(params.integer("length") - 1) - step;
  std::vector<Expr> at{step};
  at.insert(at.end(), index.begin(), index.end());
  return x.at(0, at);
}

}  // namespace

const Primitive step_slice_p{
    .name = "step_slice", .op_class = OpClass::view, .type = no_type, .eval = no_eval, .element = slice_element};
const Primitive copy_p = lowered(
    {.name = "copy", .op_class = OpClass::elementwise, .type = no_type, .eval = no_eval},
    [](std::span<const Expr> x, const Params&) { return x[0]; }, true);

const Primitive lane_slice_p{
    .name = "lane_slice",
    .op_class = OpClass::view,
    .type = no_type,
    .eval = no_eval,
    .element = [](const expr::Operands& x, std::span<const Expr> i, const Params&) { return x.at(0, i); }};
const Primitive lane_front_p{
    .name = "lane_front",
    .op_class = OpClass::view,
    .type = no_type,
    .eval = no_eval,
    .element = [](const expr::Operands& x, std::span<const Expr> i, const Params&) { return x.at(0, i); }};

}  // namespace cotan::compiler
