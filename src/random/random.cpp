// jax.random: every sampler is a fixed function of the bits that threefry2x32 gives for a key and a counter,
// where the counter of an element is its position in the flattened result.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <cotan/random.hpp>

#include "core/backend.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::random {

namespace {

namespace np = numpy;

void check_key(std::string_view op, const Array& key) {
  if (!key.defined()) raise<ValueError>("[random.{}] the key is an empty Array; make one with random::key(seed).", op);
  if (key.dtype() != u32 || key.shape() != Shape{2})
    raise<TypeError>("[random.{}] the key is {}; it must be u32[2], from random::key or split. Many keys: use vmap.",
                     op, key.aval());
}
void check_shape(std::string_view op, const Shape& shape) {
  for (auto d : shape)
    if (d < 0)
      raise<ShapeError>("[random.{}] shape {} has a negative size; sizes must be 0 or more.", op, describe(shape));
}
/// Bits are drawn in words as wide as their dtype: a device without that dtype would raise.
void check_device(std::string_view op, const Array& key, DType dtype) {
  const auto* c = concrete(key);
  if (!c || c->buffer->backend().holds(dtype)) return;
  raise<TypeError>(
      "[random.{}] the key is on the device '{}', which has no {}; draw {}, or put the key on the device 'native'.", op,
      c->buffer->backend().name(), dtype,
      is_floating(dtype)           ? "in f32"
      : is_unsigned_integer(dtype) ? "u32"
                                   : "i32");
}
void check_floating(std::string_view op, const Array& key, DType dtype) {
  if (!is_floating(dtype))
    raise<TypeError>("[random.{}] dtype {} is not a floating-point one; use f32, f64, f16 or bf16.", op, dtype);
  check_device(op, key, dtype);
}
void check_fits(std::string_view op, std::string_view what, const Shape& a, const Shape& shape) {
  bool fits = a.size() <= shape.size();
  for (std::size_t i = 0; fits && i < a.size(); ++i) {
    const auto size = a[a.size() - 1 - i];
    fits = size == 1 || size == shape[shape.size() - 1 - i];
  }
  if (!fits)
    raise<ShapeError>(
        "[random.{}] {} of shape {} does not broadcast to the result's shape {}; give a shape that it fits.", op, what,
        describe(a), describe(shape));
}
/// `a` in the result's shape; 0-d stays 0-d.
Array parameter(std::string_view op, std::string_view what, const Array& a, const Shape& shape) {
  check_fits(op, what, a.shape(), shape);
  return a.ndim() == 0 ? a : ops::broadcast_to(a, shape);
}

/// The cipher of each element's position, as two words.
Arrays cipher(const Array& key, const Shape& shape) {
  const auto word = [&](std::int64_t i) { return ops::reshape(ops::slice_axis(key, 0, i, i + 1), {}); };
  const std::int64_t n = ops::product(shape);
  if (n <= std::int64_t{1} << 32) {
    const Array low = ops::reshape(ops::iota(u32, {n}, 0), shape);
    return bind(ops::threefry2x32_p, {word(0), word(1), scalar(u32, 0), low});
  }
  const Array position = ops::reshape(ops::iota(u64, {n}, 0), shape);
  const Array high = ops::cast(bind1(ops::shift_right_logical_p, {position, scalar(u64, 32)}), u32);
  return bind(ops::threefry2x32_p, {word(0), word(1), high, ops::cast(position, u32)});
}

Array random_bits(const Array& key, const Shape& shape, DType dtype) {
  const Arrays words = cipher(key, shape);
  if (dtype == u64) {
    const Array high = bind1(ops::shift_left_p, {ops::cast(words[0], u64), scalar(u64, 32)});
    return bind1(ops::or_p, {high, ops::cast(words[1], u64)});
  }
  return ops::cast(bind1(ops::xor_p, {words[0], words[1]}), dtype);
}

struct FloatFormat {
  DType bits;
  int width, mantissa;
  std::int64_t one;  ///< the bits of 1.0
  double below_one;  ///< the largest number below 1
  double tiny;       ///< the smallest normal number
};
FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case f16:
      return {u16, 16, 10, 0x3C00, 1 - 0x1p-11, 0x1p-14};
    case bf16:
      return {u16, 16, 7, 0x3F80, 1 - 0x1p-8, 0x1p-126};
    case f32:
      return {u32, 32, 23, 0x3F800000, 1 - 0x1p-24, 0x1p-126};
    default:
      return {u64, 64, 52, 0x3FF0000000000000, 1 - 0x1p-53, 0x1p-1022};
  }
}

/// Uniform in [0, 1): random mantissa bits under the exponent of 1, minus 1.
Array unit_interval(const Array& key, const Shape& shape, DType dtype) {
  const FloatFormat format = format_of(dtype);
  const int random = format.mantissa < 8 ? 8 : format.width;  // bf16 needs only a byte
  const Array bits = ops::cast(random_bits(key, shape, random == 8 ? u8 : format.bits), format.bits);
  const Array mantissa = bind1(ops::shift_right_logical_p, {bits, scalar(format.bits, random - format.mantissa)});
  const Array in_1_2 = bind1(ops::or_p, {mantissa, scalar(format.bits, format.one)});
  return bind1(ops::bitcast_convert_type_p, {in_1_2}, {{"new_dtype", dtype}}) - scalar(dtype, 1);
}

/// u scaled to [low, high), both of u's dtype and 0-d or of its shape.
Array scaled(const Array& u, const Array& low, const Array& high) {
  const Array range = high - low;
  // XLA rounds once on f32 and f64, and after each operation on the halves.
  const Array value = itemsize(u.dtype()) > 2 ? bind1(ops::fma_p, {u, range, low}) : u * range + low;
  return np::maximum(low, value);
}
Array uniform_between(const Array& key, const Shape& shape, DType dtype, double low, double high) {
  return scaled(unit_interval(key, shape, dtype), scalar(dtype, low), scalar(dtype, high));
}
bool is_literal(const Array& a, double value) {
  return a.weak_type() && a.ndim() == 0 && concrete(a) && a.item<double>() == value;
}

Array log(const Array& x) { return bind1(ops::sampler_log_p, {x}); }
Array log1p(const Array& x) { return bind1(ops::sampler_log1p_p, {x}); }
/// The quantile function of the normal distribution, of a uniform number in (-1, 1).
Array normal_of(const Array& u) { return scalar(u.dtype(), std::sqrt(2.0)) * bind1(ops::sampler_erf_inv_p, {u}); }

/// Two keys.
std::pair<Array, Array> split_in_two(const Array& key) {
  const Array keys = split(key);
  return {ops::reshape(ops::slice_axis(keys, 0, 0, 1), {2}), ops::reshape(ops::slice_axis(keys, 0, 1, 2), {2})};
}

}  // namespace

Array key(std::uint64_t seed) {
  const Array words[] = {ops::full({1}, scalar(u32, static_cast<std::int64_t>(seed >> 32))),
                         ops::full({1}, scalar(u32, static_cast<std::int64_t>(seed & 0xffffffffu)))};
  return ops::concatenate(words, 0);
}

Array split(const ArrayLike& key, std::int64_t num) {
  check_key("split", key);
  if (num < 0) raise<ValueError>("[random.split] {} keys were asked for; the number must not be negative.", num);
  const Arrays words = cipher(key, {num});
  const Array columns[] = {ops::reshape(words[0], {num, 1}), ops::reshape(words[1], {num, 1})};
  return ops::concatenate(columns, 1);
}

Array fold_in(const ArrayLike& key, const ArrayLike& data) {
  check_key("fold_in", key);
  if (data->ndim() != 0 || !is_integer(data->dtype()))
    raise<TypeError>("[random.fold_in] the data is {}; it must be one integer. Many: use vmap.", data->aval());
  const auto word = [&](std::int64_t i) { return ops::slice_axis(key, 0, i, i + 1); };
  const Array counter = ops::reshape(ops::cast(data, u32), {1});
  return ops::concatenate(bind(ops::threefry2x32_p, {word(0), word(1), scalar(u32, 0), counter}), 0);
}

Array bits(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("bits", key);
  check_shape("bits", shape);
  if (!is_unsigned_integer(dtype))
    raise<TypeError>("[random.bits] dtype {} is not unsigned; use u8, u16, u32 or u64.", dtype);
  check_device("bits", key, dtype);
  return random_bits(key, shape, dtype);
}

Array uniform(const ArrayLike& key, const Shape& shape, DType dtype, const ArrayLike& minval, const ArrayLike& maxval) {
  check_key("uniform", key);
  check_shape("uniform", shape);
  check_floating("uniform", key, dtype);
  const Array u = unit_interval(key, shape, dtype);
  if (is_literal(minval, 0.0) && is_literal(maxval, 1.0)) return u;
  return scaled(u, parameter("uniform", "minval", ops::cast(minval, dtype), shape),
                parameter("uniform", "maxval", ops::cast(maxval, dtype), shape));
}

Array normal(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("normal", key);
  check_shape("normal", shape);
  check_floating("normal", key, dtype);
  return normal_of(uniform_between(key, shape, dtype, -format_of(dtype).below_one, 1.0));
}

Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper, const Shape& shape,
                       DType dtype) {
  check_key("truncated_normal", key);
  check_shape("truncated_normal", shape);
  check_floating("truncated_normal", key, dtype);
  const Array bounds[] = {lower, upper};
  const Shape result = shape.empty() ? np::broadcast_shapes("random.truncated_normal", bounds) : shape;
  const Array low = parameter("truncated_normal", "lower", ops::cast(lower, dtype), result);
  const Array high = parameter("truncated_normal", "upper", ops::cast(upper, dtype), result);
  const Array sqrt2 = scalar(dtype, std::sqrt(2.0));
  const Array u = scaled(unit_interval(key, result, dtype), lax::erf(low / sqrt2), lax::erf(high / sqrt2));
  // Rounding must not push a sample out of the open interval.
  return np::clip(normal_of(u), np::nextafter(lax::stop_gradient(low), scalar(dtype, np::inf)),
                  np::nextafter(lax::stop_gradient(high), scalar(dtype, -np::inf)));
}

Array bernoulli(const ArrayLike& key, const ArrayLike& p, std::optional<Shape> shape) {
  check_key("bernoulli", key);
  check_floating("bernoulli", key, p->dtype());
  const Shape result = shape ? *shape : p->shape();
  check_shape("bernoulli", result);
  const Array probability = parameter("bernoulli", "p", ops::cast(p, p->dtype()), result);
  return unit_interval(key, result, p->dtype()) < probability;
}

Array exponential(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("exponential", key);
  check_shape("exponential", shape);
  check_floating("exponential", key, dtype);
  return -log1p(-unit_interval(key, shape, dtype));
}

Array gumbel(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("gumbel", key);
  check_shape("gumbel", shape);
  check_floating("gumbel", key, dtype);
  return -log(-log(uniform_between(key, shape, dtype, format_of(dtype).tiny, 1.0)));
}

Array laplace(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("laplace", key);
  check_shape("laplace", shape);
  check_floating("laplace", key, dtype);
  const Array u = uniform_between(key, shape, dtype, -format_of(dtype).below_one, 1.0);
  return np::sign(u) * log1p(-np::abs(u));
}

Array categorical(const ArrayLike& key, const ArrayLike& logits, int axis, std::optional<Shape> shape) {
  check_key("categorical", key);
  check_floating("categorical", key, logits->dtype());
  const int along = np::resolve_axis(axis, logits->ndim(), "random.categorical");
  const std::int64_t classes = logits->shape()[along];
  if (classes == 0)
    raise<ShapeError>("[random.categorical] axis {} of {} is empty; there is nothing to draw from.", axis,
                      logits->aval());
  const Shape batch = ops::erase_axes(logits->shape(), {along});
  const Shape result = shape ? *shape : batch;
  check_shape("categorical", result);
  check_fits("categorical", "the batch of logits", batch, result);
  // The largest of logits plus Gumbel noise is a draw. Samples in front, then the batch with the classes in
  // it.
  const auto samples = static_cast<std::ptrdiff_t>(result.size() - batch.size());
  Shape noise = result;
  noise.insert(noise.begin() + samples + along, classes);
  const Array strong_logits = ops::cast(logits, logits->dtype());
  return np::argmax(gumbel(key, noise, logits->dtype()) + strong_logits, static_cast<int>(samples) + along);
}

// Integers ----------------------------------------------------------------------------------------

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

/// Sorts by fresh random keys until a collision in all rounds is unlikely enough.
Array shuffled(const Array& key, const Array& x) {
  const double size = static_cast<double>(std::max<std::int64_t>(x.size(), 1));
  const int rounds = static_cast<int>(std::ceil(3.0 * std::log(size) / std::log(4294967295.0)));
  Array left = key, out = x;
  for (int i = 0; i < rounds; ++i) {
    const auto [next, used] = split_in_two(left);
    out = lax::sort({random_bits(used, x.shape(), u32), out}, 0)[1];
    left = next;
  }
  return out;
}

}  // namespace

Array randint(const ArrayLike& key, const Shape& shape, const ArrayLike& minval, const ArrayLike& maxval, DType dtype) {
  check_key("randint", key);
  check_shape("randint", shape);
  if (!is_integer(dtype))
    raise<TypeError>("[random.randint] dtype {} is not an integer one; use i8 to i64 or u8 to u64.", dtype);
  check_device("randint", key, dtype);
  Array low = parameter("randint", "minval", integer_bound("minval", minval), shape);
  Array high = parameter("randint", "maxval", integer_bound("maxval", maxval), shape);
  if (itemsize(dtype) >= 4) return ops::broadcast_to(sample_integers(key, shape, low, high, dtype), shape);
  // Narrow integers are drawn as i32, where the modulus is less biased.
  low = clamped(ops::cast(low, i32), lowest(dtype), highest(dtype));
  high = clamped(ops::cast(high, i32), lowest(dtype), highest(dtype) + 1);
  return ops::cast(ops::broadcast_to(sample_integers(key, shape, low, high, i32), shape), dtype);
}

Array permutation(const ArrayLike& key, std::int64_t n) {
  check_key("permutation", key);
  if (n < 0) raise<ValueError>("[random.permutation] the count {} is negative; give 0 or more.", n);
  return shuffled(key, ops::iota(n > INT32_MAX ? i64 : i32, {n}, 0));
}

Array permutation(const ArrayLike& key, const ArrayLike& x, int axis) {
  check_key("permutation", key);
  if (x->ndim() == 0)
    raise<ShapeError>(
        "[random.permutation] {} has no axis to shuffle; pass a C++ integer to shuffle the integers below "
        "it.",
        x->aval());
  const int along = np::resolve_axis(axis, x->ndim(), "random.permutation");
  if (x->ndim() == 1) return shuffled(key, x);
  return np::take(x, permutation(key, x->shape()[along]), along);
}

}  // namespace cotan::random
