// Devices as users see them: by name.
#include <cotan/device.hpp>
#include <ostream>

#include "core/backend.hpp"
#include "core/recorder.hpp"

namespace cotan {

std::vector<Device> devices() {
  std::vector<Device> out;
  for (Backend* b : all_backends()) out.emplace_back(std::string(b->name()));
  return out;
}
Device default_device() { return Device(std::string(default_backend().name())); }
void default_device(std::string_view name, const std::source_location& where) {
  const detail::CallSite site(where);
  set_default_backend(name);
}
Array device_put(const ArrayLike& x, std::string_view device) { return copy_to_backend(x, find_backend(device)); }
Array block_until_ready(const Array& x) {
  x.aval();
  if (const auto* c = concrete(x)) {
    const recorder::Span span("wait", "block_until_ready");
    c->buffer->backend().synchronize();
  }
  return x;
}
bool is_ready(const Array& x) {
  x.aval();
  const auto* c = concrete(x);
  DeviceMemory* memory = c ? c->buffer->device_memory() : nullptr;
  return !memory || memory->is_ready();
}
void copy_to_host_async(const Array& x) {
  x.aval();
  const auto* c = concrete(x);
  if (!c)
    raise<ConcretizationError>(
        "[copy_to_host_async] the array has no elements under a transform; copy what the transformed function "
        "returns.");
  if (DeviceMemory* memory = c->buffer->device_memory()) memory->start_copy_to_host();
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.name(); }

}  // namespace cotan
