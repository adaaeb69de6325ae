#include "backend/gpu/host_elements.hpp"

#include "backend/gpu/elements.hpp"
#include "core/typed.hpp"

namespace cotan::gpu {

namespace {

/// What an element of this type is on the device.
template <class T>
using Stored = std::conditional_t<!std::is_integral_v<T>, float,
                                  std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;

}  // namespace

bool is_as_on_host(DType dtype) { return itemsize(dtype) == element_bytes; }

void widen(DType dtype, const std::byte* from, std::byte* to, std::int64_t n) {
  dispatch(dtype, [&]<class T>() {
    if constexpr (sizeof(T) <= element_bytes) {
      const auto* x = reinterpret_cast<const T*>(from);
      auto* y = reinterpret_cast<Stored<T>*>(to);
      for (std::int64_t i = 0; i < n; ++i) y[i] = convert<Stored<T>>(x[i]);
    }
  });
}
void narrow(DType dtype, const std::byte* from, std::byte* to, std::int64_t n) {
  dispatch(dtype, [&]<class T>() {
    if constexpr (sizeof(T) <= element_bytes) {
      const auto* x = reinterpret_cast<const Stored<T>*>(from);
      auto* y = reinterpret_cast<T*>(to);
      for (std::int64_t i = 0; i < n; ++i) y[i] = convert<T>(x[i]);
    }
  });
}

}  // namespace cotan::gpu
