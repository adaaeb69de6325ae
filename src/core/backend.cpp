#include "core/backend.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan {

namespace {

struct Registered {
  int preference;
  Backend& (*get)();
};
struct Registry {
  std::mutex mutex;
  std::vector<Registered> devices;  ///< the most preferred first
};
/// Made on first use: the first device may register itself before other static objects of the library exist.
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

std::atomic<Backend*> chosen_backend{nullptr};

}  // namespace

RegisterBackend::RegisterBackend(int preference, Backend& (*get)()) {
  Registry& r = registry();
  const std::scoped_lock lock(r.mutex);
  const auto at = std::find_if(r.devices.begin(), r.devices.end(),
                               [&](const Registered& other) { return other.preference < preference; });
  r.devices.insert(at, {preference, get});
}

std::vector<Backend*> all_backends() {
  std::vector<Registered> devices;
  {
    Registry& r = registry();
    const std::scoped_lock lock(r.mutex);
    devices = r.devices;
  }
  std::vector<Backend*> out;
  for (const Registered& d : devices) out.push_back(&d.get());
  return out;
}

Backend& host_backend() {
  static Backend& host = [&]() -> Backend& {
    for (Backend* b : all_backends())
      if (b->evaluates_rules()) return *b;
    raise<InternalError>("[device] no device evaluates primitives by their rules; this is a bug in cotan.");
  }();
  return host;
}

Backend& find_backend(std::string_view name) {
  std::vector<std::string_view> names;
  for (Backend* b : all_backends()) {
    if (b->name() == name) {
      b->require();
      return *b;
    }
    names.push_back(b->name());
  }
  raise<DeviceError>("[device] there is no device '{}'; this build has: {}.", name, fmt::join(names, ", "));
}

Backend& default_backend() {
  if (Backend* b = chosen_backend.load(std::memory_order_relaxed)) return *b;
  const auto wanted = environment::text("COTAN_DEVICE");
  Backend& b = wanted ? find_backend(*wanted) : *all_backends().front();
  chosen_backend = &b;
  return b;
}
void set_default_backend(std::string_view name) { chosen_backend = &find_backend(name); }

Backend& common_backend(const Primitive& p, std::span<const Array> args) {
  Backend* found = nullptr;
  for (const Array& a : args) {
    if (a.ndim() == 0) continue;
    Backend& b = concrete(a)->buffer->backend();
    if (found && found != &b)
      raise<DeviceError>("[{}] operands live on '{}' and '{}'; move one with device_put.", p.name, found->name(),
                         b.name());
    found = &b;
  }
  if (found) return *found;
  return args.empty() ? default_backend() : concrete(args[0])->buffer->backend();
}

Array copy_to_backend(const Array& a, Backend& backend) {
  a.aval();
  const auto* c = concrete(a);
  if (!c)
    raise<ConcretizationError>(
        "[device_put] only arrays with values can be moved between devices; move the argument before the "
        "transform.");
  if (&c->buffer->backend() == &backend) return a;
  auto [out, buffer] = allocate(backend, a.aval());
  if (c->buffer->bytes()) std::memcpy(buffer->data(), c->buffer->data(), c->buffer->bytes());
  return out;
}

}  // namespace cotan
