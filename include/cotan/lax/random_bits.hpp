// cotan::lax: random bits by a counter.
#pragma once
#include <cotan/array.hpp>
#include <utility>

namespace cotan::lax {

/// @name Random bits
/// @{
/// Which function of key and counter gives the bits; `default_` is philox.
enum class RandomAlgorithm { default_, philox, three_fry };
/// The key for what comes after, and bits of an unsigned dtype, as XLA gives them on a CPU. A key is u32[4] or u64[2],
/// half of it a counter. cotan::random is easier.
std::pair<Array, Array> rng_bit_generator(const ArrayLike& key, const Shape& shape, DType dtype = u32,
                                          RandomAlgorithm algorithm = RandomAlgorithm::default_);
/// Numbers in [a, b), others with each call; a program that jit keeps gives the same with each run. Use
/// random::uniform.
Array rng_uniform(const ArrayLike& a, const ArrayLike& b, const Shape& shape);
/// @}

}  // namespace cotan::lax
