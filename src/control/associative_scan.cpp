// associative_scan: all partial results of an associative function over the slices of its operands.
#include "control/control.hpp"
#include "control/on_parts.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

AssociativeScan::AssociativeScan(const Params& params)
    : combine(params.jaxpr("jaxpr")),
      consts(static_cast<std::size_t>(params.integer("num_consts"))),
      reverse(params.flag("reverse")) {}

Params AssociativeScan::params() const {
  return {{"jaxpr", combine}, {"num_consts", static_cast<std::int64_t>(consts)}, {"reverse", reverse}};
}

namespace {

Types ascan_type(const Primitive&, std::span<const AbstractValue> operands, const Params& params) {
  const AssociativeScan s(params);
  const std::size_t n = s.leaves();
  bool fits = operands.size() == s.consts + n && s.combine->inputs.size() == s.consts + 2 * n;
  for (std::size_t i = 0; fits && i < n; ++i) {
    const AbstractValue &x = operands[s.consts + i], &y = s.combine->type(s.combine->outputs[i]);
    fits = x.ndim() > 0 && x.shape[0] == operands[s.consts].shape[0] && x.dtype == y.dtype &&
           Shape(x.shape.begin() + 1, x.shape.end()) == y.shape;
  }
  if (!fits) raise<InternalError>("[associative_scan] elements do not fit the function; this is a bug in cotan.");
  return Types(operands.begin() + static_cast<std::ptrdiff_t>(s.consts), operands.end());
}

}  // namespace

Arrays associative_rest_in_steps(const AssociativeScan& s, std::span<const Array> consts,
                                 std::span<const Array> elements, const Mask& unknown, const Arrays& done) {
  const std::size_t n = s.leaves();
  const std::int64_t length = elements[0].shape()[0];
  Mask known = unknown;
  known.flip();
  if (length <= 1) return where(unknown, elements);
  // The first element, which is its own result; the other elements; and the results that the next steps start from.
  const std::int64_t at = s.reverse ? length - 1 : 0, from = s.reverse ? 0 : 1;
  const auto first = [&](const Array& a) {
    return ops::reshape(ops::slice_axis(a, 0, at, at + 1), Shape(a.shape().begin() + 1, a.shape().end()));
  };
  const auto others = [&](const Array& a) { return ops::slice_axis(a, 0, from, from + length - 1); };
  const auto previous = [&](const Array& a) { return ops::slice_axis(a, 0, 1 - from, length - from); };
  const auto with_first = [&](const Array& one, const Array& rest) {
    Shape row = one.shape();
    row.insert(row.begin(), 1);
    const Array a = ops::reshape(one, row);
    return ops::concatenate(s.reverse ? Arrays{rest, a} : Arrays{a, rest}, 0);
  };
  // Carries: unknown results so far. xs: known results so far, all other elements.
  Scan scan;
  scan.reverse = s.reverse;
  scan.carries = count(unknown);
  scan.consts = s.consts;
  scan.length = length - 1;
  std::vector<std::size_t> inputs = numbers(0, s.consts), outputs;
  Arrays args(consts.begin(), consts.end()), firsts;
  for (std::size_t i = 0; i < n; ++i)
    if (unknown[i]) {
      inputs.push_back(s.consts + i);
      outputs.push_back(i);
      firsts.push_back(first(elements[i]));
    }
  append(args, firsts);
  for (std::size_t i = 0, k = 0; i < n; ++i)
    if (known[i]) {
      inputs.push_back(s.consts + i);
      args.push_back(previous(done[k++]));
    }
  for (std::size_t i = 0; i < n; ++i) {
    inputs.push_back(s.consts + n + i);
    args.push_back(others(elements[i]));
  }
  append(outputs, std::vector<std::size_t>(outputs));
  scan.body = eliminate_dead_code(rearranged(*s.combine, inputs, outputs));
  const Arrays results = bind_scan(scan, args);
  Arrays out;
  for (std::size_t i = 0; i < firsts.size(); ++i) out.push_back(with_first(firsts[i], results[firsts.size() + i]));
  return out;
}

Arrays associative_scan_in_steps(const AssociativeScan& s, std::span<const Array> args) {
  return associative_rest_in_steps(s, args.subspan(0, s.consts), args.subspan(s.consts), Mask(s.leaves(), true), {});
}

namespace {

Arrays ascan_eval(const Primitive&, std::span<const Array> args, const Params& params) {
  return associative_scan_in_steps(AssociativeScan(params), args);
}

/// Elements with their tangents are again elements of an associative function.
JvpResult ascan_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                    const Params& params) {
  const AssociativeScan s(params);
  const std::size_t n = s.leaves();
  const Mask consts = defined_mask(tangents.subspan(0, s.consts));
  Mask leaves = defined_mask(tangents.subspan(s.consts));
  JvpJaxpr j;
  for (;;) {
    j = jvp_jaxpr(*s.combine, concat(concat(consts, leaves), leaves), leaves);
    const Mask more = either(leaves, j.nonzero_out);
    if (more == leaves) break;
    leaves = more;
  }
  const std::size_t captured = j.jaxpr.consts.size(), t = captured + s.consts + 2 * n, k = count(leaves);
  std::vector<std::size_t> inputs = numbers(0, captured + s.consts);
  append(inputs, numbers(t, count(consts)));
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    append(inputs, numbers(captured + s.consts + side * n, n));
    append(inputs, numbers(t + count(consts) + side * k, k));
  }
  AssociativeScan d = s;
  d.combine = rearranged(*j.jaxpr.jaxpr, inputs, numbers(0, n + k));
  d.consts = captured + s.consts + count(consts);
  Arrays args = concat(j.jaxpr.consts, primals.subspan(0, s.consts));
  append(args, where(consts, tangents.subspan(0, s.consts)));
  args = concat(args, primals.subspan(s.consts));
  for (std::size_t i = 0; i < n; ++i)
    if (leaves[i])
      args.push_back(tangents[s.consts + i].defined() ? tangents[s.consts + i]
                                                      : ops::zeros_of(primals[s.consts + i].aval()));
  const Arrays results = bind(associative_scan_p, args, d.params());
  JvpResult r;
  r.primals.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t i = 0, at = n; i < n; ++i) r.tangents.push_back(leaves[i] ? results[at++] : Array());
  return r;
}

/// Known leaves are an associative scan by themselves. Given their results, the others (tangents, as a rule) follow a
/// linear recurrence.
Arrays ascan_partial_eval(const Primitive&, PartialEvalTrace& trace, std::span<const Array> args,
                          const Params& params) {
  const AssociativeScan s(params);
  const std::size_t n = s.leaves();
  Mask const_unknown, unknown;
  for (std::size_t i = 0; i < args.size(); ++i)
    (i < s.consts ? const_unknown : unknown).push_back(trace.is_unknown(args[i]));
  for (;;) {
    const Mask more = either(unknown, depends_on(*s.combine, concat(concat(const_unknown, unknown), unknown)));
    if (more == unknown) break;
    unknown = more;
  }
  Mask known = unknown;
  known.flip();
  const auto elements = args.subspan(s.consts);
  Arrays done;
  if (any(known)) {
    const JaxprPtr part_of = restrict_outputs(s.combine, known);
    const Mask read = reads(*part_of);
    std::vector<std::size_t> inputs;
    AssociativeScan k = s;
    k.consts = 0;
    Arrays operands;
    for (std::size_t i = 0; i < s.consts; ++i)
      if (read[i]) {
        inputs.push_back(i);
        operands.push_back(args[i]);
        ++k.consts;
      }
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
      for (std::size_t i = 0; i < n; ++i)
        if (known[i]) inputs.push_back(s.consts + side * n + i);
    append(operands, where(known, elements));
    k.combine = rearranged(*part_of, inputs, numbers(0, count(known)));
    done = bind(associative_scan_p, operands, k.params());
  }
  const Arrays rest = any(unknown) ? record_associative_rest(trace, s, args, unknown, done) : Arrays();
  return merge_outputs(unknown, done, rest);
}

Arrays ascan_transpose(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput> inputs,
                       const Params& params) {
  const AssociativeScan s(params);
  Types types;
  Arrays args;
  for (const LinearInput& in : inputs) {
    types.push_back(in.aval);
    args.push_back(in.linear ? Array() : in.value);
  }
  const ClosedJaxpr steps =
      trace_to_jaxpr([&](std::span<const Array> in) { return associative_scan_in_steps(s, in); }, types, "transpose");
  const Arrays cts = backward_pass(*steps.jaxpr, concat(steps.consts, args), cotangents);
  Arrays out(inputs.size());
  for (std::size_t i = 0, k = 0; i < inputs.size(); ++i)
    if (inputs[i].linear) out[i] = cts[k++];
  return out;
}

BatchResult ascan_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  const AssociativeScan s(params);
  Mask consts, leaves;
  for (std::size_t i = 0; i < args.size(); ++i) (i < s.consts ? consts : leaves).push_back(dims[i] != not_batched);
  BatchedJaxpr j;
  for (;;) {
    j = batch_jaxpr(*s.combine, concat(concat(consts, leaves), leaves), size, leaves);
    const Mask more = either(leaves, j.batched_out);
    if (more == leaves) break;
    leaves = more;
  }
  Arrays operands = j.jaxpr.consts;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i < s.consts) {
      operands.push_back(consts[i] ? ops::move_axis(args[i], dims[i], 0) : args[i]);
    } else if (!leaves[i - s.consts]) {
      operands.push_back(args[i]);
    } else {
      operands.push_back(ops::move_axis(ops::batch_at_front(args[i], dims[i], size), 0, 1));
    }
  }
  AssociativeScan b = s;
  b.combine = j.jaxpr.jaxpr;
  b.consts += j.jaxpr.consts.size();
  BatchResult r{bind(associative_scan_p, operands, b.params()), {}};
  for (bool batched : leaves) r.dims.push_back(batched ? 1 : not_batched);
  return r;
}

void ascan_prune(Equation& e, const Mask& used) {
  AssociativeScan s(e.params);
  const std::size_t n = s.leaves();
  Mask live = used, read;
  JaxprPtr combine;
  for (;;) {
    combine = restrict_outputs(s.combine, live);
    read = reads(*combine);
    const Mask more = either(live, either(part(read, s.consts, n), part(read, s.consts + n, n)));
    if (more == live) break;
    live = more;
  }
  const Mask kept = concat(part(read, 0, s.consts), live);
  std::vector<std::size_t> inputs;
  const Mask in = concat(kept, live);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i]) inputs.push_back(i);
  e.inputs = where<Atom>(kept, e.inputs);
  e.outputs = where<Var>(live, e.outputs);
  s.combine = rearranged(*combine, inputs, numbers(0, combine->outputs.size()));
  s.consts = count(part(kept, 0, s.consts));
  e.params = s.params();
}

}  // namespace

const Primitive associative_scan_p{.name = "associative_scan",
                                   .op_class = OpClass::control,
                                   .type = ascan_type,
                                   .eval = ascan_eval,
                                   .jvp = ascan_jvp,
                                   .transpose = ascan_transpose,
                                   .batch = ascan_batch,
                                   .partial_eval = ascan_partial_eval,
                                   .prune = ascan_prune,
                                   .simplify = simplify_associative_scan,
                                   .on_parts = associative_scan_on_parts};

}  // namespace cotan
