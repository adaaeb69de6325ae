// Partial evaluation and linearize: forward mode whose tangent part is recorded instead of computed.
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

Atom PartialEvalTrace::atom(const Array& a) {
  if (const auto* t = tracer_of(a, *this)) return static_cast<const detail::StagedTracer*>(t)->var;
  check_not_leaked(a, transform());
  return builder.capture(a);
}
Array PartialEvalTrace::add_input(const AbstractValue& aval) {
  auto t = std::make_shared<detail::StagedTracer>(aval, shared_from_this(), builder.add_input(aval));
  t->made_by = "argument";
  return Array(detail::ValuePtr(t));
}
Arrays PartialEvalTrace::record(const Primitive& p, std::span<const Array> args, const Params& params) {
  Types types;
  std::vector<Atom> atoms;
  for (const Array& a : args) {
    types.push_back(a.aval());
    atoms.push_back(atom(a));
  }
  Arrays out;
  for (Var v : builder.add_equation(p, std::move(atoms), result_types(p, types, params), params)) {
    auto t = std::make_shared<detail::StagedTracer>(builder.jaxpr().types[v.id], shared_from_this(), v);
    t->made_by = p.name;
    out.emplace_back(detail::ValuePtr(t));
  }
  return out;
}
Arrays PartialEvalTrace::process(const Primitive& p, std::span<const Array> args, const Params& params) {
  bool unknown = false;
  for (const Array& a : args) unknown |= is_unknown(a);
  if (!unknown) {
    TraceScope scope(parent_);
    return bind(p, args, params);
  }
  return p.partial_eval ? p.partial_eval(p, *this, args, params) : record(p, args, params);
}

Linearized linearize_flat(const FlatFn& f, std::span<const Array> primals, std::string_view transform) {
  auto trace = std::make_shared<PartialEvalTrace>(transform, current_trace_ptr());
  TraceCloser closer(*trace);
  Arrays tangents;
  for (const Array& p : primals)
    tangents.push_back(trace->add_input(p.aval()));
  JvpResult result;
  {
    TraceScope scope(trace);
    result = jvp_flat(f, primals, tangents, transform);
  }
  Linearized out;
  std::vector<Atom> atoms;
  for (const Array& t : result.tangents) {
    const bool nonzero = t.defined();
    out.nonzero.push_back(nonzero);
    if (nonzero) atoms.push_back(trace->atom(t));
  }
  out.outputs = std::move(result.primals);
  out.linear = trace->builder.finish(std::move(atoms), "linear");
  return out;
}

SplitJaxpr partial_eval_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& unknown) {
  SplitJaxpr out;
  Types known_inputs;
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (!unknown[i]) known_inputs.push_back(jaxpr.type(jaxpr.inputs[i]));
  out.known = trace_to_jaxpr(
      [&](std::span<const Array> known_args) {
        auto trace = std::make_shared<PartialEvalTrace>("partial evaluation", current_trace_ptr());
        TraceCloser closer(*trace);
        Arrays args, outs;
        for (std::size_t i = 0, k = 0; i < unknown.size(); ++i)
          args.push_back(unknown[i] ? trace->add_input(jaxpr.type(jaxpr.inputs[i])) : known_args[k++]);
        {
          TraceScope scope(trace);
          outs = eval_jaxpr(jaxpr, args);
        }
        Arrays known_outs;
        std::vector<Atom> unknown_outs;
        for (const Array& o : outs) {
          const bool is_unknown = trace->is_unknown(o);
          out.output_unknown.push_back(is_unknown);
          if (is_unknown) unknown_outs.push_back(trace->atom(o));
          else known_outs.push_back(o);
        }
        ClosedJaxpr rest = trace->builder.finish(std::move(unknown_outs), jaxpr.name);
        out.unknown = rest.jaxpr;
        int extra = 0;
        for (const Array& residual : rest.consts) {
          int source = -1;
          for (std::size_t k = 0; k < known_args.size() && source < 0; ++k)
            if (residual.value() == known_args[k].value()) source = static_cast<int>(k);
          if (source < 0) {
            source = -1 - extra++;
            known_outs.push_back(residual);
          }
          out.residual_source.push_back(source);
        }
        return known_outs;
      },
      known_inputs, "partial evaluation", jaxpr.name);
  return out;
}

}  // namespace cotan
