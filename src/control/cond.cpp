// cond and switch_: one of several programs, chosen by an index.
#include "control/control.hpp"
#include "control/on_parts.hpp"
#include "core/effects.hpp"
#include "core/error.hpp"
#include "ops/ops.hpp"
#include "passes/passes.hpp"

namespace cotan {

namespace {

// Operands: the index, an i32 within range, then what the branches take.
using Branches = std::vector<JaxprPtr>;
const Branches& branches_of(const Params& params) { return params.jaxprs("branches"); }
Arrays bind_cond(const Array& index, const Arrays& operands, Branches branches) {
  return bind(cond_p, concat(std::span(&index, 1), operands), {{"branches", std::move(branches)}});
}

Types cond_type(const Primitive&, std::span<const AbstractValue> operands, const Params& params) {
  const Branches& branches = branches_of(params);
  const Types out = branches[0]->output_types();
  for (const JaxprPtr& b : branches) {
    bool fits = b->inputs.size() + 1 == operands.size() && b->outputs.size() == out.size();
    const Types types = b->output_types();
    for (std::size_t i = 0; fits && i < out.size(); ++i)
      fits = types[i].dtype == out[i].dtype && types[i].shape == out[i].shape;
    if (!fits || operands[0].dtype != DType::i32 || operands[0].ndim() != 0)
      raise<InternalError>("[cond] operands or results do not fit the branches; this is a bug in cotan.");
  }
  return out;
}

Arrays cond_eval(const Primitive&, std::span<const Array> args, const Params& params) {
  return eval_jaxpr(*branches_of(params)[static_cast<std::size_t>(*data<std::int32_t>(args[0]))], args.subspan(1));
}

/// Traces all branches with the same inputs; what one of them captures, all of them take.
Branches trace_alike(std::size_t count, const Types& inputs, std::string_view transform, Arrays& captured,
                     const std::function<Arrays(std::size_t branch, std::span<const Array>)>& f) {
  std::vector<ClosedJaxpr> closed;
  for (std::size_t b = 0; b < count; ++b)
    closed.push_back(trace_to_jaxpr([&](std::span<const Array> in) { return f(b, in); }, inputs, transform));
  return share_captured(closed, captured);
}

JvpResult cond_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                   const Params& params) {
  const Branches& branches = branches_of(params);
  const Mask nonzero = defined_mask(tangents.subspan(1));
  Mask out(branches[0]->outputs.size(), false);
  for (const JaxprPtr& b : branches) out = either(out, jvp_jaxpr(*b, nonzero).nonzero_out);
  std::vector<ClosedJaxpr> closed;
  for (const JaxprPtr& b : branches) closed.push_back(jvp_jaxpr(*b, nonzero, out).jaxpr);
  Arrays operands;
  Branches both = share_captured(closed, operands);
  operands = concat(operands, primals.subspan(1));
  append(operands, where(nonzero, tangents.subspan(1)));
  const Arrays results = bind_cond(primals[0], operands, std::move(both));
  JvpResult r;
  r.primals.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(out.size()));
  for (std::size_t i = 0, k = out.size(); i < out.size(); ++i) r.tangents.push_back(out[i] ? results[k++] : Array());
  return r;
}

/// Residuals of different branches share slots of the same type; a branch fills slots that it does not use with zeros.
class Slots {
 public:
  explicit Slots(std::size_t branches) : used_(branches) {}
  std::size_t take(std::size_t branch, const AbstractValue& type) {
    auto& used = used_[branch];
    used.resize(types_.size(), false);
    for (std::size_t i = 0; i < types_.size(); ++i)
      if (!used[i] && types_[i].dtype == type.dtype && types_[i].shape == type.shape) {
        used[i] = true;
        return i;
      }
    types_.push_back(type);
    used.push_back(true);
    return types_.size() - 1;
  }
  const Types& types() const { return types_; }

 private:
  Types types_;
  std::vector<Mask> used_;
};

Arrays cond_partial_eval(const Primitive&, PartialEvalTrace& trace, std::span<const Array> args, const Params& params) {
  const Branches& branches = branches_of(params);
  if (trace.is_unknown(args[0])) return trace.record(cond_p, args, params);
  auto [unknown, known_args, unknown_args] = split_known(trace, args.subspan(1));
  Mask out(branches[0]->outputs.size(), false);
  for (const JaxprPtr& b : branches) out = either(out, partial_eval_jaxpr(*b, unknown).output_unknown);
  std::vector<SplitJaxpr> splits;
  for (const JaxprPtr& b : branches) splits.push_back(partial_eval_jaxpr(*b, unknown, out));
  // Residuals that are operands are read again; the others are given out in slots.
  Slots slots(branches.size());
  std::vector<std::vector<std::size_t>> slot_of(branches.size());
  const std::size_t known_outputs = out.size() - count(out);
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const Types types = splits[b].known.jaxpr->output_types();
    for (std::size_t i = known_outputs; i < types.size(); ++i) slot_of[b].push_back(slots.take(b, types[i]));
  }
  std::vector<ClosedJaxpr> known, rest;
  Types known_types, rest_types = slots.types();
  for (const Array& a : known_args) known_types.push_back(a.aval());
  rest_types.insert(rest_types.end(), known_types.begin(), known_types.end());
  for (const Array& a : unknown_args) rest_types.push_back(a.aval());
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const SplitJaxpr& split = splits[b];
    known.push_back(trace_to_jaxpr(
        [&](std::span<const Array> in) {
          Arrays results = eval_jaxpr(*split.known.jaxpr, concat(split.known.consts, in));
          Arrays residuals;
          for (const AbstractValue& t : slots.types()) residuals.push_back(ops::zeros_of(t));
          for (std::size_t r = 0; r < slot_of[b].size(); ++r) residuals[slot_of[b][r]] = results[known_outputs + r];
          results.resize(known_outputs);
          return concat(results, residuals);
        },
        known_types, "cond"));
    rest.push_back(trace_to_jaxpr(
        [&](std::span<const Array> in) {
          Arrays operands = split.residuals_from([&](std::size_t k) { return in[slots.types().size() + k]; },
                                                 [&](std::size_t k) { return in[slot_of[b][k]]; });
          const auto tail = in.subspan(slots.types().size() + known_args.size());
          operands.insert(operands.end(), tail.begin(), tail.end());
          return eval_jaxpr(*split.unknown, operands);
        },
        rest_types, "cond"));
  }
  Arrays known_results;
  {
    TraceScope scope(trace.parent());
    Arrays captured;
    Branches programs = share_captured(known, captured);
    known_results = bind_cond(args[0], concat(captured, known_args), std::move(programs));
  }
  const Arrays residuals(known_results.begin() + static_cast<std::ptrdiff_t>(known_outputs), known_results.end());
  known_results.resize(known_outputs);
  Arrays unknown_results;
  if (any(out)) {
    Arrays operands = {args[0]};
    Branches programs = share_captured(rest, operands);
    append(operands, residuals);
    append(operands, known_args);
    append(operands, unknown_args);
    unknown_results = trace.record(cond_p, operands, {{"branches", std::move(programs)}});
  }
  return merge_outputs(out, known_results, unknown_results);
}

Arrays cond_transpose(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput> inputs,
                      const Params& params) {
  const Branches& branches = branches_of(params);
  if (inputs[0].linear) raise<InternalError>("[cond] the index is linear; this is a bug in cotan.");
  Mask linear;
  Arrays values;
  Types types;
  for (const LinearInput& in : inputs.subspan(1)) {
    linear.push_back(in.linear);
    if (!in.linear) values.push_back(in.value);
  }
  const Mask nonzero = defined_mask(cotangents);
  Mask out(count(linear), false);
  for (const JaxprPtr& b : branches) out = either(out, transpose_jaxpr(*b, linear, nonzero).nonzero_out);
  Arrays operands = values;
  append(operands, where(nonzero, cotangents));
  for (const Array& a : operands) types.push_back(a.aval());
  Types linear_types;
  for (const LinearInput& in : inputs.subspan(1))
    if (in.linear) linear_types.push_back(in.aval);
  Arrays captured;
  Branches programs =
      trace_alike(branches.size(), types, "vjp", captured, [&](std::size_t b, std::span<const Array> in) {
        Arrays args(linear.size()), cts(nonzero.size()), results;
        std::size_t k = 0;
        for (std::size_t i = 0; i < linear.size(); ++i)
          if (!linear[i]) args[i] = in[k++];
        for (std::size_t i = 0; i < cts.size(); ++i)
          if (nonzero[i]) cts[i] = in[k++];
        const Arrays all = backward_pass(*branches[b], args, cts);
        for (std::size_t i = 0; i < all.size(); ++i)
          if (out[i]) results.push_back(all[i].defined() ? all[i] : ops::zeros_of(linear_types[i]));
        return results;
      });
  const Arrays results = bind_cond(inputs[0].value, concat(captured, operands), std::move(programs));
  Arrays cts = scatter_cotangents(inputs.subspan(1), out, results);
  cts.insert(cts.begin(), Array());
  return cts;
}

/// A branch over a batch, of which the lanes that chose it count.
BatchedJaxpr batch_chosen(const Jaxpr& branch, Array chosen, const Mask& batched, std::int64_t size) {
  if (const Array outer = effects::RunningLanes::mask(); outer.defined()) chosen = bind1(ops::and_p, {outer, chosen});
  const effects::RunningLanes scope(chosen);
  return batch_jaxpr(branch, batched, size, Mask(branch.outputs.size(), true));
}

/// Every lane makes its own choice: all branches run, and each lane selects one. A lane sends no derivative to branches
/// it did not select, so that infinities and NaN in those do not reach it.
BatchResult select_branches(const Array& index, const Arrays& operands, const Mask& batched, std::int64_t size,
                            const Branches& branches) {
  Arrays results;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const Array chosen =
        bind1(ops::eq_p, {index, ops::full(index.shape(), scalar(DType::i32, static_cast<std::int64_t>(b)))});
    Arrays in;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Array& x = operands[i];
      const bool differentiable = is_inexact(x.dtype());
      if (!differentiable) {
        in.push_back(x);
        continue;
      }
      const Array full = batched[i] ? x : ops::batch_at_front(x, not_batched, size);
      in.push_back(
          ops::select(ops::broadcast_in_dim(chosen, full.shape(), {0}), full, bind1(ops::stop_gradient_p, {full})));
    }
    Mask now = batched;
    for (std::size_t i = 0; i < operands.size(); ++i) now[i] = now[i] || is_inexact(operands[i].dtype());
    const BatchedJaxpr j = batch_chosen(*branches[b], chosen, now, size);
    const Arrays outs = eval_jaxpr(*j.jaxpr.jaxpr, concat(j.jaxpr.consts, in));
    for (std::size_t k = 0; k < outs.size(); ++k) {
      if (b == 0)
        results.push_back(outs[k]);
      else
        results[k] = ops::select(ops::broadcast_in_dim(chosen, outs[k].shape(), {0}), outs[k], results[k]);
    }
  }
  return {results, std::vector<int>(results.size(), 0)};
}

BatchResult cond_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  const Branches& branches = branches_of(params);
  const FrontOperands front = batch_in_front(args.subspan(1), dims.subspan(1));
  if (dims[0] != not_batched) return select_branches(args[0], front.values, front.batched, size, branches);
  Mask out(branches[0]->outputs.size(), false);
  for (const JaxprPtr& b : branches) out = either(out, batch_jaxpr(*b, front.batched, size).batched_out);
  std::vector<ClosedJaxpr> closed;
  for (const JaxprPtr& b : branches) closed.push_back(batch_jaxpr(*b, front.batched, size, out).jaxpr);
  Arrays operands;
  Branches programs = share_captured(closed, operands);
  return {bind_cond(args[0], concat(operands, front.values), std::move(programs)), dims_of(out)};
}

void cond_prune(Equation& e, const Mask& used) {
  Branches branches;
  Mask read(e.inputs.size() - 1, false);
  for (const JaxprPtr& b : branches_of(e.params)) {
    branches.push_back(restrict_outputs(b, used));
    read = either(read, reads(*branches.back()));
  }
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read[i]) inputs.push_back(i);
  for (JaxprPtr& b : branches) b = rearranged(*b, inputs, numbers(0, b->outputs.size()));
  read.insert(read.begin(), true);  // the index
  e.inputs = where<Atom>(read, e.inputs);
  e.outputs = where<Var>(used, e.outputs);
  e.params = {{"branches", std::move(branches)}};
}

}  // namespace

const Primitive cond_p{.name = "cond",
                       .op_class = OpClass::control,
                       .type = cond_type,
                       .eval = cond_eval,
                       .jvp = cond_jvp,
                       .transpose = cond_transpose,
                       .batch = cond_batch,
                       .partial_eval = cond_partial_eval,
                       .prune = cond_prune,
                       .on_parts = cond_on_parts};

}  // namespace cotan
