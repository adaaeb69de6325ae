// Reverse mode: a linear program run backwards.
#include "core/construct.hpp"
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

Arrays backward_pass(const Jaxpr& jaxpr, std::span<const Array> args, std::span<const Array> cotangents) {
  const std::size_t n = jaxpr.types.size();
  Arrays value(n), cotangent(n);
  std::vector<bool> linear(n, false);
  for (std::size_t i = 0; i < args.size(); ++i) {
    value[jaxpr.inputs[i].id] = args[i];
    linear[jaxpr.inputs[i].id] = !args[i].defined();
  }
  const auto is_linear = [&](const Atom& a) {
    const Var* v = std::get_if<Var>(&a);
    return v && linear[v->id];
  };
  const auto read = [&](const Atom& a) {
    const Var* v = std::get_if<Var>(&a);
    return v ? value[v->id] : std::get<Literal>(a).value;
  };

  // What does not depend on linear inputs is computed forwards, first.
  std::vector<const Equation*> linear_equations;
  for (const Equation& e : jaxpr.equations) {
    bool any = false;
    for (const Atom& a : e.inputs) any |= is_linear(a);
    if (any) {
      for (Var v : e.outputs) linear[v.id] = true;
      linear_equations.push_back(&e);
      continue;
    }
    Arrays operands;
    for (const Atom& a : e.inputs) operands.push_back(read(a));
    Arrays results = bind(*e.primitive, operands, e.params);
    for (std::size_t k = 0; k < results.size(); ++k) value[e.outputs[k].id] = results[k];
  }

  const auto accumulate = [&](const Atom& a, const Array& ct) {
    if (!ct.defined() || !is_linear(a)) return;
    const int id = std::get<Var>(a).id;
    cotangent[id] = ops::add_cotangents(cotangent[id], ct);
  };
  for (std::size_t i = 0; i < jaxpr.outputs.size(); ++i) accumulate(jaxpr.outputs[i], cotangents[i]);

  EquationLines lines;
  for (auto it = linear_equations.rbegin(); it != linear_equations.rend(); ++it) {
    const Equation& e = **it;
    lines.move_to(e);
    Arrays cts;
    bool any = false;
    for (Var v : e.outputs) {
      any |= cotangent[v.id].defined();
      cts.push_back(std::exchange(cotangent[v.id], Array()));
    }
    if (!any) continue;
    if (!e.primitive->transpose)
      raise<TransformError>(
          "[transpose] {} has no transpose rule, so the function is not linear in its arguments; give "
          "linear_transpose a linear one, or use vjp, which linearizes first.",
          e.primitive->name);
    std::vector<LinearInput> inputs;
    for (const Atom& a : e.inputs) {
      const bool lin = is_linear(a);
      inputs.push_back({lin, jaxpr.type(a), lin ? Array() : read(a)});
    }
    const Arrays results = e.primitive->transpose(*e.primitive, cts, inputs, e.params);
    for (std::size_t i = 0; i < results.size(); ++i) accumulate(e.inputs[i], results[i]);
  }
  Arrays out;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!args[i].defined()) out.push_back(cotangent[jaxpr.inputs[i].id]);
  return out;
}

TransposedJaxpr transpose_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& linear,
                                const std::vector<bool>& nonzero_cotangents) {
  Types inputs;
  for (std::size_t i = 0; i < linear.size(); ++i)
    if (!linear[i]) inputs.push_back(jaxpr.type(jaxpr.inputs[i]));
  for (std::size_t i = 0; i < nonzero_cotangents.size(); ++i)
    if (nonzero_cotangents[i]) inputs.push_back(jaxpr.type(jaxpr.outputs[i]));
  TransposedJaxpr out;
  out.jaxpr = trace_to_jaxpr(
      [&](std::span<const Array> in) {
        std::size_t k = 0;
        Arrays args(linear.size()), cts(nonzero_cotangents.size()), results;
        for (std::size_t i = 0; i < linear.size(); ++i)
          if (!linear[i]) args[i] = in[k++];
        for (std::size_t i = 0; i < cts.size(); ++i)
          if (nonzero_cotangents[i]) cts[i] = in[k++];
        for (const Array& ct : backward_pass(jaxpr, args, cts)) {
          out.nonzero_out.push_back(ct.defined());
          if (ct.defined()) results.push_back(ct);
        }
        return results;
      },
      inputs, "vjp", jaxpr.name);
  return out;
}

}  // namespace cotan
