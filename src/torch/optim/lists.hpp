// Operations on lists of tensors, whose results are written back into them.
#pragma once
#include "torch/graph/op.hpp"
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::detail {

/// Writes results one after the other, and leaves `result` behind the last of them.
inline void write_all(const std::vector<Tensor>& targets, Value& result, std::string_view op) {
  for (const Tensor& t : targets) {
    write(t, result, op);
    ++result.index;
  }
}

}  // namespace cotan::torch::detail
