// PyTorch's names of dtypes, and options of tensors that are made.
#pragma once
#include <cotan/dtype.hpp>
#include <optional>
#include <string>

namespace cotan::torch {

using cotan::DType;
using cotan::Shape;

/// @name PyTorch's names of dtypes
/// @{
inline constexpr DType float16 = f16;         ///< f16
inline constexpr DType half = f16;            ///< f16
inline constexpr DType bfloat16 = bf16;       ///< bf16
inline constexpr DType float32 = f32;         ///< f32
inline constexpr DType float64 = f64;         ///< f64
inline constexpr DType uint8 = u8;            ///< u8
inline constexpr DType int8 = i8;             ///< i8
inline constexpr DType int16 = i16;           ///< i16
inline constexpr DType int32 = i32;           ///< i32
inline constexpr DType int64 = i64;           ///< i64
inline constexpr DType kHalf = f16;           ///< libtorch's float16
inline constexpr DType kBFloat16 = bf16;      ///< libtorch's bfloat16
inline constexpr DType kFloat = f32;          ///< libtorch's float32
inline constexpr DType kDouble = f64;         ///< libtorch's float64
inline constexpr DType kInt = i32;            ///< libtorch's int32
inline constexpr DType kLong = i64;           ///< libtorch's int64
inline constexpr DType kBool = DType::bool_;  ///< libtorch's bool
/// @}

class Generator;

/// Of tensors that are made: {.dtype = torch::float64, .requires_grad = true}.
struct TensorOptions {
  std::optional<DType> dtype = {};       ///< by default what the function says, mostly float32
  std::string device = "";               ///< "cpu", "webgpu"; by default default_device()
  bool requires_grad = false;            ///< collects gradients
  const Generator* generator = nullptr;  ///< of random numbers; by default default_generator()
};

}  // namespace cotan::torch
