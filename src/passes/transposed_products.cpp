// A transposed product is the product of the operands in the other order: aᵀ of a·b costs nothing.
#include <algorithm>

#include "core/def_use.hpp"
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
  const DefUse values(*jaxpr);

  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    const Equation* product = e.primitive == &ops::transpose_p ? values.only_for_its_reader(e.inputs[0]) : nullptr;
    if (product && product->primitive == &ops::dot_general_p) {
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
