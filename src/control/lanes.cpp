// lanes: the same small loop for many lanes. Each lane's program stays as it is written for one, so that a device
// can run a lane per SIMD element, per thread or per workgroup.
#include <algorithm>

#include "control/control.hpp"
#include "control/on_parts.hpp"
#include "core/error.hpp"
#include "core/rows.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

Lanes::Lanes(const Params& params) : program(params.jaxpr("jaxpr")), size(params.integer("size")) {
  for (auto m : params.ints("mapped")) mapped.push_back(m != 0);
  apart = params.flag("apart");
}
Params Lanes::params() const {
  return {{"apart", apart}, {"jaxpr", program}, {"mapped", Ints(mapped.begin(), mapped.end())}, {"size", size}};
}

namespace {
thread_local bool whole_batches = false;
}
WholeBatches::WholeBatches() : saved_(std::exchange(whole_batches, true)) {}
WholeBatches::~WholeBatches() { whole_batches = saved_; }
bool WholeBatches::wanted() { return whole_batches; }

bool fits_lanes(const Scan& scan, std::int64_t most_equations) {
  constexpr std::int64_t most_elements = 256;  // of a value
  if (static_cast<std::int64_t>(scan.body->equations.size()) > most_equations) return false;
  for (const AbstractValue& t : scan.body->types)
    if (t.size() > most_elements) return false;
  return std::all_of(scan.body->equations.begin(), scan.body->equations.end(), [](const Equation& e) {
    const Primitive& p = *e.primitive;
    return p.scalar || p.scalars || p.element;
  });
}

bool runs_in_lanes(const Jaxpr& program, std::int64_t most_equations) {
  for (const Equation& e : program.equations) {
    const Primitive& p = *e.primitive;
    if (e.primitive == &scan_p ? !fits_lanes(Scan(e.params), most_equations) : !(p.scalar || p.scalars || p.element))
      return false;
  }
  return true;
}

JaxprPtr batched_program(const Lanes& lanes) {
  WholeBatches scope;
  const Mask out = depends_on(*lanes.program, lanes.mapped);
  const BatchedJaxpr j = batch_jaxpr(*lanes.program, lanes.mapped, lanes.size, out);
  internal_check(j.jaxpr.consts.empty(), "a batched program captures an array");
  return j.jaxpr.jaxpr;
}

namespace {

Types lanes_type(const Primitive&, std::span<const AbstractValue> operands, const Params& params) {
  const Lanes l(params);
  if (operands.size() != l.program->inputs.size())
    raise<InternalError>("[lanes] operands do not fit the program; this is a bug in cotan.");
  Types out = l.program->output_types();
  const Mask mapped = depends_on(*l.program, l.mapped);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (mapped[i]) out[i].shape.insert(out[i].shape.begin(), l.size);
  return out;
}

Arrays lanes_eval(const Primitive&, std::span<const Array> args, const Params& params) {
  return eval_jaxpr(*batched_program(Lanes(params)), args);
}

/// Broadcasts a result that is not `mapped` over the lanes where `want`.
Array as_mapped(const Array& a, bool mapped, bool want, std::int64_t size) {
  return want && !mapped ? ops::batch_at_front(a, not_batched, size) : a;
}

JvpResult lanes_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                    const Params& params) {
  const Lanes l(params);
  const Mask nonzero = defined_mask(tangents);
  const JvpJaxpr j = jvp_jaxpr(*l.program, nonzero);
  Lanes d = l;
  d.program = j.jaxpr.jaxpr;
  d.mapped = concat(Mask(j.jaxpr.consts.size(), false), l.mapped);
  Arrays args = concat(j.jaxpr.consts, primals);
  for (std::size_t i = 0; i < tangents.size(); ++i)
    if (nonzero[i]) {
      args.push_back(tangents[i]);
      d.mapped.push_back(l.mapped[i]);
    }
  const Arrays results = bind(lanes_p, args, d.params());
  const Mask mapped = depends_on(*d.program, d.mapped);
  JvpResult r;
  const std::size_t n = j.nonzero_out.size();
  r.primals.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t i = 0, k = n; i < n; ++i) {
    r.tangents.push_back(j.nonzero_out[i] ? as_mapped(results[k], mapped[k], mapped[i], l.size) : Array());
    k += j.nonzero_out[i];
  }
  return r;
}

Arrays lanes_partial_eval(const Primitive&, PartialEvalTrace& trace, std::span<const Array> args,
                          const Params& params) {
  const Lanes l(params);
  auto [unknown, known_args, unknown_args] = split_known(trace, args);
  const SplitJaxpr split = partial_eval_jaxpr(*l.program, unknown);
  const Mask wanted = depends_on(*l.program, l.mapped);
  Lanes known = l, rest = l;
  known.program = split.known.jaxpr;
  known.mapped.assign(split.known.consts.size(), false);
  Mask known_mapped;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!unknown[i]) known_mapped.push_back(l.mapped[i]);
  known.mapped = concat(known.mapped, known_mapped);
  Arrays known_outs;
  {
    TraceScope scope(trace.parent());
    known_outs = bind(lanes_p, concat(split.known.consts, known_args), known.params());
  }
  const Mask mapped = depends_on(*known.program, known.mapped);
  const std::size_t outs = split.output_unknown.size() - count(split.output_unknown);
  rest.program = split.unknown;
  rest.mapped = split.residuals_from([&](std::size_t k) -> bool { return known_mapped[k]; },
                                     [&](std::size_t k) -> bool { return mapped[outs + k]; });
  Arrays operands = residuals_of(split, known_args, known_outs);
  append(operands, unknown_args);
  for (std::size_t i = 0; i < args.size(); ++i)
    if (unknown[i]) rest.mapped.push_back(l.mapped[i]);
  Arrays unknown_outs;
  if (!split.unknown->outputs.empty()) unknown_outs = trace.record(lanes_p, operands, rest.params());
  const Mask rest_mapped = depends_on(*rest.program, rest.mapped);
  for (std::size_t i = 0, k = 0, u = 0; i < split.output_unknown.size(); ++i) {
    if (split.output_unknown[i]) {
      unknown_outs[u] = as_mapped(unknown_outs[u], rest_mapped[u], wanted[i], l.size);
      ++u;
    } else {
      known_outs[k] = as_mapped(known_outs[k], mapped[k], wanted[i], l.size);
      ++k;
    }
  }
  return merge_outputs(split.output_unknown, known_outs, unknown_outs);
}

Arrays lanes_transpose(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput> inputs,
                       const Params& params) {
  const Lanes l(params);
  Mask linear;
  Arrays args;
  Lanes t = l;
  t.mapped.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    linear.push_back(inputs[i].linear);
    if (inputs[i].linear) continue;
    args.push_back(inputs[i].value);
    t.mapped.push_back(l.mapped[i]);
  }
  const Mask nonzero = defined_mask(cotangents), mapped_out = depends_on(*l.program, l.mapped);
  const TransposedJaxpr j = transpose_jaxpr(*l.program, linear, nonzero);
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (nonzero[i]) {
      args.push_back(cotangents[i]);
      t.mapped.push_back(mapped_out[i]);
    }
  t.program = j.jaxpr.jaxpr;
  t.mapped = concat(Mask(j.jaxpr.consts.size(), false), t.mapped);
  Arrays cts = bind(lanes_p, concat(j.jaxpr.consts, args), t.params());
  const Mask mapped = depends_on(*t.program, t.mapped);
  // An operand that all lanes share gets the sum of their cotangents.
  for (std::size_t i = 0, n = 0, k = 0; i < inputs.size(); ++i) {
    if (!linear[i] || !j.nonzero_out[n++]) continue;
    if (mapped[k] && !l.mapped[i]) cts[k] = ops::reduce_sum(cts[k], {0});
    cts[k] = as_mapped(cts[k], mapped[k], l.mapped[i], l.size);
    ++k;
  }
  return scatter_cotangents(inputs, j.nonzero_out, cts);
}

/// A second batch axis becomes part of each lane's program.
BatchResult lanes_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  const Lanes l(params);
  Mask batched;
  Arrays operands;
  for (std::size_t i = 0; i < args.size(); ++i) {
    batched.push_back(dims[i] != not_batched);
    operands.push_back(batched[i] ? ops::move_axis(args[i], dims[i], l.mapped[i] ? 1 : 0) : args[i]);
  }
  WholeBatches scope;
  const BatchedJaxpr j = batch_jaxpr(*l.program, batched, size);
  Lanes b = l;
  b.program = j.jaxpr.jaxpr;
  b.mapped = concat(Mask(j.jaxpr.consts.size(), false), l.mapped);
  const Mask before = depends_on(*l.program, l.mapped), after = depends_on(*b.program, b.mapped);
  BatchResult r{bind(lanes_p, concat(j.jaxpr.consts, operands), b.params()), {}};
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    r.values[i] = as_mapped(r.values[i], after[i], before[i], l.size);
    r.dims.push_back(!j.batched_out[i] ? not_batched : before[i] ? 1 : 0);
  }
  return r;
}

void lanes_prune(Equation& e, const Mask& used) {
  Lanes l(e.params);
  const JaxprPtr program = restrict_outputs(l.program, used);
  const Mask read = reads(*program);
  std::vector<std::size_t> inputs;
  Mask mapped;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read[i]) {
      inputs.push_back(i);
      mapped.push_back(l.mapped[i]);
    }
  l.program = rearranged(*program, inputs, numbers(0, program->outputs.size()));
  l.mapped = mapped;
  e.inputs = where<Atom>(read, e.inputs);
  e.outputs = where<Var>(used, e.outputs);
  e.params = l.params();
}

rows::Answer lanes_on_rows(const rows::Question& q) {
  const Lanes lanes(q.e.params);
  const Mask given = depends_on(*lanes.program, lanes.mapped);
  if (count(given) != given.size()) return {};
  rows::OnRows on{{}, 0, q.e.params};
  for (std::size_t i = 0; i < q.in.size(); ++i) {
    if (lanes.mapped[i] && q.axes[i] != 0) return {};
    on.in.push_back(lanes.mapped[i] ? 0 : rows::whole);
  }
  return on;
}

}  // namespace

const Primitive lanes_p{.name = "lanes",
                        .op_class = OpClass::control,
                        .type = lanes_type,
                        .eval = lanes_eval,
                        .jvp = lanes_jvp,
                        .transpose = lanes_transpose,
                        .batch = lanes_batch,
                        .partial_eval = lanes_partial_eval,
                        .prune = lanes_prune,
                        .on_rows = lanes_on_rows,
                        .on_parts = lanes_on_parts};

}  // namespace cotan
