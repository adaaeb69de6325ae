// Loops and branches with less in them, by the rules of their primitives.
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

bool has_control(const Jaxpr& jaxpr) {
  bool found = false;
  for (const Equation& e : jaxpr.equations) {
    found = found || e.primitive->op_class == OpClass::control;
    map_nested(e.params, [&](const JaxprPtr& j) {
      found = found || has_control(*j);
      return j;
    });
  }
  return found;
}

}  // namespace

JaxprPtr simplify_loops(const JaxprPtr& jaxpr) {
  if (!has_control(*jaxpr)) return jaxpr;
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    // Inner loops first: what they no longer need may be invariant in the outer ones.
    Params params = map_nested(e.params, simplify_loops);
    if (e.primitive->simplify)
      e.primitive->simplify(e, params, rewriter);
    else
      rewriter.emit(e, rewriter.read(e.inputs), std::move(params));
  }
  return rewriter.finish(jaxpr->outputs, "simplifying loops");
}

}  // namespace cotan
