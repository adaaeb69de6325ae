// A transposed product is the product of the operands in the other order: aᵀ of a·b costs nothing.
#include <algorithm>

#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

/// Whether `perm` keeps the batch axes and exchanges the free axes of the two operands as blocks.
bool exchanges_operands(const Ints& perm, std::size_t batch, std::size_t free_a) {
  Ints expected;
  for (std::size_t i = 0; i < batch; ++i) expected.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = batch + free_a; i < perm.size(); ++i) expected.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = batch; i < batch + free_a; ++i) expected.push_back(static_cast<std::int64_t>(i));
  return perm == expected;
}

}  // namespace

JaxprPtr fold_transposed_products(const JaxprPtr& jaxpr) {
  std::vector<int> uses(jaxpr->types.size(), 0);
  std::vector<const Equation*> made_by(jaxpr->types.size(), nullptr);
  const auto count = [&](const std::vector<Atom>& atoms) {
    for (const Atom& a : atoms)
      if (const Var* v = std::get_if<Var>(&a)) ++uses[static_cast<std::size_t>(v->id)];
  };
  for (const Equation& e : jaxpr->equations) {
    count(e.inputs);
    for (Var v : e.outputs) made_by[static_cast<std::size_t>(v.id)] = &e;
  }
  count(jaxpr->outputs);

  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    const Var* operand = e.primitive == &ops::transpose_p ? std::get_if<Var>(&e.inputs[0]) : nullptr;
    const Equation* product = operand ? made_by[static_cast<std::size_t>(operand->id)] : nullptr;
    if (product && product->primitive == &ops::dot_general_p && uses[static_cast<std::size_t>(operand->id)] == 1) {
      const Params& p = product->params;
      const std::size_t batch = p.ints("batch_lhs").size();
      const std::size_t free_a = jaxpr->type(product->inputs[0]).shape.size() - batch - p.ints("contract_lhs").size();
      if (exchanges_operands(e.params.ints("permutation"), batch, free_a)) {
        Equation exchanged{product->primitive, {}, e.outputs, {}, e.where};
        rewriter.emit(exchanged, {rewriter.read(product->inputs[1]), rewriter.read(product->inputs[0])},
                      {{"contract_lhs", p.ints("contract_rhs")},
                       {"contract_rhs", p.ints("contract_lhs")},
                       {"batch_lhs", p.ints("batch_rhs")},
                       {"batch_rhs", p.ints("batch_lhs")}});
        continue;
      }
    }
    rewriter.emit(e, rewriter.read(e.inputs), e.params);
  }
  return eliminate_dead_code(rewriter.finish(jaxpr->outputs, "folding transposed products"));
}

}  // namespace cotan
