// Associative scans, what derivatives leave of them, and the transposes of that, in chunks that know nothing of each
// other.
#pragma once
#include "control/control.hpp"

namespace cotan {

/// In so many chunks, as lanes. There must be at least two elements for each.
Arrays associative_scan_in_chunks(const AssociativeScan& s, std::span<const Array> args, std::int64_t chunks);
/// In chunks of chunks, so that few steps follow each other.
Arrays associative_scan_in_levels(const AssociativeScan& s, std::span<const Array> args);
/// The same for what derivatives leave of one.
JaxprPtr associative_rest_in_levels(const AssociativeRest& rest);
/// Its transpose, for operands that are not linear and cotangents of all results.
JaxprPtr associative_backward_in_levels(const AssociativeScan& s, const Mask& unknown, const Mask& linear,
                                        const Types& operands);

}  // namespace cotan
