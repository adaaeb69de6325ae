#include "transforms/calls.hpp"

namespace cotan {

void check_call_operands(std::string_view op, const Jaxpr& jaxpr, std::span<const AbstractValue> operands) {
  if (operands.size() != jaxpr.inputs.size())
    raise<InternalError>("[{}] got {} operands for a program of {} inputs; this is a bug in cotan.", op, operands.size(),
                         jaxpr.inputs.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const AbstractValue& want = jaxpr.type(jaxpr.inputs[i]);
    if (want.dtype != operands[i].dtype || want.shape != operands[i].shape)
      raise<InternalError>("[{}] operand {} is {} but the program takes {}; this is a bug in cotan.", op, i, operands[i], want);
  }
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

JvpResult split_jvp_outputs(const Arrays& outs, const std::vector<bool>& nonzero) {
  JvpResult r;
  r.primals.assign(outs.begin(), outs.begin() + static_cast<std::ptrdiff_t>(nonzero.size()));
  std::size_t k = nonzero.size();
  for (bool n : nonzero) r.tangents.push_back(n ? outs[k++] : Array());
  return r;
}

Arrays residuals_of(const SplitJaxpr& split, const Arrays& known_args, Arrays& known_outs) {
  std::size_t known = 0;
  for (bool u : split.output_unknown) known += !u;
  Arrays out;
  for (int source : split.residual_source)
    out.push_back(source >= 0 ? known_args[source] : known_outs[known + static_cast<std::size_t>(-1 - source)]);
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
