// What the expansions of elementary functions share: bits of floats, polynomials, error-free sums and
// products. Everything is written once for f32 and f64; Real carries the two values of a number that differs.
#pragma once
#include <initializer_list>
#include <limits>

#include "expr/expr.hpp"

namespace cotan::expr::math {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A number that is not the same for f32 and f64 (a tail of a split constant, a threshold).
struct Real {
  double f32, f64;
};
inline double pick(Expr x, Real c) { return x->dtype == DType::f32 ? c.f32 : c.f64; }
inline Expr like(Expr x, Real c) { return expr::like(x, pick(x, c)); }
/// A constant to twice the precision: the nearest number, and what is missing.
struct Tailed {
  Real high, low;
};
constexpr Tailed tailed(double high, double low) {
  const double f32_high = static_cast<float>(high);
  return {{f32_high, high}, {static_cast<float>(high - f32_high), low}};
}
constexpr Tailed ln2 = tailed(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
constexpr Tailed log2_e = tailed(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);

using expr::like;
inline Expr fma(Expr a, Expr b, double c) { return expr::fma(a, b, like(a, c)); }
inline Expr fma(Expr a, double b, Expr c) { return expr::fma(a, like(a, b), c); }
inline Expr fma(Expr a, double b, double c) { return expr::fma(a, like(a, b), like(a, c)); }
using expr::fma;

// Comparisons and choices with a number.
inline Expr eq(Expr a, double b) { return expr::eq(a, like(a, b)); }
inline Expr lt(Expr a, double b) { return expr::lt(a, like(a, b)); }
inline Expr lt(double a, Expr b) { return expr::lt(like(b, a), b); }
inline Expr le(Expr a, double b) { return expr::le(a, like(a, b)); }
using expr::eq, expr::lt, expr::le;
inline Expr select(Expr condition, double a, Expr b) { return expr::select(condition, like(b, a), b); }
inline Expr select(Expr condition, Expr a, double b) { return expr::select(condition, a, like(a, b)); }
using expr::select;

// One instruction each, unlike min and max. NaN stays NaN.
inline Expr at_least(Expr x, double low) { return select(lt(x, low), low, x); }
inline Expr at_most(Expr x, double high) { return select(lt(high, x), high, x); }

/// A polynomial's coefficients from the constant term up.
using Coefficients = std::initializer_list<double>;
/// By Horner's rule: fewest operations, and in a loop over vectors the next iterations hide the latency.
Expr horner(Expr x, Coefficients c);
inline Expr horner(Expr x, Coefficients f32, Coefficients f64) { return horner(x, x->dtype == DType::f32 ? f32 : f64); }

// Representation ------------------------------------------------------------------------------------

inline int mantissa_bits(Expr x) { return x->dtype == DType::f32 ? 23 : 52; }
inline int exponent_bias(Expr x) { return x->dtype == DType::f32 ? 127 : 1023; }
/// As an unsigned integer.
inline Expr bits_of(Expr x) { return bitcast(x, x->dtype == DType::f32 ? DType::u32 : DType::u64); }
inline Expr from_bits(Expr bits) { return bitcast(bits, bits->dtype == DType::u32 ? DType::f32 : DType::f64); }
inline Expr sign_mask(Expr x) {
  return x->dtype == DType::f32 ? constant_bits(DType::u32, 1ull << 31) : constant_bits(DType::u64, 1ull << 63);
}
inline Expr sign_bit(Expr x) { return bits_of(x) & sign_mask(x); }
/// `magnitude`, whose sign bit is clear or already that of x, with the sign of x: odd functions keep -0.
inline Expr with_sign_of(Expr x, Expr magnitude) { return from_bits(bits_of(magnitude) | sign_bit(x)); }
inline Expr flip_sign(Expr x, Expr sign) { return from_bits(bits_of(x) ^ sign); }

/// The integer nearest to a float, in both forms that scaling by a power of two needs.
struct Nearest {
  Expr value;    ///< a float
  Expr shifted;  ///< a float whose lowest bits are value + exponent_bias + offset
};
/// Of x * factor, by adding a number so large that the sum has no bits behind the point.
Nearest nearest_integer(Expr x, double factor, int offset = 0);
/// 2^(n + offset). Nonsense where that is no normal number.
Expr power_of_two(const Nearest& n);

/// x = mantissa * 2^exponent, the mantissa from sqrt(1/2) to sqrt(2).
struct Split {
  Expr mantissa, exponent;  ///< floats
};
/// For normal positive x.
Split split_normal(Expr x);
/// For positive finite x.
Split split(Expr x);

// Error-free transformations: the rounded result and what rounding lost ---------------------------------

struct Pair {
  Expr high, low;
};
/// a + b where |a| >= |b| or a is 0.
inline Pair fast_two_sum(Expr a, Expr b) {
  const Expr sum = a + b;
  return {sum, b - (sum - a)};
}
inline Pair two_sum(Expr a, Expr b) {
  const Expr sum = a + b, rest = sum - a;
  return {sum, (a - (sum - rest)) + (b - rest)};
}
inline Pair two_product(Expr a, Expr b) {
  const Expr product = a * b;
  return {product, fma(a, b, -product)};
}

// Shared between the files of functions -----------------------------------------------------------------

/// (1 + slope * remainder) root^2: two factors of half the exponent reach subnormal and infinite results.
struct Exponential {
  Expr slope, remainder, root;
  Expr value() const { return fma(slope, remainder, 1.0) * root * root; }
  Expr times(Expr factor) const { return fma(factor, slope * remainder, factor) * root * root; }
};
/// e^(x + low) for x in the range of exp and a little more, or NaN; |low| far less than 1.
Exponential exponential(Expr x, Expr low = {});
/// 2^(x + low), likewise.
Exponential binary_exponential(Expr x, Expr low = {});
/// e^x - 1 = 2 (half_scale * value + half_scale - 1/2); value = x where |x| < ln 2/2.
struct ScaledExpm1 {
  Expr value, half_scale;
};
ScaledExpm1 scaled_expm1(Expr x);

/// |x| = 4 k turns + quarters + rest, for any |x| that is large but finite, NaN else; the rest in radians.
struct Turn {
  Expr quarters;  ///< an unsigned integer
  Expr rest;
};
Turn reduce_large(Expr x);
/// For arguments that sin, cos and tan of math.hpp leave to the library.
Expr sin_of_large(std::span<const Expr> x);
Expr cos_of_large(std::span<const Expr> x);
Expr tan_of_large(std::span<const Expr> x);

/// log(1 + f) - f for 1 + f from sqrt(1/2) to sqrt(2).
Expr log1p_tail(Expr f);
/// log(x) for normal positive x.
Expr log_of_normal(Expr x);
/// log(x) for positive finite x, to some bits more than its dtype has.
Pair log_parts(Expr x);
/// log1p that does not keep -0.
Expr log_of_one_plus(Expr x);

}  // namespace cotan::expr::math
