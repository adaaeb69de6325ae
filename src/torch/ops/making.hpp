// What functions that make tensors share: where and of which dtype.
#pragma once
#include "torch/graph/devices.hpp"
#include "torch/graph/op.hpp"

namespace cotan::torch::detail {

/// Collects gradients where the options say so.
Tensor finished(const Tensor& t, const TensorOptions& options);
Place place(const TensorOptions& options);
/// The options, and x's dtype and device where they say nothing.
TensorOptions alike(const Tensor& x, TensorOptions options);
/// Of indices and other integers.
DType whole_type_of(const TensorOptions& options);

}  // namespace cotan::torch::detail
