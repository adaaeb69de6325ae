// Sum, product and extrema of two elements, for every dtype: what elementwise arithmetic, reductions and
// scatters combine with.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace cotan::ops::scalar_ops {

// Integer arithmetic wraps: done unsigned, since signed overflow is undefined in C++.
template <class T, class F>
T wrapping(T a, T b, F f) {
  using U = std::make_unsigned_t<T>;
  // u16 * u16 would promote to a signed int: widen to at least unsigned.
  using W = std::conditional_t<(sizeof(U) < sizeof(unsigned)), unsigned, U>;
  return static_cast<T>(static_cast<U>(f(static_cast<W>(static_cast<U>(a)), static_cast<W>(static_cast<U>(b)))));
}

template <class T>
inline constexpr bool is_plain_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

inline constexpr auto add = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (is_plain_integer<T>)
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  else
    return a + b;
};
inline constexpr auto sub = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return a != b;
  else if constexpr (is_plain_integer<T>)
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  else
    return a - b;
};
inline constexpr auto mul = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (is_plain_integer<T>)
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  else
    return a * b;
};
// NaN wins, and +0 is larger than -0.
inline constexpr auto maximum = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
};
inline constexpr auto minimum = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
};

}  // namespace cotan::ops::scalar_ops
