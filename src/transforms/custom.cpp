// custom_jvp and custom_vjp: calls whose derivative the user gives.
#include <mutex>

#include "core/effects.hpp"
#include "ops/collectives/axes.hpp"
#include "ops/ops.hpp"
#include "transforms/calls.hpp"

namespace cotan {

namespace {

struct CustomJvpRule final : OpaqueParam {
  FlatFunction rule;  // (primals, tangents) -> (outputs, output tangents)
  std::string name;
  std::string describe() const override { return fmt::format("<rule of {}>", name); }
};
struct CustomVjpRule final : OpaqueParam {
  flat::FlatForward forward;  // primals -> outputs, residuals
  FlatFunction backward;      // (residuals, cotangents) -> cotangents of the primals
  std::string name;
  std::string describe() const override { return fmt::format("<rule of {}>", name); }
};
struct BackwardRule final : OpaqueParam {
  FlatFunction backward;
  Types outputs;
  std::string name;
  std::string describe() const override { return fmt::format("<backward of {}>", name); }
};

template <class T>
const T& opaque(const Params& params, std::string_view key) {
  return static_cast<const T&>(*params.get<OpaquePtr>(key));
}

Arrays instantiated(std::span<const Array> tangents, std::span<const Array> primals) {
  Arrays out;
  for (std::size_t i = 0; i < primals.size(); ++i)
    out.push_back(tangents[i].defined() ? tangents[i] : ops::zeros_of(primals[i].aval()));
  return out;
}

void check_constants(std::string_view op, std::span<const Array> tangents, std::size_t consts) {
  for (std::size_t i = 0; i < consts; ++i)
    if (tangents[i].defined())
      raise<TransformError>(
          "[{}] the function closes over a value that is being differentiated; pass it as an argument, so "
          "that "
          "the rule can see it.",
          op);
}

/// What a rule returned against what it must be like: `of` is "its primal" or "the function's".
void check_results(std::string_view op, std::string_view what, const Arrays& got, const Types& want,
                   std::string_view of = "its primal") {
  if (got.size() != want.size())
    raise<TreeError>("[{}] the rule returned {} {}s but {} are needed; return one per {}.", op, got.size(), what,
                     want.size(), what == "cotangent" ? "argument" : "output");
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].defined() && got[i].shape() != want[i].shape)
      raise<ShapeError>("[{}] the rule returned {} {} of shape {}; it must have shape {}, that of {}.", op, what, i,
                        describe(got[i].shape()), describe(want[i].shape), of);
    // What belongs to a C++ number takes its dtype, whatever the number met.
    const bool of_number = want[i].weak_type && got[i].defined() && is_inexact(got[i].dtype());
    if (got[i].defined() && got[i].dtype() != want[i].dtype && !got[i].weak_type() && !of_number)
      raise<TypeError>("[{}] the rule returned {} {} of dtype {}; it must be {}, that of {}.", op, what, i,
                       got[i].dtype(), want[i].dtype, of);
  }
}

struct BatchedCall {
  Arrays operands;  ///< new constants, then the operands with the batch in front
  std::vector<bool> batched, batched_out;
  Params params;
  std::size_t new_consts;
};
BatchedCall batch_call(std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  BatchedCall out;
  FrontOperands front = batch_in_front(args, dims);
  out.batched = front.batched;
  // All outputs are batched, so that they fit what the rule gives under the same batch.
  const Jaxpr& jaxpr = *params.jaxpr("jaxpr");
  const BatchedJaxpr j = batch_jaxpr(jaxpr, out.batched, size, std::vector<bool>(jaxpr.outputs.size(), true));
  out.batched_out = j.batched_out;
  out.new_consts = j.jaxpr.consts.size();
  out.operands = concat(j.jaxpr.consts, front.values);
  out.params = params.with("jaxpr", j.jaxpr.jaxpr)
                   .with("num_consts", params.integer("num_consts") + static_cast<std::int64_t>(out.new_consts));
  return out;
}
/// f over batched arguments, all results with the batch in front.
/// The axis has the name that it had when the rule was batched.
Arrays run_batched(const FlatFn& f, std::span<const Array> args, const std::vector<bool>& batched, std::int64_t size,
                   const std::string& axis_name) {
  BatchResult r = batch_flat(f, args, dims_of(batched), size, "vmap", axis_name);
  for (std::size_t i = 0; i < r.values.size(); ++i) r.values[i] = ops::batch_at_front(r.values[i], r.dims[i], size);
  return r.values;
}

// custom_jvp ------------------------------------------------------------------------------------

JvpResult apply_jvp_rule(const CustomJvpRule& rule, std::span<const Array> primals, std::span<const Array> tangents) {
  const Arrays args = concat(primals, instantiated(tangents, primals));
  Arrays results = rule.rule(args);
  const std::size_t n = results.size() / 2;
  JvpResult out{{results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n)},
                {results.begin() + static_cast<std::ptrdiff_t>(n), results.end()}};
  Types types = types_of(out.primals);
  for (std::size_t i = 0; i < out.tangents.size(); ++i)
    if (!out.tangents[i].defined())
      raise<ValueError>(
          "[custom_jvp] the rule returned an empty Array as tangent {}; return np::zeros_like of the output "
          "for zero.",
          i);
  check_results("custom_jvp", "tangent", out.tangents, types);
  for (std::size_t i = 0; i < n; ++i) out.tangents[i] = ops::cast(out.tangents[i], types[i].dtype);
  return out;
}

/// A rule where the function has effects: the last constant is the token, and the first result is it. The rule's own
/// effects take the place of the function's.
template <class Apply>
JvpResult with_rule_effects(const Params& params, std::span<const Array> primals, const Apply& apply) {
  if (!params.has("has_token")) return apply();
  const auto consts = static_cast<std::size_t>(params.integer("num_consts"));
  const effects::Frame frame(effects::Frame::Kind::threaded, primals[consts - 1]);
  JvpResult r = apply();
  const Shape shape = params.jaxpr("jaxpr")->output_types()[0].shape;  // in a batch all results have its axis
  r.primals.insert(r.primals.begin(), ops::broadcast_to(frame.token, shape));
  r.tangents.insert(r.tangents.begin(), Array());
  return r;
}

JvpResult custom_jvp_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                         const Params& params) {
  const auto consts = static_cast<std::size_t>(params.integer("num_consts"));
  check_constants("custom_jvp", tangents, consts);
  JvpResult r = with_rule_effects(params, primals, [&] {
    return apply_jvp_rule(opaque<CustomJvpRule>(params, "jvp"), primals.subspan(consts), tangents.subspan(consts));
  });
  check_results("custom_jvp", "output", r.primals, params.jaxpr("jaxpr")->output_types(), "the function's result");
  return r;
}

BatchResult custom_jvp_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                             std::int64_t size, const Params& params) {
  BatchedCall call = batch_call(args, dims, size, params);
  auto rule = std::make_shared<CustomJvpRule>();
  const auto original = std::static_pointer_cast<const CustomJvpRule>(params.get<OpaquePtr>("jvp"));
  const auto consts = static_cast<std::ptrdiff_t>(params.integer("num_consts"));
  const std::vector<bool> inner(call.batched.begin() + consts, call.batched.end());
  rule->name = original->name;
  rule->rule = [original, inner, size, axis = axes::of_rule()](std::span<const Array> in) {
    std::vector<bool> batched = inner;
    batched.insert(batched.end(), inner.begin(), inner.end());
    return run_batched(original->rule, in, batched, size, axis);
  };
  return {bind(self, call.operands, call.params.with("jvp", OpaquePtr(rule))), dims_of(call.batched_out)};
}

// custom_vjp ------------------------------------------------------------------------------------

JvpResult apply_vjp_rule(const CustomVjpRule& rule, std::span<const Array> primals, std::span<const Array> tangents) {
  auto [outputs, residuals] = rule.forward(primals);
  auto backward = std::make_shared<BackwardRule>();
  backward->name = rule.name;
  backward->outputs = types_of(outputs);
  backward->backward = [user = rule.backward, inputs = types_of(primals)](std::span<const Array> args) {
    Arrays cts = user(args);
    check_results("custom_vjp", "cotangent", cts, inputs);
    for (std::size_t i = 0; i < cts.size(); ++i)
      if (cts[i].defined()) cts[i] = ops::cast(cts[i], inputs[i].dtype);
    return cts;
  };
  const auto num_residuals = static_cast<std::int64_t>(residuals.size());
  const Arrays operands = concat(residuals, instantiated(tangents, primals));
  const Arrays results =
      bind(custom_lin_p, operands, {{"backward", OpaquePtr(backward)}, {"num_residuals", num_residuals}});
  return {outputs, results};
}

JvpResult custom_vjp_jvp(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                         const Params& params) {
  const auto consts = static_cast<std::size_t>(params.integer("num_consts"));
  check_constants("custom_vjp", tangents, consts);
  JvpResult r = with_rule_effects(params, primals, [&] {
    return apply_vjp_rule(opaque<CustomVjpRule>(params, "vjp"), primals.subspan(consts), tangents.subspan(consts));
  });
  check_results("custom_vjp", "output", r.primals, params.jaxpr("jaxpr")->output_types(), "the function's result");
  return r;
}

/// Backward over a batch: everything it gets is batched; cotangents of unbatched primals are summed.
FlatFunction batched_backward(FlatFunction backward, std::vector<bool> primal_batched, std::int64_t size) {
  return [backward = std::move(backward), primal_batched = std::move(primal_batched), size,
          axis = axes::of_rule()](std::span<const Array> args) {
    std::vector<bool> nonzero;  // an empty cotangent is zero
    const Arrays given = run_batched(
        [&](std::span<const Array> in) {
          Arrays cts = backward(in);
          nonzero = defined_mask(cts);
          std::erase_if(cts, [](const Array& ct) { return !ct.defined(); });
          return cts;
        },
        args, std::vector<bool>(args.size(), true), size, axis);
    Arrays cts(nonzero.size());
    for (std::size_t i = 0, k = 0; i < cts.size(); ++i) {
      if (!nonzero[i]) continue;
      cts[i] = given[k++];
      if (i < primal_batched.size() && !primal_batched[i]) cts[i] = ops::reduce_sum(cts[i], {0});
    }
    return cts;
  };
}

BatchResult custom_vjp_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                             std::int64_t size, const Params& params) {
  BatchedCall call = batch_call(args, dims, size, params);
  const auto original = std::static_pointer_cast<const CustomVjpRule>(params.get<OpaquePtr>("vjp"));
  const auto consts = static_cast<std::ptrdiff_t>(params.integer("num_consts"));
  const std::vector<bool> inner(call.batched.begin() + consts, call.batched.end());
  auto rule = std::make_shared<CustomVjpRule>();
  rule->name = original->name;
  rule->forward = [original, inner, size, axis = axes::of_rule()](std::span<const Array> primals) {
    std::size_t outputs = 0;
    Arrays all = run_batched(
        [&](std::span<const Array> in) {
          auto [outs, residuals] = original->forward(in);
          outputs = outs.size();
          return concat(outs, residuals);
        },
        primals, inner, size, axis);
    const auto split = all.begin() + static_cast<std::ptrdiff_t>(outputs);
    return std::pair<Arrays, Arrays>{{all.begin(), split}, {split, all.end()}};
  };
  rule->backward = batched_backward(original->backward, inner, size);
  Arrays outs = bind(self, call.operands, call.params.with("vjp", OpaquePtr(rule)));
  return {outs, dims_of(call.batched_out)};
}

// custom_lin: the tangent of a custom_vjp call, known only by its transpose ---------------------

[[noreturn]] void no_forward_mode(const Params& params) {
  raise<TransformError>(
      "[jvp] {} has a custom_vjp rule, which gives reverse mode only; use grad or vjp, or give the function "
      "a "
      "custom_jvp rule.",
      opaque<BackwardRule>(params, "backward").name);
}
Types custom_lin_type(const Primitive&, std::span<const AbstractValue>, const Params& params) {
  return opaque<BackwardRule>(params, "backward").outputs;
}
Arrays custom_lin_transpose(const Primitive&, std::span<const Array> cts, std::span<const LinearInput> in,
                            const Params& params) {
  const auto& rule = opaque<BackwardRule>(params, "backward");
  const auto residuals = static_cast<std::size_t>(params.integer("num_residuals"));
  Arrays args;
  for (std::size_t i = 0; i < residuals; ++i) args.push_back(in[i].value);
  for (std::size_t i = 0; i < cts.size(); ++i)
    args.push_back(cts[i].defined() ? cts[i] : ops::zeros_of(rule.outputs[i]));
  const Arrays results = rule.backward(args);
  Arrays out(in.size());
  for (std::size_t i = residuals; i < in.size(); ++i)
    if (in[i].linear && is_inexact(in[i].aval.dtype)) out[i] = results[i - residuals];
  return out;
}
BatchResult custom_lin_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims,
                             std::int64_t size, const Params& params) {
  const auto original = std::static_pointer_cast<const BackwardRule>(params.get<OpaquePtr>("backward"));
  const auto residuals = static_cast<std::size_t>(params.integer("num_residuals"));
  auto rule = std::make_shared<BackwardRule>();
  rule->name = original->name;
  for (AbstractValue t : original->outputs) {
    t.shape.insert(t.shape.begin(), size);
    rule->outputs.push_back(t);
  }
  rule->backward = batched_backward(original->backward, std::vector<bool>(args.size() - residuals, true), size);
  Arrays front;
  for (std::size_t i = 0; i < args.size(); ++i) front.push_back(ops::batch_at_front(args[i], dims[i], size));
  Arrays outs = bind(self, front, params.with("backward", OpaquePtr(rule)));
  return {outs, std::vector<int>(outs.size(), 0)};
}

Arrays bind_staged(const Primitive& p, const FlatFn& f, std::span<const Array> args, std::string_view key,
                   OpaquePtr rule, std::string name) {
  effects::Watched watched(f);
  const ClosedJaxpr closed = trace_to_jaxpr(watched, types_of(args), p.name, name);
  if (watched.found())
    return effects::call(p.name, [&](const Array& token) {
      const Arrays operands = effects::with_token(token, args);
      const ClosedJaxpr threaded = trace_to_jaxpr(effects::Threaded(f), types_of(operands), p.name, name);
      return bind(p, concat(threaded.consts, operands),
                  {{"has_token", true},
                   {"jaxpr", threaded.jaxpr},
                   {"num_consts", static_cast<std::int64_t>(threaded.consts.size() + 1)},
                   {key, std::move(rule)}});
    });
  return bind(p, concat(closed.consts, args),
              {{"jaxpr", closed.jaxpr},
               {"num_consts", static_cast<std::int64_t>(closed.consts.size())},
               {key, std::move(rule)}});
}

/// The rule as one of widened(arguments, wide).
std::shared_ptr<const CustomJvpRule> narrowing(const std::shared_ptr<const CustomJvpRule>& rule,
                                               const std::vector<bool>& wide) {
  auto out = std::make_shared<CustomJvpRule>(*rule);
  out->rule = [rule, wide](std::span<const Array> in) {
    return rule->rule(concat(narrowed(in.subspan(0, wide.size()), wide), narrowed(in.subspan(wide.size()), wide)));
  };
  return out;
}
std::shared_ptr<const CustomVjpRule> narrowing(const std::shared_ptr<const CustomVjpRule>& rule,
                                               const std::vector<bool>& wide) {
  // What forward keeps of the numbers is wide as well, and narrow again for backward.
  struct Kept {
    std::mutex mutex;
    std::vector<bool> wide;
  };
  auto out = std::make_shared<CustomVjpRule>(*rule);
  const auto kept = std::make_shared<Kept>();
  out->forward = [rule, wide, kept](std::span<const Array> in) {
    auto [outputs, residuals] = rule->forward(narrowed(in, wide));
    std::vector<bool> numbers;
    for (const Array& r : residuals) numbers.push_back(r.weak_type() && r.dtype() == DType::f32);
    const std::lock_guard lock(kept->mutex);
    kept->wide = numbers;
    return std::pair{std::move(outputs), widened(residuals, numbers)};
  };
  out->backward = [rule, wide, kept](std::span<const Array> in) {
    std::vector<bool> numbers;
    {
      const std::lock_guard lock(kept->mutex);
      numbers = kept->wide;
    }
    Arrays cts = rule->backward(narrowed(in, numbers));
    for (std::size_t i = 0; i < std::min(cts.size(), wide.size()); ++i)
      if (wide[i] && cts[i].defined() && is_inexact(cts[i].dtype())) cts[i] = ops::cast(cts[i], DType::f64);
    return cts;
  };
  return out;
}

/// Runs `apply` where the call itself is differentiated, `f` where nothing is traced, else stages the call.
template <class Rule>
Arrays custom_call(const Primitive& p, const FlatFn& f, std::span<const Array> args, std::string_view key,
                   std::shared_ptr<const Rule> rule,
                   JvpResult (*apply)(const Rule&, std::span<const Array>, std::span<const Array>)) {
  if (is_eval_trace(current_trace())) return f(args);
  if (auto* trace = dynamic_cast<JvpTrace*>(&current_trace())) {
    Arrays primals, tangents;
    bool active = false;
    for (const Array& a : args) {
      auto [primal, tangent] = trace->unwrap(a);
      active |= tangent.defined();
      primals.push_back(primal);
      tangents.push_back(tangent);
    }
    TraceScope scope(trace->parent());
    if (!active) return custom_call(p, f, primals, key, rule, apply);
    JvpResult r = apply(*rule, primals, tangents);
    Arrays out;
    for (std::size_t i = 0; i < r.primals.size(); ++i) {
      out.push_back(trace->wrap(r.primals[i], r.tangents[i]));
      if (const auto* t = tracer_of(out.back(), *trace)) const_cast<detail::Tracer*>(t)->made_by = p.name;
    }
    return out;
  }
  const std::vector<bool> wide = numbers_that_meet_f64(f, args, p.name);
  if (wide.empty()) return bind_staged(p, f, args, key, rule, rule->name);
  const auto of_wide = [&](std::span<const Array> in) { return f(narrowed(in, wide)); };
  return bind_staged(p, of_wide, widened(args, wide), key, narrowing(rule, wide), rule->name);
}

}  // namespace

const Primitive custom_jvp_call_p{.name = "custom_jvp_call",
                                  .op_class = OpClass::call,
                                  .type = call_type,
                                  .eval = call_eval,
                                  .jvp = custom_jvp_jvp,
                                  .transpose = transpose_of_call,
                                  .batch = custom_jvp_batch};
const Primitive custom_vjp_call_p{.name = "custom_vjp_call",
                                  .op_class = OpClass::call,
                                  .type = call_type,
                                  .eval = call_eval,
                                  .jvp = custom_vjp_jvp,
                                  .transpose = transpose_of_call,
                                  .batch = custom_vjp_batch};
const Primitive custom_lin_p{
    .name = "custom_lin",
    .op_class = OpClass::call,
    .type = custom_lin_type,
    .eval = [](const Primitive&, std::span<const Array>, const Params& params) -> Arrays { no_forward_mode(params); },
    .jvp = [](const Primitive&, std::span<const Array>, std::span<const Array>, const Params& params) -> JvpResult {
      no_forward_mode(params);
    },
    .transpose = custom_lin_transpose,
    .batch = custom_lin_batch};

namespace flat {

Arrays custom_jvp(const FlatFn& f, FlatFunction rule, std::span<const Array> args, std::string_view name) {
  auto opaque_rule = std::make_shared<CustomJvpRule>();
  opaque_rule->rule = std::move(rule);
  opaque_rule->name = name;
  return custom_call<CustomJvpRule>(custom_jvp_call_p, f, args, "jvp", opaque_rule, apply_jvp_rule);
}

Arrays custom_vjp(const FlatFn& f, FlatForward forward, FlatFunction backward, std::span<const Array> args,
                  std::string_view name) {
  auto opaque_rule = std::make_shared<CustomVjpRule>();
  opaque_rule->forward = std::move(forward);
  opaque_rule->backward = std::move(backward);
  opaque_rule->name = name;
  return custom_call<CustomVjpRule>(custom_vjp_call_p, f, args, "vjp", opaque_rule, apply_vjp_rule);
}

}  // namespace flat
}  // namespace cotan
