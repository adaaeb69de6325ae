// Places: where the arrays of a group of threads are. Shared by all, unless each thread has all of it, or each an
// element.
#pragma once
#include <set>

#include "backend/gpu/codegen/loop.hpp"

namespace cotan::gpu {

class Places {
 public:
  Places() = default;
  /// `not_spread`: arrays that are known not to be read by all threads together.
  Places(const Program& program, std::span<const Step> steps, const LoopPlan& plan, std::uint32_t subgroup_size,
         const std::set<BufferId>& not_spread);

  bool is_private(BufferId b) const { return private_.contains(b); }
  bool is_spread(BufferId b) const { return spread_.contains(b); }
  std::set<BufferId> own() const;
  void add_private(BufferId b) { private_.insert(b); }
  void remove_private(BufferId b) { private_.erase(b); }
  /// Whether every thread computes the kernel for itself.
  bool done_by_all(const Kernel& kernel) const { return is_tiny(kernel) && writes_private(kernel); }

 private:
  const compiler::Buffer& buffer(BufferId b) const { return program_->buffers[static_cast<std::size_t>(b)]; }
  bool is_tiny(const Kernel& kernel) const;
  bool writes_private(const Kernel& kernel) const;
  void find_private(std::span<const Step> steps);
  void find_spread(std::span<const Step> steps, const std::set<BufferId>& not_spread);
  bool everyone_computes(const Kernel& kernel) const;
  bool is_own_element(const Kernel& kernel, const compiler::Store& store) const;

  const Program* program_ = nullptr;
  LoopPlan plan_;
  bool can_ask_ = false;        ///< threads can ask each other for elements, which takes no waiting
  std::set<BufferId> private_;  ///< each thread has all of it
  std::set<BufferId> spread_;   ///< each thread has an element
};

/// Whether a kernel, written out, is a screenful or two of code: compilers of drivers take their time over more.
bool is_short(const Kernel& kernel);

/// f(substitution) for all values of the indices of the loops from number k on, the last one fastest.
template <class F>
void each_index(const std::vector<compiler::Loop>& loops, std::size_t k, expr::Substitution& at, F&& f) {
  if (k == loops.size()) {
    f(at);
    return;
  }
  for (std::int64_t i = 0; i < loops[k].extent; ++i) {
    at[loops[k].variable.get()] = expr::integer(i);
    each_index(loops, k + 1, at, f);
  }
}
/// With indices replaced, and nothing remembered in `at`.
inline Expr fresh(Expr e, const expr::Substitution& at) {
  expr::Substitution map = at;
  return substitute(e, map);
}

}  // namespace cotan::gpu
