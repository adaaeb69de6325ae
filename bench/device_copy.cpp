#include "device_copy.hpp"

#include "cotan_case.hpp"
#ifdef COTAN_WEBGPU
#include "backend/webgpu/device.hpp"
#endif

namespace bench {

#ifdef COTAN_WEBGPU
std::function<void()> device_copy(std::size_t bytes) {
  using namespace cotan::webgpu;
  struct Buffers {
    std::shared_ptr<Device> on = cotan::webgpu::device();
    BufferHandle from, to;
  };
  auto buffers = std::make_shared<Buffers>();
  const std::size_t size = (bytes + 3) / 4 * 4;
  const auto usage = WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  buffers->from = buffers->on->new_buffer(size, usage, "copied from");
  buffers->to = buffers->on->new_buffer(size, usage, "copied to");
  (void)buffers->on->allocate(4);  // synchronize() reads a word of the device's own memory
  return [buffers, size] {
    Device& device = *buffers->on;
    {
      const std::scoped_lock lock(device.mutex());
      EncoderHandle encoder(api().DeviceCreateCommandEncoder(device.raw(), nullptr));
      api().CommandEncoderCopyBufferToBuffer(encoder.get(), buffers->from.get(), 0, buffers->to.get(), 0, size);
      device.submit(std::move(encoder), 0);
    }
    device.synchronize();
  };
}
#else
std::function<void()> device_copy(std::size_t) { throw Missing("this build has no device 'webgpu'"); }
#endif

namespace {

Case negated(std::int64_t n) {
  return jitted([](const ct::Array& x) { return -x; }, random_array({n}, 1));
}

}  // namespace

std::function<void()> copy_by_shader(std::size_t bytes) { return negated(static_cast<std::int64_t>(bytes / 4)).call; }

namespace {

const Register all[] = {
    {"cotan", "copy_buffers",
     [](const Parameters& p) -> Case { return {.call = device_copy(static_cast<std::size_t>(4 * p["n"]))}; }},
    {"cotan", "copy_kernel", [](const Parameters& p) { return negated(p["n"]); }},
};

}  // namespace
}  // namespace bench
