// The order of words: a radix sort, from the last digit to the first, each pass stable.
#pragma once
#include "backend/gpu/codegen/shader.hpp"

namespace cotan::gpu {

/// Whether this is for the routine, and not for the expansion.
bool prefers_radix_sort(const Primitive& p, std::span<const AbstractValue> types, const Capabilities& device);

/// Words of memory that it takes besides.
std::int64_t radix_sort_words(std::int64_t length, const Capabilities& device);
std::vector<Shader> radix_sort_shaders(const Program& program, const compiler::Routine& routine, BufferId scratch,
                                       const Surroundings& around, const Capabilities& device);

}  // namespace cotan::gpu
