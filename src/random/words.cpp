// Keys, and the words that the cipher makes of a key and a counter. The counter of an element is its position in the
// flattened result.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "random/sampling.hpp"

namespace cotan::random {

Words words_of_key(const Array& key) {
  const auto word = [&](std::int64_t i) { return ops::reshape(ops::slice_axis(key, 0, i, i + 1), {}); };
  return {word(0), word(1)};
}

Array key_of(const Words& words) {
  const Array parts[] = {ops::reshape(words.high, {1}), ops::reshape(words.low, {1})};
  return ops::concatenate(parts, 0);
}

Words cipher(const Words& key, const Words& counter) {
  const Arrays words = bind(ops::threefry2x32_p, {key.high, key.low, counter.high, counter.low});
  return {words[0], words[1]};
}

Words positions(const Shape& shape) {
  const std::int64_t n = ops::product(shape);
  if (n <= std::int64_t{1} << 32) return {scalar(u32, 0), ops::reshape(ops::iota(u32, {n}, 0), shape)};
  const Array position = ops::reshape(ops::iota(u64, {n}, 0), shape);
  return {ops::cast(bind1(ops::shift_right_logical_p, {position, scalar(u64, 32)}), u32), ops::cast(position, u32)};
}

Words child(const Words& key, std::uint32_t i) { return cipher(key, {scalar(u32, 0), scalar(u32, std::int64_t{i})}); }

std::pair<Array, Array> split_in_two(const Array& key) {
  const Words words = words_of_key(key);
  return {key_of(child(words, 0)), key_of(child(words, 1))};
}

Array bits_of(const Words& words, DType dtype) {
  if (dtype == u64) {
    const Array high = bind1(ops::shift_left_p, {ops::cast(words.high, u64), scalar(u64, 32)});
    return bind1(ops::or_p, {high, ops::cast(words.low, u64)});
  }
  return ops::cast(bind1(ops::xor_p, {words.high, words.low}), dtype);
}

Array random_bits(const Array& key, const Shape& shape, DType dtype) {
  return bits_of(cipher(words_of_key(key), positions(shape)), dtype);
}

Array key(std::uint64_t seed) {
  return key_of(
      {scalar(u32, static_cast<std::int64_t>(seed >> 32)), scalar(u32, static_cast<std::int64_t>(seed & 0xffffffffu))});
}

Array key(const Array& seed) {
  if (seed.ndim() != 0 || !is_integer(seed.dtype()))
    raise<TypeError>("[random.key] the seed is {}; it must be one integer. Many: use vmap.", seed.aval());
  const Array high = itemsize(seed.dtype()) < 8
                         ? scalar(u32, 0)
                         : ops::cast(bind1(ops::shift_right_logical_p, {seed, scalar(seed.dtype(), 32)}), u32);
  return key_of({high, ops::cast(seed, u32)});
}

Array PRNGKey(std::uint64_t seed) { return key(seed); }
Array PRNGKey(const Array& seed) { return key(seed); }

Array split(const ArrayLike& key, const Shape& shape) {
  check_key("split", key);
  for (auto d : shape)
    if (d < 0) raise<ValueError>("[random.split] {} keys were asked for; the number must not be negative.", d);
  const Words words = cipher(words_of_key(key), positions(shape));
  Shape column = shape;
  column.push_back(1);
  const Array columns[] = {ops::reshape(words.high, column), ops::reshape(words.low, column)};
  return ops::concatenate(columns, static_cast<int>(shape.size()));
}

Array split(const ArrayLike& key, std::int64_t num) { return split(key, Shape{num}); }

Array fold_in(const ArrayLike& key, const ArrayLike& data) {
  check_key("fold_in", key);
  if (data->ndim() != 0 || !is_integer(data->dtype()))
    raise<TypeError>("[random.fold_in] the data is {}; it must be one integer. Many: use vmap.", data->aval());
  return key_of(cipher(words_of_key(key), {scalar(u32, 0), ops::cast(data, u32)}));
}

Array bits(const ArrayLike& key, const Shape& shape, DType dtype) {
  check_key("bits", key);
  check_shape("bits", shape);
  if (!is_unsigned_integer(dtype))
    raise<TypeError>("[random.bits] dtype {} is not unsigned; use u8, u16, u32 or u64.", dtype);
  check_device("bits", key, dtype);
  return random_bits(key, shape, dtype);
}

}  // namespace cotan::random
