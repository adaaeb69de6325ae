// Memory of an array on the device, with a copy for the host where somebody made or wants one.
#pragma once
#include "backend/gpu/elements.hpp"
#include "backend/webgpu/readback.hpp"
#include "core/backend.hpp"

namespace cotan::webgpu {

using gpu::element_bytes;
using gpu::is_supported;

/// Elements of types that the device has not can be there as well, on the host, to be converted.
class Memory final : public DeviceMemory {
 public:
  Memory(std::size_t host_bytes, DType dtype);
  ~Memory() override;
  std::byte* host() override;
  void start_copy_to_host() override;
  bool is_ready() override;
  /// Where it lies on the device; what the host has filled in is sent there first.
  Range on_device(const std::shared_ptr<Device>& device);
  /// Room on the device that a program is about to fill in.
  Range place(const std::shared_ptr<Device>& device);
  /// It is filled in once the device has done so many submissions.
  void set_ready_after(std::uint64_t submissions);
  std::int64_t size() const { return size_; }

 private:
  std::uint64_t device_bytes() const { return static_cast<std::uint64_t>(size_) * element_bytes; }
  std::mutex mutex_;
  const std::size_t host_bytes_;
  const DType dtype_;
  const std::int64_t size_;
  std::unique_ptr<std::byte[]> host_;
  std::shared_ptr<Device> device_;  ///< where `range_` is
  Range range_;
  std::uint64_t ready_after_ = 0;
  std::unique_ptr<Readback> on_its_way_;  ///< to the host
};

/// Elements of the device as an array of another back end, and the other way round.
Array read_elements(Device& device, const Range& range, const AbstractValue& type, Backend& to);
void write_elements(Device& device, const Range& range, const Array& from);

/// The memory of an array of this back end …
Memory& memory_of(const Array& a);
/// … which others, and constants of programs, are copied to.
Array on_this_backend(const Array& a, Backend& backend);

}  // namespace cotan::webgpu
