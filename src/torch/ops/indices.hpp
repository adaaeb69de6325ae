// What operations with indices share.
#pragma once
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/torch/tensor_index.hpp>

#include "torch/graph/op.hpp"

namespace cotan::torch::detail {

/// Raises where indices are no integers.
void check_index(const Tensor& index, std::string_view op);
/// A 0-d array as one of one element.
Array as_vector(const Array& a);
/// The places (i₀, …, index[i₀, …], …) of the elements of an index along an axis.
std::vector<Index> places(const Array& index, int axis);

/// What x(indices) = y writes to, where x(indices) is a copy. It keeps nothing alive.
struct IndexTarget {
  std::weak_ptr<TensorImpl> tensor;
  std::vector<TensorIndex> indices;
  std::vector<std::weak_ptr<TensorImpl>> tensors;  ///< those among the indices
};

}  // namespace cotan::torch::detail
