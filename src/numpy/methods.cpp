// Members of Array that are functions of cotan::numpy, and views of its bits.
#include <cotan/device.hpp>
#include <cotan/numpy.hpp>

#include "core/buffer.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan {

using Where = std::source_location;

Array Array::all(const Axes& axis, bool keepdims, Where where) const {
  return numpy::all({*this, where}, axis, keepdims);
}
Array Array::any(const Axes& axis, bool keepdims, Where where) const {
  return numpy::any({*this, where}, axis, keepdims);
}
Array Array::argmax(std::optional<int> axis, bool keepdims, Where where) const {
  return numpy::argmax({*this, where}, axis, keepdims);
}
Array Array::argmin(std::optional<int> axis, bool keepdims, Where where) const {
  return numpy::argmin({*this, where}, axis, keepdims);
}
Array Array::argpartition(int kth, int axis, Where where) const {
  return numpy::argpartition({*this, where}, kth, axis);
}
Array Array::argsort(int axis, bool descending, Where where) const {
  return numpy::argsort({*this, where}, axis, descending);
}
Array Array::choose(const ArrayList& choices, std::string_view mode, Where where) const {
  return numpy::choose({*this, where}, choices, mode);
}
Array Array::clip(const std::optional<Array>& lo, const std::optional<Array>& hi, Where where) const {
  if (lo && hi) return numpy::clip({*this, where}, *lo, *hi);
  if (lo) return numpy::clip({*this, where}, *lo, none);
  return hi ? numpy::clip({*this, where}, none, *hi) : *this;
}
Array Array::compress(const Array& condition, std::optional<int> axis, Where where) const {
  return numpy::compress({condition, where}, *this, {.axis = axis});
}
Array Array::cumprod(std::optional<int> axis, std::optional<DType> dtype, Where where) const {
  return numpy::cumprod({*this, where}, axis, dtype);
}
Array Array::cumsum(std::optional<int> axis, std::optional<DType> dtype, Where where) const {
  return numpy::cumsum({*this, where}, axis, dtype);
}
Array Array::delete_(const Array& places, std::optional<int> axis, Where where) const {
  return numpy::delete_({*this, where}, places, axis);
}
Array Array::diagonal(int offset, int axis1, int axis2, Where where) const {
  return numpy::diagonal({*this, where}, offset, axis1, axis2);
}
Array Array::dot(const Array& b, Where where) const { return numpy::dot({*this, where}, b); }
Array Array::mT() const { return numpy::matrix_transpose(*this); }
std::vector<Array> Array::nonzero(std::optional<std::int64_t> size, Where where) const {
  return numpy::nonzero({*this, where}, {.size = size});
}
Array Array::ptp(const Axes& axis, bool keepdims, Where where) const {
  return numpy::ptp({*this, where}, axis, keepdims);
}
Array Array::ravel(char order, Where where) const { return numpy::ravel({*this, where}, order); }
Array Array::repeat(std::int64_t repeats, std::optional<int> axis, Where where) const {
  return numpy::repeat({*this, where}, repeats, axis);
}
Array Array::round(int decimals, Where where) const { return numpy::round({*this, where}, decimals); }
Array Array::searchsorted(const Array& v, std::string_view side, Where where) const {
  return numpy::searchsorted({*this, where}, v, side);
}
Array Array::sort(int axis, bool descending, Where where) const {
  return numpy::sort({*this, where}, axis, descending);
}
Array Array::std(const Axes& axis, bool keepdims, int ddof, Where where) const {
  return numpy::std({*this, where}, axis, keepdims, ddof);
}
Array Array::swapaxes(int axis1, int axis2, Where where) const { return numpy::swapaxes({*this, where}, axis1, axis2); }
Array Array::take(const Array& indices, std::optional<int> axis, std::string_view mode, Where where) const {
  return numpy::take({*this, where}, indices, axis, mode);
}
Array Array::trace(int offset, int axis1, int axis2, Where where) const {
  return numpy::trace({*this, where}, offset, axis1, axis2);
}
Array Array::var(const Axes& axis, bool keepdims, int ddof, Where where) const {
  return numpy::var({*this, where}, axis, keepdims, ddof);
}

namespace {

Array bitcast(const Array& a, DType dtype) { return bind1(ops::bitcast_convert_type_p, {a}, {{"new_dtype", dtype}}); }

}  // namespace

Array Array::view(DType to, Where where) const {
  const detail::CallSite site(where, this);
  const Array a = strong(*this);
  // A bool is a byte, of which the bits of others would be no bool.
  if (a.dtype() == DType::bool_) return to == DType::bool_ ? a : ops::cast(a, DType::u8).view(to, {});
  if (to == DType::bool_) return numpy::not_equal(a.view(DType::u8, {}), 0);
  const auto from_size = static_cast<std::int64_t>(cotan::itemsize(a.dtype()));
  const auto to_size = static_cast<std::int64_t>(cotan::itemsize(to));
  if (from_size == to_size) return bitcast(a, to);
  if (a.ndim() == 0)
    raise<ShapeError>("[view] {} has no axis that could become longer or shorter as {}; use np::atleast_1d.", a.aval(),
                      to);
  Shape shape = a.shape();
  if (from_size > to_size) {
    shape.back() *= from_size / to_size;
    return ops::reshape(bitcast(a, to), shape);
  }
  const std::int64_t ratio = to_size / from_size;
  if (shape.back() % ratio != 0)
    raise<ShapeError>(
        "[view] the last axis of {} does not divide into elements of {}; its size must be a multiple of {}.", a.aval(),
        to, ratio);
  shape.back() /= ratio;
  shape.push_back(ratio);
  return bitcast(ops::reshape(a, shape), to);
}

Array Array::byteswap(Where where) const {
  const detail::CallSite site(where, this);
  const Array a = strong(*this);
  if (cotan::itemsize(a.dtype()) == 1) return a;
  const Array bytes = bitcast(a, DType::u8);
  return bitcast(ops::rev(bytes, {bytes.ndim() - 1}), a.dtype());
}

Array Array::block_until_ready() const { return cotan::block_until_ready(*this); }
bool Array::is_ready() const { return cotan::is_ready(*this); }
void Array::copy_to_host_async() const { cotan::copy_to_host_async(*this); }
bool Array::is_deleted() const {
  const auto* c = dynamic_cast<const detail::Concrete*>(value().get());
  return c && c->donated.load(std::memory_order_relaxed);
}
Array Array::to_device(std::string_view device, Where where) const { return cotan::device_put({*this, where}, device); }
const void* Array::unsafe_buffer_pointer(Where where) const {
  const detail::CallSite site(where, this);
  aval();
  if (!concrete(*this))
    raise<ConcretizationError>(
        "[unsafe_buffer_pointer] {} has no elements while a function is traced; call it outside.", aval());
  cotan::block_until_ready(*this);
  return concrete(*this)->buffer->data();
}
std::vector<std::byte> Array::tobytes(Where where) const {
  std::vector<std::byte> out(nbytes());
  const detail::CallSite site(where, this);
  detail::copy_to_host(*this, dtype(), out.data(), "tobytes");
  return out;
}

}  // namespace cotan
