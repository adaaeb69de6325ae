// The way of a program from the function that was traced to the steps that a device runs.
#pragma once
#include <cotan/debug.hpp>

#include "compiler/program.hpp"
#include "expansions/expansions.hpp"
#include "lowering/device_passes.hpp"

namespace cotan::lowering {

/// What a device says of itself. Which passes run, and what they do, follows from it alone.
struct Target {
  /// Fourier transforms that are fft_pairs_p; nullptr: none.
  TransformsInPairs in_pairs = nullptr;
  /// Routines that the device runs as plain operations everywhere (Fourier transforms, attention, special functions).
  /// They are expanded first, so that equal parts of them are merged.
  Wanted expands_first = nullptr;
  /// Those that are elementwise and have loops run on so many elements at a time; 0: on all at once.
  std::int64_t block = 0;
  /// Routines that the device has no code for anywhere, or inside loops.
  Wanted expands = nullptr, expands_in_loops = nullptr;
  /// Up to so many lanes take a scan that they wait for into their own program.
  std::int64_t shares_scans = 0;
  bool sinks_outputs = false;       ///< computes outputs of loops for all steps at once where it can
  bool puts_rows_in_lanes = false;  ///< runs chains of operations on small rows as one step
  bool splits_constants = false;    ///< runs what depends on no input once, as a program of its own
  ControlLowering control = {};
  compiler::Target compiler = {};
};

/// What a device runs.
struct Lowered {
  std::unique_ptr<compiler::Program> program;
  /// Computes the last inputs of `program`, from nothing; nullptr where there are none.
  JaxprPtr constants;
};

// The stages, in order. `log`, where given, gets a row for every pass and a printout after each that changed something.

/// The program that jit keeps, and that transforms of jitted functions work on.
JaxprPtr simplify(const JaxprPtr& jaxpr, Explanation* log = nullptr);
/// The program by which a device finds what it has compiled already.
JaxprPtr without_calls(const JaxprPtr& jaxpr, Explanation* log = nullptr);
/// `jaxpr`, in which something is complex, as a program on real arrays (core/complex.hpp).
JaxprPtr on_real_arrays(const JaxprPtr& jaxpr, Explanation* log = nullptr);
/// The program that a device runs.
Lowered lower(const JaxprPtr& jaxpr, const Target& target, Explanation* log = nullptr);

}  // namespace cotan::lowering
