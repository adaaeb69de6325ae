// DLPack: elements in and out, as the host's memory.
#include <cotan/numpy/dlpack.hpp>
#include <cstring>
#include <memory>

#include "core/buffer.hpp"
#include "ops/ops.hpp"

namespace cotan::numpy {

namespace {

using dlpack::DataType;

enum DlpackCode : std::uint8_t { dl_int, dl_uint, dl_float, dl_pointer, dl_bfloat, dl_complex, dl_bool };
constexpr std::int32_t dl_host = 1, dl_cuda_host = 3, dl_rocm_host = 11;

DataType dlpack_type(DType t) {
  const auto bits = static_cast<std::uint8_t>(8 * itemsize(t));
  const std::uint8_t code = t == bool_               ? dl_bool
                            : t == bf16              ? dl_bfloat
                            : is_complex(t)          ? dl_complex
                            : is_floating(t)         ? dl_float
                            : is_unsigned_integer(t) ? dl_uint
                                                     : dl_int;
  return {code, bits, 1};
}
DType dtype_of_tensor(const DataType& given) {
  constexpr DType all_dtypes[] = {bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128};
  for (const DType t : all_dtypes) {
    const DataType same = dlpack_type(t);
    if (same.code == given.code && same.bits == given.bits && given.lanes == 1) return t;
  }
  raise<TypeError>(
      "[from_dlpack] there is no dtype for elements of code {} with {} bits and {} lanes; convert them first.",
      given.code, given.bits, given.lanes);
}

/// Rows along the last axes one after the other, wherever they are.
void copy_strided(std::byte*& to, const std::byte* from, const Shape& shape, const std::int64_t* strides,
                  std::size_t axis, std::size_t width) {
  if (axis == shape.size()) {
    std::memcpy(to, from, width);
    to += width;
    return;
  }
  for (std::int64_t i = 0; i < shape[axis]; ++i)
    copy_strided(to, from + i * strides[axis] * static_cast<std::int64_t>(width), shape, strides, axis + 1, width);
}

struct Exported {
  dlpack::ManagedTensor tensor;
  Array array;
  Shape shape, strides;
};

}  // namespace

Array from_dlpack(dlpack::ManagedTensor* given, const std::source_location& where) {
  const cotan::detail::CallSite site(where);
  if (!given) raise<ValueError>("[from_dlpack] the tensor is a null pointer; give one.");
  const dlpack::Tensor& t = given->dl_tensor;
  const std::int32_t place = t.device.device_type;
  if (place != dl_host && place != dl_cuda_host && place != dl_rocm_host)
    raise<DeviceError>("[from_dlpack] the elements are on a device of type {}; copy them to the host first.", place);
  const DType dtype = dtype_of_tensor(t.dtype);
  const Shape shape(t.shape, t.shape + t.ndim);
  std::vector<std::byte> bytes(checked_bytes({dtype, shape}, "from_dlpack"));
  if (!bytes.empty()) {
    const std::byte* from = static_cast<const std::byte*>(t.data) + t.byte_offset;
    const Ints row_major = ops::strides_of(shape);
    std::byte* to = bytes.data();
    if (t.strides && !std::equal(row_major.begin(), row_major.end(), t.strides))
      copy_strided(to, from, shape, t.strides, 0, itemsize(dtype));
    else
      std::memcpy(to, from, bytes.size());
  }
  const Array out = Array::from_bytes(dtype, shape, bytes);
  if (given->deleter) given->deleter(given);
  return out;
}

dlpack::ManagedTensor* to_dlpack(const ArrayLike& a) {
  auto out = std::make_unique<Exported>();
  out->array = a;
  out->shape = a->shape();
  out->strides = ops::strides_of(out->shape);
  // Whoever reads it may not change it, which the format cannot say.
  void* data = const_cast<void*>(a->unsafe_buffer_pointer({}));
  out->tensor = {{data, {dl_host, 0}, a->ndim(), dlpack_type(a->dtype()), out->shape.data(), out->strides.data(), 0},
                 out.get(),
                 [](dlpack::ManagedTensor* t) { delete static_cast<Exported*>(t->manager_ctx); }};
  return &out.release()->tensor;
}

}  // namespace cotan::numpy
