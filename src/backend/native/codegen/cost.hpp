// An estimate of the work of a program: it decides how carefully code is made at first, and where better code can take
// over.
#pragma once
#include "compiler/program.hpp"

namespace cotan::native {

/// About how many elementary operations a call takes. For loops with a condition the number of steps is not known.
double operations_of(const std::vector<compiler::Step>& steps);
/// The same up to where better code could take over: of a loop that looks up the code of each step, one step.
double operations_before_better_code(const std::vector<compiler::Step>& steps);
/// Whether a step of a loop takes so long that looking up its code each time costs nothing.
bool has_long_steps(const compiler::Repeat& loop);

}  // namespace cotan::native
