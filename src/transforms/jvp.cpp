// Forward mode.
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

Array JvpTrace::wrap(const Array& primal, const Array& tangent) {
  if (!tangent.defined() || !is_inexact(primal.dtype())) return primal;
  return Array(std::make_shared<detail::JvpTracer>(shared_from_this(), primal, tangent));
}
std::pair<Array, Array> JvpTrace::unwrap(const Array& a) const {
  if (const auto* t = tracer_of(a, *this)) {
    const auto* j = static_cast<const detail::JvpTracer*>(t);
    return {j->primal, j->tangent};
  }
  check_not_leaked(a, transform());
  return {a, Array()};
}

namespace {

/// Forward mode of an operation with one result: the sum of its partial derivatives.
JvpResult sum_of_partials(const Primitive& p, std::span<const Array> primals, std::span<const Array> tangents,
                          const Params& params) {
  const Array y = bind1(p, primals, params);
  Array sum;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    // The last rule serves all further operands, for operations with any number of them.
    const PartialRule rule = p.partials[std::min(i, p.partials.size() - 1)];
    if (!tangents[i].defined() || !rule) continue;
    Array part = rule({tangents[i], primals, y, params});
    if (!part.defined()) continue;
    sum = ops::add_cotangents(sum, ops::broadcast_to(part, y.shape()));
  }
  return {{y}, {sum}};
}

}  // namespace

Arrays JvpTrace::process(const Primitive& p, std::span<const Array> args, const Params& params) {
  Arrays primals, tangents;
  bool active = false;
  for (const Array& a : args) {
    auto [primal, tangent] = unwrap(a);
    active |= tangent.defined();
    primals.push_back(std::move(primal));
    tangents.push_back(std::move(tangent));
  }
  TraceScope scope(parent_);
  if (!active || p.not_differentiable) return bind(p, primals, params);
  if (!p.jvp && p.partials.empty())
    raise<TransformError>(
        "[{}] {} has no derivative rule; wrap it in custom_jvp or custom_vjp, or stop_gradient its "
        "operands.",
        transform(), p.name);
  JvpResult result = p.jvp ? p.jvp(p, primals, tangents, params) : sum_of_partials(p, primals, tangents, params);
  Arrays out;
  for (std::size_t i = 0; i < result.primals.size(); ++i) {
    out.push_back(wrap(result.primals[i], result.tangents[i]));
    if (const auto* t = tracer_of(out.back(), *this)) const_cast<detail::Tracer*>(t)->made_by = p.name;
  }
  return out;
}

JvpResult jvp_flat(const FlatFn& f, std::span<const Array> primals, std::span<const Array> tangents,
                   std::string_view transform) {
  auto trace = std::make_shared<JvpTrace>(transform, current_trace_ptr());
  TraceCloser closer(*trace);
  Arrays args, outs;
  for (std::size_t i = 0; i < primals.size(); ++i) args.push_back(trace->wrap(primals[i], tangents[i]));
  {
    TraceScope scope(trace);
    outs = f(args);
  }
  check_outputs_defined(outs, transform);
  JvpResult result;
  for (const Array& out : outs) {
    auto [primal, tangent] = trace->unwrap(out);
    result.primals.push_back(primal);
    result.tangents.push_back(tangent);
  }
  return result;
}

JvpJaxpr jvp_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& nonzero, const std::vector<bool>& instantiate) {
  Types inputs = jaxpr.input_types();
  for (std::size_t i = 0; i < nonzero.size(); ++i)
    if (nonzero[i]) inputs.push_back(jaxpr.type(jaxpr.inputs[i]));
  JvpJaxpr out;
  out.jaxpr = trace_to_jaxpr(
      [&](std::span<const Array> args) {
        const auto primals = args.subspan(0, nonzero.size());
        Arrays tangents(nonzero.size());
        for (std::size_t i = 0, k = nonzero.size(); i < nonzero.size(); ++i)
          if (nonzero[i]) tangents[i] = args[k++];
        JvpResult r =
            jvp_flat([&](std::span<const Array> in) { return eval_jaxpr(jaxpr, in); }, primals, tangents, "jvp");
        for (std::size_t i = 0; i < r.tangents.size(); ++i) {
          Array& t = r.tangents[i];
          if (!t.defined() && i < instantiate.size() && instantiate[i]) t = ops::zeros_of(r.primals[i].aval());
          out.nonzero_out.push_back(t.defined());
          if (t.defined()) r.primals.push_back(t);
        }
        return r.primals;
      },
      inputs, "jvp", jaxpr.name);
  return out;
}

void check_tangent(const Array& tangent, const AbstractValue& primal, std::string_view transform, std::size_t leaf,
                   const flat::Paths& paths) {
  if (!tangent.defined())
    raise<ValueError>("[{}] the tangent of {} is an empty Array; assign it before the call.", transform, paths(leaf));
  if (tangent.shape() != primal.shape)
    raise<ShapeError>("[{}] the tangent of {} has shape {} but the primal has shape {}; they must be equal.", transform,
                      paths(leaf), describe(tangent.shape()), describe(primal.shape));
  if (is_inexact(primal.dtype) && tangent.dtype() != primal.dtype && !tangent.weak_type())
    raise<TypeError>("[{}] the tangent of {} is {} but the primal is {}; cast it with astype.", transform, paths(leaf),
                     tangent.dtype(), primal.dtype);
}

namespace flat {

std::pair<Arrays, Arrays> jvp(const FlatFn& f, std::span<const Array> primals, std::span<const Array> tangents,
                              const Paths& paths) {
  check_defined(primals, "jvp", paths);
  Arrays used(primals.size());
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (!is_inexact(primals[i].dtype())) continue;  // integers have no tangent space: theirs is zero
    check_tangent(tangents[i], primals[i].aval(), "jvp", i, paths);
    const bool both_weak = primals[i].weak_type() && tangents[i].weak_type();  // numbers, which stay exact
    used[i] = both_weak && tangents[i].dtype() == primals[i].dtype() ? tangents[i]
                                                                     : ops::cast(tangents[i], primals[i].dtype());
  }
  JvpResult r = jvp_flat(with_names(f, paths), primals, used, "jvp");
  for (std::size_t i = 0; i < r.primals.size(); ++i)
    if (!r.tangents[i].defined()) r.tangents[i] = ops::zeros_of(r.primals[i].aval());
  return {std::move(r.primals), std::move(r.tangents)};
}

}  // namespace flat
}  // namespace cotan
