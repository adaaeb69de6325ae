#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace cotan {

std::vector<Atom> splice(const Jaxpr& callee, const std::vector<Atom>& args, Rewriter& into) {
  std::vector<Atom> map(callee.types.size());
  for (std::size_t i = 0; i < args.size(); ++i) map[callee.inputs[i].id] = args[i];
  const auto read = [&](const Atom& a) {
    const Var* v = std::get_if<Var>(&a);
    return v ? map[v->id] : a;
  };
  for (const Equation& e : callee.equations) {
    Equation copy{e.primitive, {}, {}, e.params, e.where};
    for (const Atom& a : e.inputs) copy.inputs.push_back(read(a));
    for (Var v : e.outputs) {
      copy.outputs.push_back(into.new_var(callee.type(v)));
      map[v.id] = copy.outputs.back();
    }
    into.out().equations.push_back(std::move(copy));
  }
  std::vector<Atom> out;
  for (const Atom& a : callee.outputs) out.push_back(read(a));
  return out;
}

namespace {

/// Kept calls get the parameters that `kept` makes of theirs.
template <class Wanted, class Kept>
JaxprPtr inline_where(const JaxprPtr& jaxpr, Wanted&& wanted, Kept&& kept) {
  Rewriter rewriter(*jaxpr);
  for (const Equation& e : jaxpr->equations) {
    const Params params = map_nested(e.params, [&](const JaxprPtr& j) { return inline_where(j, wanted, kept); });
    if (!wanted(e)) {
      rewriter.emit(e, rewriter.read(e.inputs), kept(e, params));
      continue;
    }
    const std::vector<Atom> results = splice(*params.jaxpr("jaxpr"), rewriter.read(e.inputs), rewriter);
    for (std::size_t i = 0; i < results.size(); ++i) rewriter.substitute(e.outputs[i], results[i]);
  }
  return rewriter.finish(jaxpr->outputs, "inlining");
}

bool is_call(const Equation& e) { return e.primitive->op_class == OpClass::call && e.params.has("jaxpr"); }
bool is_checkpoint(const Equation& e) { return e.primitive->name == "checkpoint"; }
Params as_it_is(const Equation&, const Params& params) { return params; }

}  // namespace

JaxprPtr inline_calls(const JaxprPtr& jaxpr) {
  return inline_where(jaxpr, [](const Equation& e) { return e.primitive->name == "jit"; }, as_it_is);
}
JaxprPtr inline_all_but_checkpoints(const JaxprPtr& jaxpr) {
  return inline_where(
      jaxpr, [](const Equation& e) { return is_call(e) && !is_checkpoint(e); },
      [](const Equation& e, const Params& params) {
        return is_checkpoint(e) ? Params{{"jaxpr", params.jaxpr("jaxpr")}} : params;
      });
}
JaxprPtr inline_all_calls(const JaxprPtr& jaxpr) { return inline_where(jaxpr, is_call, as_it_is); }

}  // namespace cotan
