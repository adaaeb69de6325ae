// From groups to kernels: final expressions, passes, and loops that are as few and as plain as they can be.
#pragma once
#include "compiler/fuse.hpp"

namespace cotan::compiler {

/// Appends the group's kernel to `steps`; two, where a long reduction is cut into pieces.
void build_kernels(const Group& group, Definitions& definitions, const std::vector<bool>& materialized,
                   const Target& target, Program& program, std::vector<Step>& steps);

/// Splits loops whose variable is divided by a constant, so that the division goes away; merges loops that
/// are only used together. Cut reductions afterwards.
void simplify_loops(Kernel& kernel);
/// Turns a kernel with short reductions into straight-line code over one loop; false where that does not pay. In the
/// body of a loop any small kernel: what it leaves at known places can stay in registers.
bool unroll_small(Kernel& kernel, const Program& program, bool in_loop = false);

/// The shortest row of the small matrices and vectors that a kernel reads and writes: in the body of a loop they are
/// held in registers row by row, and lanes should be too. 0: there are none.
std::int64_t shortest_row(const Kernel& kernel, const Program& program, Expr along);

}  // namespace cotan::compiler
