// A gather of one element from each row of a computed array (the log-probability of a label) becomes a sum over the
// row. It is then computed together with the row's other sums, and the row need not be in memory.
#include "core/def_use.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
#include "ops/gather_scatter.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

JaxprPtr few_reads_as_sums(const JaxprPtr& jaxpr) {
  const Jaxpr& j = *jaxpr;
  const DefUse values(j);
  Rewriter rewriter(j);
  for (const Equation& e : j.equations) {
    const Equation* maker = e.primitive == &ops::gather_p ? values.only_for_its_reader(e.inputs[0]) : nullptr;
    const bool computed = maker && !j.type(e.inputs[0]).weak_type && maker->primitive->op_class == OpClass::elementwise;
    if (!computed || !ops::reads_one_of_each_lane(j.type(e.inputs[0]), j.type(e.inputs[1]), e.params)) {
      rewriter.emit(e, rewriter.read(e.inputs),
                    map_nested(e.params, [](const JaxprPtr& nested) { return few_reads_as_sums(nested); }));
      continue;
    }
    Types types{j.type(e.inputs[0]), j.type(e.inputs[1])};
    for (AbstractValue& t : types) t.weak_type = false;
    const ClosedJaxpr sum =
        trace_to_jaxpr([&](std::span<const Array> x) { return Arrays{ops::gather_by_comparing(x[0], x[1], e.params)}; },
                       types, "gather");
    internal_check(sum.consts.empty(), "a gather captures an array");
    rewriter.substitute(e.outputs[0], splice(*sum.jaxpr, rewriter.read(e.inputs), rewriter)[0]);
  }
  return eliminate_dead_code(rewriter.finish(j.outputs, "gathers as sums"));
}

}  // namespace cotan
