// What a shader of several steps has to know of all of them before its first line is written: where arrays are, which
// of them are registers, what is brought next to who computes with it, and what is asked for a step ahead.
#pragma once
#include <map>

#include "backend/gpu/codegen/loop_order.hpp"
#include "backend/gpu/codegen/loop_places.hpp"
#include "backend/gpu/codegen/loop_uses.hpp"

namespace cotan::gpu {

struct LoopAnalysis {
  Places places;
  /// All arrays of the shader's own take so little that they may be registers.
  bool few_locals = false;
  /// Arrays, by name, whose elements are chosen at run time: they are arrays, and not a variable for each element.
  std::set<std::string> indexed;
  /// By the scope of the loop: small arrays that it only reads, and that have a copy next to the threads.
  std::set<std::pair<int, BufferId>> close;
  /// By the scope of the loop: what a step reads of the caller's arrays, at places that only the number of the step
  /// decides. It is fetched a step ahead, so that nobody waits for memory.
  std::map<int, std::vector<Expr>> fetched;
};

/// What is around the steps: what a shader for them has been told, and memory that a group has left.
struct LoopSurroundings {
  std::vector<Expr> indices;  ///< of loops around, of the host or of the device
  std::int64_t room = 0;      ///< in bytes, before any of the steps' arrays
  std::uint32_t subgroup_size = 0;
};

/// `order` has looked at the steps.
LoopAnalysis analyze(const Program& program, std::span<const Step> steps, const LoopPlan& plan, const Order& order,
                     const LoopSurroundings& around);

/// Whether the threads of a group work on a step together.
inline bool is_team(const LoopPlan& plan) { return !plan.one_thread && plan.threads > 1; }
/// What an array of the shader's own is called, and the copy of one that is kept close. `own`: each thread has all of
/// it.
inline std::string local_name(BufferId b) { return fmt::format("l{}", b); }
inline std::string close_name(BufferId b, const Repeat& loop, bool own) {
  return own ? fmt::format("close{}of{}", b, loop.scope) : fmt::format("close{}", b);
}
/// Whether each thread has all of an array of so many elements that is kept close: in registers, if they are few.
inline bool is_close_to_each(const LoopPlan& plan, std::int64_t size) { return !is_team(plan) || size <= 8; }
/// Elements that are copied one by one, and not by a loop, where a thread works by itself.
inline std::int64_t most_copied(const LoopAnalysis& found) { return found.few_locals ? most_scalars : 16; }

}  // namespace cotan::gpu
