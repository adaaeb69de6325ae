// while_loop: runs its body as long as its condition holds.
#include "control/control.hpp"
#include "control/on_parts.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"
#include "transforms/callback.hpp"

namespace cotan {

While::While(const Params& params)
    : condition(params.jaxpr("cond_jaxpr")),
      body(params.jaxpr("body_jaxpr")),
      condition_consts(static_cast<std::size_t>(params.integer("cond_consts"))),
      body_consts(static_cast<std::size_t>(params.integer("body_consts"))) {}

Params While::params() const {
  return {{"body_consts", static_cast<std::int64_t>(body_consts)},
          {"body_jaxpr", body},
          {"cond_consts", static_cast<std::int64_t>(condition_consts)},
          {"cond_jaxpr", condition}};
}

namespace {

/// The operands by their role.
struct Parts {
  std::span<const Array> condition, body, carry;
  Parts(const While& w, std::span<const Array> args)
      : condition(args.subspan(0, w.condition_consts)),
        body(args.subspan(w.condition_consts, w.body_consts)),
        carry(args.subspan(w.condition_consts + w.body_consts)) {}
};

Types while_type(const Primitive&, std::span<const AbstractValue> operands, const Params& params) {
  const While w(params);
  Types carry(operands.begin() + static_cast<std::ptrdiff_t>(w.condition_consts + w.body_consts), operands.end());
  const Types out = w.body->output_types();
  bool fits = out.size() == carry.size() && w.condition->outputs.size() == 1;
  for (std::size_t i = 0; fits && i < out.size(); ++i)
    fits = out[i].dtype == carry[i].dtype && out[i].shape == carry[i].shape;
  if (!fits) raise<InternalError>("[while_loop] operands do not fit the body; this is a bug in cotan.");
  return out;
}

Arrays while_eval(const Primitive&, std::span<const Array> args, const Params& params) {
  const While w(params);
  const Parts parts(w, args);
  Arrays carry(parts.carry.begin(), parts.carry.end());
  std::int64_t step = 0;
  const StepScope scope(step);
  for (; *data<bool>(eval_jaxpr(*w.condition, concat(parts.condition, carry))[0]); ++step)
    carry = eval_jaxpr(*w.body, concat(parts.body, carry));
  return carry;
}

JvpResult while_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                    const Params& params) {
  const While w(params);
  const Parts values(w, primals), dots(w, tangents);
  const Mask consts = defined_mask(dots.body);
  Mask carry = defined_mask(dots.carry);
  JvpJaxpr j;
  for (;;) {
    j = jvp_jaxpr(*w.body, concat(consts, carry), carry);
    const Mask more = either(carry, j.nonzero_out);
    if (more == carry) break;
    carry = more;
  }
  // Body: captured, constants, their tangents, carries, their tangents. The condition ignores tangents.
  const std::size_t captured = j.jaxpr.consts.size(), n = w.carries(), tangents_at = captured + w.body_consts + n;
  std::vector<std::size_t> inputs = numbers(0, captured + w.body_consts);
  append(inputs, numbers(tangents_at, count(consts)));
  append(inputs, numbers(captured + w.body_consts, n));
  append(inputs, numbers(tangents_at + count(consts), count(carry)));
  While d = w;
  d.body = rearranged(*j.jaxpr.jaxpr, inputs, numbers(0, n + count(carry)));
  d.body_consts = captured + w.body_consts + count(consts);
  Jaxpr condition = *w.condition;
  for (std::size_t i = 0; i < n; ++i)
    if (carry[i]) {
      condition.types.push_back(w.body->type(w.body->outputs[i]));
      condition.inputs.push_back({static_cast<std::int32_t>(condition.types.size()) - 1});
    }
  d.condition = std::make_shared<const Jaxpr>(std::move(condition));
  Arrays args = concat(values.condition, j.jaxpr.consts);
  args = concat(args, values.body);
  append(args, where(consts, dots.body));
  args = concat(args, values.carry);
  for (std::size_t i = 0; i < n; ++i)
    if (carry[i]) args.push_back(dots.carry[i].defined() ? dots.carry[i] : ops::zeros_of(values.carry[i].aval()));
  const Arrays results = bind(while_p, args, d.params());
  JvpResult r;
  r.primals.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t i = 0, k = n; i < n; ++i) r.tangents.push_back(carry[i] ? results[k++] : Array());
  return r;
}

/// Known carries run by themselves; the unknown part is recorded as the whole loop, which runs again.
Arrays while_partial_eval(const Primitive&, PartialEvalTrace& trace, std::span<const Array> args,
                          const Params& params) {
  const While w(params);
  Mask unknown;
  for (const Array& a : args) unknown.push_back(trace.is_unknown(a));
  const std::size_t consts = w.condition_consts + w.body_consts;
  Mask carry = part(unknown, consts, w.carries());
  for (;;) {
    const Mask more =
        either(carry, depends_on(*w.body, concat(part(unknown, w.condition_consts, w.body_consts), carry)));
    if (more == carry) break;
    carry = more;
  }
  const Mask condition_in = concat(part(unknown, 0, w.condition_consts), carry);
  const bool condition_unknown = depends_on(*w.condition, condition_in)[0];
  if (condition_unknown || count(carry) == w.carries()) return trace.record(while_p, args, params);
  // The part that depends on no unknown carry.
  Mask known_carry = carry;
  known_carry.flip();
  const JaxprPtr body = restrict_outputs(w.body, known_carry);
  Mask body_in = concat(part(unknown, w.condition_consts, w.body_consts), carry);
  While known = w;
  std::vector<std::size_t> body_inputs, condition_inputs;
  for (std::size_t i = 0; i < body_in.size(); ++i)
    if (!body_in[i]) body_inputs.push_back(i);
  for (std::size_t i = 0; i < condition_in.size(); ++i)
    if (!condition_in[i]) condition_inputs.push_back(i);
  known.body = rearranged(*body, body_inputs, numbers(0, body->outputs.size()));
  known.condition = rearranged(*eliminate_dead_code(w.condition), condition_inputs, {0});
  known.body_consts = w.body_consts - count(part(unknown, w.condition_consts, w.body_consts));
  known.condition_consts = w.condition_consts - count(part(unknown, 0, w.condition_consts));
  Mask known_args = concat(part(unknown, 0, consts), carry);
  Arrays known_results;
  {
    TraceScope scope(trace.parent());
    known_results = bind(while_p, where(known_args, args, false), known.params());
  }
  While again = w;
  if (has_effects(*known.body) || has_effects(*known.condition)) {  // they have run by now
    again.body = without_effects(w.body);
    again.condition = without_effects(w.condition);
  }
  const Arrays all = trace.record(while_p, args, again.params());
  Arrays out;
  for (std::size_t i = 0, k = 0; i < carry.size(); ++i) out.push_back(carry[i] ? all[i] : known_results[k++]);
  return out;
}

Arrays while_transpose(const Primitive&, std::span<const Array>, std::span<const LinearInput>, const Params&) {
  raise<TransformError>(
      "[while_loop] reverse mode needs the number of steps, and a while_loop does not know it; use scan, or "
      "fori_loop with C++ integers as bounds, or forward mode (jvp, jacfwd).");
}

/// The body over a batch of which the lanes in `running` count. All carries are batched.
BatchedJaxpr batch_running(const While& w, Array running, const Mask& batched, std::int64_t size) {
  if (const Array outer = effects::RunningLanes::mask(); outer.defined()) running = bind1(ops::and_p, {outer, running});
  const effects::RunningLanes scope(running);
  return batch_jaxpr(*w.body, batched, size, Mask(w.carries(), true));
}

BatchResult while_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                        const Params& params) {
  const While w(params);
  Mask batched;
  for (int d : dims) batched.push_back(d != not_batched);
  const std::size_t consts = w.condition_consts + w.body_consts, n = w.carries();
  const Mask condition_consts = part(batched, 0, w.condition_consts),
             body_consts = part(batched, w.condition_consts, w.body_consts);
  Mask carry = part(batched, consts, n);
  BatchedJaxpr body, condition;
  for (;;) {
    body = batch_jaxpr(*w.body, concat(body_consts, carry), size, carry);
    Mask more = either(carry, body.batched_out);
    condition = batch_jaxpr(*w.condition, concat(condition_consts, more), size);
    // Lanes that have finished keep all their values.
    if (condition.batched_out[0]) more.assign(n, true);
    if (more == carry) break;
    carry = more;
  }
  Arrays operands;
  const auto add = [&](std::size_t from, const Mask& mask) {
    for (std::size_t i = 0; i < mask.size(); ++i)
      operands.push_back(mask[i] ? ops::batch_at_front(args[from + i], dims[from + i], size) : args[from + i]);
  };
  While b;
  if (!condition.batched_out[0]) {
    b.condition = condition.jaxpr.jaxpr;
    b.body = body.jaxpr.jaxpr;
    b.condition_consts = condition.jaxpr.consts.size() + w.condition_consts;
    b.body_consts = body.jaxpr.consts.size() + w.body_consts;
    operands = condition.jaxpr.consts;
    add(0, condition_consts);
    append(operands, body.jaxpr.consts);
    add(w.condition_consts, body_consts);
    add(consts, carry);
  } else {
    // The loop runs while any lane still does. The body selects by lane, so it needs the condition too.
    const std::size_t c = condition.jaxpr.consts.size() + w.condition_consts,
                      d = body.jaxpr.consts.size() + w.body_consts;
    const Types condition_in = condition.jaxpr.jaxpr->input_types(), body_in = body.jaxpr.jaxpr->input_types();
    const ClosedJaxpr any_lane = trace_to_jaxpr(
        [&](std::span<const Array> in) {
          return bind(ops::reduce_or_p, {eval_jaxpr(*condition.jaxpr.jaxpr, in)[0]}, {{"axes", Ints{0}}});
        },
        condition_in, "vmap");
    Types types(condition_in.begin(), condition_in.begin() + static_cast<std::ptrdiff_t>(c));
    types.insert(types.end(), body_in.begin(), body_in.end());
    const ClosedJaxpr step = trace_to_jaxpr(
        [&](std::span<const Array> in) {
          const auto old = in.subspan(c + d);
          const Array running = eval_jaxpr(*condition.jaxpr.jaxpr, concat(in.subspan(0, c), old))[0];
          Arrays next;
          if (has_effects(*w.body)) {  // of the lanes that still run
            const BatchedJaxpr masked = batch_running(w, running, concat(body_consts, carry), size);
            next =
                eval_jaxpr(*masked.jaxpr.jaxpr, concat(masked.jaxpr.consts, in.subspan(c + body.jaxpr.consts.size())));
          } else {
            next = eval_jaxpr(*body.jaxpr.jaxpr, in.subspan(c));
          }
          for (std::size_t i = 0; i < n; ++i)
            next[i] = ops::select(ops::broadcast_in_dim(running, next[i].shape(), {0}), next[i], old[i]);
          return next;
        },
        types, "vmap");
    internal_check(any_lane.consts.empty(), "a batched while_loop captures an array");
    b.condition = any_lane.jaxpr;
    b.body = step.jaxpr;
    b.condition_consts = c;
    b.body_consts = step.consts.size() + c + d;
    operands = condition.jaxpr.consts;
    add(0, condition_consts);
    const Arrays of_condition = operands;
    append(operands, step.consts);
    append(operands, of_condition);
    append(operands, body.jaxpr.consts);
    add(w.condition_consts, body_consts);
    add(consts, carry);
  }
  return {bind(while_p, operands, b.params()), dims_of(carry)};
}

}  // namespace

const Primitive while_p{.name = "while",
                        .op_class = OpClass::control,
                        .type = while_type,
                        .eval = while_eval,
                        .jvp = while_jvp,
                        .transpose = while_transpose,
                        .batch = while_batch,
                        .partial_eval = while_partial_eval,
                        .simplify = simplify_while,
                        .on_parts = while_on_parts};

}  // namespace cotan
