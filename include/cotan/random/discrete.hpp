// cotan::random: distributions of integers and truth values.
#pragma once
#include <cotan/random/keys.hpp>

namespace cotan::random {

/// bool: true with probability `p`. The shape is that of `p` unless one is given. Drawn in the dtype of `p`, so a C++
/// number draws in f32. Mode::high is for probabilities below 1e-7.
Array bernoulli(const ArrayLike& key, const ArrayLike& p = 0.5, std::optional<Shape> shape = std::nullopt,
                Mode mode = Mode::low);
/// -1 or 1, of a signed or floating dtype. As bernoulli in JAX it is drawn in f64 where `dtype` has 64 bits.
Array rademacher(const ArrayLike& key, const Shape& shape = {}, DType dtype = i32);
/// Uniform integers in [minval, maxval); bounds broadcast to `shape`.
Array randint(const ArrayLike& key, const Shape& shape, const ArrayLike& minval, const ArrayLike& maxval,
              DType dtype = i32);
/// How often to try until success of probability `p`: 1 or more. Drawn in the dtype of `p`, a C++ number in f32.
Array geometric(const ArrayLike& key, const ArrayLike& p, const std::optional<Shape>& shape = {}, DType dtype = i32);
/// Poisson of rate `lam`, which counts as f32: Knuth's method below 10, transformed rejection above. -1 where the rate
/// is negative or NaN, as in JAX.
Array poisson(const ArrayLike& key, const ArrayLike& lam, const std::optional<Shape>& shape = {}, DType dtype = i32);
/// Successes in `n` tries of probability `p`, as floats of `dtype`; drawn in the dtype of `p`, a C++ number in f32. NaN
/// where n or p is negative, p above 1 or one of them NaN. (JAX 0.10 stops Stirling's series at 9, a slip that moves
/// one draw in ten thousand where n min(p, 1 - p) > 10; here it goes on.)
Array binomial(const ArrayLike& key, const ArrayLike& n, const ArrayLike& p, const std::optional<Shape>& shape = {},
               DType dtype = f32);
/// Of multinomial.
struct MultinomialOptions {
  std::optional<Shape> shape = {};  ///< the shape of the result, outcomes last; that of `p` unless given
  DType dtype = f32;
  std::int64_t unroll = 1;  ///< of the scan over outcomes
};
/// How often each outcome, along the last axis of `p`, comes up in `n` tries; `n` broadcasts to the axes before. Counts
/// sum to n. A `p` that is known must sum to 1, and raises ValueError otherwise (JAX takes any and scales it); p within
/// a jit or vmap is scaled.
Array multinomial(const ArrayLike& key, const ArrayLike& n, const ArrayLike& p, const MultinomialOptions& options = {});

}  // namespace cotan::random
