// linear_call: a linear function with its transpose by hand. And programs that are run again with other constants.
#include <algorithm>
#include <cotan/transforms/custom_gradient.hpp>

#include "ops/ops.hpp"
#include "transforms/calls.hpp"

namespace cotan {

namespace {

// Operands: constants and residuals, then the linear ones. The transpose takes the same residuals, then cotangents.
std::size_t residuals_in(const Params& params) { return static_cast<std::size_t>(params.integer("num_residuals")); }

JvpResult linear_call_jvp(const Primitive& self, std::span<const Array> primals, std::span<const Array> tangents,
                          const Params& params) {
  const std::size_t n = residuals_in(params);
  Arrays operands(primals.begin(), primals.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t i = 0; i < n; ++i)
    if (tangents[i].defined())
      raise<TransformError>(
          "[linear_call] residual {} is being differentiated, and a linear_call has a derivative with respect to its "
          "linear argument alone; stop_gradient it, or write the function without linear_call.",
          i);
  for (std::size_t i = n; i < primals.size(); ++i)
    operands.push_back(tangents[i].defined() ? tangents[i] : ops::zeros_of(primals[i].aval()));
  return {bind(self, primals, params), bind(self, operands, params)};
}

Arrays linear_call_transpose(const Primitive& self, std::span<const Array> cts, std::span<const LinearInput> in,
                             const Params& params) {
  const std::size_t n = residuals_in(params);
  const Types outputs = params.jaxpr("jaxpr")->output_types();
  Arrays operands;
  for (std::size_t i = 0; i < n; ++i) operands.push_back(in[i].value);
  for (std::size_t i = 0; i < cts.size(); ++i)
    operands.push_back(cts[i].defined() ? cts[i] : ops::zeros_of(outputs[i]));
  const Arrays results =
      bind(self, operands, params.with("jaxpr", params.jaxpr("transpose")).with("transpose", params.jaxpr("jaxpr")));
  Arrays out(in.size());
  for (std::size_t i = n; i < in.size(); ++i)
    if (in[i].linear) out[i] = results[i - n];
  return out;
}

BatchResult linear_call_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                              std::int64_t size, const Params& params) {
  const std::size_t n = residuals_in(params);
  FrontOperands front = batch_in_front(args.subspan(0, n), dims.subspan(0, n));
  const auto batched = [&](const JaxprPtr& program) {
    std::vector<bool> in = front.batched;
    in.resize(program->inputs.size(), true);
    const BatchedJaxpr j = batch_jaxpr(*program, in, size, std::vector<bool>(program->outputs.size(), true));
    internal_check(j.jaxpr.consts.empty(), "a batched program captures an array");
    return j.jaxpr.jaxpr;
  };
  Arrays operands = front.values;
  for (std::size_t i = n; i < args.size(); ++i) operands.push_back(ops::batch_at_front(args[i], dims[i], size));
  const Params over =
      params.with("jaxpr", batched(params.jaxpr("jaxpr"))).with("transpose", batched(params.jaxpr("transpose")));
  const Arrays out = bind(self, operands, over);
  return {out, std::vector<int>(out.size(), 0)};
}

const Primitive linear_call_p{.name = "linear_call",
                              .op_class = OpClass::call,
                              .type = call_type,
                              .eval = call_eval,
                              .jvp = linear_call_jvp,
                              .transpose = linear_call_transpose,
                              .batch = linear_call_batch};

/// The program as one of `consts`, of which it takes those from `first` on, and its other arguments.
JaxprPtr with_all_constants(const ClosedJaxpr& closed, const Types& consts, std::size_t first) {
  Types types = consts;
  const Types inputs = closed.jaxpr->input_types();
  const std::size_t own = closed.consts.size();
  types.insert(types.end(), inputs.begin() + static_cast<std::ptrdiff_t>(own), inputs.end());
  return trace_to_jaxpr(
             [&](std::span<const Array> in) {
               return eval_jaxpr(*closed.jaxpr, concat(in.subspan(first, own), in.subspan(consts.size())));
             },
             types, "linear_call")
      .jaxpr;
}

}  // namespace

namespace flat {

Arrays linear_call(const FlatFn& f, const FlatFn& transpose, std::span<const Array> residuals,
                   std::span<const Array> linear) {
  const Arrays all = concat(residuals, linear);
  std::vector<bool> wide = numbers_that_meet_f64(f, all, "linear_call");
  std::fill(wide.begin() + static_cast<std::ptrdiff_t>(wide.empty() ? 0 : residuals.size()), wide.end(), false);
  if (std::find(wide.begin(), wide.end(), true) != wide.end()) {
    const auto with = [&](const FlatFn& of) {
      return [&](std::span<const Array> args) { return of(narrowed(args, wide)); };
    };
    const Arrays exact = widened(all, wide);
    const auto kept = std::span(exact).subspan(0, residuals.size());
    return linear_call(with(f), with(transpose), kept, linear);
  }
  const Types kept = types_of(residuals), in = types_of(linear);
  Types of_f = kept, of_transpose = kept;
  of_f.insert(of_f.end(), in.begin(), in.end());
  const ClosedJaxpr forward = trace_to_jaxpr(f, of_f, "linear_call");
  const Types out = forward.jaxpr->output_types();
  of_transpose.insert(of_transpose.end(), out.begin(), out.end());
  const ClosedJaxpr backward = trace_to_jaxpr(transpose, of_transpose, "linear_call");
  const Types back = backward.jaxpr->output_types();
  if (back.size() != in.size())
    raise<TreeError>("[linear_call] the transpose gives {} arrays for {} linear ones; give one for each.", back.size(),
                     in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    if (back[i].shape != in[i].shape || back[i].dtype != in[i].dtype)
      raise<ShapeError>("[linear_call] the transpose gives {} for linear argument leaf {}, which is {}; give its like.",
                        back[i], i, in[i]);
  const Arrays consts = concat(forward.consts, backward.consts);
  const Types captured = types_of(consts);
  const Params params{{"jaxpr", with_all_constants(forward, captured, 0)},
                      {"num_residuals", static_cast<std::int64_t>(consts.size() + residuals.size())},
                      {"transpose", with_all_constants(backward, captured, forward.consts.size())}};
  return bind(linear_call_p, concat(concat(consts, residuals), linear), params);
}

Arrays run_program(const Program& program, std::span<const Array> consts, std::span<const Array> args,
                   std::string_view who, const Paths& paths) {
  const Jaxpr& jaxpr = *program.jaxpr();
  const std::size_t own = program.consts().size();
  if (consts.size() != own)
    raise<ValueError>("[{}] the function was traced with {} values that it closes over, and {} are given; pass those.",
                      who, own, consts.size());
  Arrays operands(consts.begin(), consts.end());
  for (std::size_t i = 0; i < args.size(); ++i) {
    const AbstractValue& want = jaxpr.type(jaxpr.inputs[own + i]);
    if (args[i].shape() != want.shape || (args[i].dtype() != want.dtype && !args[i].weak_type()))
      raise<TypeError>("[{}] {} is {}, and the function was traced for {}; convert it again for others.", who, paths(i),
                       args[i].aval(), want);
    operands.push_back(ops::cast(args[i], want.dtype));
  }
  return eval_jaxpr(jaxpr, operands);
}

}  // namespace flat
}  // namespace cotan
