// What GPUs have in common as targets of the compiler: which operations are routines there, and how programs are cut.
#pragma once
#include "backend/gpu/capabilities.hpp"
#include "lowering/pipeline.hpp"

namespace cotan::gpu {

/// `is_expanded`: of the device, by the function of that name below; `check_size` raises where an array is too large.
lowering::Target target_of(const Capabilities& device, Wanted is_expanded, void (*check_size)(const AbstractValue&));

/// Whether there are no shaders for a routine.
bool is_expanded(const Primitive& p, std::span<const AbstractValue> types, const Params& params,
                 const Capabilities& device);

/// Raises where indices of elements, which are i32, have no room for the array, or `device` has none.
void check_size(const AbstractValue& type, std::string_view device);

}  // namespace cotan::gpu
