// sin, cos and tan of any f32. expr::math expands them for moderate arguments and calls these for the
// rest.
//
// The reduction is Payne and Hanek's: of x 2/pi only the bits that decide the quadrant and the fraction are
// computed, in integers, so that neither fused nor rounded arithmetic matters.
#include "backend/gpu/library/math_library.hpp"

namespace cotan::gpu {
namespace {

constexpr LibraryEntry trigonometry[] = {
    {"cotan_angle", "cotan_umulhi", R"(
// x = quadrant pi/2 + high + low, |high| <= pi/4.
struct CotanAngle { high: f32, low: f32, quadrant: u32 }
// The bits of 2/pi behind the point, after 32 zeros.
const cotan_two_over_pi = array<u32, 8>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
                                        0x3c439041u, 0xfe5163abu);
fn cotan_two_over_pi_word(word: u32, shift: u32) -> u32 {
  // Shifted right in two steps: by 32 it would not be shifted at all.
  return (cotan_two_over_pi[word] << shift) | ((cotan_two_over_pi[word + 1u] >> 1u) >> (31u - shift));
}
// For finite x.
fn cotan_angle(x: f32) -> CotanAngle {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits <= 0x3f490fdau) { return CotanAngle(x, 0.0, 0u); }
  // |x| = mantissa 2^(exponent - 150). 96 bits of 2/pi, the first of which makes it a multiple of 2: those
  // before it only add whole circles.
  let mantissa = (bits & 0x7fffffu) | 0x800000u;
  let position = (bits >> 23u) - 120u;
  let word = position >> 5u;
  let shift = position & 31u;
  let w0 = cotan_two_over_pi_word(word, shift);
  let w1 = cotan_two_over_pi_word(word + 1u, shift);
  let w2 = cotan_two_over_pi_word(word + 2u, shift);
  let p2 = mantissa * w2;
  let p1 = mantissa * w1 + cotan_umulhi(mantissa, w2);
  let carry = select(0u, 1u, p1 < mantissa * w1);
  let p0 = mantissa * w0 + cotan_umulhi(mantissa, w1) + carry;
  // 2 bits before the point; the fraction is rounded to the nearest quarter circle and made positive.
  let quadrant = (p0 + 0x20000000u) >> 30u;
  var f0 = (p0 << 2u) | (p1 >> 30u);
  var f1 = (p1 << 2u) | (p2 >> 30u);
  let above = (f0 >> 31u) == 1u;
  if (above) {
    f1 = ~f1 + 1u;
    f0 = ~f0 + select(0u, 1u, f1 == 0u);
  }
  var zeros = countLeadingZeros(f0);
  if (zeros == 32u) {
    f0 = f1;
    f1 = 0u;
    zeros += countLeadingZeros(f0);
  }
  let up = zeros & 31u;
  let fraction = (f0 << up) | ((f1 >> 1u) >> (31u - up));
  // Times pi/2; 24 bits in high, 8 in low.
  let angle = cotan_umulhi(fraction, 0xc90fdaa2u);
  let high = f32(i32(angle >> 8u)) * bitcast<f32>((104u - zeros) << 23u);
  let low = f32(i32(angle & 255u)) * bitcast<f32>((96u - zeros) << 23u);
  let sign = bitcast<u32>(x) & 0x80000000u;
  let flip = select(sign, sign ^ 0x80000000u, above);
  return CotanAngle(bitcast<f32>(bitcast<u32>(high) ^ flip), bitcast<f32>(bitcast<u32>(low) ^ flip),
                    select(quadrant, 0u - quadrant, sign != 0u) & 3u);
}
)"},
    // Value and the rest that rounding it left. The polynomials are those of expr/math_trig.cpp.
    {"cotan_sine_near_0", "cotan_keep", R"(
fn cotan_sine_near_0(high: f32, low: f32) -> vec2<f32> {
  let z = high * high;
  let p = fma(fma(-0.000195078828, z, 0.00833210628), z, -0.166666538);
  let tail = fma(high * z, p, fma(z * -0.5, low, low));
  let value = cotan_keep(high + tail);
  return vec2<f32>(value, tail - cotan_keep(value - high));
}
)"},
    {"cotan_cosine_near_0", "cotan_keep", R"(
fn cotan_cosine_near_0(high: f32, low: f32) -> vec2<f32> {
  let z = high * high;
  let half = 0.5 * z;
  let start = cotan_keep(1.0 - half);
  let lost = cotan_keep(1.0 - start) - half;
  let p = fma(fma(2.44291405e-05, z, -0.00138872978), z, 0.0416666456);
  let tail = fma(z * z, p, fma(-high, low, lost));
  let value = cotan_keep(start + tail);
  return vec2<f32>(value, tail - cotan_keep(value - start));
}
)"},
    {"cotan_quotient", "cotan_two_product cotan_keep", R"(
// a/b of values with their rests, likewise.
fn cotan_quotient(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let value = cotan_keep(a.x / b.x);
  let product = cotan_two_product(value, b.x);
  let rest = (cotan_keep(a.x - product.x) - product.y) + fma(-value, b.y, a.y);
  return vec2<f32>(value, rest / b.x);
}
)"},
    {"cotan_sin", "cotan_angle cotan_sine_near_0 cotan_cosine_near_0 cotan_nan", R"(
fn cotan_sin(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits >= 0x7f800000u) { return cotan_nan(); }
  if (bits < 0x39800000u) { return x; }
  let r = cotan_angle(x);
  let even = (r.quadrant & 1u) == 0u;
  let value = select(cotan_cosine_near_0(r.high, r.low).x, cotan_sine_near_0(r.high, r.low).x, even);
  return select(value, -value, r.quadrant >= 2u);
}
)"},
    {"cotan_cos", "cotan_angle cotan_sine_near_0 cotan_cosine_near_0 cotan_nan", R"(
fn cotan_cos(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return cotan_nan(); }
  let r = cotan_angle(x);
  let even = (r.quadrant & 1u) == 0u;
  let value = select(cotan_sine_near_0(r.high, r.low).x, cotan_cosine_near_0(r.high, r.low).x, even);
  return select(value, -value, r.quadrant == 1u || r.quadrant == 2u);
}
)"},
    {"cotan_tan", "cotan_angle cotan_sine_near_0 cotan_cosine_near_0 cotan_quotient cotan_nan", R"(
fn cotan_tan(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits >= 0x7f800000u) { return cotan_nan(); }
  if (bits < 0x39800000u) { return x; }
  let r = cotan_angle(x);
  let sine = cotan_sine_near_0(r.high, r.low);
  let cosine = cotan_cosine_near_0(r.high, r.low);
  let even = (r.quadrant & 1u) == 0u;
  let quotient = cotan_quotient(select(-cosine, sine, even), select(sine, cosine, even));
  return quotient.x + quotient.y;
}
)"},
};

}  // namespace

std::span<const LibraryEntry> library_trigonometry() { return trigonometry; }

}  // namespace cotan::gpu
