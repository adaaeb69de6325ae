// Less memory for more work: torch.utils.checkpoint. What is recorded inside is not kept for the derivative, but
// computed again when backward() needs it. Random numbers are the same both times.
#pragma once
#include <cmath>
#include <cotan/torch/tensor.hpp>
#include <cotan/transforms/checkpoint.hpp>

namespace cotan::torch {

namespace detail {
struct Region;
/// While it lives, what is recorded on this thread belongs to one more checkpoint.
class RegionScope {
 public:
  explicit RegionScope(const PolicyPtr& policy);
  ~RegionScope();
  RegionScope(const RegionScope&) = delete;

 private:
  std::shared_ptr<const Region> former_;
};
}  // namespace detail

/// `torch.utils`.
namespace utils {

/// Of checkpoint.
struct CheckpointOptions {
  PolicyPtr policy = policy::nothing_saveable;  ///< what is kept all the same; make it once, not in each step
};
/// f(inputs…), of which the backward pass keeps what the policy says.
template <class F, class... A>
decltype(auto) checkpoint(const CheckpointOptions& options, F&& f, A&&... inputs) {
  const detail::RegionScope scope(options.policy);
  return std::forward<F>(f)(std::forward<A>(inputs)...);
}
/// f(inputs…), of which the backward pass keeps nothing but the inputs.
template <class F, class... A>
  requires std::is_invocable_v<F, A...>
decltype(auto) checkpoint(F&& f, A&&... inputs) {
  return checkpoint(CheckpointOptions{}, std::forward<F>(f), std::forward<A>(inputs)...);
}
/// Functions one after the other, in so many checkpoints; the last ones are in none, since they come back first. By
/// default the root of their number, which needs the least memory.
template <class Functions>
Tensor checkpoint_sequential(Functions&& functions, std::optional<int> segments, Tensor x,
                             const CheckpointOptions& options = {}) {
  const auto count = static_cast<int>(std::size(functions));
  const int parts = segments.value_or(static_cast<int>(std::lround(std::sqrt(count))));
  const int length = std::max(1, count / std::max(1, parts));
  auto next = std::begin(functions);
  const auto some = [&](Tensor in, int n) {
    for (; n > 0; --n) in = (*next++)(in);
    return in;
  };
  int done = 0;
  for (; done + length < count && done < length * (parts - 1); done += length) x = checkpoint(options, some, x, length);
  return some(x, count - done);
}

}  // namespace utils

}  // namespace cotan::torch
