// What primitives with a nested program (jit, custom rules, checkpoint, later loops) share.
#pragma once
#include "transforms/traces.hpp"

namespace cotan {

extern const Primitive jit_p, custom_jvp_call_p, custom_vjp_call_p, custom_lin_p, checkpoint_p, name_p;

/// Raises InternalError unless the operands fit the program's inputs.
void check_call_operands(std::string_view op, const Jaxpr& jaxpr, std::span<const AbstractValue> operands);
std::vector<bool> defined_mask(std::span<const Array> arrays);
Arrays concat(std::span<const Array> a, std::span<const Array> b);
/// Outputs of a program made by jvp_jaxpr: primals, then the nonzero tangents.
JvpResult split_jvp_outputs(const Arrays& outs, const std::vector<bool>& nonzero);
/// The residual operands of a split program; drops the residual outputs from `known_outs`.
Arrays residuals_of(const SplitJaxpr& split, const Arrays& known_args, Arrays& known_outs);
Arrays merge_outputs(const std::vector<bool>& output_unknown, const Arrays& known, const Arrays& unknown);
/// Cotangents per operand from those of the linear operands that are not zero.
Arrays scatter_cotangents(std::span<const LinearInput> inputs, const std::vector<bool>& nonzero, const Arrays& cts);

}  // namespace cotan
