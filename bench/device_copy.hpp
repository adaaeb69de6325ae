// Copies on the device 'webgpu', what its memory can do: from buffer to buffer without any code of ours, and by a
// shader.
#pragma once
#include <cstddef>
#include <functional>

namespace bench {

/// Copies so many bytes and waits; raises Missing in builds without the device.
std::function<void()> device_copy(std::size_t bytes);
/// As many bytes through a shader: every element is read, and written with its sign changed.
std::function<void()> copy_by_shader(std::size_t bytes);

}  // namespace bench
