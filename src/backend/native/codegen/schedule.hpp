// How the loops of a kernel run on a CPU: what is vectorised, unrolled, blocked and run in parallel.
#pragma once
#include "compiler/program.hpp"

namespace cotan::native {

struct KernelSchedule {
  int vector_loop = -1;             ///< number of the loop whose iterations are lanes; -1: none
  int width = 1;                    ///< lanes
  int unroll = 1;                   ///< vectors in flight, where a reduction would wait for itself
  std::vector<int> unroll_of_pass;  ///< instead, where lanes are reduced: passes are loops of their own
  std::int64_t block = 0;           ///< iterations of a kept vector loop per parallel iteration; 0: all of them
  /// A kept loop that is blocked together with the vector loop, because some operand is contiguous along it.
  int tiled_loop = -1;
  std::int64_t tile = 0;        ///< its iterations per block
  bool squares = false;         ///< as many of them at once as there are lanes: operands are transposed in registers
  std::int64_t iterations = 1;  ///< of the parallel loop: all kept loops but the vector loop, and its blocks
  std::int64_t grain = 0;       ///< parallel iterations per chunk of work; 0: run serially
  std::vector<compiler::BufferId> streamed;  ///< results that go past the cache
  bool sums_in_memory = false;               ///< lanes are kept: whole rows are added up in a row of sums

  bool lanes_reduce(const compiler::Kernel& k) const {
    return vector_loop >= 0 && k.loops[static_cast<std::size_t>(vector_loop)].reduced;
  }
  int vectors_in(std::size_t pass) const { return unroll_of_pass.empty() ? unroll : unroll_of_pass[pass]; }
};

/// `vector_bytes`: of the widest register. `in_loop`: it becomes part of a loop's code.
KernelSchedule schedule_kernel(const compiler::Program& program, const compiler::Kernel& kernel, int vector_bytes,
                               bool in_loop = false);
/// About how long the code of one step of the vector loop is, with all other loops unrolled.
int instructions_of(const compiler::Kernel& kernel, const KernelSchedule& schedule);
std::string describe(const compiler::Kernel& kernel, const KernelSchedule& schedule);

}  // namespace cotan::native
