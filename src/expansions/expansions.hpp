// Routines as programs: factorisations, sorts, scatters and running sums written with loops, elementwise
// operations and gathers, for devices that have no routine for them.
#pragma once
#include "core/jaxpr.hpp"

namespace cotan {

/// Whether there is a program for the operation. (For some operands there may be none all the same: see
/// expansion_of.)
bool has_expansion(const Primitive& p);
/// The operation as a program of loops, elementwise operations and gathers, for devices without a routine for
/// it; nullptr: there is none. No 64-bit types are in it unless the operation itself has them.
JaxprPtr expansion_of(const Primitive& p, const Types& types, const Params& params);
/// Equations that `wanted` picks, replaced by their expansions, also inside nested programs (all the way: an
/// expansion may itself contain such primitives).
JaxprPtr expand_routines(const JaxprPtr& jaxpr,
                         bool (*wanted)(const Primitive&, std::span<const AbstractValue>, const Params&));

}  // namespace cotan
