#include "backend/gpu/elements.hpp"

#include "backend/gpu/dialect.hpp"
#include "core/error.hpp"

namespace cotan::gpu {

bool is_supported(DType dtype) { return itemsize(dtype) <= element_bytes; }

void raise_unsupported(const Dialect& dialect, DType dtype, std::string_view op) {
  raise<TypeError>(
      "[{}] the device '{}' has no {}: {} has no 64-bit types; convert with .astype({}), or use the device "
      "'native'.",
      op, dialect.device, dtype, dialect.language,
      dtype == DType::f64   ? "f32"
      : dtype == DType::u64 ? "u32"
                            : "i32");
}

const char* type_name(DType dtype) {
  if (dtype == DType::bool_) return "bool";
  if (is_floating(dtype)) return "f32";
  return is_signed_integer(dtype) ? "i32" : "u32";
}

}  // namespace cotan::gpu
