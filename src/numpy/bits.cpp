// Bits as elements, and elements as bits.
#include <cotan/numpy.hpp>

#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::numpy {

namespace {

/// How far the bit of each of eight elements is shifted, along a last axis.
Array shifts(std::string_view op, std::string_view bitorder) {
  if (bitorder != "big" && bitorder != "little")
    raise<ValueError>("[{}] bitorder '{}' is unknown; use big or little.", op, bitorder);
  const Array rising = ops::iota(i32, {8}, 0);
  return bitorder == "big" ? ops::rev(rising, {0}) : rising;
}
/// The axis as the last one; the flattened array where none is given.
Array with_axis_last(std::string_view op, const Array& a, std::optional<int> axis) {
  return axis ? ops::move_axis(a, resolve_axis(*axis, a.ndim(), op), a.ndim() - 1) : ravel(a);
}
Array with_axis_back(const Array& a, std::optional<int> axis) {
  return axis ? ops::move_axis(a, a.ndim() - 1, resolve_axis(*axis, a.ndim(), "packbits")) : a;
}

}  // namespace

// In i32, which every device can shift.
Array packbits(const ArrayLike& a, std::optional<int> axis, std::string_view bitorder) {
  if (is_floating(a->dtype()))
    raise<TypeError>("[packbits] {} holds no bits; give integers or bools, compare with != 0.", a->aval());
  const Array places = shifts("packbits", bitorder);
  Array bits = ops::cast(not_equal(with_axis_last("packbits", a, axis), 0), i32);
  const int last = bits.ndim() - 1;
  const std::int64_t n = bits.shape()[last], bytes = (n + 7) / 8;
  Ints low(bits.shape().size(), 0), high = low, interior = low;
  high[last] = 8 * bytes - n;
  bits = ops::pad(bits, scalar(i32, 0), low, high, interior);
  Shape shape = bits.shape();
  shape[last] = bytes;
  shape.push_back(8);
  return with_axis_back(ops::cast(sum(left_shift(ops::reshape(bits, shape), places), -1), DType::u8), axis);
}

Array unpackbits(const ArrayLike& a, std::optional<int> axis, std::optional<std::int64_t> count,
                 std::string_view bitorder) {
  if (a->dtype() != DType::u8)
    raise<TypeError>("[unpackbits] {} does not hold bytes; cast it with astype(u8).", a->aval());
  if (count && *count < 0) raise<ValueError>("[unpackbits] count {} is negative; give 0 or more.", *count);
  const Array places = shifts("unpackbits", bitorder);
  const Array bytes = ops::cast(with_axis_last("unpackbits", a, axis), i32);
  Array bits = bitwise_and(right_shift(expand_dims(bytes, -1), places), 1);
  Shape shape = bytes.shape();
  shape.back() *= 8;
  bits = ops::cast(ops::reshape(bits, shape), DType::u8);
  const int last = bits.ndim() - 1;
  if (count && *count <= shape.back()) bits = ops::slice_axis(bits, last, 0, *count);
  if (count && *count > shape.back()) {
    Ints low(shape.size(), 0), high = low, interior = low;
    high[last] = *count - shape.back();
    bits = ops::pad(bits, scalar(DType::u8, 0), low, high, interior);
  }
  return with_axis_back(bits, axis);
}

}  // namespace cotan::numpy
