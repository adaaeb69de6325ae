// lax: random bits from a key and a counter, as XLA's CPU back end gives them.
#include <algorithm>
#include <atomic>
#include <cotan/lax.hpp>
#include <cotan/random.hpp>

#include "core/construct.hpp"
#include "ops/ops.hpp"
#include "ops/promote.hpp"

namespace cotan::lax {

namespace {

/// Words of 32 bits, the least significant first.
using Words = std::vector<Array>;

Array word(std::int64_t value) { return scalar(u32, value); }

/// A number of several words plus one of a single word.
Words plus(Words number, Array more) {
  for (Array& w : number) {
    w = w + more;
    more = ops::cast(w < more, u32);
  }
  return number;
}

/// Ten rounds of Philox 4x32 (Salmon et al., SC 2011).
Words philox(Array key0, Array key1, Words c) {
  for (int round = 0; round < 10; ++round) {
    const Array m0 = word(0xD2511F53), m1 = word(0xCD9E8D57);
    c = {mulhi(m1, c[2]) ^ c[1] ^ key0, m1 * c[2], mulhi(m0, c[0]) ^ c[3] ^ key1, m0 * c[0]};
    key0 = key0 + word(0x9E3779B9);
    key1 = key1 + word(0xBB67AE85);
  }
  return c;
}

/// Words of each block along a last axis, flattened; the first `count`.
Array first_words(const Words& blocks, std::int64_t count) {
  const Array all = numpy::stack(blocks, -1);
  return ops::slice_axis(ops::reshape(all, {all.size()}), 0, 0, count);
}
Array joined(const Array& low, const Array& high) {
  return ops::cast(low, u64) | (ops::cast(high, u64) << scalar(u64, 32));
}

struct Bits {
  Array bits;
  std::int64_t blocks;  ///< by how many the counter moves on
};

Bits philox_bits(const Words& key, const Shape& shape, bool wide) {
  const std::int64_t n = element_count(shape), words = wide ? 2 * n : n, blocks = (words + 3) / 4;
  const Words c = plus({key[2], key[3], key[0], key[1]}, ops::iota(u32, {blocks}, 0));
  const Words y = philox(key[0], key[1], c);
  if (!wide) return {ops::reshape(first_words(y, n), shape), blocks};
  return {ops::reshape(first_words({joined(y[0], y[1]), joined(y[2], y[3])}, n), shape), blocks};
}

Bits threefry_bits(const Words& key, const Shape& shape, bool wide) {
  const auto cipher = [&](const Shape& counters) {
    const Words c = plus({key[2], key[3]}, ops::reshape(ops::iota(u32, {element_count(counters)}, 0), counters));
    return bind(ops::threefry2x32_p, numpy::broadcast_operands("rng_bit_generator", {key[0], key[1], c[0], c[1]}));
  };
  if (wide) {
    const Arrays y = cipher(shape);
    return {joined(y[0], y[1]), element_count(shape)};
  }
  // The two words of a block are neighbours along an axis: the first of even size, else the first of the longest.
  Shape half = shape.empty() ? Shape{1} : shape;
  auto split = std::find_if(half.begin(), half.end(), [](auto size) { return size % 2 == 0; });
  if (split == half.end()) split = std::max_element(half.begin(), half.end());
  const auto axis = static_cast<int>(split - half.begin());
  const std::int64_t size = *split;
  *split = (size + 1) / 2;
  Shape whole = half;
  whole[axis] *= 2;
  const Array pairs = ops::reshape(numpy::stack(cipher(half), axis + 1), whole);
  return {ops::reshape(ops::slice_axis(pairs, axis, 0, size), shape), element_count(half)};
}

}  // namespace

std::pair<Array, Array> rng_bit_generator(const ArrayLike& key, const Shape& shape, DType dtype,
                                          RandomAlgorithm algorithm) {
  const bool narrow = key->dtype() == u32 && key->shape() == Shape{4},
             wide = key->dtype() == u64 && key->shape() == Shape{2};
  if (!narrow && !wide)
    raise<TypeError>("[rng_bit_generator] the key is {}; it must be u32[4] or u64[2].", key->aval());
  if (!is_unsigned_integer(dtype))
    raise<TypeError>("[rng_bit_generator] bits cannot be {}; give an unsigned dtype.", dtype);
  checked_bytes({dtype, shape, false}, "rng_bit_generator");
  const Array words = wide ? ops::reshape(bitcast_convert_type(key, u32), {4}) : key.array();
  Words k;
  for (int i = 0; i < 4; ++i) k.push_back(ops::reshape(ops::slice_axis(words, 0, i, i + 1), {}));
  const Bits out = (algorithm == RandomAlgorithm::three_fry ? threefry_bits : philox_bits)(k, shape, dtype == u64);
  const Words counter = plus({k[2], k[3]}, word(out.blocks));
  const Array next = numpy::stack({k[0], k[1], counter[0], counter[1]}, 0);
  return {wide ? bitcast_convert_type(ops::reshape(next, {2, 2}), u64) : next, ops::cast(out.bits, dtype)};
}

Array rng_uniform(const ArrayLike& a, const ArrayLike& b, const Shape& shape) {
  static std::atomic<std::uint64_t> calls{0};
  const DType dtype = numpy::result_type(Arrays{a, b}).dtype;
  const Array key = random::key(calls++);
  if (is_integer(dtype)) return random::randint(key, shape, a, b, dtype);
  return random::uniform(key, shape, dtype, a, b);
}

}  // namespace cotan::lax
