// The memory of a device: few large blocks that are given out in parts, and staging buffers that the host can map.
#include <algorithm>

#include "backend/webgpu/readback.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/recorder.hpp"

namespace cotan::webgpu {

BufferHandle Device::new_buffer(std::uint64_t bytes, WGPUBufferUsage usage, const char* label) {
  const std::scoped_lock lock(mutex_);
  WGPUBufferDescriptor descriptor{};
  descriptor.label = view(label);
  descriptor.size = bytes;
  descriptor.usage = usage;
  struct Answer {
    bool done = false, failed = false;
    std::string message;
  } answer;
  api().DevicePushErrorScope(device_.get(), WGPUErrorFilter_OutOfMemory);
  BufferHandle buffer(api().DeviceCreateBuffer(device_.get(), &descriptor));
  WGPUPopErrorScopeCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.userdata1 = &answer;
  callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* to, void*) {
    *static_cast<Answer*>(to) = {true, type != WGPUErrorType_NoError, text(message)};
  };
  api().DevicePopErrorScope(device_.get(), callback);
  wait_for([&] { return answer.done; }, "allocating");
  check("allocating");
  if (answer.failed || !buffer)
    raise<OutOfMemoryError>(
        "[webgpu] the device '{}' has no room for {} bytes ({}); free arrays or work in smaller pieces.",
        capabilities_.name, bytes, answer.message);
  return buffer;
}

void Device::add_slab(std::uint64_t bytes) {
  // Few and large: what is in one block needs one binding. Twice as large each time.
  std::uint64_t size = capabilities_.software ? 64u << 20 : 1u << 30;
  if (const auto megabytes = environment::number("COTAN_WEBGPU_SLAB_MB"))
    size = static_cast<std::uint64_t>(*megabytes) << 20;
  for (std::size_t k = 0; k < slabs_.size() && k < 8; ++k) size *= 2;
  const std::uint64_t most = capabilities_.block_bytes();
  size = std::min(std::max(size, bytes), most);
  if (bytes > most)
    raise<OutOfMemoryError>(
        "[webgpu] an array of {} bytes is larger than what '{}' can bind ({} bytes); work in smaller pieces.", bytes,
        capabilities_.name, most);
  const auto usage =
      WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst | WGPUBufferUsage_Indirect;
  recorder::Span span("allocate", "memory of the device");
  span.detail("bytes", static_cast<std::int64_t>(size));
  BufferHandle buffer;
  while (true) {
    try {
      buffer = new_buffer(size, usage, "cotan memory");
      break;
    } catch (const OutOfMemoryError&) {  // less will do
      if (size / 2 < bytes) throw;
      size = whole_granules(size / 2);
    }
  }
  auto slab = std::make_unique<Slab>(Slab{std::move(buffer), size, {}});
  slab->free.emplace(0, size);
  slabs_.push_back(std::move(slab));
  counts_.slabs++;
  counts_.slab_bytes += size;
}

bool Device::take(Slab& slab, std::uint64_t bytes, Range& out) {
  // The smallest hole that is large enough: large ones stay.
  auto best = slab.free.end();
  for (auto at = slab.free.begin(); at != slab.free.end(); ++at)
    if (at->second >= bytes && (best == slab.free.end() || at->second < best->second)) best = at;
  if (best == slab.free.end()) return false;
  const auto [offset, size] = *best;
  slab.free.erase(best);
  if (size > bytes) slab.free.emplace(offset + bytes, size - bytes);
  out.offset = offset;
  out.bytes = bytes;
  return true;
}

Range Device::allocate(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  check("allocating");
  bytes = whole_granules(bytes);
  Range out;
  for (std::size_t k = 0; k < slabs_.size(); ++k)
    if (take(*slabs_[k], bytes, out)) {
      out.slab = static_cast<int>(k);
      counts_.used_bytes += bytes;
      return out;
    }
  add_slab(bytes);
  take(*slabs_.back(), bytes, out);
  out.slab = static_cast<int>(slabs_.size()) - 1;
  counts_.used_bytes += bytes;
  return out;
}

void Device::release(const Range& range) noexcept {
  const std::scoped_lock lock(mutex_);
  auto& free = slabs_[static_cast<std::size_t>(range.slab)]->free;
  counts_.used_bytes -= range.bytes;
  auto [at, added] = free.emplace(range.offset, range.bytes);
  if (const auto next = std::next(at); next != free.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free.erase(next);
  }
  if (at != free.begin())
    if (const auto before = std::prev(at); before->first + before->second == at->first) {
      before->second += at->second;
      free.erase(at);
    }
}

WGPUBuffer Device::slab(int number) const { return slabs_[static_cast<std::size_t>(number)]->buffer.get(); }

void Device::write(const Range& range, const void* data, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0) return;
  recorder::Span span("upload", "write");
  span.detail("bytes", static_cast<std::int64_t>(bytes));
  counts_.uploads++;
  api().QueueWriteBuffer(queue_.get(), slab(range.slab), range.offset, data, bytes);
  check("writing to the device");
}

void Device::read(const Range& range, void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  recorder::Span span("readback", "read");
  span.detail("bytes", static_cast<std::int64_t>(bytes));
  Readback(*this, range, bytes).take(data);
}

Device::Staging Device::take_staging(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t size = whole_granules(bytes);
  for (auto at = staging_.begin(); at != staging_.end(); ++at)
    if (at->bytes >= size && at->bytes <= 4 * size) {
      Staging found = std::move(*at);
      staging_.erase(at);
      return found;
    }
  return {new_buffer(size, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, "cotan readback"), size};
}
void Device::give_staging(Staging staging) {
  const std::scoped_lock lock(mutex_);
  constexpr std::size_t most_kept = 4;
  constexpr std::uint64_t largest_kept = 16u << 20;
  if (staging_.size() < most_kept && staging.bytes <= largest_kept) staging_.push_back(std::move(staging));
}

}  // namespace cotan::webgpu
