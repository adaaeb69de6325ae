// The safetensors format: eight bytes with the length of a header, the header as JSON, the elements without gaps.
#pragma once
#include <cotan/dtype.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cotan::io {

struct StoredTensor {
  std::string dtype_name;
  std::optional<DType> dtype;  ///< nothing where cotan has no such dtype
  Shape shape;
  std::uint64_t begin = 0, end = 0;  ///< in the file
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
};

/// Reads and checks the header of a whole file: every byte behind it belongs to exactly one tensor, and each tensor has
/// as many as its shape says. Raises IoError("{where}…") that names the tensor.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> file, const std::string& where);

/// The name that the format has for it; empty of c128, which it lacks.
std::string_view safetensors_name(DType dtype);
/// Where a dtype stands in a file: wide ones first, so that all elements are aligned.
int safetensors_order(DType dtype);

}  // namespace cotan::io
