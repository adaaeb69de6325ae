// What is exact: remainders, neighbouring numbers, random bits.
#include <array>

#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {

const Function fmod_function{"cotan_fmod", 2};

Expr fmod(Expr x, Expr y) {
  // As long as the integer part of the quotient is exact, or one too many by rounding, so is the remainder.
  const Expr a = abs(x), b = abs(y), quotient = a / b;
  const Expr difference = fma(-trunc(quotient), b, a);
  const Expr remainder = select(lt(difference, 0), difference + b, difference);
  const Expr value = with_sign_of(x, select(lt(a, b), a, remainder));
  const Expr simple = lt(a, b) | lt(quotient, pick(x, {0x1p23, 0x1p52}));
  return patch(~simple, value, fmod_function, {x, y});
}

Expr nextafter(Expr x, Expr y) {
  // Numbers of one sign are ordered as their bits are. Halves are compared in f32.
  const bool half = itemsize(x->dtype) == 2;
  const DType bits_type = half ? DType::u16 : bits_of(x)->dtype;
  const Expr from = half ? cast(x, DType::f32) : x, to = half ? cast(y, DType::f32) : y;
  const Expr bits = bitcast(x, bits_type), one = like_bits(bits, 1);
  const Expr sign = like_bits(bits, 1ull << (8 * itemsize(x->dtype) - 1));
  const Expr zero = like(from, 0.0), up = lt(from, to);
  const Expr away_from_zero = ~(up ^ lt(zero, from));
  const Expr neighbour = select(away_from_zero, bits + one, bits - one);
  const Expr smallest = (bitcast(y, bits_type) & sign) | one;
  const Expr stepped = bitcast(select(eq(from, zero), smallest, neighbour), x->dtype);
  const Expr ordered = select(eq(from, to), y, stepped);
  return select(eq(from, from) & eq(to, to), ordered, like(x, nan));
}

std::pair<Expr, Expr> threefry2x32(Expr key0, Expr key1, Expr counter0, Expr counter1) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::array schedule{key0, key1, key0 ^ key1 ^ like_bits(key0, 0x1BD11BDA)};
  Expr a = counter0 + schedule[0], b = counter1 + schedule[1];
  for (int group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      a = a + b;
      b = (shift_left(b, rotation) | shift_right(b, 32 - rotation)) ^ a;
    }
    a = a + schedule[(group + 1) % 3];
    b = b + (schedule[(group + 2) % 3] + like_bits(b, group + 1));
  }
  return {a, b};
}

}  // namespace cotan::expr::math
