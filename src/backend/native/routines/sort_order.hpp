// Unsigned integers that order as elements do, of the same size: what is sorted in their place.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/typed.hpp"

namespace cotan::native {

template <std::size_t bytes>
using UnsignedOf = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using OrderOf = UnsignedOf<sizeof(T)>;

/// Bit by bit: -NaN, -inf, …, -0, +0, …, inf, NaN.
template <class T>
OrderOf<T> total_order(T x) {
  using U = OrderOf<T>;
  constexpr U sign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  const U bits = std::bit_cast<U>(x);
  if constexpr (is_real<T>)
    // Sign and magnitude: negative numbers count downwards.
    return static_cast<U>(bits & sign ? ~bits : bits | sign);
  else if constexpr (std::is_signed_v<T>)
    return bits ^ sign;
  else
    return bits;
}

/// The bits of +inf, and of -0.
template <class T>
struct RealBits {
  using U = OrderOf<T>;
  static constexpr U sign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  static constexpr U infinity = std::is_same_v<T, float16>    ? U(0x7c00)
                                : std::is_same_v<T, bfloat16> ? U(0x7f80)
                                : sizeof(T) == 4              ? static_cast<U>(0x7f800000u)
                                                              : static_cast<U>(0x7ff0000000000000u);
};

/// By value: as total_order, but -0 is +0 and every NaN is the largest of all.
template <class T>
OrderOf<T> numeric_order(T x) {
  if constexpr (is_real<T>) {
    using U = OrderOf<T>;
    using Bits = RealBits<T>;
    const U bits = std::bit_cast<U>(x), magnitude = static_cast<U>(bits & ~Bits::sign);
    const U order = static_cast<U>(bits & Bits::sign ? ~bits : bits | Bits::sign);
    return magnitude > Bits::infinity ? static_cast<U>(~U(0)) : magnitude == 0 ? Bits::sign : order;
  } else {
    return total_order(x);
  }
}
/// The element of that order: of zeros +0, of NaN some NaN.
template <class T>
T from_order(OrderOf<T> order) {
  using U = OrderOf<T>;
  constexpr U sign = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  if constexpr (std::is_same_v<T, bool>)
    return order != 0;
  else if constexpr (is_real<T>)
    return std::bit_cast<T>(static_cast<U>(order & sign ? order ^ sign : ~order));
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(order ^ sign);
  else
    return order;
}

}  // namespace cotan::native
