// What is computed of single numbers alone comes first: a learning rate, a count, a bias correction. Kernels over
// arrays are made in the order of the program, and one that wants such a number can then join those before it.
#include "core/error.hpp"
#include "passes/passes.hpp"

namespace cotan {

JaxprPtr scalars_first(const JaxprPtr& jaxpr) {
  const Jaxpr& j = *jaxpr;
  std::vector<bool> early(j.types.size(), false);
  const auto is_number = [&](Var v) { return j.type(v).size() == 1; };
  for (Var v : j.inputs) early[static_cast<std::size_t>(v.id)] = is_number(v);
  const auto is_early = [&](const Equation& e) {
    const OpClass kind = e.primitive->op_class;
    if (kind != OpClass::elementwise && kind != OpClass::view) return false;
    for (const Atom& a : e.inputs)
      if (const Var* v = std::get_if<Var>(&a); v && !early[static_cast<std::size_t>(v->id)]) return false;
    return std::all_of(e.outputs.begin(), e.outputs.end(), is_number);
  };
  Jaxpr out = j;
  out.equations.clear();
  std::vector<Equation> later;
  for (const Equation& e : j.equations) {
    const bool moves = is_early(e);
    for (Var v : e.outputs) early[static_cast<std::size_t>(v.id)] = moves;
    (moves ? out.equations : later).push_back(e);
  }
  out.equations.insert(out.equations.end(), later.begin(), later.end());
  return std::make_shared<const Jaxpr>(std::move(out));
}

}  // namespace cotan
