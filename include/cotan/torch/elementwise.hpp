// Arithmetic and elementary functions.
#pragma once
#include <cotan/torch/tensor.hpp>

namespace cotan::torch {

/// @name Operators
/// Operands broadcast; dtypes by PyTorch's rule: tensors with axes, then 0-d tensors, then C++ numbers.
/// @{
Tensor operator+(const Operand& a, const Operand& b);  ///< add
Tensor operator-(const Operand& a, const Operand& b);  ///< sub
Tensor operator*(const Operand& a, const Operand& b);  ///< mul
Tensor operator/(const Operand& a, const Operand& b);  ///< div
/// @}

Tensor add(const Operand& a, const Operand& b);  ///< a + b
Tensor sub(const Operand& a, const Operand& b);  ///< a - b
Tensor mul(const Operand& a, const Operand& b);  ///< a b
Tensor div(const Operand& a, const Operand& b);  ///< a / b; of integers float32
Tensor exp(const Input& x);                      ///< eˣ
Tensor relu(const Input& x);                     ///< max(x, 0)
Tensor matmul(const Input& a, const Input& b);   ///< the matrix product
Tensor sum(const Input& x);                      ///< of all elements
Tensor mean(const Input& x);                     ///< of all elements

}  // namespace cotan::torch
