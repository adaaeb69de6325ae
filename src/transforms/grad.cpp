// What typed grad, vjp, linearize, jacobians, make_jaxpr and eval_shape call.
#include <atomic>
#include <cotan/numpy.hpp>
#include <cotan/transforms.hpp>
#include <cotan/transforms/fwd_and_bwd.hpp>

#include "core/effects.hpp"
#include "ops/ops.hpp"
#include "transforms/traces.hpp"

namespace cotan {

std::vector<int> MappedAxes::expand(const std::vector<std::size_t>& counts, std::string_view what) const {
  std::vector<int> out;
  if (is_list_ && list_.size() != counts.size())
    raise<TreeError>("[vmap] {} has {} entries for {} {}; give one per {}, or one for all.", what, list_.size(),
                     counts.size(), what == "in_axes" ? "arguments" : "outputs",
                     what == "in_axes" ? "argument" : "output");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const MappedAxes& part = is_list_ ? list_[i] : *this;
    if (!part.is_list_) {
      out.insert(out.end(), counts[i], part.axis_);
      continue;
    }
    if (part.list_.size() != counts[i])
      raise<TreeError>(
          "[vmap] entry {} of {} lists {} axes for {} leaves; give one per leaf, in order, or one for all.", i, what,
          part.list_.size(), counts[i]);
    for (const MappedAxes& leaf : part.list_) {
      if (leaf.is_list_) raise<TreeError>("[vmap] {} is nested too deeply; list one axis per leaf, in order.", what);
      out.push_back(leaf.axis_);
    }
  }
  return out;
}

void check_defined(std::span<const Array> args, std::string_view transform, const flat::Paths& paths) {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!args[i].defined())
      raise<ValueError>("[{}] {} is an empty Array; assign it before the call.", transform, paths(i));
}
void check_outputs_defined(std::span<const Array> outputs, std::string_view transform) {
  for (const Array& out : outputs)
    if (!out.defined()) raise<ValueError>("[{}] the function returned an empty Array; assign every output.", transform);
}

Array shape_dtype(const Shape& shape, DType dtype, const std::source_location& where) {
  const detail::CallSite site(where);
  checked_bytes({dtype, shape, false}, "shape_dtype");
  return abstract_array({dtype, shape, false});
}
Array stop_gradient(const ArrayLike& x) { return bind1(ops::stop_gradient_p, {x.array()}); }

namespace flat {

namespace {

/// Checks cotangents against outputs and drops those of outputs without a tangent.
Arrays checked_cotangents(std::span<const Array> cts, const Types& outputs, const std::vector<bool>& nonzero,
                          std::string_view transform, const Paths& paths) {
  Arrays used;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!cts[i].defined())
      raise<ValueError>("[{}] the cotangent of {} is an empty Array; assign it before the call.", transform, paths(i));
    if (cts[i].shape() != outputs[i].shape)
      raise<ShapeError>("[{}] the cotangent of {} has shape {} but the output has shape {}; they must be equal.",
                        transform, paths(i), describe(cts[i].shape()), describe(outputs[i].shape));
    if (is_inexact(outputs[i].dtype) && cts[i].dtype() != outputs[i].dtype && !cts[i].weak_type())
      raise<TypeError>("[{}] the cotangent of {} is {} but the output is {}; cast it with astype.", transform, paths(i),
                       cts[i].dtype(), outputs[i].dtype);
    if (nonzero[i]) used.push_back(ops::cast(cts[i], outputs[i].dtype));
  }
  return used;
}

/// Cotangents of the differentiated inputs, zeros where nothing arrives.
Arrays pull_back(const ClosedJaxpr& linear, const Types& inputs, std::span<const Array> cts) {
  Arrays args = linear.consts;
  args.resize(linear.jaxpr->inputs.size());
  Arrays out = backward_pass(*linear.jaxpr, args, cts);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!out[i].defined()) out[i] = ops::zeros_of(inputs[i]);
  return out;
}

void check_differentiable(std::span<const Array> args, std::string_view transform, const Paths& paths,
                          bool holomorphic) {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (holomorphic && !is_complex(args[i].dtype()))
      raise<TypeError>(
          "[{}] {} is {}, and holomorphic differentiation is with respect to complex inputs; cast it with "
          "astype(c64), or leave out .holomorphic.",
          transform, paths(i), args[i].aval());
    else if (!is_inexact(args[i].dtype()))
      raise<TypeError>(
          "[{}] {} is {}, and only floating-point inputs can be differentiated; cast it with astype(f32), or "
          "differentiate another argument.",
          transform, paths(i), args[i].aval());
}

/// What a function returned fits the kind of derivative that was asked for.
void check_holomorphic(std::string_view what, const AbstractValue& type, std::string_view transform, bool holomorphic) {
  if (holomorphic && !is_complex(type.dtype))
    raise<TypeError>("[{}] {} is {}, and a holomorphic function returns complex numbers; leave out .holomorphic.",
                     transform, what, type);
  if (!holomorphic && is_complex(type.dtype))
    raise<TypeError>(
        "[{}] {} is {}, and a gradient is of a real number; pass {{.holomorphic = true}} where the function "
        "is, else use vjp, or return np::real, np::imag or np::abs.",
        transform, what, type);
}

/// One-hot tangents for every element of an array: shape (size, shape…).
Array basis(const AbstractValue& aval) {
  const std::int64_t n = aval.size();
  const DType index = n > INT32_MAX ? DType::i64 : DType::i32;  // devices without 64-bit types have gradients too
  const Array rows = ops::iota(index, {n, n}, 0), columns = ops::iota(index, {n, n}, 1);
  Shape shape = aval.shape;
  shape.insert(shape.begin(), n);
  return ops::reshape(ops::cast(bind1(ops::eq_p, {rows, columns}), aval.dtype), shape);
}

}  // namespace

ForwardPass forward_pass(const FlatFn& f, std::span<const Array> primals, std::string_view transform,
                         const Paths& paths, const std::function<std::size_t()>& differentiated) {
  static std::atomic<std::int64_t> count{0};
  check_defined(primals, transform, paths);
  Linearized lin = linearize_flat(with_names(f, paths), primals, transform);
  Types outputs = types_of(lin.outputs);
  if (differentiated) outputs.resize(differentiated());
  ForwardPass out{std::move(lin.outputs), std::move(lin.linear.consts), {++count, {}}};
  out.backward.apply = [linear = lin.linear.jaxpr, nonzero = lin.nonzero, inputs = types_of(primals), outputs](
                           std::span<const Array> residuals, std::span<const Array> cts, const Paths& output_paths) {
    Arrays used = checked_cotangents(cts, outputs, nonzero, "vjp", output_paths);
    used.resize(linear->outputs.size());  // auxiliary outputs get none
    return pull_back({linear, Arrays(residuals.begin(), residuals.end())}, inputs, used);
  };
  return out;
}

std::pair<Arrays, Pullback> vjp(const FlatFn& f, std::span<const Array> primals, std::string_view transform,
                                const Paths& paths) {
  ForwardPass pass = forward_pass(f, primals, transform, paths);
  Pullback pullback{[residuals = std::move(pass.residuals), backward = std::move(pass.backward)](
                        std::span<const Array> cts, const Paths& output_paths) {
    return backward.apply(residuals, cts, output_paths);
  }};
  return {std::move(pass.outputs), std::move(pullback)};
}

std::pair<Arrays, Pushforward> linearize(const FlatFn& f, std::span<const Array> primals, const Paths& paths) {
  check_defined(primals, "linearize", paths);
  Linearized lin = linearize_flat(with_names(f, paths), primals, "linearize");
  Pushforward push{[linear = lin.linear, nonzero = lin.nonzero, inputs = types_of(primals),
                    outputs = types_of(lin.outputs)](std::span<const Array> tangents, const Paths& tangent_paths) {
    Arrays args = linear.consts;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      check_tangent(tangents[i], inputs[i], "linearize", i, tangent_paths);
      args.push_back(ops::cast(tangents[i], inputs[i].dtype));
    }
    const Arrays results = eval_jaxpr(*linear.jaxpr, args);
    Arrays out;
    for (std::size_t i = 0, k = 0; i < outputs.size(); ++i)
      out.push_back(nonzero[i] ? results[k++] : ops::zeros_of(outputs[i]));
    return out;
  }};
  return {std::move(lin.outputs), std::move(push)};
}

ValueAndGrad value_and_grad(const FlatFn& f, std::span<const Array> wrt, std::string_view transform, const Paths& paths,
                            bool holomorphic) {
  check_defined(wrt, transform, paths);
  check_differentiable(wrt, transform, paths, holomorphic);
  Linearized lin = linearize_flat(with_names(f, paths), wrt, transform);
  const Array& value = lin.outputs[0];
  if (value.ndim() != 0)
    raise<ShapeError>(
        "[{}] the function returned {}, and a gradient is of one scalar; reduce it with np::sum or np::mean, "
        "or use "
        "jacrev or vjp.",
        transform, value.aval());
  check_holomorphic("value", value.aval(), transform, holomorphic);
  if (!is_inexact(value.dtype()))
    raise<TypeError>("[{}] the function returned {}, which has no derivative; return a floating-point scalar.",
                     transform, value.aval());
  // Auxiliary outputs get no cotangent.
  Arrays cts;
  for (std::size_t i = 0; i < lin.nonzero.size(); ++i)
    if (lin.nonzero[i]) cts.push_back(i == 0 ? scalar(value.dtype(), 1) : Array());
  return {lin.outputs, pull_back(lin.linear, types_of(wrt), cts)};
}

Arrays linear_transpose(const FlatFn& f, std::span<const Array> like, std::span<const Array> cotangents,
                        const Paths& paths, const Paths& output_paths) {
  check_defined(like, "linear_transpose", paths);
  const ClosedJaxpr program = trace_to_jaxpr(with_names(f, paths), types_of(like), "linear_transpose");
  const Types outputs = program.jaxpr->output_types();
  if (outputs.size() != cotangents.size())
    raise<TreeError>("[linear_transpose] got {} cotangents for {} outputs; give one per output.", cotangents.size(),
                     outputs.size());
  return pull_back(program, types_of(like),
                   checked_cotangents(cotangents, outputs, std::vector<bool>(outputs.size(), true), "linear_transpose",
                                      output_paths));
}

Arrays jacobian(const FlatFn& f, std::span<const Array> primals, bool forward, const Paths& paths, bool holomorphic) {
  return jacobian_and_aux(f, primals, forward, paths, holomorphic, {}).blocks;
}

JacobianAndAux jacobian_and_aux(const FlatFn& f, std::span<const Array> primals, bool forward, const Paths& paths,
                                bool holomorphic, const std::function<std::size_t()>& differentiated) {
  const std::string_view transform = forward ? "jacfwd" : "jacrev";
  check_defined(primals, transform, paths);
  check_differentiable(primals, transform, paths, holomorphic);
  if (forward && !holomorphic)
    for (std::size_t i = 0; i < primals.size(); ++i)
      if (is_complex(primals[i].dtype()))
        raise<TypeError>(
            "[jacfwd] {} is {}, and a derivative with respect to complex inputs is one number only of "
            "holomorphic functions; pass {{.holomorphic = true}}, or use jvp.",
            paths(i), primals[i].aval());
  const Linearized lin = linearize_flat(with_names(f, paths), primals, transform);
  const Types inputs = types_of(primals);
  Types outputs = types_of(lin.outputs);
  if (differentiated) outputs.resize(differentiated());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (!forward || holomorphic) check_holomorphic(fmt::format("output {}", o), outputs[o], transform, holomorphic);
    if (!is_inexact(outputs[o].dtype))
      raise<TypeError>("[{}] output {} is {}, which has no derivative; return floating-point arrays.", transform, o,
                       outputs[o]);
  }
  // One row of blocks per output, one column per input; missing blocks are zero.
  std::vector<Arrays> blocks(outputs.size(), Arrays(inputs.size()));
  const auto put = [&](std::size_t o, std::size_t i, const Array& value) {
    Shape shape = outputs[o].shape;
    shape.insert(shape.end(), inputs[i].shape.begin(), inputs[i].shape.end());
    blocks[o][i] = ops::reshape(value, shape);
  };
  if (forward) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Arrays args = lin.linear.consts;
      std::vector<int> dims(args.size(), not_batched);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        args.push_back(k == i ? basis(inputs[k]) : ops::zeros_of(inputs[k]));
        dims.push_back(k == i ? 0 : not_batched);
      }
      const BatchResult r = batch_flat([&](std::span<const Array> in) { return eval_jaxpr(*lin.linear.jaxpr, in); },
                                       args, dims, inputs[i].size(), transform);
      for (std::size_t o = 0, k = 0; o < outputs.size(); ++o) {
        if (!lin.nonzero[o]) continue;
        const Array front = ops::batch_at_front(r.values[k], r.dims[k], inputs[i].size());
        put(o, i, ops::move_axis(front, 0, front.ndim() - 1));
        ++k;
      }
    }
  } else {
    for (std::size_t o = 0, k = 0; o < outputs.size(); ++o) {
      if (!lin.nonzero[o]) continue;
      Arrays args = lin.linear.consts;
      std::vector<int> dims(args.size(), not_batched);
      args.push_back(basis(outputs[o]));
      dims.push_back(0);
      std::vector<bool> defined;
      const std::size_t consts = lin.linear.consts.size(), position = k++;
      std::size_t live_outputs = 0;
      for (bool n : lin.nonzero) live_outputs += n;
      const BatchResult r = batch_flat(
          [&](std::span<const Array> in) {
            Arrays operands(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(consts)), cts(live_outputs), results;
            operands.resize(lin.linear.jaxpr->inputs.size());
            cts[position] = in[consts];
            for (const Array& ct : backward_pass(*lin.linear.jaxpr, operands, cts)) {
              defined.push_back(ct.defined());
              if (ct.defined()) results.push_back(ct);
            }
            return results;
          },
          args, dims, outputs[o].size(), transform);
      for (std::size_t i = 0, at = 0; i < inputs.size(); ++i)
        if (defined[i]) {
          put(o, i, ops::batch_at_front(r.values[at], r.dims[at], outputs[o].size()));
          ++at;
        }
    }
  }
  Arrays out;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!blocks[o][i].defined()) {
        Shape shape = outputs[o].shape;
        shape.insert(shape.end(), inputs[i].shape.begin(), inputs[i].shape.end());
        blocks[o][i] = ops::zeros_of({outputs[o].dtype, shape, false});
      }
      out.push_back(blocks[o][i]);
    }
  return {std::move(out), lin.outputs};
}

Program make_jaxpr(const FlatFn& f, std::span<const Array> args, const std::string& name, const Paths& paths) {
  check_defined(args, "make_jaxpr", paths);
  effects::Watched watched(f);
  ClosedJaxpr closed = trace_to_jaxpr(with_names(watched, paths), types_of(args), "make_jaxpr", name);
  if (watched.found()) {
    const auto threaded = [&](std::span<const Array> in) {
      const effects::Threaded with_token(f);
      Arrays out = with_token(effects::with_token(effects::first_token(), in));
      std::rotate(out.begin(), out.begin() + 1, out.end());
      return out;
    };
    closed = trace_to_jaxpr(with_names(threaded, paths), types_of(args), "make_jaxpr", name);
  }
  return {closed.jaxpr, closed.consts};
}

Arrays eval_shape(const FlatFn& f, std::span<const Array> args, const Paths& paths) {
  check_defined(args, "eval_shape", paths);
  effects::Watched watched(f);
  const ClosedJaxpr closed = trace_to_jaxpr(with_names(watched, paths), types_of(args), "eval_shape");
  Arrays out;
  for (const AbstractValue& t : closed.jaxpr->output_types()) out.push_back(abstract_array(t));
  return out;
}

}  // namespace flat
}  // namespace cotan
