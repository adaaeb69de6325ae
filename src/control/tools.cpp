#include <algorithm>
#include <cmath>

#include "control/control.hpp"
#include "core/def_use.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"

namespace cotan {

Mask concat(const Mask& a, const Mask& b) {
  Mask out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}
Mask either(const Mask& a, const Mask& b) {
  Mask out = a;
  for (std::size_t i = 0; i < b.size(); ++i) out[i] = out[i] || b[i];
  return out;
}
std::vector<std::size_t> numbers(std::size_t from, std::size_t count) {
  std::vector<std::size_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = from + i;
  return out;
}

JaxprPtr rearranged(const Jaxpr& jaxpr, const std::vector<std::size_t>& inputs,
                    const std::vector<std::size_t>& outputs) {
  Jaxpr out = jaxpr;
  out.inputs.clear();
  out.outputs.clear();
  for (std::size_t i : inputs) out.inputs.push_back(jaxpr.inputs[i]);
  for (std::size_t i : outputs) out.outputs.push_back(jaxpr.outputs[i]);
  auto done = std::make_shared<const Jaxpr>(std::move(out));
  verify_if_enabled(*done, "rearranging");
  return done;
}

std::vector<JaxprPtr> share_captured(const std::vector<ClosedJaxpr>& programs, Arrays& captured) {
  // An array that is captured twice becomes one input.
  Arrays all;
  std::vector<std::vector<std::size_t>> places;
  for (const ClosedJaxpr& p : programs) {
    places.emplace_back();
    for (const Array& a : p.consts) {
      const auto at = std::find_if(all.begin(), all.end(), [&](const Array& b) { return a.value() == b.value(); });
      places.back().push_back(static_cast<std::size_t>(at - all.begin()));
      if (at == all.end()) all.push_back(a);
    }
  }
  std::vector<JaxprPtr> out;
  for (std::size_t k = 0; k < programs.size(); ++k) {
    Jaxpr jaxpr = *programs[k].jaxpr;
    const std::size_t own = programs[k].consts.size();
    std::vector<Var> inputs(all.size());
    for (std::size_t i = 0; i < own; ++i) inputs[places[k][i]] = jaxpr.inputs[i];
    for (std::size_t i = 0; i < all.size(); ++i)
      if (inputs[i].id < 0) {
        jaxpr.types.push_back(all[i].aval());
        inputs[i] = {static_cast<std::int32_t>(jaxpr.types.size()) - 1};
      }
    inputs.insert(inputs.end(), jaxpr.inputs.begin() + static_cast<std::ptrdiff_t>(own), jaxpr.inputs.end());
    jaxpr.inputs = std::move(inputs);
    out.push_back(std::make_shared<const Jaxpr>(std::move(jaxpr)));
    verify_if_enabled(*out.back(), "sharing captured arrays");
  }
  append(captured, all);
  return out;
}

namespace {
bool holds(const Mask& mask, const Atom& a) {
  const Var* v = std::get_if<Var>(&a);
  return v && mask[static_cast<std::size_t>(v->id)];
}
}  // namespace

Mask results_depend(const Equation& e, const Mask& from) {
  if (e.primitive == &scan_p) {
    const Scan s(e.params);
    Mask in = from;
    for (;;) {
      const Mask out = depends_on(*s.body, in);
      const Mask carries = part(in, s.consts, s.carries), more = either(carries, part(out, 0, s.carries));
      if (more == carries) return concat(carries, part(out, s.carries, s.ys()));
      std::copy(more.begin(), more.end(), in.begin() + static_cast<std::ptrdiff_t>(s.consts));
    }
  }
  if ((e.primitive->op_class == OpClass::call || e.primitive == &lanes_p) && e.params.has("jaxpr"))
    return depends_on(*e.params.jaxpr("jaxpr"), from);
  return Mask(e.outputs.size(), any(from));
}

Mask depends_on(const Jaxpr& jaxpr, const Mask& from) {
  Mask depends(jaxpr.types.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) depends[static_cast<std::size_t>(jaxpr.inputs[i].id)] = from[i];
  for (const Equation& e : jaxpr.equations) {
    Mask operands;
    for (const Atom& a : e.inputs) operands.push_back(holds(depends, a));
    if (!any(operands)) continue;
    const Mask results = results_depend(e, operands);
    for (std::size_t k = 0; k < results.size(); ++k) depends[static_cast<std::size_t>(e.outputs[k].id)] = results[k];
  }
  Mask out;
  for (const Atom& a : jaxpr.outputs) out.push_back(holds(depends, a));
  return out;
}

Mask reads(const Jaxpr& jaxpr) {
  const DefUse values(jaxpr);
  Mask out;
  for (Var v : jaxpr.inputs) out.push_back(values.reads(v) > 0);
  return out;
}

std::optional<Around> brought_together(const Jaxpr& jaxpr, std::size_t first, std::size_t then, const Mask& direct) {
  const auto& equations = jaxpr.equations;
  const auto step = [&](std::size_t k) { return equations.begin() + static_cast<std::ptrdiff_t>(k); };
  Around out{{equations.begin(), step(first)}, {}};
  Mask follows(jaxpr.types.size(), false);
  const auto note = [&](const Equation& e) {
    for (Var v : e.outputs) follows[static_cast<std::size_t>(v.id)] = true;
  };
  note(equations[first]);
  for (std::size_t k = first + 1; k < then; ++k) {
    const Equation& e = equations[k];
    const bool depends =
        std::any_of(e.inputs.begin(), e.inputs.end(), [&](const Atom& a) { return holds(follows, a); });
    (depends ? out.after : out.before).push_back(e);
    if (depends) note(e);
  }
  for (std::size_t i = 0; i < equations[then].inputs.size(); ++i)
    if (!direct[i] && holds(follows, equations[then].inputs[i])) return std::nullopt;
  out.after.insert(out.after.end(), step(then) + 1, equations.end());
  return out;
}

double work_of(const Jaxpr& program) {
  double work = 0;
  for (const Equation& e : program.equations) {
    double own = 0, most = 1;
    for (Var v : e.outputs) own += static_cast<double>(program.type(v).size());
    for (const Atom& a : e.inputs) most = std::max(most, static_cast<double>(program.type(a).size()));
    if (e.primitive == &scan_p) {
      const Scan s(e.params);
      work += static_cast<double>(s.length) * work_of(*s.body);
      continue;
    }
    const bool does_nothing = e.primitive->op_class == OpClass::view;
    if (e.primitive == &ops::dot_general_p) {
      const AbstractValue& x = program.type(e.inputs[0]);
      for (auto axis : e.params.ints("contract_lhs"))
        own *= 2 * static_cast<double>(x.shape[static_cast<std::size_t>(axis)]);
      work += own;
    } else if (e.primitive->op_class == OpClass::routine) {
      work += most * std::sqrt(most);  // of matrices, as a rule
    } else if (!does_nothing) {
      work += std::max(own, most);
    }
  }
  return work;
}

}  // namespace cotan
