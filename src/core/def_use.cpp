#include "core/def_use.hpp"

namespace cotan {

DefUse::DefUse(const Jaxpr& jaxpr) : jaxpr_(jaxpr), homes_(jaxpr.types.size(), nowhere), reads_(jaxpr.types.size(), 0) {
  const auto count = [&](const std::vector<Atom>& atoms) {
    for (const Atom& a : atoms)
      if (const Var* v = std::get_if<Var>(&a)) ++reads_[static_cast<std::size_t>(v->id)];
  };
  for (std::size_t k = 0; k < jaxpr.equations.size(); ++k) {
    count(jaxpr.equations[k].inputs);
    for (Var v : jaxpr.equations[k].outputs) homes_[static_cast<std::size_t>(v.id)] = k;
  }
  count(jaxpr.outputs);
}

std::optional<std::size_t> DefUse::home(const Atom& a) const {
  const Var* v = std::get_if<Var>(&a);
  if (!v || homes_[static_cast<std::size_t>(v->id)] == nowhere) return std::nullopt;
  return homes_[static_cast<std::size_t>(v->id)];
}

const Equation* DefUse::definition(const Atom& a) const {
  const auto k = home(a);
  return k ? &jaxpr_.equations[*k] : nullptr;
}

const Equation* DefUse::only_for_its_reader(const Atom& a) const {
  const Equation* e = definition(a);
  return e && reads(std::get<Var>(a)) == 1 ? e : nullptr;
}

}  // namespace cotan
