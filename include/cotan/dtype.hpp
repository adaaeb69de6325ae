// Element types, JAX's promotion lattice over them, and the host types float16 and bfloat16.
#pragma once
#include <concepts>
#include <cotan/call_site.hpp>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cotan {

/// The type of an array's elements. Each has a short name in the namespace: `ct::f32`.
enum class DType : std::uint8_t { bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };

/// @name Short names
/// @{
inline constexpr DType bool_ = DType::bool_;                                                  ///< true or false, a byte
inline constexpr DType i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64;  ///< signed integers
inline constexpr DType u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64;  ///< unsigned integers
inline constexpr DType f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64;  ///< floats
inline constexpr DType c64 = DType::c64, c128 = DType::c128;  ///< complex numbers: pairs of f32, of f64
/// @}

/// Sizes of the axes; {} is a scalar.
using Shape = std::vector<std::int64_t>;

/// IEEE binary16 as a host type: storage only, arithmetic goes through float.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  float16(float value);
  operator float() const;
};

/// The upper half of an IEEE binary32 as a host type: storage only, arithmetic goes through float.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  bfloat16(float value);
  operator float() const;
};

constexpr bool is_floating(DType t) { return t >= DType::f16 && t <= DType::f64; }         ///< f16, bf16, f32, f64
constexpr bool is_complex(DType t) { return t >= DType::c64; }                             ///< c64, c128
constexpr bool is_inexact(DType t) { return t >= DType::f16; }                             ///< floating or complex
constexpr bool is_signed_integer(DType t) { return t >= DType::i8 && t <= DType::i64; }    ///< i8 to i64
constexpr bool is_unsigned_integer(DType t) { return t >= DType::u8 && t <= DType::u64; }  ///< u8 to u64
constexpr bool is_integer(DType t) { return t >= DType::i8 && t <= DType::u64; }  ///< i8 to i64, u8 to u64; not bool

/// Bytes per element.
constexpr std::size_t itemsize(DType t) {
  constexpr std::size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
/// The dtype of a complex number's parts: f32 of c64, f64 of c128; other dtypes as they are.
constexpr DType real_dtype(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
/// The complex dtype that holds numbers of `t`: c128 of f64 and c128, else c64.
constexpr DType complex_dtype(DType t) { return t == DType::f64 || t == DType::c128 ? DType::c128 : DType::c64; }

/// Short name as in printed programs: "f32", "i64", "bool".
std::string_view name(DType t);
std::ostream& operator<<(std::ostream& out, DType t);  ///< its short name
/// "f32[2,3]"
std::string describe(DType t, const Shape& shape);
std::string describe(const Shape& shape);  ///< as errors show it: "(2, 3)"

/// The dtype that a binary operation on `a` and `b` computes in: `jnp.promote_types` with x64 on.
DType promote_types(DType a, DType b);

/// `std::complex<float>` and `std::complex<double>`, told by their members: the header <complex> is a fifth of what
/// there would be to read, and most programs do not need it.
template <class T>
concept HostComplex = requires(const T& z) {
  { z.real() } -> std::same_as<typename T::value_type>;
  { z.imag() } -> std::same_as<typename T::value_type>;
  requires std::is_same_v<typename T::value_type, float> || std::is_same_v<typename T::value_type, double>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type) && std::is_trivially_copyable_v<T>;
};
/// C++ numbers: they are weak scalars in expressions.
template <class T>
concept HostNumber = std::is_arithmetic_v<T> || HostComplex<T>;
/// Host types that an Array can be made from or copied to.
template <class T>
concept HostElement = HostNumber<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The dtype that stores a host type; `long` and `long long` count as 64-bit where they are.
template <HostElement T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::bool_;
  else if constexpr (std::is_same_v<T, float16>)
    return DType::f16;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_floating_point_v<T>)
    return DType::f64;
  else if constexpr (HostComplex<T>)
    return sizeof(T) == 8 ? DType::c64 : DType::c128;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? DType::i8 : sizeof(T) == 2 ? DType::i16 : sizeof(T) == 4 ? DType::i32 : DType::i64;
  else
    return sizeof(T) == 1 ? DType::u8 : sizeof(T) == 2 ? DType::u16 : sizeof(T) == 4 ? DType::u32 : DType::u64;
}

}  // namespace cotan
