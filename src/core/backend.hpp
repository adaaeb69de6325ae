// Backend: what a device must offer. Devices are looked up by name.
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
};

Backend& default_backend();
void set_default_backend(std::string_view name);
Backend& find_backend(std::string_view name);
std::vector<Backend*> all_backends();
Backend& native_backend();
Backend& reference_backend();
Backend* webgpu_backend();  ///< nullptr in builds without
/// The device that a primitive on these concrete arrays runs on: they must agree; scalars follow.
Backend& common_backend(const Primitive& p, std::span<const Array> args);
Array copy_to_backend(const Array& a, Backend& backend);

}  // namespace cotan
