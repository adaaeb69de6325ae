#include "expr/math_support.hpp"

#include <cmath>

namespace cotan::expr::math {

Expr horner(Expr x, Coefficients c) {
  auto coefficient = std::rbegin(c);
  Expr sum = like(x, *coefficient);
  while (++coefficient != std::rend(c)) sum = fma(sum, x, like(x, *coefficient));
  return sum;
}

Nearest nearest_integer(Expr x, double factor, int offset) {
  const double shift = std::ldexp(1.5, mantissa_bits(x)) + exponent_bias(x) + offset;
  const Expr shifted = fma(x, factor, shift);
  return {shifted - shift, shifted};
}
Expr power_of_two(const Nearest& n) { return from_bits(shift_left(bits_of(n.shifted), mantissa_bits(n.shifted))); }

Split split_normal(Expr x) {
  // Subtracting the bits of sqrt(1/2) moves the border between two exponents there.
  const Expr border = bits_of(like(x, 0.70710678118654752));
  const Expr moved = bits_of(x) - border;
  const Expr mantissa_mask = like_bits(moved, (1ull << mantissa_bits(x)) - 1);
  const Expr mantissa = from_bits((moved & mantissa_mask) + border);
  if (x->dtype == DType::f32) return {mantissa, cast(shift_right_sign(bitcast(moved, DType::i32), 23), DType::f32)};
  // AVX2 converts no 64-bit integers: put the exponent + 2^11 below the mantissa of 2^52.
  const Expr biased = shift_right(moved + like_bits(moved, 1ull << 63), 52);
  const Expr shifted = from_bits(biased | like_bits(biased, 0x433ull << 52));
  return {mantissa, shifted - (0x1p52 + 0x1p11)};
}

Split split(Expr x) {
  const Expr subnormal = lt(x, pick(x, {0x1p-126, 0x1p-1022}));
  const int up = mantissa_bits(x) + 1;
  const Split s = split_normal(select(subnormal, x * std::ldexp(1.0, up), x));
  return {s.mantissa, select(subnormal, s.exponent - up, s.exponent)};
}

}  // namespace cotan::expr::math
