// vmap: each primitive's batching rule, applied as the function runs.
#include <cotan/transforms/vmap.hpp>

#include "core/rules.hpp"
#include "ops/collectives/axes.hpp"
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

Array BatchTrace::wrap(const Array& value, int dim) {
  if (dim == not_batched) return value;
  AbstractValue aval = value.aval();
  aval.shape.erase(aval.shape.begin() + dim);
  auto t = std::make_shared<detail::BatchTracer>(std::move(aval), shared_from_this(), value, dim);
  return Array(detail::ValuePtr(t));
}
std::pair<Array, int> BatchTrace::unwrap(const Array& a) const {
  if (const auto* t = tracer_of(a, *this)) {
    const auto* b = static_cast<const detail::BatchTracer*>(t);
    return {b->value, b->dim};
  }
  check_not_leaked(a, transform());
  return {a, not_batched};
}

Arrays BatchTrace::process(const Primitive& p, std::span<const Array> args, const Params& params) {
  Arrays values;
  std::vector<int> dims;
  bool any = false;
  for (const Array& a : args) {
    auto [value, dim] = unwrap(a);
    any |= dim != not_batched;
    values.push_back(std::move(value));
    dims.push_back(dim);
  }
  // A collective over this axis has something to do where nothing is batched too, also inside of a loop or a call.
  const bool across = axes::names_axis(p, params, axis_name_);
  const bool wanted = any || across || axes::nested_names_axis(params, axis_name_);
  if (any) {
    // First for one element of the batch, so that an error names the shapes the user's function sees.
    Types types;
    for (const Array& a : args) types.push_back(a.aval());
    result_types(p, types, params);
  }
  TraceScope scope(parent_);
  if (!wanted) return bind(p, values, params);
  if (!p.batch)
    raise<TransformError>("[{}] {} has no batching rule; loop over the batch instead.", transform(), p.name);
  const axes::OfRule rule(axis_name_);
  BatchResult r = across ? batch_across(p, values, dims, params) : p.batch(p, values, dims, size_, params);
  Arrays out;
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    out.push_back(wrap(r.values[i], r.dims[i]));
    if (const auto* t = tracer_of(out.back(), *this)) const_cast<detail::Tracer*>(t)->made_by = p.name;
  }
  return out;
}

BatchResult BatchTrace::batch_across(const Primitive& p, const Arrays& x, const std::vector<int>& dims,
                                     const Params& params) const {
  return RuleFor<axes::AcrossAxis>::find(p)->apply(x.empty() ? Array() : x[0], x.empty() ? not_batched : dims[0], size_,
                                                   params);
}

BatchResult batch_flat(const FlatFn& f, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       std::string_view transform, const std::string& axis_name) {
  auto trace = std::make_shared<BatchTrace>(transform, current_trace_ptr(), size, axis_name);
  TraceCloser closer(*trace);
  Arrays wrapped, outs;
  for (std::size_t i = 0; i < args.size(); ++i) wrapped.push_back(trace->wrap(args[i], dims[i]));
  {
    const axes::Binding bound(axis_name, size);
    TraceScope scope(trace);
    outs = f(wrapped);
  }
  check_outputs_defined(outs, transform);
  BatchResult result;
  for (const Array& o : outs) {
    auto [value, dim] = trace->unwrap(o);
    result.values.push_back(value);
    result.dims.push_back(dim);
  }
  return result;
}

BatchedJaxpr batch_jaxpr(const Jaxpr& jaxpr, const std::vector<bool>& batched, std::int64_t size,
                         const std::vector<bool>& force) {
  Types inputs = jaxpr.input_types();
  const std::string axis_name = axes::of_rule();
  std::vector<int> dims;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    dims.push_back(batched[i] ? 0 : not_batched);
    if (batched[i]) inputs[i].shape.insert(inputs[i].shape.begin(), size);
  }
  BatchedJaxpr out;
  out.jaxpr = trace_to_jaxpr(
      [&](std::span<const Array> args) {
        BatchResult r = batch_flat([&](std::span<const Array> in) { return eval_jaxpr(jaxpr, in); }, args, dims, size,
                                   "vmap", axis_name);
        for (std::size_t i = 0; i < r.values.size(); ++i) {
          out.batched_out.push_back(r.dims[i] != not_batched || (i < force.size() && force[i]));
          if (out.batched_out.back()) r.values[i] = ops::batch_at_front(r.values[i], r.dims[i], size);
        }
        return r.values;
      },
      inputs, "vmap", jaxpr.name);
  return out;
}

namespace flat {

Arrays vmap(const FlatFn& f, std::span<const Array> args, std::span<const int> in_axes,
            const std::function<std::vector<int>(std::size_t)>& out_axes, const Paths& paths) {
  return vmap(f, args, in_axes, out_axes, paths, {});
}

Arrays vmap(const FlatFn& f, std::span<const Array> args, std::span<const int> in_axes,
            const std::function<std::vector<int>(std::size_t)>& out_axes, const Paths& paths, const AxisOptions& axis) {
  check_defined(args, "vmap", paths);
  std::int64_t size = axis.size.value_or(-1);
  std::string first = "axis_size";
  if (axis.size && size < 0) raise<ValueError>("[vmap] axis_size is {}; it must not be negative.", size);
  std::vector<int> dims;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (in_axes[i] == no_axis) {
      dims.push_back(not_batched);
      continue;
    }
    const int ndim = args[i].ndim();
    if (in_axes[i] < -ndim || in_axes[i] >= ndim)
      raise<ShapeError>("[vmap] {} has shape {} and no axis {} to map over; pass none in in_axes to leave it whole.",
                        paths(i), describe(args[i].shape()), in_axes[i]);
    dims.push_back(in_axes[i] < 0 ? in_axes[i] + ndim : in_axes[i]);
    const std::int64_t here = args[i].shape()[dims.back()];
    if (size >= 0 && here != size)
      raise<ShapeError>(
          "[vmap] mapped axes have different sizes: {} for {} but {} for {} (shape {}); they must be equal.", size,
          first, here, paths(i), describe(args[i].shape()));
    if (size < 0) first = paths(i);
    size = here;
  }
  if (size < 0)
    raise<ValueError>("[vmap] no argument is mapped; give at least one an axis in in_axes, or give axis_size.");
  BatchResult r = batch_flat(with_names(f, paths), args, dims, size, "vmap", axis.name);
  const std::vector<int> wanted = out_axes(r.values.size());
  Arrays out;
  for (std::size_t i = 0; i < r.values.size(); ++i) {
    const Array& value = r.values[i];
    if (wanted[i] == no_axis) {
      if (r.dims[i] != not_batched)
        raise<ShapeError>("[vmap] output {} has none in out_axes but depends on a mapped argument; give it an axis.",
                          i);
      out.push_back(value);
      continue;
    }
    const Array front = ops::batch_at_front(value, r.dims[i], size);
    const int ndim = front.ndim();
    if (wanted[i] < -ndim || wanted[i] >= ndim)
      raise<ShapeError>(
          "[vmap] out_axes {} is out of range for output {}, which has shape {} with the batch in front; "
          "give one of its axes.",
          wanted[i], i, describe(front.shape()));
    out.push_back(ops::move_axis(front, 0, wanted[i] < 0 ? wanted[i] + ndim : wanted[i]));
  }
  return out;
}

}  // namespace flat
}  // namespace cotan
