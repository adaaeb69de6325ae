// Callbacks over batches, and on parts of complex numbers: the user's function inside another one.
#pragma once
#include "transforms/callback.hpp"

namespace cotan {

BatchResult pure_callback_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims,
                                std::int64_t size, const Params& params);
/// Lane after lane; where not all lanes run (effects::RunningLanes), those that do.
BatchResult effect_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                         const Params& params);
/// The same function of real and imaginary parts, where operands or results are complex.
CallbackPtr callback_on_parts(const CallbackPtr& whole, const std::vector<bool>& complex_operands);

}  // namespace cotan
