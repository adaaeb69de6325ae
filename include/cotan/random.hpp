// cotan::random: jax.random bit for bit (threefry2x32, partitionable). Keys are u32[2] arrays.
#pragma once
#include <cotan/array.hpp>

/// `jax.random`, bit for bit with the same key and dtype (threefry2x32, partitionable). A key is an Array u32[2];
/// whoever uses it twice draws the same twice. Draws of many keys: vmap. Dtypes that the key's device lacks raise
/// TypeError.
///
///     auto keys = ct::random::split(ct::random::key(0));
///     ct::Array x = ct::random::normal(keys[0], {3, 2});
namespace cotan::random {

/// The key of a seed, u32[2]: the data of `jax.random.key(seed)`.
Array key(std::uint64_t seed);
/// `num` new keys, u32[num, 2], of which keys[i] is one; the old one should not be used again.
Array split(const ArrayLike& key, std::int64_t num = 2);
/// A new key from a key and an integer, such as the number of a step.
Array fold_in(const ArrayLike& key, const ArrayLike& data);
/// Uniform unsigned integers of `dtype`, every bit random.
Array bits(const ArrayLike& key, const Shape& shape = {}, DType dtype = u32);
/// Uniform in [minval, maxval); bounds broadcast to `shape`.
Array uniform(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32, const ArrayLike& minval = 0.0,
              const ArrayLike& maxval = 1.0);
/// Of mean 0 and standard deviation 1.
Array normal(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// bool: true with probability `p`. The shape is that of `p` unless one is given. Drawn in the dtype of `p`, so a C++
/// number draws in f32.
Array bernoulli(const ArrayLike& key, const ArrayLike& p = 0.5, std::optional<Shape> shape = std::nullopt);
/// Uniform integers in [minval, maxval); bounds broadcast to `shape`.
Array randint(const ArrayLike& key, const Shape& shape, const ArrayLike& minval, const ArrayLike& maxval,
              DType dtype = i32);
/// i32: indices drawn by unnormalised log-probabilities along `axis`. The shape is that of `logits` without the axis;
/// one that is given ends with it.
Array categorical(const ArrayLike& key, const ArrayLike& logits, int axis = -1,
                  std::optional<Shape> shape = std::nullopt);
/// The slices of `x` along an axis in random order.
Array permutation(const ArrayLike& key, const ArrayLike& x, int axis = 0);
/// The integers below n in random order: i32.
Array permutation(const ArrayLike& key, std::int64_t n);
/// Of rate 1.
Array exponential(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Gumbel: -log(-log(u)).
Array gumbel(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Laplace: of mean 0 and scale 1.
Array laplace(const ArrayLike& key, const Shape& shape = {}, DType dtype = f32);
/// Normal numbers between `lower` and `upper`, neither included; the shape is that of the bounds unless one is given.
Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper, const Shape& shape = {},
                       DType dtype = f32);

}  // namespace cotan::random
