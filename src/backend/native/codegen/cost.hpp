// What a program has to do, about: it decides how well code is made at first, and where better code may take over.
#pragma once
#include "compiler/program.hpp"

namespace cotan::native {

/// Elementary operations of one call, about. Of loops that run until something holds nobody knows.
double operations_of(const std::vector<compiler::Step>& steps);
/// The same until better code could take over: of loops whose steps are asked for one by one a single step.
double operations_before_better_code(const std::vector<compiler::Step>& steps);
/// Whether a step of a loop takes so long that to ask for its code each time costs nothing.
bool has_long_steps(const compiler::Repeat& loop);

}  // namespace cotan::native
