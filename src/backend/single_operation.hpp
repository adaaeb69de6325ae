// Programs of single operations, for back ends that compile those as well.
#pragma once
#include "core/jaxpr.hpp"

namespace cotan {

/// The program of one equation, the same one for the same primitive, types and parameters.
JaxprPtr program_of(const Primitive& p, const Types& types, const Params& params);

}  // namespace cotan
