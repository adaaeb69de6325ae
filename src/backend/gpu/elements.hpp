// Elements of arrays on a GPU, and the types of their values in shaders.
#pragma once
#include <cotan/dtype.hpp>
#include <cstdint>
#include <string_view>

namespace cotan::gpu {

class Dialect;

/// All elements have four bytes: threads could not write narrower ones side by side everywhere. Halves are f32 that
/// are rounded to half precision, narrow integers and bool are words.
inline constexpr std::uint64_t element_bytes = 4;

/// Whether a device can hold such elements: those of 64 bits it cannot.
bool is_supported(DType dtype);
[[noreturn]] void raise_unsupported(const Dialect& dialect, DType dtype, std::string_view op);

/// The type of a value in a shader, one of f32, i32, u32 and bool: narrow integers are wide ones that are wrapped,
/// indices are i32.
const char* type_name(DType dtype);

}  // namespace cotan::gpu
