// cotan::random: jax.random bit for bit (threefry2x32, partitionable). Keys are u32[2] arrays.
#pragma once
#include <cotan/array.hpp>

namespace cotan::random {

Array key(std::uint64_t seed);
/// n new keys: u32[n, 2].
Array split(const ArrayLike& key, std::int64_t num = 2);
Array fold_in(const ArrayLike& key, const ArrayLike& data);
/// Uniform unsigned integers of `dtype`.
Array bits(const ArrayLike& key, const Shape& shape = {}, DType dtype = u32);
/// Uniform in [minval, maxval).
Array uniform(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32, const ArrayLike& minval = 0.0,
              const ArrayLike& maxval = 1.0);
Array normal(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
Array bernoulli(const ArrayLike& key, const ArrayLike& p = 0.5, std::optional<Shape> shape = std::nullopt);
/// Uniform integers in [minval, maxval).
Array randint(const ArrayLike& key, const Shape& shape, const ArrayLike& minval, const ArrayLike& maxval,
              DType dtype = i32);
/// Indices drawn by unnormalised log-probabilities along `axis`.
Array categorical(const ArrayLike& key, const ArrayLike& logits, int axis = -1,
                  std::optional<Shape> shape = std::nullopt);
/// `x` shuffled along `axis`; the integers below n for a count.
Array permutation(const ArrayLike& key, const ArrayLike& x, int axis = 0);
Array permutation(const ArrayLike& key, std::int64_t n);
Array exponential(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
Array gumbel(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
Array laplace(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper, const Shape& shape = {},
                       DType dtype = f32);

}  // namespace cotan::random
