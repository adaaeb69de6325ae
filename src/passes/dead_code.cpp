#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

JaxprPtr keep(const Jaxpr& jaxpr, const std::vector<Atom>& outputs) {
  std::vector<bool> live(jaxpr.types.size(), false), kept(jaxpr.equations.size(), false);
  const auto mark = [&](const std::vector<Atom>& atoms) {
    for (const Atom& a : atoms)
      if (const Var* v = std::get_if<Var>(&a)) live[v->id] = true;
  };
  mark(outputs);
  std::vector<Equation> pruned(jaxpr.equations.size());
  for (std::size_t i = jaxpr.equations.size(); i-- > 0;) {
    const Equation& e = jaxpr.equations[i];
    for (Var v : e.outputs) kept[i] = kept[i] || live[v.id];
    if (!kept[i]) continue;
    pruned[i] = e;
    if (e.primitive->prune) {
      std::vector<bool> used;
      for (Var v : e.outputs) used.push_back(live[v.id]);
      e.primitive->prune(pruned[i], used);
    }
    mark(pruned[i].inputs);
  }
  Rewriter rewriter(jaxpr);
  for (std::size_t i = 0; i < jaxpr.equations.size(); ++i) {
    const Equation& e = pruned[i];
    if (kept[i]) rewriter.emit(e, rewriter.read(e.inputs), map_nested(e.params, eliminate_dead_code));
  }
  return rewriter.finish(outputs, "dead-code elimination");
}

}  // namespace

JaxprPtr eliminate_dead_code(const JaxprPtr& jaxpr) { return keep(*jaxpr, jaxpr->outputs); }

JaxprPtr restrict_outputs(const JaxprPtr& jaxpr, const std::vector<bool>& used) {
  std::vector<Atom> outputs;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) outputs.push_back(jaxpr->outputs[i]);
  return keep(*jaxpr, outputs);
}

}  // namespace cotan
