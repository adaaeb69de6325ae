// associative_scan for compilers that know loops.
#include "control/control.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

bool has_any(const Jaxpr& jaxpr) {
  bool found = false;
  for (const Equation& e : jaxpr.equations) {
    found = found || e.primitive == &associative_scan_p;
    map_nested(e.params, [&](const JaxprPtr& j) {
      found = found || has_any(*j);
      return j;
    });
  }
  return found;
}

/// The program of one equation, as loops.
JaxprPtr as_loops(const Equation& e, const Types& types) {
  const AssociativeScan s(e.params);
  return inline_all_calls(
      trace_to_jaxpr([&](std::span<const Array> in) { return associative_scan_in_steps(s, in); }, types, "jit").jaxpr);
}

}  // namespace

JaxprPtr lower_associative_scans(const JaxprPtr& jaxpr) {
  if (!has_any(*jaxpr)) return jaxpr;
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    Params params = map_nested(e.params, lower_associative_scans);
    if (e.primitive != &associative_scan_p) {
      rewriter.emit(e, rewriter.read(e.inputs), std::move(params));
      continue;
    }
    Types types;
    for (const Atom& a : e.inputs) types.push_back(jaxpr->type(a));
    Equation lowered = e;
    lowered.params = std::move(params);
    const JaxprPtr loops = as_loops(lowered, types);
    const std::vector<Atom> results = splice(*loops, rewriter.read(e.inputs), rewriter);
    for (std::size_t k = 0; k < e.outputs.size(); ++k) rewriter.substitute(e.outputs[k], results[k]);
  }
  return rewriter.finish(jaxpr->outputs, "lowering associative scans");
}

}  // namespace cotan
