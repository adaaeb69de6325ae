// Partial evaluation and linearize: forward mode whose tangent part is recorded instead of computed.
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

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
  for (const Array& p : primals) tangents.push_back(trace->add_input(p.aval()));
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

SplitJaxpr partial_eval_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& unknown,
                              const std::vector<bool>& force_unknown) {
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
        for (std::size_t i = 0; i < outs.size(); ++i) {
          const Array& o = outs[i];
          const bool is_unknown = trace->is_unknown(o) || (i < force_unknown.size() && force_unknown[i]);
          out.output_unknown.push_back(is_unknown);
          if (is_unknown)
            unknown_outs.push_back(trace->atom(o));
          else
            known_outs.push_back(o);
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
