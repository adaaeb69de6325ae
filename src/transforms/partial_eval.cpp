// Partial evaluation and linearize: forward mode whose tangent part is recorded instead of computed.
#include <algorithm>

#include "core/def_use.hpp"
#include "passes/passes.hpp"
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

namespace {

/// A view of something no larger is cheaper to make again than to keep.
bool is_free(const Equation& e, const Jaxpr& program) {
  return e.primitive->op_class == OpClass::view && e.inputs.size() == 1 &&
         program.type(e.inputs[0]).size() <= program.type(e.outputs[0]).size();
}

/// Residuals that are views become what they are views of; the unknown part makes the views.
void keep_no_views(SplitJaxpr& split) {
  Jaxpr known = *split.known.jaxpr, unknown = *split.unknown;
  const std::size_t captured = split.known.consts.size();
  std::size_t plain = 0;  // known outputs that are no residuals
  for (bool u : split.output_unknown) plain += !u;
  const DefUse values(known);
  std::vector<Atom> residuals(known.outputs.begin() + static_cast<std::ptrdiff_t>(plain), known.outputs.end());
  std::vector<Var> kept;
  std::vector<Equation> views;
  bool changed = false;
  std::vector<SplitJaxpr::Residual> sources;
  std::vector<Var> inputs;
  const std::vector<Atom> origins = split.residuals_from(
      [&](std::size_t k) { return Atom(known.inputs[captured + k]); }, [&](std::size_t k) { return residuals[k]; });
  for (std::size_t r = 0; r < origins.size(); ++r) {
    if (std::holds_alternative<Literal>(origins[r])) return;
    Var outside = std::get<Var>(origins[r]), inside = unknown.inputs[r];
    for (;;) {
      const Equation* e = values.definition(outside);
      const Var* operand = e && is_free(*e, known) ? std::get_if<Var>(&e->inputs[0]) : nullptr;
      if (!operand) break;
      unknown.types.push_back(known.type(*operand));
      const Var before{static_cast<std::int32_t>(unknown.types.size()) - 1};
      views.push_back({e->primitive, {before}, {inside}, e->params, e->where});
      outside = *operand;
      inside = before;
      changed = true;
    }
    inputs.push_back(inside);
    const auto argument =
        std::find(known.inputs.begin() + static_cast<std::ptrdiff_t>(captured), known.inputs.end(), outside);
    if (argument != known.inputs.end()) {
      sources.push_back(SplitJaxpr::Input{static_cast<std::size_t>(argument - known.inputs.begin()) - captured});
      continue;
    }
    auto at = std::find(kept.begin(), kept.end(), outside);
    sources.push_back(SplitJaxpr::Output{static_cast<std::size_t>(at - kept.begin())});
    if (at == kept.end()) kept.push_back(outside);
  }
  if (!changed) return;
  std::reverse(views.begin(), views.end());  // what is made first is found last
  unknown.equations.insert(unknown.equations.begin(), views.begin(), views.end());
  std::copy(inputs.begin(), inputs.end(), unknown.inputs.begin());
  known.outputs.resize(plain);
  known.outputs.insert(known.outputs.end(), kept.begin(), kept.end());
  split.known.jaxpr = eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(known)));
  split.unknown = std::make_shared<const Jaxpr>(std::move(unknown));
  split.residuals = std::move(sources);
  verify_if_enabled(*split.unknown, "partial evaluation");
}

}  // namespace

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
        const std::size_t plain = known_outs.size();
        for (const Array& residual : rest.consts) {
          const auto input = std::find_if(known_args.begin(), known_args.end(),
                                          [&](const Array& a) { return a.value() == residual.value(); });
          if (input != known_args.end()) {
            out.residuals.push_back(SplitJaxpr::Input{static_cast<std::size_t>(input - known_args.begin())});
          } else {
            out.residuals.push_back(SplitJaxpr::Output{known_outs.size() - plain});
            known_outs.push_back(residual);
          }
        }
        return known_outs;
      },
      known_inputs, "partial evaluation", jaxpr.name);
  keep_no_views(out);
  return out;
}

}  // namespace cotan
