#include "core/backend.hpp"

#include <atomic>
#include <cotan/debug.hpp>
#include <cotan/device.hpp>
#include <limits>
#include <ostream>

#include "core/environment.hpp"
#include "core/recorder.hpp"
#include "core/trace.hpp"

namespace cotan {

namespace {
std::atomic<std::int64_t> live_buffers{0}, live_bytes{0}, peak_bytes{0};
std::atomic<std::uint64_t> allocations{0};
std::atomic<Backend*> chosen_backend{nullptr};
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
  auto buffer = std::make_shared<Buffer>(backend, checked_bytes(aval, "allocate"), aval.dtype);
  return {Array(std::make_shared<detail::Concrete>(aval, buffer)), buffer};
}

#ifndef COTAN_WEBGPU
Backend* webgpu_backend() { return nullptr; }
#endif

std::vector<Backend*> all_backends() {
  std::vector<Backend*> out{&native_backend(), &reference_backend()};
  if (Backend* webgpu = webgpu_backend()) out.push_back(webgpu);
  return out;
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
  Backend& b = wanted ? find_backend(*wanted) : native_backend();
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

std::vector<Device> devices() {
  std::vector<Device> out;
  for (Backend* b : all_backends()) out.emplace_back(std::string(b->name()));
  return out;
}
Device default_device() { return Device(std::string(default_backend().name())); }
void default_device(std::string_view name, const std::source_location& where) {
  const detail::CallSite site(where);
  set_default_backend(name);
}
Array device_put(const ArrayLike& x, std::string_view device) { return copy_to_backend(x, find_backend(device)); }
Array block_until_ready(const Array& x) {
  x.aval();
  if (const auto* c = concrete(x)) {
    const recorder::Span span("wait", "block_until_ready");
    c->buffer->backend().synchronize();
  }
  return x;
}
bool is_ready(const Array& x) {
  x.aval();
  const auto* c = concrete(x);
  DeviceMemory* memory = c ? c->buffer->device_memory() : nullptr;
  return !memory || memory->is_ready();
}
void copy_to_host_async(const Array& x) {
  x.aval();
  const auto* c = concrete(x);
  if (!c)
    raise<ConcretizationError>(
        "[copy_to_host_async] the array has no elements under a transform; copy what the transformed function "
        "returns.");
  if (DeviceMemory* memory = c->buffer->device_memory()) memory->start_copy_to_host();
}
namespace {
std::atomic<bool>& tuning() {
  static std::atomic<bool> on{environment::is_on("COTAN_WEBGPU_TUNE")};
  return on;
}
}  // namespace
void autotune(bool on) { tuning() = on; }
bool autotune() { return tuning(); }
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.name(); }

}  // namespace cotan
