// Backend: what a device must offer. Devices register themselves and are looked up by name; docs/add_a_device.md builds
// one.
#pragma once
#include <cotan/debug.hpp>

#include "core/buffer.hpp"
#include "core/jaxpr.hpp"

namespace cotan {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Memory that host code can address; nullptr where there is none left.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* data, std::size_t bytes) = 0;
  /// For devices with memory of their own, instead of the two above.
  virtual std::unique_ptr<DeviceMemory> allocate_memory(std::size_t, DType) { return nullptr; }
  /// Whether its arrays can have such elements.
  virtual bool holds(DType) const { return true; }
  /// Raises where the device cannot be used on this machine, and says what is missing.
  virtual void require() {}
  /// Returns when everything that was asked for is done.
  virtual void synchronize() {}
  /// Evaluates one primitive on arrays of this device.
  virtual Arrays run(const Primitive& p, std::span<const Array> args, const Params& params) = 0;
  /// Runs a whole program on arrays of this device. Where `donated`, an argument's memory may be reused.
  virtual Arrays run_program(const JaxprPtr& jaxpr, std::span<const Array> args, const std::vector<bool>* donated) = 0;
  /// How it would run a program; counts and listings are the device's, the rest is filled in by the caller.
  virtual void explain(const JaxprPtr& jaxpr, const std::vector<bool>* donated, Explanation& out) = 0;
  virtual void clear_caches() {}
  /// Whether it runs any primitive by its own rule, in memory of the host: what other devices fall back on.
  virtual bool evaluates_rules() const { return false; }
};

/// Makes a device known: a static object in the device's folder. The one with the largest preference is the default,
/// and devices() lists them in that order. `get` makes the back end when it is first called; it must outlive every
/// array, static ones too.
struct RegisterBackend {
  RegisterBackend(int preference, Backend& (*get)());
};

Backend& default_backend();
void set_default_backend(std::string_view name);
Backend& find_backend(std::string_view name);
std::vector<Backend*> all_backends();
/// The back end whose arrays evaluation rules can read, whatever the dtype.
Backend& host_backend();
/// The device that a primitive on these concrete arrays runs on: they must agree; scalars follow.
Backend& common_backend(const Primitive& p, std::span<const Array> args);
Array copy_to_backend(const Array& a, Backend& backend);

}  // namespace cotan
