// PyTorch's rule of dtypes: tensors with axes come before 0-d ones, those before C++ numbers, within bool, integer,
// float.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <span>

namespace cotan::torch::detail {

/// What an operation on these computes in.
DType result_type(std::span<const Operand* const> operands);
DType result_type(const Operand& a, const Operand& b);
DType result_type(const std::vector<Tensor>& tensors);
/// The same where integers and bools become f32: quotients, square roots.
DType floating_type(DType t);

}  // namespace cotan::torch::detail
