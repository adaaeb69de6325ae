// The linear program that the derivative of an associative scan leaves: results of leaves that are not known yet
// (tangents, as a rule), given the results of the others. It and its transpose are linear in the unknown leaves. One
// step after the other it is a scan, and its transpose a scan backwards; for devices that want levels it is built anew
// from the combining function (lowering/associative_chunks.cpp).
#include "control/control.hpp"
#include "control/on_parts.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

Ints as_ints(const Mask& m) { return Ints(m.begin(), m.end()); }
Mask as_mask(const Ints& m) {
  Mask out;
  for (auto x : m) out.push_back(x != 0);
  return out;
}

Types part_of(const Types& types, std::size_t from, std::size_t count) {
  return Types(types.begin() + static_cast<std::ptrdiff_t>(from),
               types.begin() + static_cast<std::ptrdiff_t>(from + count));
}

/// The transpose of `forward`, which is linear in the operands where `linear`. The part that does not depend on those
/// is computed first. Calls with rules of their own are kept, since there may be more derivatives.
JaxprPtr transpose_of(const Jaxpr& forward, const Types& operands, const Mask& linear) {
  const SplitJaxpr split = partial_eval_jaxpr(forward, linear, Mask(forward.outputs.size(), true));
  Types types;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (!linear[k]) types.push_back(operands[k]);
  const std::size_t known = types.size();
  append(types, forward.output_types());
  const auto backward = [&](std::span<const Array> in) {
    const Arrays known_args(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(known));
    Arrays known_outs = eval_jaxpr(*split.known.jaxpr, concat(split.known.consts, known_args));
    Arrays args = residuals_of(split, known_args, known_outs);
    args.resize(args.size() + count(linear));
    Arrays out = backward_pass(*split.unknown, args, in.subspan(known));
    for (std::size_t k = 0, next = 0; k < operands.size(); ++k)
      if (linear[k]) {
        if (!out[next].defined()) out[next] = ops::zeros_of(operands[k]);
        ++next;
      }
    return out;
  };
  const ClosedJaxpr closed = trace_to_jaxpr(backward, types, "transpose");
  internal_check(closed.consts.empty(), "a transposed scan captures an array");
  return eliminate_dead_code(closed.jaxpr);
}

}  // namespace

AssociativeRest::AssociativeRest(const Params& p)
    : unknown(as_mask(p.ints("unknown"))), transposed(p.flag("transposed")), in_steps(p.jaxpr("jaxpr")) {
  scan.combine = p.jaxpr("combine");
  scan.consts = static_cast<std::size_t>(p.integer("num_consts"));
  scan.reverse = p.flag("reverse");
  linear = as_mask(p.ints("linear"));
  set_operands(p.integer("length"));
}
Params AssociativeRest::params() const {
  return {{"combine", scan.combine},
          {"jaxpr", in_steps},
          {"length", operands[scan.consts].shape[0]},
          {"linear", as_ints(linear)},
          {"num_consts", static_cast<std::int64_t>(scan.consts)},
          {"reverse", scan.reverse},
          {"transposed", transposed},
          {"unknown", as_ints(unknown)}};
}
void AssociativeRest::set_operands(std::int64_t length) {
  operands = part_of(scan.combine->input_types(), 0, scan.consts);
  Types known;
  for (std::size_t k = 0; k < scan.leaves(); ++k) {
    AbstractValue type = scan.combine->type(scan.combine->outputs[k]);
    type.shape.insert(type.shape.begin(), length);
    operands.push_back(type);
    if (!unknown[k]) known.push_back(type);
  }
  append(operands, known);
}
JaxprPtr AssociativeRest::program(Form form) const {
  const auto forward = [&](std::span<const Array> in) {
    const auto done = in.subspan(scan.consts + scan.leaves());
    return form(scan, in.subspan(0, scan.consts), in.subspan(scan.consts, scan.leaves()), unknown,
                Arrays(done.begin(), done.end()));
  };
  const ClosedJaxpr closed = trace_to_jaxpr(forward, operands, "associative_scan");
  internal_check(closed.consts.empty(), "an associative scan captures an array");
  return transposed ? transpose_of(*closed.jaxpr, operands, linear) : closed.jaxpr;
}

namespace {

// Derivatives of this program are derivatives of the scan that it is.
JvpResult rest_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                   const Params& params) {
  const JaxprPtr program = params.jaxpr("jaxpr");
  const Mask nonzero = defined_mask(tangents);
  const JvpJaxpr j = jvp_jaxpr(*program, nonzero);
  const Arrays results = eval_jaxpr(*j.jaxpr.jaxpr, concat(concat(j.jaxpr.consts, primals), where(nonzero, tangents)));
  const std::size_t n = program->outputs.size();
  JvpResult r{Arrays(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n)), {}};
  for (std::size_t i = 0, k = n; i < n; ++i) r.tangents.push_back(j.nonzero_out[i] ? results[k++] : Array());
  return r;
}
Arrays rest_partial_eval(const Primitive&, PartialEvalTrace&, std::span<const Array> args, const Params& params) {
  return eval_jaxpr(*params.jaxpr("jaxpr"), args);
}
/// The batch goes into the elements, and the function combines batches. Unknown leaves are all batched, and so are
/// constants whose cotangents are wanted: each lane has its own.
BatchResult rest_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  const AssociativeRest r(params);
  const std::size_t n = r.scan.leaves();
  // By operand of the forward form: which argument it is, if it is one.
  std::vector<std::ptrdiff_t> argument(r.operands.size(), -1);
  std::ptrdiff_t next = 0;
  for (std::size_t i = 0; i < argument.size(); ++i)
    if (!r.transposed || !r.linear[i]) argument[i] = next++;
  const auto is_batched = [&](std::size_t operand) {
    return argument[operand] < 0 || dims[static_cast<std::size_t>(argument[operand])] != not_batched;
  };
  Mask consts, leaves;
  for (std::size_t i = 0; i < r.scan.consts; ++i) consts.push_back(is_batched(i));
  std::vector<std::size_t> done(n, 0);  // where the results of the known leaves are
  for (std::size_t k = 0, known = r.scan.consts + n; k < n; ++k) {
    if (!r.unknown[k]) done[k] = known++;
    leaves.push_back(r.unknown[k] || is_batched(r.scan.consts + k) || is_batched(done[k]));
  }
  BatchedJaxpr j;
  for (;;) {
    j = batch_jaxpr(*r.scan.combine, concat(concat(consts, leaves), leaves), size, leaves);
    const Mask more = either(leaves, j.batched_out);
    if (more == leaves) break;
    leaves = more;
  }
  const std::size_t captured = j.jaxpr.consts.size();
  AssociativeRest b = r;
  b.scan.combine = j.jaxpr.jaxpr;
  b.scan.consts += captured;
  b.set_operands(r.operands[r.scan.consts].shape[0]);
  if (r.transposed) b.linear = concat(Mask(captured, false), r.linear);
  b.in_steps = b.program(associative_rest_in_steps);

  const auto in_elements = [&](std::size_t argument) {
    return ops::move_axis(ops::batch_at_front(args[argument], dims[argument], size), 0, 1);
  };
  Arrays operands = j.jaxpr.consts;
  std::vector<int> linear_dims;
  for (std::size_t i = 0; i < argument.size(); ++i) {
    std::size_t leaf = i - r.scan.consts;
    if (i >= r.scan.consts + n) leaf = static_cast<std::size_t>(std::find(done.begin(), done.end(), i) - done.begin());
    const bool is_const = i < r.scan.consts, batched = is_const ? consts[i] : leaves[leaf];
    if (argument[i] < 0) {
      linear_dims.push_back(is_const ? 0 : batched ? 1 : not_batched);
      continue;
    }
    const auto at = static_cast<std::size_t>(argument[i]);
    operands.push_back(!batched   ? args[at]
                       : is_const ? ops::batch_at_front(args[at], dims[at], size)
                                  : in_elements(at));
  }
  for (auto at = static_cast<std::size_t>(next); at < args.size(); ++at)
    operands.push_back(in_elements(at));  // cotangents
  return {bind(associative_rest_p, operands, b.params()),
          r.transposed ? linear_dims : std::vector<int>(count(r.unknown), 1)};
}

Arrays rest_transpose(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput> inputs,
                      const Params& params) {
  AssociativeRest r(params);
  Arrays args;
  Mask linear;
  for (const LinearInput& in : inputs) {
    args.push_back(in.linear ? Array() : in.value);
    linear.push_back(in.linear);
  }
  Arrays cts;
  if (r.transposed) {
    cts = backward_pass(*r.in_steps, args, cotangents);
  } else {
    Arrays operands = where(linear, std::span<const Array>(args), false);
    const Types results = r.in_steps->output_types();
    for (std::size_t k = 0; k < results.size(); ++k)
      operands.push_back(cotangents[k].defined() ? cotangents[k] : ops::zeros_of(results[k]));
    r.transposed = true;
    r.linear = linear;
    r.in_steps = r.program(associative_rest_in_steps);
    cts = bind(associative_rest_p, operands, r.params());
  }
  Arrays out(inputs.size());
  for (std::size_t i = 0, k = 0; i < inputs.size(); ++i)
    if (linear[i]) out[i] = cts[k++];
  return out;
}

}  // namespace

Arrays record_associative_rest(PartialEvalTrace& trace, const AssociativeScan& s, std::span<const Array> args,
                               const Mask& unknown, const Arrays& done) {
  AssociativeRest r;
  r.scan = s;
  r.unknown = unknown;
  r.set_operands(args[s.consts].shape()[0]);
  r.in_steps = r.program(associative_rest_in_steps);
  return trace.record(associative_rest_p, concat(args, done), r.params());
}

const Primitive associative_rest_p{.name = "associative_rest",
                                   .op_class = OpClass::control,
                                   .type = call_type,
                                   .eval = call_eval,
                                   .jvp = rest_jvp,
                                   .transpose = rest_transpose,
                                   .batch = rest_batch,
                                   .partial_eval = rest_partial_eval,
                                   .on_parts = associative_rest_on_parts};

}  // namespace cotan
