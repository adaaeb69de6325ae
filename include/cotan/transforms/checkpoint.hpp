// Functions whose derivatives compute intermediate results again.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// What checkpoint keeps for the backward pass: `jax.checkpoint_policies`.
namespace policy {
/// Keep all intermediate results (as without checkpoint), none, those of matrix products and convolutions, or of matrix
/// products without batch axes.
extern const PolicyPtr everything_saveable, nothing_saveable, dots_saveable, dots_with_no_batch_dims_saveable;
/// JAX's other names for the last two.
extern const PolicyPtr checkpoint_dots, checkpoint_dots_with_no_batch_dims;
/// Keep what was given one of these names by checkpoint_name.
PolicyPtr save_only_these_names(std::vector<std::string> names);
/// Keep what was given a name, but none of these.
PolicyPtr save_any_names_but_these(std::vector<std::string> names);
/// Keep everything but what was given one of these names. (JAX 0.10.2 keeps that too.)
PolicyPtr save_anything_except_these_names(std::vector<std::string> names);
/// Keep what one of two policies keeps.
PolicyPtr save_from_both_policies(PolicyPtr first, PolicyPtr second);
}  // namespace policy

/// `x` under a name that save_only_these_names can refer to: `jax.ad_checkpoint.checkpoint_name`.
Array checkpoint_name(const ArrayLike& x, std::string name);

/// Of checkpoint.
struct CheckpointOptions {
  PolicyPtr policy = policy::nothing_saveable;  ///< what is kept
};
/// f whose derivative recomputes intermediate results instead of keeping them, as the policy says: less memory for more
/// work. `jax.checkpoint`: ct::grad(ct::checkpoint(f))(x).
template <class F>
auto checkpoint(F f, CheckpointOptions options = {}, const std::source_location& where = COTAN_HERE) {
  return detail::like_function(
      std::move(f),
      [options = std::move(options)](auto& flat, const Arrays& leaves) {
        return flat::checkpoint(flat, leaves, options.policy);
      },
      where);
}

}  // namespace cotan
