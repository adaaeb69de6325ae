// When recorded operations run, and how often programs were compiled.
#pragma once
#include <cstdint>

namespace cotan::torch {

/// Counters of what was recorded and run.
struct RunStats {
  std::uint64_t recorded = 0;      ///< operations, ever
  std::uint64_t runs = 0;          ///< programs that ran
  std::uint64_t compilations = 0;  ///< of those, the ones that were not known
  std::uint64_t nodes = 0;         ///< operations and operands in programs that ran
};
/// The counters now.
RunStats run_stats();
/// Runs what is recorded and can still be read, on all threads, so that memory does not grow with the number of steps.
/// An optimizer's step() ends with it.
void mark_step();

}  // namespace cotan::torch
