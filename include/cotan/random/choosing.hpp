// cotan::random: draws of what is given.
#pragma once
#include <cotan/random/keys.hpp>

namespace cotan::random {

/// i32: indices drawn by unnormalised log-probabilities along `axis`. The shape is that of `logits` without the axis;
/// one that is given ends with it. Without replacement the draws are those along the axes in front: all different, and
/// no more than there are classes.
Array categorical(const ArrayLike& key, const ArrayLike& logits, int axis = -1,
                  std::optional<Shape> shape = std::nullopt, bool replace = true, Mode mode = Mode::low);
/// The slices of `x` along an axis in random order; with `independent` each line along the axis has an order of its
/// own.
Array permutation(const ArrayLike& key, const ArrayLike& x, int axis = 0, bool independent = false);
/// The integers below n in random order: i32.
Array permutation(const ArrayLike& key, std::int64_t n);

/// Of choice.
struct ChoiceOptions {
  bool replace = true;    ///< whether the same may come twice
  Array p = {};           ///< probabilities of the slices, [n]; alike where there is none
  int axis = 0;           ///< whose slices are drawn
  Mode mode = Mode::low;  ///< of gumbel, where `p` is given and nothing is replaced
};
/// Slices of `a` along an axis, drawn at random; `shape` takes the place of the axis. Probabilities that are known must
/// be none negative and sum to 1 (ValueError), and without replacement as many as are drawn must be above 0; JAX does
/// not look.
Array choice(const ArrayLike& key, const ArrayLike& a, const Shape& shape = {}, const ChoiceOptions& options = {});
/// Integers below n: i32.
Array choice(const ArrayLike& key, std::int64_t n, const Shape& shape = {}, const ChoiceOptions& options = {});

}  // namespace cotan::random
