// The .npy format in memory, for files and for the members of .npz archives.
#pragma once
#include <cotan/array.hpp>

#include "io/file.hpp"

namespace cotan::io {

/// True where `bytes` starts as a .npy file does.
bool has_npy_magic(std::span<const std::byte> bytes);
/// `where` opens every message: "[load_npz] 'x.npz', member 'a'".
Array decode_npy(std::span<const std::byte> bytes, const std::string& where);
/// An array that is looked at where it lies.
struct MappedNpy {
  DType dtype;
  Shape shape;
  std::span<const std::byte> elements;  ///< row-major
};
MappedNpy map_npy(std::span<const std::byte> bytes, const std::string& where);
/// Magic, version and header: what comes before the elements.
std::string npy_header(DType dtype, const Shape& shape);
/// Header and elements of a concrete array, row-major; `op` is for messages.
Bytes encode_npy(const Array& a, std::string_view op);

}  // namespace cotan::io
