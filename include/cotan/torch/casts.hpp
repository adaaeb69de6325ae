// Other dtypes and devices, and copies.
#pragma once
#include <cotan/torch/inputs.hpp>
#include <string>

namespace cotan::torch {

Tensor to(const Input& x, DType dtype);                ///< of that dtype; the tensor itself where it has it
Tensor to(const Input& x, const std::string& device);  ///< on that device; a tensor with history is not moved
Tensor clone(const Input& x);                          ///< a copy, with history
Tensor contiguous(const Input& x);                     ///< row-major without gaps: the tensor, or a copy

/// Methods of a tensor: these functions of it. Names that C++ has for itself end in an underscore.
template <class Self>
class CastMethods : public detail::Methods<Self, CastMethods<Self>> {
  using Line = std::source_location;

 public:
  /// The function of that name, of this tensor.
  /// @{
  Self to(DType dtype, Line where = COTAN_HERE) const { return torch::to(this->me(where), dtype); }
  Self to(const std::string& device, Line where = COTAN_HERE) const { return torch::to(this->me(where), device); }
  Self to(const Self& other, Line where = COTAN_HERE) const {
    return to(other.dtype(), where).to(other.device(), where);
  }
  Self type_as(const Self& other, Line where = COTAN_HERE) const { return to(other, where); }
  Self clone(Line where = COTAN_HERE) const { return torch::clone(this->me(where)); }
  Self contiguous(Line where = COTAN_HERE) const { return torch::contiguous(this->me(where)); }
  Self cpu(Line where = COTAN_HERE) const { return to("cpu", where); }
#define COTAN_TORCH_CAST(name, dtype) \
  Self name(Line where = COTAN_HERE) const { return to(dtype, where); }
  // clang-format off
  COTAN_TORCH_CAST(float_, f32) COTAN_TORCH_CAST(double_, f64) COTAN_TORCH_CAST(half, f16) COTAN_TORCH_CAST(bfloat16, bf16)
  COTAN_TORCH_CAST(int_, i32) COTAN_TORCH_CAST(long_, i64) COTAN_TORCH_CAST(short_, i16) COTAN_TORCH_CAST(byte, u8)
  COTAN_TORCH_CAST(bool_, DType::bool_)
  // clang-format on
#undef COTAN_TORCH_CAST
  /// @}
};

}  // namespace cotan::torch
