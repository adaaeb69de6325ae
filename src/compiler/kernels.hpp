// From groups to kernels: final expressions, passes, and loops that are as few and as plain as they can be.
#pragma once
#include "compiler/fuse.hpp"

namespace cotan::compiler {

/// Appends the group's kernel to the program; two, where a long reduction is cut into pieces.
void build_kernels(const Group& group, Definitions& definitions, const Schedule& schedule, Program& program);

/// Splits loops whose variable is divided by a constant, so that the division goes away; merges loops that
/// are only used together. Cut reductions afterwards.
void simplify_loops(Kernel& kernel);
/// Turns a kernel with short reductions into straight-line code over one loop; false where that does not pay.
bool unroll_small(Kernel& kernel, const Program& program);

}  // namespace cotan::compiler
