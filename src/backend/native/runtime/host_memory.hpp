// Host memory for arrays: freed blocks are kept for the next array of about that size, since fresh pages from
// the system cost more than most kernels that fill them.
#pragma once
#include <cstddef>

namespace cotan::native {

/// Aligned to 64 bytes; nullptr where there is none left, or never was so much.
std::byte* allocate_host(std::size_t bytes);
void release_host(std::byte* data, std::size_t bytes);
/// Of this machine, in bytes.
std::size_t physical_memory();
/// Gives kept blocks back to the system.
void trim_host();

}  // namespace cotan::native
