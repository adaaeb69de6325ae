// randint: uniform integers.
#include <algorithm>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

namespace np = numpy;

namespace {

using Wide = __int128;
Wide lowest(DType t) { return is_signed_integer(t) ? -(Wide{1} << (8 * itemsize(t) - 1)) : Wide{0}; }
Wide highest(DType t) { return (Wide{1} << (8 * itemsize(t) - (is_signed_integer(t) ? 1 : 0))) - 1; }
/// A 64-bit pattern suffices: the scalar's dtype says how to read it.
Array integer(DType dtype, Wide value) {
  return scalar(dtype, static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
}

/// The narrowest integers that hold a value: devices without 64-bit types draw integers too.
DType integers_for(Wide value) {
  for (DType t : {i32, u32, i64})
    if (value >= lowest(t) && value <= highest(t)) return t;
  return u64;
}
/// A bound as a strong integer array, with every bit of a C++ scalar.
Array integer_bound(std::string_view what, const Array& a) {
  if (a.dtype() == DType::bool_) raise<TypeError>("[random.randint] {} is {}; it must be an integer.", what, a.aval());
  if (a.weak_type() && concrete(a) && concrete(a)->exact) {
    const ExactScalar& exact = *concrete(a)->exact;
    const bool is_unsigned = exact.kind == ExactScalar::Kind::unsigned_integer;
    const Wide value = is_unsigned ? Wide{exact.u} : Wide{a.item<std::int64_t>()};
    return integer(integers_for(value), value);
  }
  if (is_integer(a.dtype())) return ops::cast(a, a.dtype());
  return ops::cast(a, a.dtype() == f64 ? i64 : i32);
}
Array clamped(const Array& a, Wide low, Wide high) {
  const DType t = a.dtype();
  if (low <= lowest(t) && high >= highest(t)) return a;
  return bind1(ops::clamp_p, {integer(t, std::max(low, lowest(t))), a, integer(t, std::min(high, highest(t)))});
}
Array clip_to(const Array& a, DType dtype) { return ops::cast(clamped(a, lowest(dtype), highest(dtype)), dtype); }

/// Twice as many random bits as the dtype has, modulo the span: the bias is far below what can be seen.
Array sample_integers(const Array& key, const Shape& shape, const Array& minval, const Array& maxval, DType dtype) {
  const DType bits = itemsize(dtype) == 8 ? u64 : u32;
  const Array one = scalar(bits, 1);
  // One more than the largest number may be asked for: its span is one larger than can be written here.
  const Array beyond = maxval > integer(maxval.dtype(), std::min(highest(dtype), highest(maxval.dtype())));
  const Array low = clip_to(minval, dtype), high = clip_to(maxval, dtype);
  const Array span_or_zero = ops::cast(high - low, bits);
  const Array nonempty = np::where(high <= low, one, span_or_zero);
  const Array span = np::where(beyond & (high > low), nonempty + one, nonempty);
  const auto modulo = [&](const Array& a) { return lax::rem(a, span); };
  const Array half = modulo(scalar(bits, std::int64_t{1} << (bits == u64 ? 32 : 16)));
  const Array multiplier = modulo(half * half);
  const auto [first, second] = split_in_two(key);
  const Array offset =
      modulo(modulo(random_bits(first, shape, bits)) * multiplier + modulo(random_bits(second, shape, bits)));
  return low + ops::cast(offset, dtype);
}

}  // namespace

Array randint(const ArrayLike& key, const Shape& shape, const ArrayLike& minval, const ArrayLike& maxval, DType dtype) {
  check_key("randint", key);
  check_shape("randint", shape);
  check_integer("randint", key, dtype);
  Array low = parameter("randint", "minval", integer_bound("minval", minval), shape);
  Array high = parameter("randint", "maxval", integer_bound("maxval", maxval), shape);
  if (itemsize(dtype) >= 4) return ops::broadcast_to(sample_integers(key, shape, low, high, dtype), shape);
  // Narrow integers are drawn as i32, where the modulus is less biased.
  low = clamped(ops::cast(low, i32), lowest(dtype), highest(dtype));
  high = clamped(ops::cast(high, i32), lowest(dtype), highest(dtype) + 1);
  return ops::cast(ops::broadcast_to(sample_integers(key, shape, low, high, i32), shape), dtype);
}

}  // namespace cotan::random
