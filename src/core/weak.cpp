// C++ numbers are weak: 0.1 is f32 beside f32 and exact beside f64, also after arithmetic and inside programs. Concrete
// weak numbers carry their value in double. In a program, a weak value that meets f64 is computed a second time, in f64
// from the start; dead code elimination removes the first computation where nobody reads it.
#include <algorithm>
#include <unordered_set>

#include "core/backend.hpp"
#include "core/construct.hpp"
#include "core/trace.hpp"

namespace cotan {

namespace {

bool is_weak_float(const AbstractValue& t) { return t.weak_type && t.dtype == DType::f32; }

bool on_host(const Array& a) { return !concrete(a)->buffer->device_memory(); }

}  // namespace

std::optional<Array> exact_result(const Primitive& p, std::span<const Array> args, const Params& params) {
  if (p.op_class != OpClass::elementwise || args.empty() || args[0].ndim() != 0) return std::nullopt;
  if (p.casts) {
    const DType to = params.dtype("new_dtype");
    if (!params.flag("weak_type")) return exact_scalar_as(args[0], to);
    if (to != DType::f32) return std::nullopt;
    if (const auto wide = exact_scalar_as(args[0], DType::f64)) return detail::weak_scalar(wide->item<double>());
    return on_host(args[0]) ? std::optional(detail::weak_scalar(args[0].item<double>())) : std::nullopt;
  }
  for (const Array& a : args)
    if (!concrete(a)->exact || !is_weak_float(a.aval())) return std::nullopt;
  Arrays wide;
  for (const Array& a : args) {
    auto [operand, buffer] = allocate(host_backend(), {DType::f64, {}, true});
    *reinterpret_cast<double*>(buffer->data()) = concrete(a)->exact->d;
    wide.push_back(operand);
  }
  const Array result = p.eval(p, wide, params)[0];
  if (result.dtype() != DType::f64) return std::nullopt;
  return detail::weak_scalar(result.item<double>());
}

bool JaxprTrace::widens_weak(const Primitive& p, std::span<const Array> args, const Params& params) {
  return p.casts && is_weak_float(args[0].aval()) && !params.flag("weak_type") &&
         params.dtype("new_dtype") == DType::f64;
}

/// The operand in f64: a literal with all its bits, the f64 copy of a weak variable, or else the operand itself.
Atom JaxprTrace::wide_atom(const Atom& narrow) const {
  if (const auto* literal = std::get_if<Literal>(&narrow)) {
    if (!is_weak_float(literal->value.aval())) return narrow;
    const auto exact = exact_scalar_as(literal->value, DType::f64);
    return Literal{constant_of_program(exact ? *exact : scalar(DType::f64, literal->value.item<double>()))};
  }
  const auto at = wide_.find(std::get<Var>(narrow).id);
  return at == wide_.end() ? narrow : at->second;
}

Array JaxprTrace::wider(const Primitive& cast, const Array& weak, const Params& params) {
  const auto* own = static_cast<const detail::StagedTracer*>(tracer_of(weak, *this));
  if (!own) {
    const auto* outer = tracer(weak);
    if (!outer) return record(cast, {&weak, 1}, params)[0];
    check_not_leaked(weak, transform());
    const TraceScope scope(outer->trace);  // that trace knows how the value was computed
    return bind1(cast, {weak}, params);
  }
  // Equations that can be repeated in another dtype, with the same result up to rounding.
  const auto redoable = [&](const Equation& e) {
    return e.outputs.size() == 1 &&
           (e.primitive->op_class == OpClass::elementwise || e.primitive->op_class == OpClass::view);
  };
  std::vector<std::size_t> redo;
  std::unordered_set<std::int32_t> open{own->var.id};
  const auto& equations = builder.jaxpr().equations;
  for (std::size_t i = equations.size(); i-- > 0;) {
    const Equation& e = equations[i];
    if (!redoable(e) || !open.contains(e.outputs[0].id) || wide_.contains(e.outputs[0].id)) continue;
    open.erase(e.outputs[0].id);
    redo.push_back(i);
    if (e.primitive->casts) continue;
    for (const Atom& in : e.inputs)
      if (const Var* v = std::get_if<Var>(&in); v && is_weak_float(builder.jaxpr().type(*v))) open.insert(v->id);
  }
  const auto add = [&](const Primitive& p, std::vector<Atom> inputs, const Params& with) -> Atom {
    Types types;
    for (const Atom& in : inputs) types.push_back(builder.jaxpr().type(in));
    return builder.add_equation(p, std::move(inputs), result_types(p, types, with), with)[0];
  };
  for (const std::int32_t id : open)  // inputs, and results of loops and reductions, have no more bits to give
    if (!wide_.contains(id)) wide_.emplace(id, add(cast, {Var{id}}, params));
  std::reverse(redo.begin(), redo.end());
  for (const std::size_t i : redo) {
    const Equation e = builder.jaxpr().equations[i];  // a copy: adding moves them
    const bool was_wide = e.primitive->casts && builder.jaxpr().type(e.inputs[0]).dtype == DType::f64;
    std::vector<Atom> inputs;
    for (const Atom& in : e.inputs) inputs.push_back(wide_atom(in));
    wide_.insert_or_assign(
        e.outputs[0].id,
        was_wide ? e.inputs[0] : add(*e.primitive, std::move(inputs), e.primitive->casts ? params : e.params));
  }
  const Atom& result = wide_.at(own->var.id);
  if (const auto* literal = std::get_if<Literal>(&result)) return literal->value;
  return tracer_for(std::get<Var>(result), cast.name);
}

std::vector<bool> JaxprTrace::wanted_wide() const {
  std::vector<bool> wanted;
  for (const Var v : builder.jaxpr().inputs) wanted.push_back(wide_.contains(v.id));
  return wanted;
}

}  // namespace cotan
