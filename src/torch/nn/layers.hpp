// What constructors of modules share.
#pragma once
#include <fmt/format.h>

#include <cotan/torch/nn/module.hpp>

namespace cotan::torch::nn::detail {

/// A parameter of zeros.
Parameter new_parameter(const Shape& size, std::optional<DType> dtype, const std::string& device);
/// A parameter drawn between -bound and bound.
Parameter uniform_parameter(const Shape& size, double bound, std::optional<DType> dtype, const std::string& device);
/// One more, in place.
void count_batch(const Tensor& batches);

}  // namespace cotan::torch::nn::detail
