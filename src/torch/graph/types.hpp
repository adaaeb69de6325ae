// Types of recorded values, each once: equal types are the same pointer.
#pragma once
#include <cotan/array.hpp>
#include <string>

#include "torch/graph/layout.hpp"

namespace cotan::torch::detail {

struct Type {
  DType dtype;
  Shape shape;
  std::string device;  ///< a name of cotan's: "native", "webgpu"
  std::int64_t numel() const;
  int dim() const { return static_cast<int>(shape.size()); }
  std::string str() const { return describe(dtype, shape); }
  Layout contiguous = Layout::contiguous(shape);  ///< of a tensor that is no view
};
using TypePtr = const Type*;

/// The one of these; it lives for ever.
TypePtr intern(DType dtype, const Shape& shape, const std::string& device);
TypePtr type_of(const Array& a);

}  // namespace cotan::torch::detail
