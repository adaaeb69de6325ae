// scan: the primitive, its evaluation, forward mode and vectorisation.
#include <algorithm>

#include "control/control.hpp"
#include "control/on_parts.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

Scan::Scan(const Params& params)
    : body(params.jaxpr("jaxpr")),
      consts(static_cast<std::size_t>(params.integer("num_consts"))),
      carries(static_cast<std::size_t>(params.integer("num_carry"))),
      length(params.integer("length")),
      reverse(params.flag("reverse")),
      unroll(params.integer("unroll")) {}

Params Scan::params() const {
  return {{"jaxpr", body},
          {"length", length},
          {"num_carry", static_cast<std::int64_t>(carries)},
          {"num_consts", static_cast<std::int64_t>(consts)},
          {"reverse", reverse},
          {"unroll", unroll}};
}

namespace {

AbstractValue stacked(AbstractValue slice, std::int64_t length) {
  slice.shape.insert(slice.shape.begin(), length);
  return slice;
}

Types scan_type(const Primitive&, std::span<const AbstractValue> operands, const Params& params) {
  const Scan s(params);
  const auto check = [](bool ok, std::string_view what) {
    if (!ok) raise<InternalError>("[scan] {}; this is a bug in cotan.", what);
  };
  const auto alike = [](const AbstractValue& a, const AbstractValue& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  };
  check(operands.size() == s.body->inputs.size() && s.body->outputs.size() >= s.carries,
        "operands do not fit the body");
  const Types in = s.body->input_types(), out = s.body->output_types();
  for (std::size_t i = 0; i < in.size(); ++i)
    check(alike(operands[i], i < s.consts + s.carries ? in[i] : stacked(in[i], s.length)),
          "an operand is of another type than the body takes");
  for (std::size_t i = 0; i < s.carries; ++i) check(alike(in[s.consts + i], out[i]), "a carry changes its type");
  Types results(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(s.carries));
  for (std::size_t i = s.carries; i < out.size(); ++i) results.push_back(stacked(out[i], s.length));
  return results;
}

Array slice_at(const Array& x, std::int64_t i) {
  return ops::reshape(ops::slice_axis(x, 0, i, i + 1), Shape(x.shape().begin() + 1, x.shape().end()));
}
Array stack(const Arrays& slices, const AbstractValue& type) {
  if (slices.empty()) return ops::zeros_of(type);
  Arrays rows;
  for (const Array& s : slices) {
    Shape row = s.shape();
    row.insert(row.begin(), 1);
    rows.push_back(ops::reshape(s, row));
  }
  return ops::concatenate(rows, 0);
}

/// Step by step.
Arrays scan_eval(const Primitive& self, std::span<const Array> args, const Params& params) {
  const Scan s(params);
  const auto xs = args.subspan(s.consts + s.carries);
  Arrays carry(args.begin() + static_cast<std::ptrdiff_t>(s.consts),
               args.begin() + static_cast<std::ptrdiff_t>(s.consts + s.carries));
  std::vector<Arrays> ys(s.ys());
  std::int64_t slice = 0;
  const StepScope scope(slice);
  for (std::int64_t step = 0; step < s.length; ++step) {
    slice = s.reverse ? s.length - 1 - step : step;
    Arrays in = concat(args.subspan(0, s.consts), carry);
    for (const Array& x : xs) in.push_back(slice_at(x, slice));
    const Arrays out = eval_jaxpr(*s.body, in);
    std::copy_n(out.begin(), s.carries, carry.begin());
    for (std::size_t k = 0; k < ys.size(); ++k) ys[k].push_back(out[s.carries + k]);
  }
  Types operand_types;
  for (const Array& a : args) operand_types.push_back(a.aval());
  const Types types = scan_type(self, operand_types, params);
  Arrays results = carry;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    if (s.reverse) std::reverse(ys[k].begin(), ys[k].end());
    results.push_back(stack(ys[k], types[s.carries + k]));
  }
  return results;
}

/// Removes carries and ys that nobody reads, and what only they need.
void scan_prune(Equation& e, const Mask& used) {
  Scan s(e.params);
  Mask live = part(used, 0, s.carries);
  const Mask used_ys = part(used, s.carries, s.ys());
  JaxprPtr body;
  Mask read;
  for (;;) {
    body = restrict_outputs(s.body, concat(live, used_ys));
    read = reads(*body);
    const Mask more = either(live, part(read, s.consts, s.carries));
    if (more == live) break;
    live = more;
  }
  const Mask kept_in = concat(concat(part(read, 0, s.consts), live), part(read, s.consts + s.carries, s.xs()));
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < kept_in.size(); ++i)
    if (kept_in[i]) inputs.push_back(i);
  e.inputs = where<Atom>(kept_in, e.inputs);
  e.outputs = where<Var>(concat(live, used_ys), e.outputs);
  s.body = rearranged(*body, inputs, numbers(0, body->outputs.size()));
  s.consts = count(part(kept_in, 0, s.consts));
  s.carries = count(live);
  e.params = s.params();
}

}  // namespace

Arrays bind_scan(const Scan& scan, std::span<const Array> args) {
  Mask unchanged(scan.carries);
  for (std::size_t i = 0; i < scan.carries; ++i) {
    const Var* out = std::get_if<Var>(&scan.body->outputs[i]);
    unchanged[i] = out && *out == scan.body->inputs[scan.consts + i];
  }
  if (!any(unchanged)) return bind(scan_p, args, scan.params());
  Scan s = scan;
  std::vector<std::size_t> inputs = numbers(0, scan.consts), outputs;
  for (const bool constant : {true, false})
    for (std::size_t i = 0; i < scan.carries; ++i)
      if (unchanged[i] == constant) inputs.push_back(scan.consts + i);
  append(inputs, numbers(scan.consts + scan.carries, scan.xs()));
  for (std::size_t i = 0; i < scan.body->outputs.size(); ++i)
    if (i >= scan.carries || !unchanged[i]) outputs.push_back(i);
  s.body = rearranged(*scan.body, inputs, outputs);
  s.consts += count(unchanged);
  s.carries -= count(unchanged);
  Arrays operands;
  for (std::size_t i : inputs) operands.push_back(args[i]);
  const Arrays results = bind(scan_p, operands, s.params());
  Arrays out;
  std::size_t k = 0;
  for (std::size_t i = 0; i < scan.body->outputs.size(); ++i)
    out.push_back(i < scan.carries && unchanged[i] ? args[scan.consts + i] : results[k++]);
  return out;
}

/// The smallest set of carries with a tangent that the body does not enlarge.
JvpResult scan_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                   const Params& params) {
  const Scan s(params);
  const Mask nonzero = defined_mask(tangents);
  const Mask consts = part(nonzero, 0, s.consts), xs = part(nonzero, s.consts + s.carries, s.xs());
  Mask carries = part(nonzero, s.consts, s.carries);
  JvpJaxpr j;
  for (;;) {
    j = jvp_jaxpr(*s.body, concat(concat(consts, carries), xs), carries);
    const Mask more = either(carries, part(j.nonzero_out, 0, s.carries));
    if (more == carries) break;
    carries = more;
  }
  // From primals, then tangents to constants, carries, xs: each primals, then tangents.
  const std::size_t captured = j.jaxpr.consts.size(), n = nonzero.size(), outs = s.body->outputs.size();
  const Mask ys = part(j.nonzero_out, s.carries, s.ys());
  std::size_t tangent_at = captured + n;
  std::vector<std::size_t> inputs = numbers(0, captured), outputs;
  Scan d = s;
  Arrays args = j.jaxpr.consts;
  const auto add_inputs = [&](std::size_t from, const Mask& mask) {
    append(inputs, numbers(captured + from, mask.size()));
    append(inputs, numbers(tangent_at, count(mask)));
    tangent_at += count(mask);
    for (std::size_t i = 0; i < mask.size(); ++i) args.push_back(primals[from + i]);
    for (std::size_t i = 0; i < mask.size(); ++i)
      if (mask[i])
        args.push_back(tangents[from + i].defined() ? tangents[from + i] : ops::zeros_of(primals[from + i].aval()));
  };
  add_inputs(0, consts);
  add_inputs(s.consts, carries);
  add_inputs(s.consts + s.carries, xs);
  append(outputs, numbers(0, s.carries));
  append(outputs, numbers(outs, count(carries)));
  append(outputs, numbers(s.carries, s.ys()));
  append(outputs, numbers(outs + count(carries), count(ys)));
  d.body = rearranged(*j.jaxpr.jaxpr, inputs, outputs);
  d.consts = captured + s.consts + count(consts);
  d.carries = s.carries + count(carries);
  const Arrays results = bind_scan(d, args);
  JvpResult r;
  std::size_t k = 0;
  for (const Mask& mask : {carries, ys}) {
    for (std::size_t i = 0; i < mask.size(); ++i) r.primals.push_back(results[k++]);
    for (std::size_t i = 0; i < mask.size(); ++i) r.tangents.push_back(mask[i] ? results[k++] : Array());
  }
  return r;
}

namespace {

/// Every lane runs its own scan. What is the same in all lanes is computed once, by a scan of its own.
BatchResult scan_in_lanes(const Scan& s, std::span<const Array> args, std::span<const int> dims, const Mask& batched,
                          std::int64_t size) {
  const SplitScan split = split_scan(s, batched);
  Mask unknown = batched;
  std::copy(split.carry_unknown.begin(), split.carry_unknown.end(),
            unknown.begin() + static_cast<std::ptrdiff_t>(s.consts));
  const KnownResults known =
      run_known(split, where(unknown, args, false), s.consts - count(part(unknown, 0, s.consts)));
  Lanes lanes;
  lanes.size = size;
  Arrays operands = known.const_residuals;
  lanes.mapped.assign(operands.size(), false);
  const auto add = [&](std::size_t from, std::size_t n) {
    for (std::size_t i = from; i < from + n; ++i) {
      if (!unknown[i]) continue;
      lanes.mapped.push_back(batched[i]);
      operands.push_back(batched[i] ? ops::move_axis(args[i], dims[i], 0) : args[i]);
    }
  };
  add(0, s.consts + s.carries);
  for (const Array& x : known.x_residuals) {
    operands.push_back(x);
    lanes.mapped.push_back(false);
  }
  add(s.consts + s.carries, s.xs());
  // The program of a lane: this one scan.
  Types types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    types.push_back(operands[i].aval());
    if (lanes.mapped[i]) types.back().shape.erase(types.back().shape.begin());
  }
  lanes.program =
      trace_to_jaxpr([&](std::span<const Array> in) { return bind_scan(split.unknown, in); }, types, "vmap").jaxpr;
  const Arrays results = bind(lanes_p, operands, lanes.params());
  const Mask mapped = depends_on(*lanes.program, lanes.mapped);
  const Mask out = concat(split.carry_unknown, split.ys_unknown);
  BatchResult r{merge_outputs(out, concat(known.carries, known.ys), results), {}};
  for (std::size_t i = 0, k = 0; i < out.size(); ++i) r.dims.push_back(out[i] && mapped[k++] ? 0 : not_batched);
  return r;
}

}  // namespace

BatchResult scan_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  const Scan s(params);
  Mask batched;
  for (int d : dims) batched.push_back(d != not_batched);
  if (!WholeBatches::wanted() && fits_lanes(s)) return scan_in_lanes(s, args, dims, batched, size);
  BatchedJaxpr j;
  for (;;) {
    const Mask carries = part(batched, s.consts, s.carries);
    j = batch_jaxpr(*s.body, batched, size, carries);
    const Mask more = either(carries, part(j.batched_out, 0, s.carries));
    if (more == carries) break;
    std::copy(more.begin(), more.end(), batched.begin() + static_cast<std::ptrdiff_t>(s.consts));
  }
  Arrays operands = j.jaxpr.consts;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!batched[i])
      operands.push_back(args[i]);
    else if (i < s.consts + s.carries)
      operands.push_back(ops::batch_at_front(args[i], dims[i], size));
    else
      operands.push_back(ops::move_axis(args[i], dims[i], 1));
  }
  Scan b = s;
  b.body = j.jaxpr.jaxpr;
  b.consts += j.jaxpr.consts.size();
  BatchResult r{bind_scan(b, operands), {}};
  for (std::size_t i = 0; i < r.values.size(); ++i)
    r.dims.push_back(!j.batched_out[i] ? not_batched : i < s.carries ? 0 : 1);
  return r;
}

const Primitive scan_p{.name = "scan",
                       .op_class = OpClass::control,
                       .type = scan_type,
                       .eval = scan_eval,
                       .jvp = scan_jvp,
                       .transpose = scan_transpose,
                       .batch = scan_batch,
                       .partial_eval = scan_partial_eval,
                       .prune = scan_prune,
                       .simplify = simplify_scan,
                       .on_parts = scan_on_parts};

}  // namespace cotan
