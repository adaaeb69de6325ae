// Devices: where arrays live and programs run.
#pragma once
#include <cotan/array.hpp>
#include <string_view>
#include <vector>

namespace cotan {

/// The devices of this build.
std::vector<Device> devices();
/// The device that new arrays are made on.
Device default_device();
void default_device(std::string_view name);
/// A copy of `x` on another device, or `x` itself if it is there already.
Array device_put(const ArrayLike& x, std::string_view device);
/// Waits until `x` has been computed, and returns it.
Array block_until_ready(const Array& x);

}  // namespace cotan
