// Axes in another size: each result is a weighted sum of elements, so an axis is multiplied with a matrix.
#pragma once
#include "torch/nn/rules.hpp"

namespace cotan::torch::nn::functional {

/// An axis multiplied with a matrix [out, in].
Array resampled(const Array& x, int axis, const Array& weights);
/// Weights of means over `out` windows that cover an axis: adaptive pooling.
Array averages(std::int64_t in, std::int64_t out, DType dtype);
/// The last axes in these sizes, by means.
Tensor adaptive_average(const Tensor& x, const Ints& size);
/// `size` with the sizes of x where it is -1.
Ints kept(const Tensor& x, Ints size);

}  // namespace cotan::torch::nn::functional
