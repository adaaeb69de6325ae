// lax: rounding by method and to fewer bits, the upper half of products, and choice among several arrays.
#include <cotan/lax.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

namespace {

void check_floating(std::string_view op, const Array& a) {
  if (!is_floating(a.dtype())) raise<TypeError>("[{}] needs floats, got {}; cast with astype.", op, a.aval());
}

/// The upper half of a product of unsigned words of `bits` bits, by halves of words.
Array upper_half(const Array& a, const Array& b, int bits) {
  const int half = bits / 2;
  const Array mask = scalar(a.dtype(), (std::int64_t{1} << half) - 1), count = scalar(a.dtype(), half);
  const auto high = [&](const Array& x) { return shift_right_logical(x, count); };
  const Array a1 = high(a), a0 = a & mask, b1 = high(b), b0 = b & mask;
  const Array low = a0 * b0, left = a1 * b0, right = a0 * b1;
  const Array carried = high(low) + (left & mask) + (right & mask);
  return a1 * b1 + high(left) + high(right) + high(carried);
}

}  // namespace

Array round(const ArrayLike& a, RoundingMethod method) {
  check_floating("round", a);
  if (method == RoundingMethod::to_nearest_even) return bind1(ops::round_p, {a.array()});
  const Array whole = numpy::trunc(a);
  return numpy::where(numpy::abs(a - whole) >= 0.5, whole + numpy::sign(a), whole);
}

Array reduce_precision(const ArrayLike& a, int exponent_bits, int mantissa_bits) {
  check_floating("reduce_precision", a);
  if (exponent_bits < 1 || mantissa_bits < 0)
    raise<ValueError>("[reduce_precision] {} bits of exponent and {} of mantissa; give at least 1 and 0.",
                      exponent_bits, mantissa_bits);
  const DType dtype = a->dtype();
  const int own_exponent = dtype == f64   ? 11
                           : dtype == f16 ? 5
                                          : 8,
            own_mantissa = dtype == f64   ? 52
                           : dtype == f32 ? 23
                           : dtype == f16 ? 10
                                          : 7;
  // Where the dtype has no more, nothing is taken away, whatever wider type it is computed in.
  const std::int64_t exponent = exponent_bits >= own_exponent ? 64 : exponent_bits,
                     mantissa = mantissa_bits >= own_mantissa ? 64 : mantissa_bits;
  const Array out =
      bind1(ops::reduce_precision_p, {a.array()}, {{"exponent_bits", exponent}, {"mantissa_bits", mantissa}});
  if (dtype != f16 || mantissa == 64) return out;
  // Below the smallest normal number of f16 its bits have fixed places, those of the wider type do not.
  const double grid = std::ldexp(1.0, 14 + mantissa_bits);
  const Array small = (numpy::round(a->astype(f32) * grid) / grid).astype(f16);
  return numpy::where(numpy::abs(a) < std::ldexp(1.0, -14), exponent == 64 ? small : numpy::copysign(0.0, a), out);
}

Array mulhi(const ArrayLike& a, const ArrayLike& b) {
  const Arrays x = numpy::promote("mulhi", {a, b});
  const DType dtype = x[0].dtype();
  if (!is_integer(dtype)) raise<TypeError>("[mulhi] needs integers, got {}; cast with astype.", x[0].aval());
  const int bits = static_cast<int>(8 * itemsize(dtype));
  const bool sign = is_signed_integer(dtype);
  if (bits <= 16) {
    const DType wide = sign ? i32 : u32;
    const Array product = x[0].astype(wide) * x[1].astype(wide), count = scalar(wide, bits);
    return (sign ? shift_right_arithmetic(product, count) : shift_right_logical(product, count)).astype(dtype);
  }
  const DType word = bits == 32 ? u32 : u64;
  const Array p = bitcast_convert_type(x[0], word), q = bitcast_convert_type(x[1], word);
  const Array high = upper_half(p, q, bits);
  if (!sign) return high;
  // As unsigned, a negative number is 2^bits too large.
  const Array zero = scalar(word, 0);
  const Array too_much = numpy::where(x[0] < 0, q, zero) + numpy::where(x[1] < 0, p, zero);
  return bitcast_convert_type(high - too_much, dtype);
}

Array select_n(const ArrayLike& which, const ArrayList& list) {
  const std::vector<Array>& cases = list;
  if (cases.empty()) raise<ValueError>("[select_n] got no cases; give at least one.");
  const Array& w = which;
  for (const Array& c : cases)
    if (c.shape() != cases[0].shape() || (c.dtype() != cases[0].dtype() && !c.weak_type() && !cases[0].weak_type()))
      raise<TypeError>("[select_n] cases are {} and {}; they must have one shape and dtype.", cases[0].aval(),
                       c.aval());
  if (w.ndim() != 0 && w.shape() != cases[0].shape())
    raise<ShapeError>("[select_n] the predicate is {} and the cases {}; it must be a scalar or have their shape.",
                      w.aval(), cases[0].aval());
  if (w.dtype() == DType::bool_) {
    if (cases.size() > 2)
      raise<TypeError>("[select_n] a bool chooses between 2 cases, got {}; give an integer.", cases.size());
    return cases.size() == 1 ? cases[0] : numpy::where(w, cases[1], cases[0]);
  }
  if (!is_integer(w.dtype()))
    raise<TypeError>("[select_n] the predicate is {}; it must be bool or an integer.", w.aval());
  Array out = cases[0];
  for (std::size_t k = 1; k < cases.size(); ++k) out = numpy::where(w >= static_cast<std::int64_t>(k), cases[k], out);
  return out;
}

}  // namespace cotan::lax
