// Tensors that are made of numbers.
#pragma once
#include <cotan/torch/tensor.hpp>
#include <initializer_list>

namespace cotan::torch {

/// Elements of one value; float32 unless an option says otherwise.
Tensor full(const Shape& size, double value, const TensorOptions& options = {},
            std::source_location where = COTAN_HERE);
/// 0 everywhere.
Tensor zeros(const Shape& size, const TensorOptions& options = {}, std::source_location where = COTAN_HERE);
/// 1 everywhere.
Tensor ones(const Shape& size, const TensorOptions& options = {}, std::source_location where = COTAN_HERE);
/// Normal random numbers of the generator (manual_seed).
Tensor randn(const Shape& size, const TensorOptions& options = {}, std::source_location where = COTAN_HERE);
/// Random numbers in [0, 1).
Tensor rand(const Shape& size, const TensorOptions& options = {}, std::source_location where = COTAN_HERE);
/// The numbers of all draws from here on.
void manual_seed(std::uint64_t seed);

}  // namespace cotan::torch
