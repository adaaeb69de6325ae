// custom_vmap: calls that vmap replaces by a rule of the user's.
#include <cotan/transforms/custom_batching.hpp>

#include "ops/ops.hpp"
#include "transforms/calls.hpp"

namespace cotan {

namespace {

struct VmapRuleParam final : OpaqueParam {
  flat::VmapRule rule;
  std::string name;
  std::string describe() const override { return fmt::format("<vmap rule of {}>", name); }
};
using VmapRulePtr = std::shared_ptr<const VmapRuleParam>;
VmapRulePtr vmap_rule(const Params& params) {
  return std::static_pointer_cast<const VmapRuleParam>(params.get<OpaquePtr>("rule"));
}
std::size_t constants_of(const Params& params) { return static_cast<std::size_t>(params.integer("num_consts")); }

/// The rule's results, which must fit those of the function where they are batched.
std::pair<Arrays, std::vector<bool>> apply_vmap_rule(const VmapRuleParam& rule, std::int64_t size,
                                                     const std::vector<bool>& batched, std::span<const Array> args,
                                                     const Types& outputs) {
  auto [out, out_batched] = rule.rule(size, batched, args);
  if (out.size() != outputs.size())
    raise<TreeError>("[custom_vmap] the rule of {} returned {} arrays but the function {}; return as many.", rule.name,
                     out.size(), outputs.size());
  check_outputs_defined(out, "custom_vmap");
  for (std::size_t i = 0; i < out.size(); ++i) {
    Shape shape = outputs[i].shape;
    if (out_batched[i]) shape.insert(shape.begin(), size);
    if (out[i].shape() != shape)
      raise<ShapeError>("[custom_vmap] the rule of {} returned shape {} as {} output {}; it must be {}.", rule.name,
                        describe(out[i].shape()), out_batched[i] ? "batched" : "unbatched", i, describe(shape));
    if (out[i].dtype() != outputs[i].dtype && !out[i].weak_type())
      raise<TypeError>("[custom_vmap] the rule of {} returned {} as output {}; it must be {}, as the function's.",
                       rule.name, out[i].dtype(), i, outputs[i].dtype);
    out[i] = ops::cast(out[i], outputs[i].dtype);
  }
  return {std::move(out), std::move(out_batched)};
}

BatchResult custom_vmap_batch(const Primitive&, std::span<const Array> args, std::span<const int> dims,
                              std::int64_t size, const Params& params) {
  const VmapRulePtr rule = vmap_rule(params);
  const std::size_t consts = constants_of(params);
  const FrontOperands front = batch_in_front(args, dims);
  for (std::size_t i = 0; i < consts; ++i)
    if (front.batched[i])
      raise<TransformError>(
          "[custom_vmap] {} closes over a value that is mapped over; pass it as an argument, so that the rule can see "
          "it.",
          rule->name);
  const std::vector<bool> batched(front.batched.begin() + static_cast<std::ptrdiff_t>(consts), front.batched.end());
  auto [out, out_batched] = apply_vmap_rule(*rule, size, batched, std::span(front.values).subspan(consts),
                                            params.jaxpr("jaxpr")->output_types());
  return {std::move(out), dims_of(out_batched)};
}

/// The rule of the function's forward mode: takes primals, then the tangents of those that are `nonzero`; gives
/// outputs, then the tangents of those that have one.
flat::VmapRule rule_of_jvp(const VmapRulePtr& rule, const std::vector<bool>& nonzero, const Types& outputs,
                           const std::vector<bool>& nonzero_out) {
  return [=](std::int64_t size, const std::vector<bool>& batched, std::span<const Array> in) {
    const std::size_t n = nonzero.size();
    // A primal and its tangent are both batched, or neither is.
    Arrays primals(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n)), tangents(n);
    std::vector<bool> both(batched.begin(), batched.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t i = 0, k = n; i < n; ++i) {
      if (!nonzero[i]) continue;
      tangents[i] = in[k];
      both[i] = batched[i] || batched[k];
      if (both[i] && !batched[i]) primals[i] = ops::batch_at_front(primals[i], not_batched, size);
      if (both[i] && !batched[k]) tangents[i] = ops::batch_at_front(tangents[i], not_batched, size);
      ++k;
    }
    std::vector<bool> out_batched;
    JvpResult r = jvp_flat(
        [&](std::span<const Array> x) {
          auto [out, flags] = apply_vmap_rule(*rule, size, both, x, outputs);
          out_batched = flags;
          return out;
        },
        primals, tangents, "custom_vmap");
    for (std::size_t i = 0, count = outputs.size(); i < count; ++i) {
      if (!nonzero_out[i]) continue;
      r.primals.push_back(r.tangents[i].defined() ? r.tangents[i] : ops::zeros_of(r.primals[i].aval()));
      out_batched.push_back(out_batched[i]);
    }
    return std::pair{std::move(r.primals), std::move(out_batched)};
  };
}

JvpResult custom_vmap_jvp(const Primitive& self, std::span<const Array> primals, std::span<const Array> tangents,
                          const Params& params) {
  const std::size_t consts = constants_of(params);
  const std::vector<bool> nonzero = defined_mask(tangents);
  const Types outputs = params.jaxpr("jaxpr")->output_types();
  for (std::size_t i = 0; i < consts; ++i)
    if (nonzero[i])
      raise<TransformError>(
          "[custom_vmap] {} closes over a value that is being differentiated; pass it as an argument, so that the rule "
          "can see it.",
          vmap_rule(params)->name);
  std::vector<bool> floats;
  for (const AbstractValue& t : outputs) floats.push_back(is_inexact(t.dtype));
  const JvpJaxpr j = jvp_jaxpr(*params.jaxpr("jaxpr"), nonzero, floats);
  auto rule = std::make_shared<VmapRuleParam>();
  rule->name = vmap_rule(params)->name;
  const std::vector<bool> of_args(nonzero.begin() + static_cast<std::ptrdiff_t>(consts), nonzero.end());
  rule->rule = rule_of_jvp(vmap_rule(params), of_args, outputs, j.nonzero_out);
  Arrays args = concat(j.jaxpr.consts, primals);
  for (const Array& t : tangents)
    if (t.defined()) args.push_back(t);
  const Arrays results = bind(self, args,
                              {{"jaxpr", j.jaxpr.jaxpr},
                               {"num_consts", static_cast<std::int64_t>(consts + j.jaxpr.consts.size())},
                               {"rule", OpaquePtr(rule)}});
  JvpResult out;
  std::size_t k = outputs.size();
  out.primals.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(k));
  for (const bool has : j.nonzero_out) out.tangents.push_back(has ? results[k++] : Array());
  return out;
}

/// Reverse mode takes the call apart: nothing is known of the transpose of a rule.
Arrays custom_vmap_partial_eval(const Primitive&, PartialEvalTrace&, std::span<const Array> args,
                                const Params& params) {
  return eval_jaxpr(*params.jaxpr("jaxpr"), args);
}

const Primitive custom_vmap_call_p{.name = "custom_vmap_call",
                                   .op_class = OpClass::call,
                                   .type = call_type,
                                   .eval = call_eval,
                                   .jvp = custom_vmap_jvp,
                                   .transpose = transpose_of_call,
                                   .batch = custom_vmap_batch,
                                   .partial_eval = custom_vmap_partial_eval};

/// The rule as one of widened(arguments, wide).
flat::VmapRule narrowing(flat::VmapRule rule, const std::vector<bool>& wide) {
  return [rule = std::move(rule), wide](std::int64_t size, const std::vector<bool>& batched,
                                        std::span<const Array> in) { return rule(size, batched, narrowed(in, wide)); };
}

}  // namespace

namespace flat {

Arrays custom_vmap(const FlatFn& f, VmapRule rule, std::span<const Array> args, std::string_view name) {
  if (is_eval_trace(current_trace())) return f(args);
  if (const std::vector<bool> wide = numbers_that_meet_f64(f, args, "custom_vmap"); !wide.empty()) {
    const auto of_wide = [&](std::span<const Array> in) { return f(narrowed(in, wide)); };
    return custom_vmap(of_wide, narrowing(std::move(rule), wide), widened(args, wide), name);
  }
  const ClosedJaxpr closed = trace_to_jaxpr(f, types_of(args), "custom_vmap", std::string(name));
  auto param = std::make_shared<VmapRuleParam>();
  param->rule = std::move(rule);
  param->name = name;
  return bind(custom_vmap_call_p, concat(closed.consts, args),
              {{"jaxpr", closed.jaxpr},
               {"num_consts", static_cast<std::int64_t>(closed.consts.size())},
               {"rule", OpaquePtr(param)}});
}

}  // namespace flat
}  // namespace cotan
