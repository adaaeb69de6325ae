#include "torch/graph/devices.hpp"

#include <cotan/device.hpp>
#include <cotan/error.hpp>

namespace cotan::torch::detail {

std::string device_named(std::string_view torch_name) {
  if (torch_name.empty()) return default_device().name();
  const std::string name(torch_name == "cpu" ? "native" : torch_name);
  std::string known = "cpu";
  for (const Device& d : devices()) {
    if (d.name() == name) return name;
    known += ", " + d.name();
  }
  throw_with_line<DeviceError>("[device] there is no device '" + std::string(torch_name) + "'; there are " + known +
                               ".");
}
std::string torch_name(const std::string& device) { return device == "native" ? "cpu" : device; }
bool has_doubles(const std::string& device) { return device != "webgpu"; }

}  // namespace cotan::torch::detail
