// cotan::random: keys and bits.
#pragma once
#include <cotan/array.hpp>
#include <optional>

/// `jax.random`, bit for bit with the same key and dtype (threefry2x32, partitionable). A key is an Array u32[2];
/// whoever uses it twice draws the same twice. Draws of many keys: vmap. Dtypes that the key's device lacks raise
/// TypeError. Other generators (`impl`: rbg, unsafe_rbg) are not there: their bits depend on version and device.
///
///     auto keys = ct::random::split(ct::random::key(0));
///     ct::Array x = ct::random::normal(keys[0], {3, 2});
///
/// **How equal is it?** Uniform and normal numbers, and what follows from them by arithmetic, square roots, exp, log
/// and log1p, have the bits that XLA gives on a CPU with AVX2, in every dtype. `cauchy` (tan), and `weibull_min` (pow)
/// are within 2 ulp of those. What is made of gamma variates (gamma, beta, dirichlet, t …) takes the same steps and is
/// within some ulp: XLA takes a reciprocal square root from the processor, which has other bits on other processors.
/// Draws by rejection (these, poisson, binomial) may differ where a comparison is that close, once in many millions.
///
/// Where a parameter is wider than `dtype` (f64 beside f32) samplers raise TypeError, as in JAX.
namespace cotan::random {

/// The key of a seed, u32[2]: the data of `jax.random.key(seed)`.
Array key(std::uint64_t seed);
/// The key of a seed that is a 0-d array of integers, which may be traced.
Array key(const Array& seed);
/// The same as key: `jax.random.PRNGKey`.
Array PRNGKey(std::uint64_t seed);
Array PRNGKey(const Array& seed);  ///< the same of an array
/// `num` new keys, u32[num, 2], of which keys[i] is one; the old one should not be used again.
Array split(const ArrayLike& key, std::int64_t num = 2);
/// An array of new keys, u32[shape, 2].
Array split(const ArrayLike& key, const Shape& shape);
/// A new key from a key and an integer, such as the number of a step.
Array fold_in(const ArrayLike& key, const ArrayLike& data);
/// Uniform unsigned integers of `dtype`, every bit random.
Array bits(const ArrayLike& key, const Shape& shape = {}, DType dtype = u32);

/// How finely a sampler draws uniform numbers: with one word per sample, or with two. `highest` is of gumbel and f32
/// alone, elsewhere it is `high`.
enum class Mode { low, high, highest };

}  // namespace cotan::random
