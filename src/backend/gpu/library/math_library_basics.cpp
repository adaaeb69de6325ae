// Special values, conversions, integer division and error-free arithmetic.
//
// Compilers of shaders may assume that there is no NaN and no infinity, and drivers fold sums and products with
// constants as if they were exact. So NaN is seen on bits, and cotan_keep stands between two operations that
// must not be merged.
#include "backend/gpu/library/math_library.hpp"

namespace cotan::gpu {
namespace {

constexpr LibraryEntry basics[] = {
    // A constant expression with these values does not compile, the load of a variable does.
    {"cotan_special_bits", "", R"(
var<private> cotan_inf_bits: u32 = 0x7f800000u;
var<private> cotan_nan_bits: u32 = 0x7fc00000u;
var<private> cotan_sign_bit: u32 = 0x80000000u;
)"},
    {"cotan_inf", "cotan_special_bits", R"(
fn cotan_inf() -> f32 { return bitcast<f32>(cotan_inf_bits); }
)"},
    {"cotan_nan", "cotan_special_bits", R"(
fn cotan_nan() -> f32 { return bitcast<f32>(cotan_nan_bits); }
)"},
    // Tint reads -0.0 as 0.0, and takes the constants 0.0 and bitcast<f32>(0x80000000u) for the same.
    {"cotan_negative_zero", "cotan_special_bits", R"(
fn cotan_negative_zero() -> f32 { return bitcast<f32>(cotan_sign_bit); }
)"},
    {"cotan_is_nan", "", R"(
fn cotan_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
)"},
    {"cotan_is_finite", "", R"(
fn cotan_is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }
)"},
    // x, which no compiler seen so far looks through: (keep(a + c) - c) is rounded as written.
    {"cotan_keep", "", R"(
fn cotan_keep(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x)); }
)"},

    // Minimum and maximum: NaN wins, -0 is less than +0, subnormal numbers are told apart.
    {"cotan_order", "", R"(
// An integer in the order of the floats.
fn cotan_order(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return bits ^ ((bits >> 31u) & 0x7fffffff);
}
)"},
    {"cotan_min", "cotan_is_nan cotan_order", R"(
fn cotan_min(a: f32, b: f32) -> f32 {
  let first = cotan_is_nan(a) || (cotan_order(a) < cotan_order(b) && !cotan_is_nan(b));
  return select(b, a, first);
}
)"},
    {"cotan_max", "cotan_is_nan cotan_order", R"(
fn cotan_max(a: f32, b: f32) -> f32 {
  let first = cotan_is_nan(a) || (cotan_order(a) > cotan_order(b) && !cotan_is_nan(b));
  return select(b, a, first);
}
)"},

    // Floats to integers: towards zero, saturating, NaN to 0.
    {"cotan_f32_to_i32", "cotan_is_nan", R"(
fn cotan_f32_to_i32(x: f32) -> i32 {
  let low = select(i32(x), i32(-2147483648), x <= -2147483648.0);
  return select(select(low, 2147483647, x >= 2147483648.0), 0, cotan_is_nan(x));
}
)"},
    {"cotan_f32_to_u32", "", R"(
fn cotan_f32_to_u32(x: f32) -> u32 {
  return select(select(0u, u32(x), x >= 1.0), 0xffffffffu, x >= 4294967296.0);
}
)"},
    {"cotan_f32_to_int", "cotan_f32_to_i32", R"(
fn cotan_f32_to_int(x: f32, low: i32, high: i32) -> i32 { return clamp(cotan_f32_to_i32(x), low, high); }
)"},
    {"cotan_f32_to_uint", "cotan_f32_to_u32", R"(
fn cotan_f32_to_uint(x: f32, high: u32) -> u32 { return min(cotan_f32_to_u32(x), high); }
)"},
    // To nearest even, which f32(u32) is not everywhere. Both halves are exact, so that the sum rounds once.
    {"cotan_u32_to_f32", "", R"(
fn cotan_u32_to_f32(x: u32) -> f32 {
  return fma(f32(i32(x >> 16u)), 65536.0, f32(i32(x & 0xffffu)));
}
)"},

    // Half precision and bfloat16, on integers: devices flush subnormal halves, pack2x16float fails at NaN.
    // Without branches: some compilers put a function wherever it is called, and take their time over every branch.
    {"cotan_f16_bits", "", R"(
fn cotan_f16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let normal = ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u)) >> 13u) - 0x1c000u;
  // A multiple of 2^-24, which is what the last bit of 0.5 is worth.
  let subnormal = bitcast<u32>(bitcast<f32>(min(magnitude, 0x38800000u)) + 0.5) - 0x3f000000u;
  let nan = 0x7e00u | ((magnitude >> 13u) & 0x1ffu);
  let large = select(0x7c00u, nan, magnitude > 0x7f800000u);
  let number = select(subnormal, normal, magnitude >= 0x38800000u);
  return ((bits >> 16u) & 0x8000u) | select(number, large, magnitude >= 0x477ff000u);
}
)"},
    {"cotan_f16_value", "", R"(
fn cotan_f16_value(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let exponent = (bits >> 10u) & 0x1fu;
  let mantissa = bits & 0x3ffu;
  let subnormal = bitcast<u32>(f32(i32(mantissa)) * 0x1p-24f);
  let normal = ((exponent + select(112u, 224u, exponent == 31u)) << 23u) | (mantissa << 13u);
  return bitcast<f32>(sign | select(normal, subnormal, exponent == 0u));
}
)"},
    // As the value of the bits, without going there.
    {"cotan_round_f16", "", R"(
fn cotan_round_f16(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let normal = (magnitude + 0xfffu + ((magnitude >> 13u) & 1u)) & 0xffffe000u;
  let multiple = bitcast<u32>(bitcast<f32>(min(magnitude, 0x38800000u)) + 0.5) - 0x3f000000u;
  let subnormal = bitcast<u32>(f32(i32(multiple)) * 0x1p-24f);
  let large = select(0x7f800000u, 0x7fc00000u | (magnitude & 0x3fe000u), magnitude > 0x7f800000u);
  let number = select(subnormal, normal, magnitude >= 0x38800000u);
  return bitcast<f32>((bits & 0x80000000u) | select(number, large, magnitude >= 0x477ff000u));
}
)"},
    {"cotan_bf16_bits", "cotan_is_nan", R"(
fn cotan_bf16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select((bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u, (bits >> 16u) | 0x40u, cotan_is_nan(x));
}
)"},
    {"cotan_bf16_value", "", R"(
fn cotan_bf16_value(bits: u32) -> f32 { return bitcast<f32>(bits << 16u); }
)"},
    {"cotan_round_bf16", "cotan_bf16_bits cotan_bf16_value", R"(
fn cotan_round_bf16(x: f32) -> f32 { return cotan_bf16_value(cotan_bf16_bits(x)); }
)"},

    // Integers. The least integer over -1 is defined: it wraps, and the remainder is 0.
    {"cotan_div_i32", "", R"(
fn cotan_div_i32(a: i32, b: i32) -> i32 { return a / b; }
)"},
    {"cotan_rem_i32", "", R"(
fn cotan_rem_i32(a: i32, b: i32) -> i32 { return a % b; }
)"},
    {"cotan_floor_div_i32", "", R"(
// For b > 0.
fn cotan_floor_div_i32(a: i32, b: i32) -> i32 {
  let quotient = a / b;
  return quotient - select(0, 1, a - quotient * b < 0);
}
)"},
    {"cotan_floor_mod_i32", "", R"(
// For b > 0.
fn cotan_floor_mod_i32(a: i32, b: i32) -> i32 {
  let remainder = a % b;
  return remainder + select(0, b, remainder < 0);
}
)"},
    {"cotan_umulhi", "", R"(
fn cotan_umulhi(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let low = a1 * b0 + ((a0 * b0) >> 16u);
  let middle = a0 * b1 + (low & 0xffffu);
  return a1 * b1 + (low >> 16u) + (middle >> 16u);
}
)"},

    // Error-free arithmetic: the rounded result in x, what rounding lost in y.
    {"cotan_two_sum", "cotan_keep", R"(
fn cotan_two_sum(a: f32, b: f32) -> vec2<f32> {
  let sum = cotan_keep(a + b);
  let b_part = cotan_keep(sum - a);
  let a_part = cotan_keep(sum - b_part);
  return vec2<f32>(sum, cotan_keep(a - a_part) + cotan_keep(b - b_part));
}
)"},
    // Every product of halves is exact, so it does not matter whether fma is fused.
    {"cotan_two_product", "cotan_keep", R"(
fn cotan_two_product(a: f32, b: f32) -> vec2<f32> {
  let a_high = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
  let b_high = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let a_low = cotan_keep(a - a_high);
  let b_low = cotan_keep(b - b_high);
  let product = cotan_keep(a * b);
  let rest = fma(a_low, b_high, fma(a_high, b_low, fma(a_high, b_high, -product)));
  return vec2<f32>(product, fma(a_low, b_low, rest));
}
)"},
    {"cotan_fma", "", R"(
// Fused where the device's is.
fn cotan_fma(a: f32, b: f32, c: f32) -> f32 { return fma(a, b, c); }
)"},
    {"cotan_careful_fma", "cotan_two_sum cotan_two_product cotan_is_finite", R"(
// a b + c for devices whose fma rounds twice: exact where the sum cancels, else within an ulp, and without branches.
fn cotan_careful_fma(a: f32, b: f32, c: f32) -> f32 {
  let product = cotan_two_product(a, b);
  let sum = cotan_two_sum(product.x, c);
  let careful = sum.x + (sum.y + product.y);
  return select(a * b + c, careful, cotan_is_finite(careful));
}
)"},
    {"cotan_exact_fma", "cotan_two_sum cotan_two_product cotan_keep", R"(
// a b + c with one rounding, on any device. Subnormal operands and results count as 0.
// Mantissas are multiplied, c scaled to match. What the sum of the two leading parts lost is rounded to odd,
// so that the last addition rounds as if it had all bits.
fn cotan_exact_fma(a: f32, b: f32, c: f32) -> f32 {
  let a_bits = bitcast<u32>(a);
  let b_bits = bitcast<u32>(b);
  let c_bits = bitcast<u32>(c);
  let a_exponent = i32((a_bits >> 23u) & 255u);
  let b_exponent = i32((b_bits >> 23u) & 255u);
  let c_exponent = i32((c_bits >> 23u) & 255u);
  if (a_exponent == 0 || b_exponent == 0 || a_exponent == 255 || b_exponent == 255) { return a * b + c; }
  if (c_exponent == 255) { return c; }
  let scale = a_exponent + b_exponent - 254;
  let c_scaled_exponent = c_exponent - 127 - scale;
  if (c_exponent != 0 && c_scaled_exponent > 27) { return c; }
  let product = cotan_two_product(bitcast<f32>((a_bits & 0x807fffffu) | 0x3f800000u),
                                  bitcast<f32>((b_bits & 0x807fffffu) | 0x3f800000u));
  // Far below the product only the sign of c matters.
  let c_scaled = (c_bits & 0x807fffffu) | (u32(max(c_scaled_exponent, -60) + 127) << 23u);
  let low = cotan_two_sum(bitcast<f32>(select(c_scaled, 0u, c_exponent == 0)), product.y);
  let high = cotan_two_sum(product.x, low.x);
  let rest = cotan_two_sum(low.y, high.y);
  var odd = bitcast<u32>(rest.x);
  if (!(rest.y == 0.0) && (odd & 1u) == 0u) {
    odd = select(odd - 1u, odd + 1u, ((odd ^ bitcast<u32>(rest.y)) >> 31u) == 0u);
  }
  let sum = high.x + bitcast<f32>(odd);
  let half_scale = scale >> 1u;
  return cotan_keep(sum * bitcast<f32>(u32(half_scale + 127) << 23u)) *
         bitcast<f32>(u32(scale - half_scale + 127) << 23u);
}
)"},
    {"cotan_fmod", "cotan_nan", R"(
// x = m 2^(e - 149) for m with its highest bit at 2^23: (m, e). x is not 0, and finite.
fn cotan_fmod_parts(bits: u32) -> vec2<i32> {
  if (bits >= 0x800000u) { return vec2<i32>(i32((bits & 0x7fffffu) | 0x800000u), i32(bits >> 23u) - 1); }
  let shift = countLeadingZeros(bits) - 8u;
  return vec2<i32>(i32(bits << shift), -i32(shift));
}
// C's fmod, exact: long division of the mantissas in integers, 8 bits at a time.
fn cotan_fmod(x: f32, y: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let x_bits = bitcast<u32>(x) ^ sign;
  let y_bits = bitcast<u32>(y) & 0x7fffffffu;
  if (x_bits >= 0x7f800000u || y_bits > 0x7f800000u || y_bits == 0u) { return cotan_nan(); }
  if (x_bits < y_bits) { return x; }
  let dividend = cotan_fmod_parts(x_bits);
  let divisor = cotan_fmod_parts(y_bits);
  let mantissa = u32(divisor.x);
  var remainder = u32(dividend.x) % mantissa;
  for (var left = u32(dividend.y - divisor.y); left > 0u && remainder != 0u;) {
    let step = min(left, 8u);
    remainder = (remainder << step) % mantissa;
    left -= step;
  }
  if (remainder == 0u) { return bitcast<f32>(sign); }
  let exponent = divisor.y;
  if (exponent < 0) { return bitcast<f32>(sign | (remainder >> u32(-exponent))); }
  // The highest bit of a normal number's mantissa is the 1 that is missing in its exponent.
  let up = min(i32(countLeadingZeros(remainder)) - 8, exponent);
  return bitcast<f32>(sign | ((u32(exponent - up) << 23u) + (remainder << u32(up))));
}
)"},
};

}  // namespace

std::span<const LibraryEntry> library_basics() { return basics; }

}  // namespace cotan::gpu
