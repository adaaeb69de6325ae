// Single operations outside jit. Small arrays go through the primitive's own rule, which is compiled already and
// costs nothing to start; large ones are worth a compiled kernel, made once and kept.
#pragma once
#include "core/backend.hpp"

namespace cotan::native {

Arrays run_eagerly(Backend& backend, const Primitive& p, std::span<const Array> args, const Params& params);

}  // namespace cotan::native
