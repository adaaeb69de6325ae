// PyTorch's names of devices, and cotan's.
#pragma once
#include <string>
#include <string_view>

namespace cotan::torch::detail {

/// "cpu" is "native"; an empty name is the default device.
std::string device_named(std::string_view torch_name);
/// What PyTorch would call it.
std::string torch_name(const std::string& device);
/// Whether the device computes with 64-bit numbers.
bool has_doubles(const std::string& device);

}  // namespace cotan::torch::detail
