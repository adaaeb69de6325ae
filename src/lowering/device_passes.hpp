// Jaxpr -> Jaxpr rewrites that depend on the device, in the order in which the pipeline runs them.
#pragma once
#include "control/control.hpp"

namespace cotan {

/// Whether a Fourier transform of operands of this type along an axis is a routine with pairs as its result.
using TransformsInPairs = bool (*)(const AbstractValue& type, std::int64_t axis);
JaxprPtr transforms_in_pairs(const JaxprPtr& jaxpr, TransformsInPairs wanted);
/// Linear programs that derivatives left of associative scans become other equations: chunks of chunks where
/// `in_levels`, else scans. Runs before other rewrites of the operations inside, since those may be differentiated
/// here.
JaxprPtr lower_associative_rests(const JaxprPtr& jaxpr, bool in_levels);
/// A scan that lanes wait for becomes part of the lanes, where there are at most that many.
JaxprPtr shared_scans_in_lanes(const JaxprPtr& jaxpr, std::int64_t most_lanes);
/// What a scan computes elementwise only to output it is computed after the loop, for all steps at once.
JaxprPtr sink_outputs(const JaxprPtr& jaxpr);
/// Chains of operations that treat small rows alike become one program per row, in lanes.
JaxprPtr rows_in_lanes(const JaxprPtr& jaxpr);

/// What a device makes of control flow.
struct ControlLowering {
  bool keep_lanes = false;    ///< lanes stay where their programs are small loops, and are batches elsewhere
  std::int64_t chunks = 1;    ///< that an associative scan of a costly function is cut into
  bool chunk_always = false;  ///< also of cheap ones
  bool in_levels = false;     ///< chunks of chunks, each a lane: where there are thousands of threads
};
/// Associative scans become loops or chunks, and lanes become batches where they do not stay; also inside nested
/// programs.
JaxprPtr lower_control_flow(const JaxprPtr& jaxpr, const ControlLowering& how);
/// Lanes that read the results of other lanes become one program with them.
JaxprPtr merge_lanes(const JaxprPtr& jaxpr);

}  // namespace cotan
