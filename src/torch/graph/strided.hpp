// Elements by sizes, strides and an offset, as as_strided() has them.
#pragma once
#include "torch/graph/tensor_impl.hpp"

namespace cotan::torch::detail {

/// A view by strides among the row-major elements of x; `layout` is what the strides are in the storage.
Tensor strided_view(const Tensor& x, Layout layout, const Shape& strides, std::int64_t offset);
/// Row-major elements of `whole` with `contents` at the places of a layout.
Value strided_write(const Value& whole, const Value& contents, const Layout& layout);

}  // namespace cotan::torch::detail
