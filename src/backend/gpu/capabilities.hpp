// Capabilities: what plans and shaders have to know of a device, as data; and where its memory is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

namespace cotan::gpu {

class Dialect;

/// What offsets of bindings and of vectors are a multiple of, and sizes of memory.
inline constexpr std::uint64_t granule = 256;
inline std::uint64_t whole_granules(std::uint64_t bytes) {
  return bytes ? (bytes + granule - 1) / granule * granule : granule;
}

/// A part of one of the device's blocks of memory.
struct Range {
  int slab = -1;
  std::uint64_t offset = 0, bytes = 0;
};

/// What the adapter offers, and what the device was asked for: all of it.
struct Capabilities {
  const Dialect* dialect = nullptr;  ///< the language of its shaders
  std::string name, vendor, driver;
  bool software = false;
  bool fused_fma = true;
  bool f16 = false, subgroups = false, timestamps = false;
  std::uint32_t storage_buffers = 8, workgroup_bytes = 16384, workgroup_threads = 256, groups = 65535;
  std::uint32_t uniform_alignment = 256;
  std::uint32_t subgroup_size = 0;  ///< 0: there are none, or of several sizes
  std::uint64_t binding_bytes = 128u << 20, buffer_bytes = 256u << 20, uniform_bytes = 65536;
  /// The largest array, and the largest block of memory.
  std::uint64_t block_bytes() const { return std::min(binding_bytes, buffer_bytes) / granule * granule; }
};

}  // namespace cotan::gpu
