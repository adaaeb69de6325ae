// Plan: a program as dispatches. What one shader cannot do whole, the host unrolls ahead: it encodes every step of a
// loop and every branch, and the device decides which of them do something.
#pragma once
#include <numeric>

#include "backend/gpu/codegen/loop.hpp"
#include "backend/gpu/tuning.hpp"

namespace cotan::gpu {

/// Buffers that have changed roles.
using Swapped = std::vector<std::pair<BufferId, BufferId>>;
/// What the host computes, or a function of the user's that it calls.
struct HostStep {
  const compiler::Routine* routine;
  Swapped swapped;
};
struct PlannedLoop;
struct PlannedChoice;
struct PlannedStep {
  int shader = -1;                             ///< a dispatch of Plan::shaders …
  std::shared_ptr<HostStep> host = {};         ///< … or a step of the host …
  std::shared_ptr<PlannedLoop> loop = {};      ///< … or a loop that is encoded step by step …
  std::shared_ptr<PlannedChoice> choice = {};  ///< … or branches with steps of the host
};
/// The host reads which branch it is, and encodes that one.
struct PlannedChoice {
  BufferId index;
  Swapped swapped;
  std::vector<std::vector<PlannedStep>> branches;
};
struct PlannedLoop {
  Expr index;
  std::int64_t length = -1;            ///< -1: until `holds` is not true, which is read back now and then
  std::vector<PlannedStep> even, odd;  ///< of steps with these numbers: carries change places
  BufferId holds = -1;
  bool waits = false;  ///< `holds` is read before each step: there are steps of the host
  Swapped swapped;     ///< around it
  /// A loop in one shader that is cut into dispatches: `even` takes the first and last step of each.
  std::int64_t chunk = 0;
  Expr first, end;
};

struct Plan {
  std::unique_ptr<Program> program;
  std::vector<Shader> shaders;
  std::vector<PlannedStep> steps;
  /// Temporary memory is in blocks, none larger than what the device can bind: places count through all of them.
  std::int64_t block_bytes = 0;
  std::vector<std::uint64_t> arenas;  ///< what is used of each
  std::size_t arena_bytes() const {
    return static_cast<std::size_t>(std::accumulate(arenas.begin(), arenas.end(), std::uint64_t{0}));
  }
  std::vector<int> units;          ///< for each step of the program the first one that shares its dispatch …
  std::vector<bool> side_by_side;  ///< … and whether those of a dispatch know nothing of each other
  std::int64_t arena_of(const compiler::Buffer& b) const { return b.place / block_bytes; }
  std::int64_t place_in_arena(const compiler::Buffer& b) const { return b.place % block_bytes; }
};

/// `timer`: for tiles of matrix products, where they are tuned.
Plan make_plan(std::unique_ptr<Program> program, const Capabilities& device, const TileTimer& timer);

inline std::int64_t group_count(const Shader& shader) {
  return std::int64_t{shader.groups[0]} * shader.groups[1] * shader.groups[2];
}

/// Steps of all kinds, loops multiplied out.
struct PlanCounts {
  std::int64_t dispatches = 0, host_steps = 0;
  int loops = 0;
};
PlanCounts count(const Plan& plan);

}  // namespace cotan::gpu
