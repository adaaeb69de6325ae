#include "transforms/calls.hpp"

#include <algorithm>

#include "core/effects.hpp"
#include "ops/ops.hpp"

namespace cotan {

Types call_type(const Primitive& self, std::span<const AbstractValue> operands, const Params& params) {
  const Jaxpr& jaxpr = *params.jaxpr("jaxpr");
  if (operands.size() != jaxpr.inputs.size())
    raise<InternalError>("[{}] got {} operands for a program of {} inputs; this is a bug in cotan.", self.name,
                         operands.size(), jaxpr.inputs.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const AbstractValue& want = jaxpr.type(jaxpr.inputs[i]);
    if (want.dtype != operands[i].dtype || want.shape != operands[i].shape)
      raise<InternalError>("[{}] operand {} is {} but the program takes {}; this is a bug in cotan.", self.name, i,
                           operands[i], want);
  }
  return jaxpr.output_types();
}

Arrays call_eval(const Primitive&, std::span<const Array> args, const Params& params) {
  return eval_jaxpr(*params.jaxpr("jaxpr"), args);
}

JvpResult call_jvp(const Primitive& self, std::span<const Array> primals, std::span<const Array> tangents,
                   const Params& params) {
  const JvpJaxpr j = jvp_jaxpr(*params.jaxpr("jaxpr"), defined_mask(tangents));
  Arrays args = concat(j.jaxpr.consts, primals);
  for (const Array& t : tangents)
    if (t.defined()) args.push_back(t);
  const Arrays outs = bind(self, args, params.with("jaxpr", j.jaxpr.jaxpr));
  // Primals, then the tangents that are not zero.
  JvpResult r;
  std::size_t k = j.nonzero_out.size();
  r.primals.assign(outs.begin(), outs.begin() + static_cast<std::ptrdiff_t>(k));
  for (bool nonzero : j.nonzero_out) r.tangents.push_back(nonzero ? outs[k++] : Array());
  return r;
}

Arrays transpose_of_call(const Primitive&, std::span<const Array> cts, std::span<const LinearInput> in,
                         const Params& params) {
  Arrays args, out(in.size());
  for (const LinearInput& i : in) args.push_back(i.linear ? Array() : i.value);
  const Arrays results = backward_pass(*params.jaxpr("jaxpr"), args, cts);
  for (std::size_t i = 0, k = 0; i < in.size(); ++i)
    if (in[i].linear) out[i] = results[k++];
  return out;
}

FrontOperands batch_in_front(std::span<const Array> args, std::span<const int> dims) {
  FrontOperands out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    out.batched.push_back(dims[i] != not_batched);
    out.values.push_back(out.batched[i] ? ops::move_axis(args[i], dims[i], 0) : args[i]);
  }
  return out;
}
std::vector<int> dims_of(const std::vector<bool>& batched) {
  std::vector<int> dims;
  for (bool b : batched) dims.push_back(b ? 0 : not_batched);
  return dims;
}

BatchResult call_batch(const Primitive& self, std::span<const Array> args, std::span<const int> dims, std::int64_t size,
                       const Params& params) {
  const FrontOperands front = batch_in_front(args, dims);
  const BatchedJaxpr j = batch_jaxpr(*params.jaxpr("jaxpr"), front.batched, size);
  return {bind(self, concat(j.jaxpr.consts, front.values), params.with("jaxpr", j.jaxpr.jaxpr)),
          dims_of(j.batched_out)};
}

Arrays narrowed(std::span<const Array> args, const std::vector<bool>& wide) {
  Arrays out(args.begin(), args.end());
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i])
      out[i] = bind1(ops::convert_element_type_p, {args[i]}, {{"new_dtype", DType::f32}, {"weak_type", true}});
  return out;
}
Arrays widened(std::span<const Array> args, const std::vector<bool>& wide) {
  Arrays out(args.begin(), args.end());
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i]) out[i] = ops::cast(args[i], DType::f64);
  return out;
}
Types widened(Types types, const std::vector<bool>& wide) {
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i]) types[i] = {DType::f64, types[i].shape, false};
  return types;
}
bool add_wanted(std::vector<bool>& wide, const std::vector<bool>& wanted) {
  bool added = false;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    added |= wanted[i] && !wide[i];
    wide[i] = wide[i] || wanted[i];
  }
  return added;
}
std::vector<bool> numbers_that_meet_f64(const FlatFn& f, std::span<const Array> args, std::string_view transform) {
  const auto is_number = [](const Array& a) { return a.weak_type() && a.dtype() == DType::f32; };
  if (std::none_of(args.begin(), args.end(), is_number)) return {};
  effects::Watched watched(f);
  std::vector<bool> wide = trace_call(watched, types_of(args), transform).wide;
  if (std::find(wide.begin(), wide.end(), true) == wide.end()) return {};
  return wide;
}
CallProgram trace_call(const FlatFn& f, const Types& inputs, std::string_view transform, std::string name) {
  CallProgram out;
  out.wide.assign(inputs.size(), false);
  std::vector<bool> wanted;
  do {
    out.closed = trace_to_jaxpr([&](std::span<const Array> in) { return f(narrowed(in, out.wide)); },
                                widened(inputs, out.wide), transform, name, &wanted);
  } while (add_wanted(out.wide, wanted));
  return out;
}

std::vector<bool> defined_mask(std::span<const Array> arrays) {
  std::vector<bool> out;
  for (const Array& a : arrays) out.push_back(a.defined());
  return out;
}

Arrays concat(std::span<const Array> a, std::span<const Array> b) {
  Arrays out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

KnownOperands split_known(const PartialEvalTrace& trace, std::span<const Array> args) {
  KnownOperands out;
  for (const Array& a : args) {
    out.unknown.push_back(trace.is_unknown(a));
    (out.unknown.back() ? out.unknown_args : out.known_args).push_back(a);
  }
  return out;
}

Arrays residuals_of(const SplitJaxpr& split, const Arrays& known_args, Arrays& known_outs) {
  std::size_t known = 0;
  for (bool u : split.output_unknown) known += !u;
  Arrays out = split.residuals_from([&](std::size_t k) { return known_args[k]; },
                                    [&](std::size_t k) { return known_outs[known + k]; });
  known_outs.resize(known);
  return out;
}

Arrays merge_outputs(const std::vector<bool>& output_unknown, const Arrays& known, const Arrays& unknown) {
  Arrays out;
  std::size_t k = 0, u = 0;
  for (bool is_unknown : output_unknown) out.push_back(is_unknown ? unknown[u++] : known[k++]);
  return out;
}

Arrays scatter_cotangents(std::span<const LinearInput> inputs, const std::vector<bool>& nonzero, const Arrays& cts) {
  Arrays out(inputs.size());
  std::size_t linear = 0, k = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].linear && nonzero[linear++]) out[i] = cts[k++];
  return out;
}

}  // namespace cotan
