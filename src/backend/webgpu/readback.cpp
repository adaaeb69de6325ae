#include "backend/webgpu/readback.hpp"

#include <cstring>

#include "core/error.hpp"

namespace cotan::webgpu {

Readback::Readback(Device& device, WGPUBuffer from, std::uint64_t offset, std::uint64_t bytes)
    : device_(device), bytes_(bytes), answer_(std::make_shared<Answer>()) {
  const std::scoped_lock lock(device_.mutex());
  staging_ = device_.take_staging(bytes);
  EncoderHandle encoder(api().DeviceCreateCommandEncoder(device_.raw(), nullptr));
  api().CommandEncoderCopyBufferToBuffer(encoder.get(), from, offset, staging_.buffer.get(), 0, (bytes + 3) / 4 * 4);
  device_.submit(std::move(encoder), 0);
  device_.count_readback();
  WGPUBufferMapCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = new std::shared_ptr<Answer>(answer_);
  callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* to, void*) {
    const std::unique_ptr<std::shared_ptr<Answer>> answer(static_cast<std::shared_ptr<Answer>*>(to));
    (*answer)->failed = status != WGPUMapAsyncStatus_Success;
    (*answer)->message = text(message);
    (*answer)->done = true;
  };
  api().BufferMapAsync(staging_.buffer.get(), WGPUMapMode_Read, 0, staging_.bytes, callback);
}

Readback::~Readback() {
  const std::scoped_lock lock(device_.mutex());
  api().BufferUnmap(staging_.buffer.get());  // also where it is not mapped yet
  device_.give_staging(std::move(staging_));
}

bool Readback::is_done() {
  if (answer_->done) return true;
  device_.poll();
  return answer_->done;
}

void Readback::take(void* to) {
  device_.wait_for([&] { return answer_->done.load(); }, "reading from the device");
  const std::scoped_lock lock(device_.mutex());
  device_.check("reading from the device");
  if (answer_->failed)
    raise<DeviceError>("[webgpu] reading from '{}' failed: {}; see whether the driver has reset it.",
                       device_.capabilities().name, answer_->message);
  std::memcpy(to, api().BufferGetConstMappedRange(staging_.buffer.get(), 0, staging_.bytes), bytes_);
}

}  // namespace cotan::webgpu
