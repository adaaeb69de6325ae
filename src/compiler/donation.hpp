// Donation: which arguments a caller gives up can become which results.
#pragma once
#include "compiler/program.hpp"

namespace cotan::compiler {

/// For every output the arguments whose memory it may take over: they are read for the last time before anything is
/// written there, or then, element by element. `units`: which piece of code each step of the program is in, where a device
/// runs several steps as one, whose parts may be at different steps; empty: every step is a piece of its own.
/// `side_by_side`: steps whose piece has nothing but steps that know nothing of each other.
std::vector<std::vector<int>> reusable_arguments(const Program& program, std::span<const int> units = {},
                                                 const std::vector<bool>& side_by_side = {});

/// Whether nobody else sees the memory of argument `k`: no other array, and no other argument.
bool is_sole_owner(std::span<const Array> args, std::size_t k);

}  // namespace cotan::compiler
