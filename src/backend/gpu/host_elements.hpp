// Elements between host and device, where all of them have four bytes.
#pragma once
#include <cotan/dtype.hpp>
#include <cstddef>
#include <cstdint>

namespace cotan::gpu {

/// Whether the device has elements of this type as the host has them.
bool is_as_on_host(DType dtype);
/// n elements of the host's as the device has them, and the other way round. For types that a device supports.
void widen(DType dtype, const std::byte* from, std::byte* to, std::int64_t n);
void narrow(DType dtype, const std::byte* from, std::byte* to, std::int64_t n);

}  // namespace cotan::gpu
