#include "core/def_use.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

namespace {

constexpr std::int64_t most_elements = 4096;

/// Whether the operation reads whole operands from memory. Elementwise operations compute constants where they need
/// them.
bool wants_memory(const Primitive& p) {
  return p.op_class == OpClass::control || p.op_class == OpClass::routine || p.op_class == OpClass::call;
}

}  // namespace

SplitConstants split_constants(const JaxprPtr& jaxpr) {
  const Jaxpr& j = *jaxpr;
  std::vector<bool> constant(j.types.size(), false), taken(j.types.size(), false), given(j.types.size(), false);
  const DefUse values(j);
  const auto at = [](Var v) { return static_cast<std::size_t>(v.id); };
  for (const Atom& a : j.outputs)
    if (const Var* v = std::get_if<Var>(&a)) given[at(*v)] = true;
  Jaxpr constants;
  constants.name = j.name + "_constants";
  constants.types = j.types;
  for (const Equation& e : j.equations) {
    bool known = e.primitive->scalar || e.primitive->scalars || e.primitive->element;
    for (const Atom& a : e.inputs) {
      const Var* v = std::get_if<Var>(&a);
      known = known && (!v || constant[at(*v)]);
    }
    for (Var v : e.outputs) known = known && j.type(v).size() <= most_elements;
    if (known) constants.equations.push_back(e);
    for (Var v : e.outputs) constant[at(v)] = known;
    if (!wants_memory(*e.primitive)) continue;
    for (const Atom& a : e.inputs) {
      const Var* v = std::get_if<Var>(&a);
      if (!v || !constant[at(*v)] || taken[at(*v)] || given[at(*v)] || j.type(*v).size() < 2 ||
          values.definition(a)->primitive->rewrites.is_trivial)
        continue;
      taken[at(*v)] = true;
      constants.outputs.push_back(*v);
    }
  }
  if (constants.outputs.empty() || j.inputs.empty()) return {nullptr, jaxpr};
  Rewriter rewriter(j);
  for (const Atom& a : constants.outputs) rewriter.out().inputs.push_back(rewriter.bind(std::get<Var>(a)));
  for (const Equation& e : j.equations)
    if (e.outputs.size() != 1 || !taken[at(e.outputs[0])]) rewriter.emit(e, rewriter.read(e.inputs), e.params);
  return {eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(constants))),
          eliminate_dead_code(rewriter.finish(j.outputs, "splitting constants"))};
}

}  // namespace cotan
