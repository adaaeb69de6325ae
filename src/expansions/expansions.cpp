#include "expansions/expansions.hpp"

#include <cstring>

#include "core/error.hpp"
#include "core/trace.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

bool is_zero(const Atom& a) {
  const Literal* literal = std::get_if<Literal>(&a);
  if (!literal) return false;
  return dispatch(literal->value.dtype(), [&]<class T>() {
    const T zero{};
    return std::memcmp(data<T>(literal->value), &zero, sizeof zero) == 0;
  });
}

}  // namespace

bool has_expansion(const Primitive& p) { return p.is_composed || RuleFor<Expansion>::find(p); }

JaxprPtr expansion_of(const Primitive& p, const Types& types, const Params& params) {
  const Expansion* const found = RuleFor<Expansion>::find(p);
  if (!found && !p.is_composed) return nullptr;
  const auto expansion = found ? found->expand : p.eval;
  Types strong = types;
  for (AbstractValue& t : strong) t.weak_type = false;
  const auto expand = [&](std::span<const Array> x) { return expansion(p, x, params); };
  const ClosedJaxpr closed = trace_to_jaxpr(expand, strong, "jit", std::string(p.name));
  internal_check(closed.consts.empty(), "an expansion captures an array");
  if (closed.jaxpr->outputs.empty()) return nullptr;
  const JaxprPtr program = eliminate_dead_code(inline_all_calls(closed.jaxpr));
  verify_if_enabled(*program, "expanding a routine");
  return program;
}

JaxprPtr expand_routines(const JaxprPtr& jaxpr, Wanted wanted, Wanted wanted_inside, std::int64_t block) {
  Rewriter rewriter(*jaxpr);
  std::vector<bool> zeros(jaxpr->types.size(), false);  // which arrays are zeros
  for (const Equation& e : jaxpr->equations) {
    Types types;
    for (const Atom& a : e.inputs) types.push_back(jaxpr->type(a));
    if (e.primitive == &ops::broadcast_in_dim_p)
      zeros[static_cast<std::size_t>(e.outputs[0].id)] = is_zero(e.inputs[0]);
    Params params = e.params;
    const Var* operand = e.primitive->window ? std::get_if<Var>(&e.inputs[0]) : nullptr;
    if (operand && zeros[static_cast<std::size_t>(operand->id)]) params = params.with("into_zeros", true);
    JaxprPtr program;
    if (wanted(*e.primitive, types, e.params)) {
      if (block > 0) program = expansion_in_blocks(*e.primitive, types, params, block);
      if (!program) program = expansion_of(*e.primitive, types, params);
    }
    if (!program) {
      rewriter.emit(e, rewriter.read(e.inputs), map_nested(e.params, [&](const JaxprPtr& j) {
                      return expand_routines(j, wanted_inside, wanted_inside, block);
                    }));
      continue;
    }
    const std::vector<Atom> results =
        splice(*expand_routines(program, wanted, wanted_inside, block), rewriter.read(e.inputs), rewriter);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
  }
  return rewriter.finish(jaxpr->outputs, "expanding routines");
}

}  // namespace cotan
