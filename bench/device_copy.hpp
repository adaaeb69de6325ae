// A copy from one buffer of the device 'webgpu' to another, without any code of ours on the device: what its memory can do.
#pragma once
#include <cstddef>
#include <functional>

namespace bench {

/// Copies so many bytes and waits; raises Missing in builds without the device.
std::function<void()> device_copy(std::size_t bytes);

}  // namespace bench
