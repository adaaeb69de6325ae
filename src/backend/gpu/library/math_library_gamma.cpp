// lgamma, digamma and polygamma.
//
// Polynomials are minimax approximations weighted for the relative error; comments give what is fitted,
// where, and the error with rounded coefficients. Left of -1/2, lgamma and digamma come from the reflection
// formula: next to their zeros there, the error is that of the terms that cancel.
#include "backend/gpu/library/math_library.hpp"

namespace cotan::gpu {
namespace {

constexpr LibraryEntry gamma[] = {
    {"cotan_log_parts", "cotan_two_sum", R"(
// log(x) = high + low for positive finite x, subnormal ones included.
fn cotan_log_parts(x: f32) -> vec2<f32> {
  var bits = bitcast<u32>(x);
  var exponent = 0;
  if (bits < 0x800000u) {
    let shift = countLeadingZeros(bits) - 8u;
    bits = bits << shift;
    exponent = -i32(shift);
  }
  // The bits of sqrt(1/2) move the border between two exponents there.
  let moved = bits - 0x3f3504f3u;
  let e = f32((bitcast<i32>(moved) >> 23u) + exponent);
  let f = bitcast<f32>((moved & 0x7fffffu) + 0x3f3504f3u) - 1.0;
  // (log(1+f) - f)/f^2, as in expr/math_exp_log.cpp.
  var p = fma(-0.0749134794, f, 0.128734365);
  p = fma(p, f, -0.132739693);
  p = fma(p, f, 0.141874373);
  p = fma(p, f, -0.166068286);
  p = fma(p, f, 0.200017482);
  p = fma(p, f, -0.250016361);
  p = fma(p, f, 0.333333254);
  p = fma(p, f, -0.499999881);
  // The first part of ln 2 has 14 bits, so that its product is exact.
  let high = cotan_two_sum(e * 0x1.62e4p-1f, f);
  return cotan_two_sum(high.x, high.y + fma(f * f, p, e * 1.42860677e-06));
}
)"},
    {"cotan_lgamma_near_1", "", R"(
// lgamma(1 + t) for |t| <= 1/2: lgamma(1+t)/t, 2^-26.3.
fn cotan_lgamma_near_1(t: f32) -> f32 {
  var p = fma(0.156980351, t, -0.17790094);
  p = fma(p, t, 0.0529046357);
  p = fma(p, t, -0.0503940955);
  p = fma(p, t, 0.104681037);
  p = fma(p, t, -0.118788332);
  p = fma(p, t, 0.125237525);
  p = fma(p, t, -0.143368989);
  p = fma(p, t, 0.169557393);
  p = fma(p, t, -0.207414672);
  p = fma(p, t, 0.270581245);
  p = fma(p, t, -0.400685161);
  p = fma(p, t, 0.822467029);
  return t * fma(p, t, -0.577215672);
}
)"},
    {"cotan_lgamma_near_2", "", R"(
// lgamma(2 + t) for |t| <= 1/2: lgamma(2+t)/t, 2^-25.9.
fn cotan_lgamma_near_2(t: f32) -> f32 {
  var p = fma(0.000122364407, t, -0.000253619713);
  p = fma(p, t, 0.000501516159);
  p = fma(p, t, -0.00118595874);
  p = fma(p, t, 0.00289173285);
  p = fma(p, t, -0.00738615869);
  p = fma(p, t, 0.0205807351);
  p = fma(p, t, -0.06735228);
  p = fma(p, t, 0.322467029);
  return t * fma(p, t, 0.422784328);
}
)"},
    {"cotan_lgamma_positive", "cotan_log_parts cotan_lgamma_near_1 cotan_lgamma_near_2", R"(
// For finite x >= 1/2.
fn cotan_lgamma_positive(x: f32) -> f32 {
  if (x < 1.5) { return cotan_lgamma_near_1(x - 1.0); }
  if (x < 2.5) { return cotan_lgamma_near_2(x - 2.0); }
  if (x < 8.0) {
    var y = x;
    var product = 1.0;
    while (y >= 2.5) {
      y -= 1.0;
      product *= y;
    }
    let log_product = cotan_log_parts(product);
    return log_product.x + (log_product.y + cotan_lgamma_near_2(y - 2.0));
  }
  // (x - 1/2)(log x - 1) + (log(2 pi) - 1)/2 + 1/12x - 1/360x^3 + 1/1260x^5
  let log_x = cotan_log_parts(x);
  let inverse = 1.0 / x;
  let z = inverse * inverse;
  let series = inverse * fma(fma(0.000793650794, z, -0.00277777778), z, 0.0833333333);
  let factor = x - 0.5;
  return fma(factor, log_x.x - 1.0, fma(factor, log_x.y, 0.418938533 + series));
}
)"},
    {"cotan_turn", "cotan_two_product cotan_sine_near_0 cotan_cosine_near_0", R"(
// Sine and cosine of pi f for |f| <= 1/2, with their rests.
struct CotanTurn { sine: vec2<f32>, cosine: vec2<f32> }
fn cotan_turn(f: f32) -> CotanTurn {
  let steep = abs(f) > 0.25;
  let near = select(f, 0.5 - abs(f), steep);
  let r = cotan_two_product(near, 3.14159274);
  let low = fma(near, -8.742278e-08, r.y);
  let s = cotan_sine_near_0(r.x, low);
  let c = cotan_cosine_near_0(r.x, low);
  if (!steep) { return CotanTurn(s, c); }
  return CotanTurn(select(c, -c, f < 0.0), s);
}
)"},
    {"cotan_lgamma", "cotan_lgamma_positive cotan_turn cotan_two_product cotan_keep cotan_inf", R"(
fn cotan_lgamma(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits > 0x7f800000u) { return x; }
  if (bits == 0u || bits == 0x7f800000u) { return cotan_inf(); }
  if (bits < 0x3f000000u) {
    let log_x = cotan_log_parts(abs(x));
    return (cotan_lgamma_near_1(x) - log_x.y) - log_x.x;
  }
  if (x > 0.0) { return cotan_lgamma_positive(x); }
  let fraction = x - round(x);
  if (fraction == 0.0) { return cotan_inf(); }
  // log(pi/|x sin(pi x)|) - lgamma(-x)
  let sine = cotan_turn(fraction).sine;
  let product = cotan_two_product(x, sine.x);
  let log_product = cotan_log_parts(abs(product.x));
  let low = log_product.y + fma(x, sine.y, product.y) / product.x;
  return (cotan_keep(1.14472985 - log_product.x) - cotan_lgamma_positive(-x)) - (low - 3.31730086e-08);
}
)"},
    {"cotan_digamma_near_root", "", R"(
// digamma(root + u) for 1 <= root + u <= 2.5, root = 1.4616321449683623: digamma(root + u)/u, 2^-25.7.
fn cotan_digamma_near_root(u: f32) -> f32 {
  var p = fma(-0.000560455897, u, 0.00305083697);
  p = fma(p, u, -0.00748140598);
  p = fma(p, u, 0.0118697211);
  p = fma(p, u, -0.0160129275);
  p = fma(p, u, 0.0224016514);
  p = fma(p, u, -0.0329741724);
  p = fma(p, u, 0.0488011092);
  p = fma(p, u, -0.0722208172);
  p = fma(p, u, 0.107826144);
  p = fma(p, u, -0.163941741);
  p = fma(p, u, 0.258499682);
  p = fma(p, u, -0.44276318);
  return u * fma(p, u, 0.967672229);
}
)"},
    {"cotan_digamma_after", "cotan_digamma_near_root cotan_log_parts cotan_keep", R"(
// digamma(1 + x) for finite x >= 0: where the root is subtracted, 1 + x is not rounded.
fn cotan_digamma_after(x: f32) -> f32 {
  if (x < 7.0) {
    var y = x;
    var sum = 0.0;
    while (y >= 1.5) {
      sum += 1.0 / y;
      y -= 1.0;
    }
    return cotan_digamma_near_root(cotan_keep(y - 0.461632133) - 1.24381499e-08) + sum;
  }
  // log x + 1/2x - 1/12x^2 + 1/120x^4 - 1/252x^6
  let log_x = cotan_log_parts(x);
  let inverse = 1.0 / x;
  let z = inverse * inverse;
  let series = z * fma(fma(-0.00396825397, z, 0.00833333333), z, -0.0833333333);
  return log_x.x + (log_x.y + fma(0.5, inverse, series));
}
)"},
    {"cotan_digamma", "cotan_digamma_after cotan_turn cotan_quotient cotan_two_product cotan_nan cotan_keep",
     R"(
fn cotan_digamma(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits >= 0x7f800000u) { return select(x, cotan_nan(), bitcast<u32>(x) == 0xff800000u); }
  if (bits == 0u) { return cotan_nan(); }
  if (bits < 0x800000u) {
    // -1/x, also where the device takes x for 0.
    let inverse = cotan_keep(0x1p75f / f32(i32(bits))) * 0x1p74f;
    return select(-inverse, inverse, bitcast<u32>(x) != bits);
  }
  if (bits < 0x33000000u) { return -1.0 / x; }
  if (x > 0.0) {
    if (x < 1.0) { return cotan_digamma_after(x) - 1.0 / x; }
    return cotan_digamma_after(x - 1.0);
  }
  let fraction = x - round(x);
  if (fraction == 0.0) { return cotan_nan(); }
  // digamma(1 - x) - pi cos(pi x)/sin(pi x)
  let turn = cotan_turn(fraction);
  let quotient = cotan_quotient(turn.cosine, turn.sine);
  let product = cotan_two_product(quotient.x, 3.14159274);
  let low = fma(quotient.y, 3.14159274, fma(quotient.x, -8.742278e-08, product.y));
  return (cotan_digamma_after(-x) - product.x) - low;
}
)"},
    {"cotan_factorial_over_power", "cotan_two_product", R"(
// n!/(x.x + x.y)^(n+1): a product of n factors j/x, the errors carried along.
fn cotan_factorial_over_power(n: f32, x: vec2<f32>) -> f32 {
  let inverse = 1.0 / x.x;
  let check = cotan_two_product(inverse, x.x);
  let inverse_low = inverse * (((1.0 - check.x) - check.y) - inverse * x.y);
  // Where all factors are less than 1 there is room above, and errors would underflow.
  let small = abs(x.x) > n;
  let scale = select(1.0, 0x1p100f, small);
  var high = inverse * scale;
  var low = inverse_low * scale;
  for (var j = 1.0; j <= n; j += 1.0) {
    let factor = cotan_two_product(inverse, j);
    let next = cotan_two_product(high, factor.x);
    low = fma(low, factor.x, fma(high, fma(inverse_low, j, factor.y), next.y));
    high = next.x;
  }
  if ((bitcast<u32>(high) & 0x7fffffffu) >= 0x7f800000u) { return high; }
  return (high + low) * select(1.0, 0x1p-100f, small);
}
)"},
    {"cotan_zeta_sum", "cotan_factorial_over_power cotan_two_sum", R"(
const cotan_bernoulli =
    array<f32, 6>(1.0, 0.166666667, -0.0333333333, 0.0238095238, -0.0333333333, 0.0757575758);
// n! (1/x^(n+1) + 1/(x+1)^(n+1) + ...) for x = x.x + x.y > 0, n >= 1.
fn cotan_zeta_sum(n: f32, x: vec2<f32>) -> f32 {
  // From x + steps on by Euler and Maclaurin:
  // (n-1)!/x^n (1 + n/2x + sum of B_2k (2k+n-1)!/((2k)! (n-1)!) / x^2k)
  let steps = max(ceil(n + 6.0 - x.x), 0.0);
  let start = cotan_two_sum(x.x, steps) + vec2<f32>(0.0, x.y);
  let inverse = 1.0 / start.x;
  var series = 0.0;
  for (var k = 5; k >= 1; k -= 1) {
    let m = f32(2 * k);
    series = fma(series, (m + n) * (m + n + 1.0) / ((m + 1.0) * (m + 2.0)) * inverse * inverse,
                 cotan_bernoulli[k]);
  }
  series = fma(series * (n + 1.0) * inverse, inverse, inverse) * n * 0.5;
  var sum = cotan_factorial_over_power(n - 1.0, start) * (1.0 + series);
  // The smallest terms first.
  for (var k = steps - 1.0; k >= 0.0; k -= 1.0) {
    sum += cotan_factorial_over_power(n, cotan_two_sum(x.x, k) + vec2<f32>(0.0, x.y));
  }
  return sum;
}
)"},
    {"cotan_polygamma", "cotan_zeta_sum cotan_is_finite cotan_inf cotan_nan", R"(
// The n-th derivative of digamma, n >= 1. NaN below -1e5, as on the other back ends.
fn cotan_polygamma(n: f32, x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits > 0x7f800000u) { return x; }
  let odd = (i32(n) & 1) == 1;
  let sign = select(-1.0, 1.0, odd);
  if (bits == 0x7f800000u) { return select(cotan_nan(), 0.0, x > 0.0); }
  if (bits != 0u && bits < 0x800000u) {
    let negative = !odd && bitcast<u32>(x) == bits;
    return select(cotan_inf(), -cotan_inf(), negative);
  }
  if (x > 0.0) { return sign * cotan_zeta_sum(n, vec2<f32>(x, 0.0)); }
  if (x <= -1e5) { return cotan_nan(); }
  let fraction = x - round(x);
  if (fraction == 0.0) { return select(cotan_nan(), cotan_inf(), odd); }
  // The terms from the fraction upwards, and by symmetry those from it down to x.
  let nearest = cotan_factorial_over_power(n, vec2<f32>(fraction, 0.0));
  if (!cotan_is_finite(nearest)) { return sign * nearest; }
  var sum = nearest + cotan_zeta_sum(n, cotan_two_sum(1.0, fraction));
  if (x < -0.5) {
    let down = cotan_zeta_sum(n, cotan_two_sum(1.0, -fraction));
    sum += sign * (down - cotan_zeta_sum(n, cotan_two_sum(1.0, -x)));
  }
  return sign * sum;
}
)"},
};

}  // namespace

std::span<const LibraryEntry> library_gamma() { return gamma; }

}  // namespace cotan::gpu
