// Memory of arrays: taken from a back end, counted, and given back.
#include "core/buffer.hpp"

#include <cotan/debug.hpp>
#include <limits>

#include "core/backend.hpp"

namespace cotan {

namespace {
std::atomic<std::int64_t> live_buffers{0}, live_bytes{0}, peak_bytes{0};
std::atomic<std::uint64_t> allocations{0};
}  // namespace

MemoryStats memory_stats() { return {live_buffers.load(), live_bytes.load(), peak_bytes.load(), allocations.load()}; }
void reset_peak_bytes() { peak_bytes.store(live_bytes.load()); }

Buffer::Buffer(Backend& backend, std::size_t bytes, DType dtype)
    : backend_(backend), memory_(backend.allocate_memory(bytes, dtype)), bytes_(bytes) {
  if (!memory_) data_ = backend_.allocate(bytes);
  if (!data_ && !memory_)
    raise<OutOfMemoryError>(
        "[allocate] the device '{}' has no room for {} bytes ({} live in {} buffers); free arrays "
        "or work in smaller pieces.",
        backend.name(), bytes, live_bytes.load(), live_buffers.load());
  live_buffers.fetch_add(1, std::memory_order_relaxed);
  allocations.fetch_add(1, std::memory_order_relaxed);
  const auto now = live_bytes.fetch_add(static_cast<std::int64_t>(bytes)) + static_cast<std::int64_t>(bytes);
  auto peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}
Buffer::~Buffer() { release(); }
void Buffer::release() {
  if ((!data_ && !memory_) || borrowed_) return;
  if (memory_)
    memory_.reset();
  else
    backend_.release(std::exchange(data_, nullptr), bytes_);
  live_buffers.fetch_sub(1, std::memory_order_relaxed);
  live_bytes.fetch_sub(static_cast<std::int64_t>(bytes_));
}

std::size_t checked_bytes(const AbstractValue& aval, std::string_view op) {
  constexpr auto limit = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = static_cast<std::int64_t>(itemsize(aval.dtype));
  bool empty = false;
  for (auto d : aval.shape) {
    if (d < 0)
      raise<ShapeError>("[{}] shape {} has a negative size; sizes must be 0 or more.", op, describe(aval.shape));
    empty |= d == 0;
  }
  if (empty) return 0;
  for (auto d : aval.shape) {
    if (bytes > limit / d)
      raise<OutOfMemoryError>("[{}] {} has more bytes than can be addressed; use a smaller shape.", op, aval);
    bytes *= d;
  }
  return static_cast<std::size_t>(bytes);
}

std::pair<Array, BufferPtr> allocate(Backend& backend, const AbstractValue& aval) {
  auto buffer = std::make_shared<Buffer>(backend, checked_bytes(aval, "allocate"), real_dtype(aval.dtype));
  return {Array(std::make_shared<detail::Concrete>(aval, buffer)), buffer};
}

}  // namespace cotan
