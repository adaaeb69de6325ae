// jit_p: the call of a traced program, and its rules. What happens when a jitted function is called is in src/jit.
#include "transforms/calls.hpp"
#include "transforms/traces.hpp"

namespace cotan {

namespace {

Arrays jit_partial_eval(const Primitive&, PartialEvalTrace& trace, std::span<const Array> args, const Params& params) {
  auto [unknown, known_args, unknown_args] = split_known(trace, args);
  const SplitJaxpr split = partial_eval_jaxpr(*params.jaxpr("jaxpr"), unknown);
  Arrays known_outs;
  {
    TraceScope scope(trace.parent());
    known_outs = bind(jit_p, concat(split.known.consts, known_args), params.with("jaxpr", split.known.jaxpr));
  }
  Arrays operands = residuals_of(split, known_args, known_outs);
  operands.insert(operands.end(), unknown_args.begin(), unknown_args.end());
  Arrays unknown_outs;
  if (!split.unknown->outputs.empty())
    unknown_outs = trace.record(jit_p, operands, params.with("jaxpr", split.unknown));
  return merge_outputs(split.output_unknown, known_outs, unknown_outs);
}

Arrays jit_transpose(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput> inputs,
                     const Params& params) {
  std::vector<bool> linear;
  Arrays args;
  for (const LinearInput& in : inputs) {
    linear.push_back(in.linear);
    if (!in.linear) args.push_back(in.value);
  }
  const TransposedJaxpr t = transpose_jaxpr(*params.jaxpr("jaxpr"), linear, defined_mask(cotangents));
  args = concat(t.jaxpr.consts, args);
  for (const Array& ct : cotangents)
    if (ct.defined()) args.push_back(ct);
  return scatter_cotangents(inputs, t.nonzero_out, bind(jit_p, args, params.with("jaxpr", t.jaxpr.jaxpr)));
}

}  // namespace

const Primitive jit_p{.name = "jit",
                      .op_class = OpClass::call,
                      .type = call_type,
                      .eval = call_eval,
                      .jvp = call_jvp,
                      .transpose = jit_transpose,
                      .batch = call_batch,
                      .partial_eval = jit_partial_eval};

}  // namespace cotan
