// Functions of each element: arithmetic, exponentials, trigonometry, rounding.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <utility>

namespace cotan::numpy {

/// @name Elementwise arithmetic
/// Of two operands the result has their promoted dtype and broadcast shape; of one operand its own, unless said
/// otherwise. Where "integers become floats", 64-bit ones become f64 and others f32.
/// @{
Array add(const ArrayLike& a, const ArrayLike& b);       ///< a + b
Array subtract(const ArrayLike& a, const ArrayLike& b);  ///< a - b
Array multiply(const ArrayLike& a, const ArrayLike& b);  ///< a * b
/// True division: integers become floats.
Array divide(const ArrayLike& a, const ArrayLike& b);
Array true_divide(const ArrayLike& a, const ArrayLike& b);   ///< the same as divide
Array floor_divide(const ArrayLike& a, const ArrayLike& b);  ///< a / b rounded down
/// Python's modulo: the sign of the divisor.
Array mod(const ArrayLike& a, const ArrayLike& b);
Array remainder(const ArrayLike& a, const ArrayLike& b);  ///< the same as mod
/// C's modulo: the sign of the dividend.
Array fmod(const ArrayLike& a, const ArrayLike& b);
/// a to the power b. A C++ integer as `b` multiplies `a` with itself, exactly, and has the right derivative at 0; a
/// negative one of integers raises TypeError.
Array power(const ArrayLike& a, const ArrayLike& b);
inline Array pow(const ArrayLike& a, const ArrayLike& b) { return power(a, b); }  ///< the same as power
/// a to the power b, in floats: integers become floats.
Array float_power(const ArrayLike& a, const ArrayLike& b);
/// floor_divide and remainder.
std::pair<Array, Array> divmod(const ArrayLike& a, const ArrayLike& b);
/// The fraction and the whole part, cut off towards 0; both have the sign of `a`. Integers become floats.
std::pair<Array, Array> modf(const ArrayLike& a);
/// Mantissa in [0.5, 1) and exponent, i32: a = mantissa · 2^exponent. Integers become floats.
std::pair<Array, Array> frexp(const ArrayLike& a);
Array negative(const ArrayLike& a);                       ///< -a
Array positive(const ArrayLike& a);                       ///< a
Array reciprocal(const ArrayLike& a);                     ///< 1 / a; integers become floats
Array abs(const ArrayLike& a);                            ///< |a|
Array absolute(const ArrayLike& a);                       ///< the same as abs
Array fabs(const ArrayLike& a);                           ///< |a|; integers become floats
Array sign(const ArrayLike& a);                           ///< -1, 0 or 1
Array maximum(const ArrayLike& a, const ArrayLike& b);    ///< the larger; NaN where one is NaN
Array minimum(const ArrayLike& a, const ArrayLike& b);    ///< the smaller; NaN where one is NaN
Array fmax(const ArrayLike& a, const ArrayLike& b);       ///< the larger; a number wins over a NaN
Array fmin(const ArrayLike& a, const ArrayLike& b);       ///< the smaller; a number wins over a NaN
Array square(const ArrayLike& a);                         ///< a * a; bool counts as i32
Array sqrt(const ArrayLike& a);                           ///< √a; integers become floats
Array cbrt(const ArrayLike& a);                           ///< the cube root; integers become floats
Array hypot(const ArrayLike& a, const ArrayLike& b);      ///< √(a² + b²) without overflow; integers become floats
Array copysign(const ArrayLike& a, const ArrayLike& b);   ///< |a| with the sign of b; integers become floats
Array nextafter(const ArrayLike& a, const ArrayLike& b);  ///< the next number of the dtype from a towards b
Array spacing(const ArrayLike& a);  ///< the distance to the next number away from 0, of the sign of a
Array heaviside(const ArrayLike& a, const ArrayLike& b);  ///< 0 where a < 0, 1 where a > 0, b where a is 0
/// a · 2ᵇ; `b` holds integers, else TypeError. Integers in `a` become floats.
Array ldexp(const ArrayLike& a, const ArrayLike& b);
/// min(max(a, lo), hi).
Array clip(const ArrayLike& a, const ArrayLike& lo, const ArrayLike& hi);
/// max(a, lo): clip(x, 0, ct::none).
Array clip(const ArrayLike& a, const ArrayLike& lo, None hi);
/// min(a, hi): clip(x, ct::none, 1).
Array clip(const ArrayLike& a, None lo, const ArrayLike& hi);
Array logaddexp(const ArrayLike& a, const ArrayLike& b);   ///< log(eᵃ + eᵇ) without overflow; integers become floats
Array logaddexp2(const ArrayLike& a, const ArrayLike& b);  ///< log₂(2ᵃ + 2ᵇ) without overflow; integers become floats
Array gcd(const ArrayLike& a, const ArrayLike& b);         ///< the greatest common divisor of integers
Array lcm(const ArrayLike& a, const ArrayLike& b);         ///< the least common multiple of integers
/// NaN replaced by `nan`, infinities by `posinf` and `neginf`: by default the largest numbers of the dtype.
Array nan_to_num(const ArrayLike& a, double nan = 0.0, std::optional<double> posinf = std::nullopt,
                 std::optional<double> neginf = std::nullopt);
/// @}

/// @name Exponentials, trigonometry, rounding
/// Integers become floats, f64 where they have 64 bits and else f32, unless said otherwise. Angles are in radians.
/// @{
Array exp(const ArrayLike& a);                          ///< eᵃ
Array exp2(const ArrayLike& a);                         ///< 2ᵃ
Array expm1(const ArrayLike& a);                        ///< eᵃ - 1, exact near 0
Array log(const ArrayLike& a);                          ///< the natural logarithm
Array log2(const ArrayLike& a);                         ///< the logarithm to base 2
Array log10(const ArrayLike& a);                        ///< the logarithm to base 10
Array log1p(const ArrayLike& a);                        ///< log(1 + a), exact near 0
Array sin(const ArrayLike& a);                          ///< sine
Array cos(const ArrayLike& a);                          ///< cosine
Array tan(const ArrayLike& a);                          ///< tangent
Array arcsin(const ArrayLike& a);                       ///< inverse sine, in [-π/2, π/2]
Array arccos(const ArrayLike& a);                       ///< inverse cosine, in [0, π]
Array arctan(const ArrayLike& a);                       ///< inverse tangent, in [-π/2, π/2]
Array arctan2(const ArrayLike& y, const ArrayLike& x);  ///< the angle of the point (x, y), in [-π, π]
Array sinh(const ArrayLike& a);                         ///< hyperbolic sine
Array cosh(const ArrayLike& a);                         ///< hyperbolic cosine
Array tanh(const ArrayLike& a);                         ///< hyperbolic tangent
Array arcsinh(const ArrayLike& a);                      ///< inverse hyperbolic sine
Array arccosh(const ArrayLike& a);                      ///< inverse hyperbolic cosine
Array arctanh(const ArrayLike& a);                      ///< inverse hyperbolic tangent
Array sinc(const ArrayLike& a);                         ///< sin(πa) / (πa); 1 at 0
Array i0(const ArrayLike& a);                           ///< the modified Bessel function of the first kind, order 0
inline Array asin(const ArrayLike& a) { return arcsin(a); }                           ///< the same as arcsin
inline Array acos(const ArrayLike& a) { return arccos(a); }                           ///< the same as arccos
inline Array atan(const ArrayLike& a) { return arctan(a); }                           ///< the same as arctan
inline Array asinh(const ArrayLike& a) { return arcsinh(a); }                         ///< the same as arcsinh
inline Array acosh(const ArrayLike& a) { return arccosh(a); }                         ///< the same as arccosh
inline Array atanh(const ArrayLike& a) { return arctanh(a); }                         ///< the same as arctanh
inline Array atan2(const ArrayLike& y, const ArrayLike& x) { return arctan2(y, x); }  ///< the same as arctan2
Array deg2rad(const ArrayLike& a);                                                    ///< degrees to radians
Array rad2deg(const ArrayLike& a);                                                    ///< radians to degrees
inline Array radians(const ArrayLike& a) { return deg2rad(a); }                       ///< the same as deg2rad
inline Array degrees(const ArrayLike& a) { return rad2deg(a); }                       ///< the same as rad2deg
Array floor(const ArrayLike& a);  ///< rounded down; integers stay as they are
Array ceil(const ArrayLike& a);   ///< rounded up; integers stay as they are
Array trunc(const ArrayLike& a);  ///< rounded towards 0; integers stay as they are
Array rint(const ArrayLike& a);   ///< the nearest whole number, half to even
/// Half to even, at `decimals` digits after the point, or before it where negative. Dtypes are kept.
Array round(const ArrayLike& a, int decimals = 0);
inline Array around(const ArrayLike& a, int decimals = 0) { return round(a, decimals); }  ///< the same as round
/// Angles without jumps along an axis: where neighbours differ by more than `discont`, by default half a period, whole
/// periods are added.
Array unwrap(const ArrayLike& a, const std::optional<Array>& discont = std::nullopt, int axis = -1,
             const ArrayLike& period = 6.283185307179586);
/// @}

}  // namespace cotan::numpy
