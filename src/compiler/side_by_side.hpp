// The order of kernels that a device may run as one.
#pragma once
#include "compiler/program.hpp"

namespace cotan::compiler {

/// Moves reductions that give little up to the last one of their shape, where nothing in between hinders them; and says
/// of products whether they may run beside the one before (Routine::beside_last).
void put_side_by_side(Program& program);

}  // namespace cotan::compiler
