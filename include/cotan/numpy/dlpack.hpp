// Arrays from and for other libraries, by DLPack: github.com/dmlc/dlpack.
#pragma once
#include <cotan/array.hpp>

/// What DLPack's header says about memory, by other names, so that both can be included: pointers to its
/// DLManagedTensor and to ours may be cast into each other.
namespace cotan::dlpack {

/// Where memory is; 1 is the host's.
struct Device {
  std::int32_t device_type, device_id;
};
/// Elements: what they are (signed integers, unsigned ones, floats, pointers, bfloat16, complex numbers, bool), and how
/// many bits they have.
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
/// Memory with a shape; strides count elements, and are not there where it is row-major.
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
/// The same with an owner, who is told when nobody needs it any more.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);  ///< what tells it
};

/// DLPack's own DLManagedTensor, and this one.
template <class T>
concept Managed = requires(T* tensor) {
  tensor->dl_tensor.byte_offset;
  tensor->deleter(tensor);
};

}  // namespace cotan::dlpack

namespace cotan::numpy {

/// @name Other libraries
/// @{
/// An array with the elements of a tensor in the host's memory, whose deleter is called: it is copied, so that nobody
/// else changes what an Array holds. `jnp.from_dlpack`.
Array from_dlpack(dlpack::ManagedTensor* tensor, const std::source_location& where = COTAN_HERE);
/// The same of DLPack's own DLManagedTensor.
template <dlpack::Managed Managed>
Array from_dlpack(Managed* tensor, const std::source_location& where = COTAN_HERE) {
  static_assert(sizeof(Managed) == sizeof(dlpack::ManagedTensor), "from_dlpack: this is no DLManagedTensor");
  return from_dlpack(reinterpret_cast<dlpack::ManagedTensor*>(tensor), where);
}
/// The elements of `a`, which stay where they are until the tensor's deleter is called; those of another device are
/// copied to the host. They must not be changed. Waits for them. `a.__dlpack__()`.
dlpack::ManagedTensor* to_dlpack(const ArrayLike& a);
/// @}

}  // namespace cotan::numpy
