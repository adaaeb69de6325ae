// Buffer: owned device memory, counted so that tests can see leaks. Values: what an Array points at.
#pragma once
#include <atomic>
#include <cotan/array.hpp>
#include <cstring>

#include "core/error.hpp"

namespace cotan {

class Backend;

/// Memory of a device that host code cannot address. Elements do not change once they are there, so that a copy for
/// the host can be made when somebody looks at them.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// The elements, to read or, as long as the device has not seen them, to fill in.
  virtual std::byte* host() = 0;
  /// Starts what host() has to wait for.
  virtual void start_copy_to_host() = 0;
  /// Whether the elements have been computed.
  virtual bool is_ready() = 0;
};

/// Aligned memory of a device; counted in memory_stats().
class Buffer {
 public:
  /// `dtype` of the elements: devices may store them in another width than the host does.
  Buffer(Backend& backend, std::size_t bytes, DType dtype = DType::u8);
  /// Memory that someone else owns and that outlives this; not counted.
  Buffer(Backend& backend, std::byte* borrowed, std::size_t bytes)
      : backend_(backend), data_(borrowed), bytes_(bytes), borrowed_(true) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  /// Where host code finds the elements; of a device with memory of its own, a copy.
  std::byte* data() { return memory_ ? memory_->host() : data_; }
  const std::byte* data() const { return memory_ ? memory_->host() : data_; }
  DeviceMemory* device_memory() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }
  /// Frees the memory before the last owner goes.
  void release();
  Backend& backend() const { return backend_; }
  bool borrowed() const { return borrowed_; }

 private:
  Backend& backend_;
  std::unique_ptr<DeviceMemory> memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool borrowed_ = false;
};
using BufferPtr = std::shared_ptr<Buffer>;

/// A scalar with every bit of the C++ value it came from, so that 0.1 meeting an f64 array is exact.
struct ExactScalar {
  enum class Kind : std::uint8_t { boolean, integer, unsigned_integer, real, complex } kind = Kind::integer;
  union {
    std::int64_t i = 0;
    std::uint64_t u;
    double d;
  };
  double imaginary = 0;  ///< of a complex one, of which `d` is the real part
};

namespace detail {

/// What an Array handle points at: elements (Concrete), a shape alone (Abstract), or a Tracer.
class Value {
 public:
  explicit Value(AbstractValue type) : aval(std::move(type)) {}
  virtual ~Value() = default;
  const AbstractValue aval;
};

class Concrete final : public Value {
 public:
  Concrete(AbstractValue type, BufferPtr b) : Value(std::move(type)), buffer(std::move(b)) {}
  const BufferPtr buffer;
  std::optional<ExactScalar> exact;
  mutable std::atomic<bool> donated{false};  ///< given up to a jitted call: reading it is an error
};

/// A shape without elements: what eval_shape takes and gives.
class Abstract final : public Value {
  using Value::Value;
};

}  // namespace detail

/// The concrete value behind `a`, or nullptr. Raises if it was donated.
const detail::Concrete* concrete(const Array& a);
/// Gives up `a`'s elements: its handles raise from now on, and memory that nothing else shares is freed.
void donate(const Array& a);
/// A new array on `backend` whose elements the caller fills in.
std::pair<Array, BufferPtr> allocate(Backend& backend, const AbstractValue& aval);
/// The product of the sizes; the largest integer where it is no int64.
std::int64_t element_count(const Shape& shape);
std::size_t checked_bytes(const AbstractValue& aval, std::string_view op);

/// Typed read access to a concrete array's elements.
template <class T>
const T* data(const Array& a) {
  return reinterpret_cast<const T*>(concrete(a)->buffer->data());
}

}  // namespace cotan
