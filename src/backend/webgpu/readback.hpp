// Readback: bytes on their way from the device to the host, without anybody waiting for them yet.
#pragma once
#include "backend/webgpu/device.hpp"

namespace cotan::webgpu {

class Readback {
 public:
  /// Asks for the bytes behind everything that was handed in so far. The device must outlive this.
  Readback(Device& device, WGPUBuffer from, std::uint64_t offset, std::uint64_t bytes);
  Readback(Device& device, const Range& range, std::uint64_t bytes)
      : Readback(device, device.slab(range.slab), range.offset, bytes) {}
  /// At any time: what nobody wants any more is given up.
  ~Readback();
  Readback(const Readback&) = delete;

  bool is_done();
  /// Waits, and copies all bytes to `to`; once.
  void take(void* to);

 private:
  /// Shared with the callback, which comes when the device likes.
  struct Answer {
    std::atomic<bool> done{false};
    bool failed = false;
    std::string message;
  };
  Device& device_;
  const std::uint64_t bytes_;
  Device::Staging staging_;
  std::shared_ptr<Answer> answer_;
};

}  // namespace cotan::webgpu
