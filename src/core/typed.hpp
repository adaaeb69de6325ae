// From a run-time DType to a C++ type: dispatch(dtype, [&]<class T>() { … }).
#pragma once
#include <bit>
#include <complex>
#include <limits>

#include "core/buffer.hpp"

namespace cotan {

template <class F>
auto dispatch(DType t, F&& f) {
  switch (t) {
    case DType::bool_:
      return f.template operator()<bool>();
    case DType::i8:
      return f.template operator()<std::int8_t>();
    case DType::i16:
      return f.template operator()<std::int16_t>();
    case DType::i32:
      return f.template operator()<std::int32_t>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::u8:
      return f.template operator()<std::uint8_t>();
    case DType::u16:
      return f.template operator()<std::uint16_t>();
    case DType::u32:
      return f.template operator()<std::uint32_t>();
    case DType::u64:
      return f.template operator()<std::uint64_t>();
    case DType::f16:
      return f.template operator()<float16>();
    case DType::bf16:
      return f.template operator()<bfloat16>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::c64:
    case DType::c128:
      break;
  }
  raise<InternalError>("[dispatch] {} came where complex numbers are pairs of real ones; this is a bug in cotan.", t);
}

/// Complex dtypes too.
template <class F>
auto dispatch_any(DType t, F&& f) {
  if (t == DType::c64) return f.template operator()<std::complex<float>>();
  if (t == DType::c128) return f.template operator()<std::complex<double>>();
  return dispatch(t, f);
}

/// Floating dtypes only; others raise.
template <class F>
auto dispatch_floating(DType t, std::string_view op, F&& f) {
  switch (t) {
    case DType::f16:
      return f.template operator()<float16>();
    case DType::bf16:
      return f.template operator()<bfloat16>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    default:
      break;
  }
  raise<TypeError>("[{}] needs floating-point operands, got {}; cast with astype.", op, t);
}

/// By width alone, for operations that only move elements.
template <class F>
auto dispatch_width(DType t, F&& f) {
  switch (itemsize(t)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    default:
      break;
  }
  raise<InternalError>("[dispatch] {} came where complex numbers are pairs of real ones; this is a bug in cotan.", t);
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_real = is_half<T> || std::is_floating_point_v<T>;
/// The type that arithmetic on T is done in.
template <class T>
using Compute = std::conditional_t<is_half<T>, float, T>;
/// The type in which the reference device sums products of T. It is wider than T, since results are checked against it:
/// halves in float, floats in double, integers modulo 2^64.
template <class T>
using Accumulator =
    std::conditional_t<std::is_integral_v<T>, std::uint64_t, std::conditional_t<is_half<T>, float, double>>;

/// Numeric conversion with defined results everywhere: floats outside an integer's range saturate, NaN
/// becomes 0, bool is "not zero".
template <class To, class From>
To convert(From v) {
  if constexpr (HostComplex<From>) {
    if constexpr (HostComplex<To>)
      return To(v);
    else if constexpr (std::is_same_v<To, bool>)
      return v.real() != 0 || v.imag() != 0;
    else
      return convert<To>(v.real());
  } else if constexpr (HostComplex<To>) {
    return To(convert<typename To::value_type>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (is_half<From>)
      return static_cast<float>(v) != 0.0f;
    else
      return v != From(0);
  } else if constexpr (is_half<From>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (is_half<To>) {
    if constexpr (std::is_same_v<From, double>) {
      // Through float with round-to-odd, so that double to half rounds once.
      float f = static_cast<float>(v);
      if (static_cast<double>(f) != v && v - v == 0.0 && f - f == 0.0f) {
        auto bits = std::bit_cast<std::uint32_t>(f);
        const bool away = v > 0 ? static_cast<double>(f) > v : static_cast<double>(f) < v;
        if (away) --bits;
        f = std::bit_cast<float>(bits | 1u);
      }
      return To(f);
    } else {
      return To(static_cast<float>(v));
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (v != v) return To(0);
    constexpr auto lo = std::numeric_limits<To>::min(), hi = std::numeric_limits<To>::max();
    if (v <= static_cast<From>(lo)) return lo;
    if (v >= static_cast<From>(hi)) return hi;
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace cotan
