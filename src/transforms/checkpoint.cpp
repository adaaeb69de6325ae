// checkpoint: a call that gives its derivative as few saved values as the policy allows, and recomputes the
// rest.
#include <cotan/transforms.hpp>

#include "core/def_use.hpp"
#include "core/effects.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"
#include "passes/passes.hpp"
#include "transforms/callback.hpp"
#include "transforms/calls.hpp"

namespace cotan {

/// Whether the results of an equation are kept for the backward pass.
class Policy {
 public:
  std::string name;
  std::function<bool(const Equation&)> saves;
  /// Values with these names are not kept, under no other name either: what gave them is computed again.
  std::vector<std::string> never = {};
};

namespace {

struct PolicyParam final : OpaqueParam {
  PolicyPtr policy;
  std::string describe() const override { return policy->name; }
};

PolicyPtr make_policy(std::string name, std::function<bool(const Equation&)> saves) {
  return std::make_shared<Policy>(Policy{std::move(name), std::move(saves)});
}

bool has_name(const Equation& e, const std::vector<std::string>& names) {
  return e.primitive == &name_p && std::find(names.begin(), names.end(), e.params.text("name")) != names.end();
}

/// The equations whose results are kept; what has effects runs once.
std::vector<bool> saved_equations(const Jaxpr& program, const Policy& policy) {
  std::vector<bool> saved, named(program.types.size(), false);
  for (const Equation& e : program.equations)
    if (has_name(e, policy.never))
      if (const Var* v = std::get_if<Var>(&e.inputs[0])) named[static_cast<std::size_t>(v->id)] = true;
  for (const Equation& e : program.equations)
    saved.push_back(has_effects(e) || (policy.saves(e) && std::none_of(e.outputs.begin(), e.outputs.end(), [&](Var v) {
                                         return named[static_cast<std::size_t>(v.id)];
                                       })));
  return saved;
}

/// The known part also gives the results that the policy saves; the rest recomputes residuals from those.
struct SavedSplit {
  JaxprPtr known;      ///< known inputs -> known outputs, saved values
  JaxprPtr recompute;  ///< known inputs, saved values -> residuals
  std::size_t known_outputs;
};
SavedSplit split_by_policy(const JaxprPtr& known, std::size_t known_outputs, const Policy& policy) {
  const JaxprPtr flat = inline_calls(known);
  // Recompute: saved results become inputs, their equations fall away.
  const std::vector<bool> is_saved = saved_equations(*flat, policy);
  std::vector<Var> saved;
  Jaxpr recompute = *flat;
  recompute.equations.clear();
  for (std::size_t k = 0; k < is_saved.size(); ++k) {
    const Equation& e = flat->equations[k];
    if (is_saved[k])
      saved.insert(saved.end(), e.outputs.begin(), e.outputs.end());
    else
      recompute.equations.push_back(e);
  }
  recompute.inputs.insert(recompute.inputs.end(), saved.begin(), saved.end());
  recompute.outputs.erase(recompute.outputs.begin(),
                          recompute.outputs.begin() + static_cast<std::ptrdiff_t>(known_outputs));
  JaxprPtr clean = eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(recompute)));
  // Saved values that the recomputation does not read need not be saved.
  std::vector<bool> read(clean->types.size(), false);
  for (const Equation& e : clean->equations)
    for (const Atom& a : e.inputs)
      if (const Var* v = std::get_if<Var>(&a)) read[v->id] = true;
  for (const Atom& a : clean->outputs)
    if (const Var* v = std::get_if<Var>(&a)) read[v->id] = true;
  const std::size_t plain = clean->inputs.size() - saved.size();
  Jaxpr pruned = *clean, forward = *flat;
  pruned.inputs.resize(plain);
  forward.outputs.resize(known_outputs);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (!read[clean->inputs[plain + i].id]) continue;
    pruned.inputs.push_back(clean->inputs[plain + i]);
    forward.outputs.push_back(saved[i]);
  }
  return {eliminate_dead_code(std::make_shared<const Jaxpr>(std::move(forward))),
          std::make_shared<const Jaxpr>(std::move(pruned)), known_outputs};
}

/// The program and its operands without those that it does not read: they would be kept for nothing.
std::pair<JaxprPtr, Arrays> without_unread(Jaxpr program, const Arrays& operands) {
  const DefUse values(program);
  std::vector<Var> inputs;
  Arrays read;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (values.reads(program.inputs[i]) == 0) continue;
    inputs.push_back(program.inputs[i]);
    read.push_back(operands[i]);
  }
  program.inputs = std::move(inputs);
  return {std::make_shared<const Jaxpr>(std::move(program)), std::move(read)};
}

Arrays checkpoint_partial_eval(const Primitive& self, PartialEvalTrace& trace, std::span<const Array> args,
                               const Params& params) {
  auto [unknown, known_args, unknown_args] = split_known(trace, args);
  const SplitJaxpr split = partial_eval_jaxpr(*params.jaxpr("jaxpr"), unknown);
  known_args = concat(split.known.consts, known_args);
  const std::size_t consts = split.known.consts.size();
  std::size_t known_outputs = 0;
  for (bool u : split.output_unknown) known_outputs += !u;
  const auto& policy = *static_cast<const PolicyParam&>(*params.get<OpaquePtr>("policy")).policy;
  const SavedSplit parts = split_by_policy(split.known.jaxpr, known_outputs, policy);
  Arrays known_outs;
  {
    TraceScope scope(trace.parent());
    known_outs = bind(jit_p, known_args, {{"jaxpr", parts.known}, {"name", params.jaxpr("jaxpr")->name}});
  }
  const Arrays saved(known_outs.begin() + static_cast<std::ptrdiff_t>(known_outputs), known_outs.end());
  known_outs.resize(known_outputs);

  const Arrays recompute_args = concat(known_args, saved);
  Arrays operands = concat(recompute_args, unknown_args);
  const ClosedJaxpr staged = trace_to_jaxpr(
      [&](std::span<const Array> in) {
        const Arrays recomputed = eval_jaxpr(*parts.recompute, in.subspan(0, recompute_args.size()));
        Arrays inner = split.residuals_from([&](std::size_t k) { return in[consts + k]; },
                                            [&](std::size_t k) { return recomputed[k]; });
        for (std::size_t i = recompute_args.size(); i < in.size(); ++i) inner.push_back(in[i]);
        return eval_jaxpr(*split.unknown, inner);
      },
      types_of(operands), "checkpoint", params.jaxpr("jaxpr")->name);
  Arrays unknown_outs;
  if (!staged.jaxpr->outputs.empty()) {
    auto [program, read] = without_unread(*eliminate_dead_code(staged.jaxpr), concat(staged.consts, operands));
    unknown_outs = trace.record(self, read, params.with("jaxpr", program));
  }
  return merge_outputs(split.output_unknown, known_outs, unknown_outs);
}

/// Recomputes what the linear part needs, then runs it backwards; one call, so that nothing is kept alive
/// before.
Arrays checkpoint_transpose(const Primitive& self, std::span<const Array> cotangents,
                            std::span<const LinearInput> inputs, const Params& params) {
  std::vector<bool> linear;
  Arrays args;
  for (const LinearInput& in : inputs) {
    linear.push_back(in.linear);
    if (!in.linear) args.push_back(in.value);
  }
  const SplitJaxpr split = partial_eval_jaxpr(*params.jaxpr("jaxpr"), linear);
  const std::size_t known = split.known.consts.size() + args.size();
  args = concat(split.known.consts, args);
  for (const Array& ct : cotangents)
    if (ct.defined()) args.push_back(ct);
  std::vector<bool> nonzero;
  const ClosedJaxpr program = trace_to_jaxpr(
      [&](std::span<const Array> in) {
        Arrays known_outs = eval_jaxpr(*split.known.jaxpr, in.subspan(0, known));
        const Arrays known_args(in.begin() + static_cast<std::ptrdiff_t>(split.known.consts.size()),
                                in.begin() + static_cast<std::ptrdiff_t>(known));
        Arrays operands = residuals_of(split, known_args, known_outs);
        operands.resize(split.unknown->inputs.size());  // the linear inputs stay undefined
        Arrays cts, results;
        std::size_t k = known;
        for (std::size_t i = 0; i < cotangents.size(); ++i) {
          const Array ct = cotangents[i].defined() ? in[k++] : Array();
          if (split.output_unknown[i]) cts.push_back(ct);
        }
        for (const Array& ct : backward_pass(*split.unknown, operands, cts)) {
          nonzero.push_back(ct.defined());
          if (ct.defined()) results.push_back(ct);
        }
        return results;
      },
      types_of(args), "checkpoint", params.jaxpr("jaxpr")->name);
  return scatter_cotangents(inputs, nonzero,
                            bind(self, concat(program.consts, args), params.with("jaxpr", program.jaxpr)));
}

PartsList call_on_parts(const Primitive& self, std::span<const ComplexParts> x, const Params& params) {
  const JaxprPtr& program = params.jaxpr("jaxpr");
  return grouped_parts(
      bind(self, flat_parts(PartsList(x.begin(), x.end())), params.with("jaxpr", program_on_parts(program))),
      program->output_types());
}

Arrays identity_eval(const Primitive&, std::span<const Array> x, const Params&) { return {x[0]}; }

}  // namespace

const Primitive checkpoint_p{.name = "checkpoint",
                             .op_class = OpClass::call,
                             .type = call_type,
                             .eval = call_eval,
                             .jvp = call_jvp,
                             .transpose = checkpoint_transpose,
                             .batch = call_batch,
                             .partial_eval = checkpoint_partial_eval,
                             .on_parts = call_on_parts};
const Primitive name_p{.name = "name",
                       .op_class = OpClass::elementwise,
                       .type = ops::elementwise_type<ops::Accepts::any>,
                       .eval = identity_eval,
                       .partials = {[](const Partial& p) { return p.t; }},
                       .transpose = [](const Primitive&, std::span<const Array> ct, std::span<const LinearInput>,
                                       const Params&) { return Arrays{ct[0]}; },
                       .batch = ops::elementwise_batch,
                       .on_parts = ops::on_each_part};

namespace policy {
const PolicyPtr everything_saveable = make_policy("everything_saveable", [](const Equation&) { return true; });
const PolicyPtr nothing_saveable = make_policy("nothing_saveable", [](const Equation&) { return false; });
const PolicyPtr dots_saveable =
    make_policy("dots_saveable", [](const Equation& e) { return e.primitive->product_flops != nullptr; });
const PolicyPtr checkpoint_dots = dots_saveable;
const PolicyPtr dots_with_no_batch_dims_saveable = make_policy(
    "dots_with_no_batch_dims_saveable",
    [](const Equation& e) { return e.primitive == &ops::dot_general_p && e.params.ints("batch_lhs").empty(); });
const PolicyPtr checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable;

namespace {
std::string called(std::string_view policy, const std::vector<std::string>& names) {
  return fmt::format("{}({})", policy, fmt::join(names, ", "));
}
}  // namespace

PolicyPtr save_only_these_names(std::vector<std::string> names) {
  std::string text = called("save_only_these_names", names);
  return make_policy(std::move(text), [names = std::move(names)](const Equation& e) { return has_name(e, names); });
}
PolicyPtr save_any_names_but_these(std::vector<std::string> names) {
  std::string text = called("save_any_names_but_these", names);
  return make_policy(std::move(text), [names = std::move(names)](const Equation& e) {
    return e.primitive == &name_p && !has_name(e, names);
  });
}
PolicyPtr save_anything_except_these_names(std::vector<std::string> names) {
  std::string text = called("save_anything_except_these_names", names);
  Policy policy{std::move(text), [names](const Equation& e) { return !has_name(e, names); }, names};
  return std::make_shared<Policy>(std::move(policy));
}
PolicyPtr save_from_both_policies(PolicyPtr first, PolicyPtr second) {
  Policy both{called("save_from_both_policies", {first->name, second->name}),
              [first, second](const Equation& e) { return first->saves(e) || second->saves(e); }};
  // What neither of them would keep.
  for (const std::string& name : first->never)
    if (std::find(second->never.begin(), second->never.end(), name) != second->never.end()) both.never.push_back(name);
  return std::make_shared<Policy>(std::move(both));
}
}  // namespace policy

Array checkpoint_name(const ArrayLike& x, std::string name) {
  return bind1(name_p, {x.array()}, {{"name", std::move(name)}});
}

namespace flat {

Arrays checkpoint(const FlatFn& f, std::span<const Array> args, PolicyPtr policy) {
  if (is_eval_trace(current_trace())) return f(args);
  effects::Watched watched(f);
  const auto [closed, wide] = trace_call(watched, types_of(args), "checkpoint");
  if (watched.found())
    return effects::call("checkpoint", [&](const Array& token) {
      return checkpoint(effects::Threaded(f), effects::with_token(token, args), policy);
    });
  auto param = std::make_shared<PolicyParam>();
  param->policy = policy ? std::move(policy) : policy::nothing_saveable;
  return bind(checkpoint_p, concat(closed.consts, widened(args, wide)),
              {{"jaxpr", closed.jaxpr}, {"policy", OpaquePtr(param)}});
}

}  // namespace flat
}  // namespace cotan
