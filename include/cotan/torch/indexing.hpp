// x(0, Slice(1, 3), None, mask): indexing as PyTorch has it.
#pragma once
#include <cotan/torch/inputs.hpp>

namespace cotan::torch {

class TensorIndex;

/// Elements by an index per dimension. Integers, slices, None and Ellipsis give a view; tensors of integers, which
/// broadcast together, and of bools, which count as the indices where they are true, give a copy. An index tensor of
/// bools is read. Numbers in index tensors that are out of range are cut to it.
Tensor index(const Input& x, const std::vector<TensorIndex>& indices);
/// `values`, which broadcast, are written there, or added where accumulate is true; equal indices then all count.
const Tensor& index_put_(const Tensor& x, const std::vector<TensorIndex>& indices, const Operand& values,
                         bool accumulate = false);
/// The same into a copy.
Tensor index_put(const Input& x, const std::vector<TensorIndex>& indices, const Operand& values,
                 bool accumulate = false);

/// Methods of a tensor: these functions of it.
template <class Self>
class IndexingMethods : public detail::Methods<Self, IndexingMethods<Self>> {
 public:
  /// The function of that name, of this tensor.
  /// @{
  Self index(const std::vector<TensorIndex>& indices, std::source_location where = COTAN_HERE) const {
    return torch::index(this->me(where), indices);
  }
  const Self& index_put_(const std::vector<TensorIndex>& indices, const Operand& values,
                         bool accumulate = false) const {
    return torch::index_put_(this->self(), indices, values, accumulate);
  }
  Self index_put(const std::vector<TensorIndex>& indices, const Operand& values, bool accumulate = false) const {
    return torch::index_put(this->me(), indices, values, accumulate);
  }
  Self operator[](const TensorIndex& i) const { return torch::index(this->me(), {i}); }
  Self operator()(const TensorIndex& i) const { return torch::index(this->me(), {i}); }
  Self operator()(const TensorIndex& i, const TensorIndex& j) const { return torch::index(this->me(), {i, j}); }
  Self operator()(const TensorIndex& i, const TensorIndex& j, const TensorIndex& k) const {
    return torch::index(this->me(), {i, j, k});
  }
  Self operator()(const TensorIndex& i, const TensorIndex& j, const TensorIndex& k, const TensorIndex& l) const {
    return torch::index(this->me(), {i, j, k, l});
  }
  /// @}
};

}  // namespace cotan::torch
