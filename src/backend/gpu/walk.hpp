// PlanWalk: goes through a plan as the host does in one call, and says what is launched with what memory. Runtimes
// launch it.
#pragma once
#include <unordered_map>

#include "backend/gpu/plan.hpp"

namespace cotan::gpu {

/// A dispatch with what it is given.
struct Launch {
  const Shader& shader;
  std::vector<int> slabs;            ///< that it binds …
  std::vector<int> blocks;           ///< … and for each slot which one of these
  std::vector<std::uint32_t> words;  ///< where slots begin in their blocks, in elements, and indices of loops
  std::array<std::uint32_t, 3> groups;
};

class PlanWalk {
 protected:
  explicit PlanWalk(const Plan& plan) : plan_(plan), program_(*plan.program) {}
  virtual ~PlanWalk() = default;

  void walk(const std::vector<PlannedStep>& steps);
  virtual void launch(Launch launch) = 0;
  virtual void run_on_host(const HostStep& step) = 0;
  /// The first word there, once all that was launched before is done.
  virtual std::uint32_t word_at(const Range& range) = 0;

  /// Where a buffer begins; not for parts whose place depends on loops of the device.
  Range range_of(BufferId id) const;
  /// The same for the host, which knows the indices of all loops around its step.
  Range range_for_host(BufferId id, const Swapped& swapped) const;
  /// An index by those of the loops around.
  std::int64_t evaluate(Expr e) const;

  const Plan& plan_;
  const Program& program_;
  // Memory of the call.
  std::vector<Range> arenas_, inputs_, outputs_;

 private:
  void walk_loop(const PlannedLoop& loop);
  void add_dispatch(const Shader& shader);
  void add_instances(const Shader& shader, const std::vector<std::size_t>& which, const std::vector<Range>& ranges);

  std::unordered_map<const expr::Node*, std::int64_t> indices_;
};

}  // namespace cotan::gpu
