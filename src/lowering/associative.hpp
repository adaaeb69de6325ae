// Associative scans, the linear programs that their derivatives leave, and the transposes of those, computed in
// independent chunks.
#pragma once
#include "control/control.hpp"

namespace cotan {

/// In that many chunks, each a lane. Every chunk needs at least two elements.
Arrays associative_scan_in_chunks(const AssociativeScan& s, std::span<const Array> args, std::int64_t chunks);
/// In chunks of chunks, so that few steps have to run one after the other.
Arrays associative_scan_in_levels(const AssociativeScan& s, std::span<const Array> args);
/// The same for the linear program that a derivative leaves.
JaxprPtr associative_rest_in_levels(const AssociativeRest& rest);
/// Its transpose, for operands that are not linear and cotangents of all results.
JaxprPtr associative_backward_in_levels(const AssociativeScan& s, const Mask& unknown, const Mask& linear,
                                        const Types& operands);

}  // namespace cotan
