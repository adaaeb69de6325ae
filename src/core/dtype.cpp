#include <bit>
#include <limits>
#include <ostream>

#include "core/buffer.hpp"
#include "core/error.hpp"

namespace cotan {

std::string_view name(DType t) {
  static constexpr std::string_view names[] = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                               "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  return names[static_cast<int>(t)];
}
std::ostream& operator<<(std::ostream& out, DType t) { return out << name(t); }

std::string describe(const Shape& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}
std::string describe(DType t, const Shape& shape) { return fmt::format("{}[{}]", name(t), fmt::join(shape, ",")); }

std::int64_t AbstractValue::size() const { return element_count(shape); }
std::int64_t element_count(const Shape& shape) {
  for (auto d : shape)
    if (d == 0) return 0;
  std::int64_t n = 1;
  for (auto d : shape)
    if (__builtin_mul_overflow(n, d, &n)) return std::numeric_limits<std::int64_t>::max();
  return n;
}
std::string AbstractValue::str() const { return describe(dtype, shape); }

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);  // a < b: bool, then signed, unsigned, floating
  if (a == DType::bool_) return b;
  if (is_complex(b)) return a == DType::f64 ? DType::c128 : b;
  if (is_floating(b)) {
    if (!is_floating(a)) return b;
    return a == DType::f16 && b == DType::bf16 ? DType::f32 : b;
  }
  if (is_signed_integer(a) == is_signed_integer(b)) return b;
  // Signed with unsigned: the signed type that holds both; beside u64 there is none, so floating.
  if (b == DType::u64) return DType::f32;
  const int signed_rank = static_cast<int>(a) - static_cast<int>(DType::i8);
  const int unsigned_rank = static_cast<int>(b) - static_cast<int>(DType::u8);
  return static_cast<DType>(static_cast<int>(DType::i8) + std::max(signed_rank, unsigned_rank + 1));
}

namespace {

// Rounds to nearest even at the target's precision, by integer arithmetic on the float's bits.
std::uint16_t half_bits(float value) {
  const auto f = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (f >> 16) & 0x8000u;
  const std::uint32_t magnitude = f & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {  // subnormal or zero in half: let float addition round
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

}  // namespace

float16::float16(float value) : bits(half_bits(value)) {}
float16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

bfloat16::bfloat16(float value) {
  const auto f = std::bit_cast<std::uint32_t>(value);
  if ((f & 0x7fffffffu) > 0x7f800000u)
    bits = static_cast<std::uint16_t>((f >> 16) | 0x40u);
  else
    bits = static_cast<std::uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
}
bfloat16::operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace cotan
