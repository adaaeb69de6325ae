// The way of a program from the function that was traced to the steps that a device runs.
#pragma once
#include <cotan/debug.hpp>

#include "compiler/program.hpp"
#include "expansions/expansions.hpp"
#include "lowering/device_passes.hpp"

namespace cotan::lowering {

/// What a device says of itself. Which passes run, and what they do, follows from it alone.
struct Target {
  /// Routines that are plain operations there, wherever they are (Fourier transforms, attention): expanded first of
  /// all, so that equal parts of them become one.
  Wanted expands_first = nullptr;
  /// Routines that the device has no code for, and the same inside loops.
  Wanted expands = nullptr, expands_in_loops = nullptr;
  /// Lanes that take a scan that they wait for into their own program, up to so many.
  std::int64_t shares_scans = 0;
  bool sinks_outputs = false;       ///< of loops: what can be done for all steps at once is
  bool puts_rows_in_lanes = false;  ///< chains of operations on small rows become one step
  bool splits_constants = false;    ///< what follows from no input is a program of its own, run once
  ControlLowering control = {};
  compiler::Target compiler = {};
};

/// What a device runs.
struct Lowered {
  std::unique_ptr<compiler::Program> program;
  /// Gives the last inputs of `program`, from none; nullptr: there are none such.
  JaxprPtr constants;
};

// The stages, in order. `log`, where given, gets a row for every pass and a printout after each that changed something.

/// The program that everybody sees: what jit keeps, and what transforms of jitted functions work on.
JaxprPtr simplify(const JaxprPtr& jaxpr, Explanation* log = nullptr);
/// The program that devices look for among those they have compiled.
JaxprPtr without_calls(const JaxprPtr& jaxpr, Explanation* log = nullptr);
/// `jaxpr`, in which something is complex, as a program on real arrays (core/complex.hpp).
JaxprPtr on_real_arrays(const JaxprPtr& jaxpr, Explanation* log = nullptr);
/// The program that a device runs.
Lowered lower(const JaxprPtr& jaxpr, const Target& target, Explanation* log = nullptr);

}  // namespace cotan::lowering
