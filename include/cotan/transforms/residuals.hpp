// What the forward pass of a derivative keeps for the backward pass.
#pragma once
#include <cotan/transforms/transformed.hpp>

namespace cotan {

/// A value that is kept, and where it comes from: "the argument 0.w", "tanh at model.cpp:12".
struct SavedResidual {
  std::string type;    ///< dtype and shape: "f32[3,4]"
  std::string source;  ///< "from the argument 0", "output of dot_general at file:line", "from a constant"
};

namespace flat {
/// What reverse mode keeps of f at such arguments.
std::vector<SavedResidual> saved_residuals(const FlatFn& f, std::span<const Array> args, const Paths& paths);
/// A line per value, to std::cout.
void print(const std::vector<SavedResidual>& residuals);
}  // namespace flat

/// The values that reverse mode of f keeps between its passes, one each: `jax.ad_checkpoint.saved_residuals`. A
/// checkpoint in f keeps what its policy says.
///
///     ct::saved_residuals(ct::checkpoint(loss), params, x)
template <class F, class... A>
  requires detail::CallableWith<F, A...>
std::vector<SavedResidual> saved_residuals(const F& f, const A&... a) {
  const auto args = detail::call_arguments<F, A...>(a...);
  detail::Flattened flat(f, args);
  return flat::saved_residuals(flat, tree::leaves(args), detail::lazy_paths(args));
}
/// The same, printed to std::cout: `jax.ad_checkpoint.print_saved_residuals`.
template <class F, class... A>
  requires detail::CallableWith<F, A...>
void print_saved_residuals(const F& f, const A&... a) {
  flat::print(saved_residuals(f, a...));
}

}  // namespace cotan
