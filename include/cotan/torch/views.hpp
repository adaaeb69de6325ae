// Views: tensors that share the elements of another one.
#pragma once
#include <cotan/torch/tensor.hpp>

namespace cotan::torch {

Tensor view(const Input& x, const Shape& size);                ///< other sizes, where strides allow it; one may be -1
Tensor reshape(const Input& x, const Shape& size);             ///< view, or a copy where that is not possible
Tensor permute(const Input& x, const std::vector<int>& dims);  ///< axes in another order
Tensor transpose(const Input& x, int dim0, int dim1);          ///< two axes exchanged
Tensor select(const Input& x, int dim, std::int64_t index);    ///< one index of an axis, which goes
/// Indices start, start + step … before end of an axis, cut to its size as in Python.
Tensor slice(const Input& x, int dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
Tensor narrow(const Input& x, int dim, std::int64_t start, std::int64_t length);  ///< `length` indices of an axis
Tensor expand(const Input& x, const Shape& size);                   ///< axes of size 1 repeated; -1 keeps a size
Tensor unsqueeze(const Input& x, int dim);                          ///< a new axis of size 1
Tensor squeeze(const Input& x, const std::vector<int>& dims = {});  ///< without axes of size 1, all or these

}  // namespace cotan::torch
