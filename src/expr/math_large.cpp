// Large angles: x = n pi/2 + rest by an integer product with the bits of 2/pi that matter to x (Payne and Hanek).
#include <array>
#include <vector>

#include "expr/math.hpp"
#include "expr/math_support.hpp"

namespace cotan::expr::math {
namespace {

// The bits of 2/pi behind the point, after a word of zeros: windows may begin before the point.
constexpr std::array<std::uint64_t, 21> two_over_pi = {0,
                                                       0xa2f9836e4e441529,
                                                       0xfc2757d1f534ddc0,
                                                       0xdb6295993c439041,
                                                       0xfe5163abdebbc561,
                                                       0xb7246e3a424dd2e0,
                                                       0x06492eea09d1921c,
                                                       0xfe1deb1cb129a73e,
                                                       0xe88235f52ebb4484,
                                                       0xe99c7026b45f7e41,
                                                       0x3991d639835339f4,
                                                       0x9c845f8bbdf9283b,
                                                       0x1ff897ffde05980f,
                                                       0xef2f118b5a0a6d1f,
                                                       0x6d367ecf27cb09b7,
                                                       0x4f463f669e5fea2d,
                                                       0x7527bac7ebe5f17b,
                                                       0x3d0739f78a5292ea,
                                                       0x6bfb5fb11f8d5d08,
                                                       0x56033046fc7b6bab,
                                                       0xf0cfbc209af4361d};

/// Three words of 2/pi from the bit at `position` of the table on. Words and position have the type of the bits of x.
std::array<Expr, 3> window(Expr position) {
  const bool narrow = position->dtype == DType::u32;
  const int bits = narrow ? 32 : 64, log2_bits = narrow ? 5 : 6;
  const auto word = [&](std::size_t k) {
    if (!narrow) return like_bits(position, two_over_pi[k]);
    return like_bits(position, k % 2 ? two_over_pi[k / 2 + 1] >> 32 : two_over_pi[k / 2] & 0xffffffff);
  };
  std::vector<Expr> words;
  for (std::size_t k = 0; k < (narrow ? 12 : two_over_pi.size()); ++k) words.push_back(word(k));
  const Expr index = shift_right(position, log2_bits), zero = like_bits(position, 0);
  for (std::size_t step = narrow ? 4 : 16; step > 0; step /= 2) {
    const Expr skip = ne(index & like_bits(index, step), zero);
    for (std::size_t k = 0; k < step + 3; ++k)  // what is left of the index is less than the step
      words[k] = select(skip, k + step < words.size() ? words[k + step] : zero, words[k]);
  }
  const Expr shift = position & like_bits(position, static_cast<std::uint64_t>(bits - 1));
  const Expr back = like_bits(position, static_cast<std::uint64_t>(bits - 1)) - shift;
  std::array<Expr, 3> out;
  for (std::size_t k = 0; k < 3; ++k)
    out[k] = shift_left(words[k], shift) | shift_right(shift_right(words[k + 1], 1), back);
  return out;
}

/// The product of two 64-bit numbers.
struct Wide {
  Expr high, low;
};
Wide product(Expr a, Expr b) {
  const Expr mask = like_bits(a, 0xffffffff);
  const Expr a0 = a & mask, a1 = shift_right(a, 32), b0 = b & mask, b1 = shift_right(b, 32);
  const Expr low = a0 * b0, first = a1 * b0 + shift_right(low, 32), second = a0 * b1 + (first & mask);
  return {a1 * b1 + shift_right(first, 32) + shift_right(second, 32), shift_left(second, 32) | (low & mask)};
}
/// An integer below 2^52 as a float; AVX2 has no instruction for it.
Expr to_f64(Expr n) { return from_bits(n | like_bits(n, 0x433ull << 52)) - 0x1p52; }

constexpr double right_angle = 0x1.921fb54442d18p+0, right_angle_tail = 0x1.1a62633145c07p-54;

// x = m 2^e, m an integer. Bits of 2/pi above the one of weight 2^(1-e) are multiples of 4 when multiplied: the window
// begins there, so that the two top bits of the product with m count quarters.
Turn reduce_f32(Expr x) {
  const Expr bits = bits_of(abs(x));
  const Expr m = (bits & like_bits(bits, 0x7fffff)) | like_bits(bits, 0x800000);
  const auto words = window(shift_right(bits, 23) - like_bits(bits, 150 + 2 - 32));
  const auto wide = [](Expr word) { return cast(word, DType::u64); };
  const Expr turn =
      shift_left(wide(m * words[0]), 32) + wide(m) * wide(words[1]) + shift_right(wide(m) * wide(words[2]), 32);
  const Expr quarters = shift_right(turn + like_bits(turn, 1ull << 61), 62);
  const Expr rest = cast(bitcast(turn - shift_left(quarters, 62), DType::i64), DType::f64);
  return {cast(quarters, DType::u32), cast(rest * (right_angle * 0x1p-62), DType::f32)};
}
Turn reduce_f64(Expr x) {
  const Expr bits = bits_of(abs(x)), one = like_bits(bits, 1), zero = like_bits(bits, 0);
  const Expr m = (bits & like_bits(bits, (1ull << 52) - 1)) | like_bits(bits, 1ull << 52);
  const auto words = window(shift_right(bits, 52) - like_bits(bits, 1075 + 2 - 64));
  const Wide middle = product(m, words[1]);
  const Expr low = middle.low + product(m, words[2]).high;
  const Expr high = m * words[0] + middle.high + select(lt(low, middle.low), one, zero);
  const Expr quarters = shift_right(high + like_bits(high, 1ull << 61), 62);
  const Expr signed_rest = high - shift_left(quarters, 62), sign = signed_rest & sign_mask(x);
  const Expr negative = ne(sign, zero);
  const Expr rest_low = select(negative, zero - low, low);
  const Expr rest_high = select(negative, zero - signed_rest - select(eq(low, zero), zero, one), signed_rest);
  // In parts that floats hold, of which the first two do not overlap.
  const Expr top = to_f64(shift_right(rest_high, 20)) * 0x1p-42;
  const Expr next = to_f64(shift_left(rest_high & like_bits(bits, 0xfffff), 32) | shift_right(rest_low, 32)) * 0x1p-94;
  const Pair r = fast_two_sum(top, next);
  const Expr tail = fma(to_f64(rest_low & like_bits(bits, 0xffffffff)), 0x1p-126, r.low);
  const Pair angle = two_product(r.high, like(x, right_angle));
  const Expr radians = angle.high + fma(r.high, right_angle_tail, fma(tail, right_angle, angle.low));
  return {quarters, flip_sign(radians, sign)};
}

}  // namespace

Turn reduce_large(Expr x) {
  const Turn turn = x->dtype == DType::f32 ? reduce_f32(x) : reduce_f64(x);
  return {turn.quarters, select(lt(abs(x), infinity), turn.rest, nan)};
}

}  // namespace cotan::expr::math
