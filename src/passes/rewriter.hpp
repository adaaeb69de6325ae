// Rewriter: rebuilds a program equation by equation under a substitution of its variables.
#pragma once
#include "core/jaxpr.hpp"

namespace cotan {

class Rewriter {
 public:
  explicit Rewriter(const Jaxpr& from) : from_(from), map_(from.types.size()) {
    out_.name = from.name;
    for (Var v : from.inputs) out_.inputs.push_back(bind(v));
  }
  /// What an atom of the old program is in the new one.
  Atom read(const Atom& a) const {
    const Var* v = std::get_if<Var>(&a);
    return v ? map_[v->id] : a;
  }
  std::vector<Atom> read(const std::vector<Atom>& atoms) const {
    std::vector<Atom> out;
    for (const Atom& a : atoms) out.push_back(read(a));
    return out;
  }
  void substitute(Var old, Atom by) { map_[old.id] = std::move(by); }
  Var new_var(const AbstractValue& aval) {
    out_.types.push_back(aval);
    return {static_cast<std::int32_t>(out_.types.size()) - 1};
  }
  Var bind(Var old) {
    const Var v = new_var(from_.type(old));
    map_[old.id] = v;
    return v;
  }
  /// Emits `e` with new operands and parameters; its results get fresh variables.
  void emit(const Equation& e, std::vector<Atom> inputs, Params params) {
    Equation copy{e.primitive, std::move(inputs), {}, std::move(params), e.where};
    for (Var v : e.outputs) copy.outputs.push_back(bind(v));
    out_.equations.push_back(std::move(copy));
  }
  JaxprPtr finish(const std::vector<Atom>& outputs, std::string_view pass) {
    out_.outputs = read(outputs);
    auto done = std::make_shared<const Jaxpr>(std::move(out_));
    verify_if_enabled(*done, pass);
    return done;
  }
  const AbstractValue& type(const Atom& new_atom) const { return out_.type(new_atom); }
  Jaxpr& out() { return out_; }

 private:
  const Jaxpr& from_;
  std::vector<Atom> map_;
  Jaxpr out_;
};

/// Emits the equations of `callee` into `into`; returns what its outputs are there.
std::vector<Atom> splice(const Jaxpr& callee, const std::vector<Atom>& args, Rewriter& into);

/// `params` with every nested program replaced by f(program).
template <class F>
Params map_nested(const Params& params, F&& f) {
  Params out = params;
  for (const auto& [key, value] : params.items()) {
    if (const auto* j = std::get_if<JaxprPtr>(&value)) out = out.with(key, f(*j));
    if (const auto* js = std::get_if<std::vector<JaxprPtr>>(&value)) {
      std::vector<JaxprPtr> mapped;
      for (const auto& j : *js) mapped.push_back(f(j));
      out = out.with(key, std::move(mapped));
    }
  }
  return out;
}

}  // namespace cotan
