// Jaxpr -> Jaxpr rewrites that depend on the device, in the order in which the pipeline runs them.
#pragma once
#include "control/control.hpp"

namespace cotan {

/// What derivatives left of associative scans, as programs of other equations: chunks of chunks where `in_levels`, else
/// scans. Before anything is made of the operations inside: they may be differentiated here.
JaxprPtr lower_associative_rests(const JaxprPtr& jaxpr, bool in_levels);
/// Scans that up to so many lanes wait for become part of the lanes.
JaxprPtr shared_scans_in_lanes(const JaxprPtr& jaxpr, std::int64_t most_lanes);
/// What scans compute elementwise only to give it out is computed after them, for all steps at once.
JaxprPtr sink_outputs(const JaxprPtr& jaxpr);
/// Chains of operations that treat small rows alike become a program for each row, in lanes.
JaxprPtr rows_in_lanes(const JaxprPtr& jaxpr);

/// What a device makes of control flow.
struct ControlLowering {
  bool keep_lanes = false;    ///< lanes stay where their programs are small loops, and are batches elsewhere
  std::int64_t chunks = 1;    ///< that an associative scan of a costly function is cut into
  bool chunk_always = false;  ///< also of cheap ones
  bool in_levels = false;     ///< chunks of chunks, each a lane: where there are thousands of threads
};
/// Associative scans as loops or chunks, and lanes as batches where they do not stay; also inside nested programs.
JaxprPtr lower_control_flow(const JaxprPtr& jaxpr, const ControlLowering& how);
/// Lanes that read the results of other lanes become one program with those.
JaxprPtr merge_lanes(const JaxprPtr& jaxpr);

}  // namespace cotan
