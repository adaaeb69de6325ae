#include "backend/webgpu/memory.hpp"

#include <cstring>

#include "backend/gpu/host_elements.hpp"
#include "backend/gpu/wgsl/wgsl.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"

namespace cotan::webgpu {

namespace {

/// In the host's format; `take` gives the device's.
template <class Take>
void read(DType dtype, std::int64_t n, std::byte* to, Take&& take) {
  if (gpu::is_as_on_host(dtype)) {
    take(to);
    return;
  }
  std::vector<std::byte> wide(static_cast<std::size_t>(n) * element_bytes);
  take(wide.data());
  gpu::narrow(dtype, wide.data(), to, n);
}
void write(Device& device, const Range& range, DType dtype, std::int64_t n, const std::byte* from) {
  if (gpu::is_as_on_host(dtype)) {
    device.write(range, from, static_cast<std::uint64_t>(n) * element_bytes);
    return;
  }
  std::vector<std::byte> wide(static_cast<std::size_t>(n) * element_bytes);
  gpu::widen(dtype, from, wide.data(), n);
  device.write(range, wide.data(), wide.size());
}

}  // namespace

Memory::Memory(std::size_t host_bytes, DType dtype)
    : host_bytes_(host_bytes), dtype_(dtype), size_(static_cast<std::int64_t>(host_bytes / itemsize(dtype))) {}

Memory::~Memory() {
  on_its_way_ = nullptr;
  if (device_) device_->release(range_);
}

std::byte* Memory::host() {
  const std::scoped_lock lock(mutex_);
  if (host_) return host_.get();
  auto bytes = std::make_unique<std::byte[]>(std::max<std::size_t>(host_bytes_, 1));
  if (device_ && size_)
    read(dtype_, size_, bytes.get(), [&](std::byte* to) {
      if (!on_its_way_) return device_->read(range_, to, device_bytes());
      recorder::Span span("readback", "rest of an asynchronous read");
      span.detail("bytes", static_cast<std::int64_t>(device_bytes()));
      const auto last = std::move(on_its_way_);  // gone also where it raises
      last->take(to);
    });
  host_ = std::move(bytes);
  return host_.get();
}

void Memory::start_copy_to_host() {
  const std::scoped_lock lock(mutex_);
  if (host_ || !device_ || !size_ || on_its_way_) return;
  recorder::Span span("readback", "start of an asynchronous read");
  span.detail("bytes", static_cast<std::int64_t>(device_bytes()));
  on_its_way_ = std::make_unique<Readback>(*device_, range_, device_bytes());
}

bool Memory::is_ready() {
  const std::scoped_lock lock(mutex_);
  return host_ || !device_ || device_->is_done(ready_after_);
}

void Memory::set_ready_after(std::uint64_t submissions) {
  const std::scoped_lock lock(mutex_);
  ready_after_ = submissions;
}

Range Memory::on_device(const std::shared_ptr<Device>& device) {
  const std::scoped_lock lock(mutex_);
  if (device_ == device) return range_;
  if (!is_supported(dtype_)) gpu::raise_unsupported(gpu::wgsl(), dtype_, "jit");
  if (device_ && !host_) device_->check("moving an array");  // of a device that was lost
  on_its_way_ = nullptr;
  if (device_) device_->release(range_);
  device_ = nullptr;
  range_ = device->allocate(device_bytes());
  device_ = device;
  if (!host_) return range_;
  write(*device, range_, dtype_, size_, host_.get());
  // Large ones are not kept twice.
  constexpr std::size_t small = 1 << 16;
  if (host_bytes_ > small) host_ = nullptr;
  return range_;
}

Range Memory::place(const std::shared_ptr<Device>& device) {
  const std::scoped_lock lock(mutex_);
  if (!is_supported(dtype_)) gpu::raise_unsupported(gpu::wgsl(), dtype_, "jit");
  if (!device_) {
    range_ = device->allocate(device_bytes());
    device_ = device;
  }
  host_ = nullptr;  // of what was there before, if it was donated
  on_its_way_ = nullptr;
  return range_;
}

Array read_elements(Device& device, const Range& range, const AbstractValue& type, Backend& to) {
  auto [array, buffer] = allocate(to, type);
  read(type.dtype, type.size(), buffer->data(),
       [&](std::byte* to) { device.read(range, to, static_cast<std::uint64_t>(type.size()) * element_bytes); });
  return array;
}
void write_elements(Device& device, const Range& range, const Array& from) {
  write(device, range, from.dtype(), from.size(), concrete(from)->buffer->data());
}

Memory& memory_of(const Array& a) { return static_cast<Memory&>(*concrete(a)->buffer->device_memory()); }

Array on_this_backend(const Array& a, Backend& backend) {
  const Buffer& from = *concrete(a)->buffer;
  if (&from.backend() == &backend && from.device_memory()) return a;
  auto [out, buffer] = allocate(backend, a.aval());
  if (from.bytes()) std::memcpy(buffer->data(), from.data(), from.bytes());
  return out;
}

}  // namespace cotan::webgpu
