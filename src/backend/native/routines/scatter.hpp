// Windows of updates written, added, … into an operand at dynamic positions.
#pragma once
#include "backend/native/routines/routine_call.hpp"

namespace cotan::native {

void scatter(const RoutineCall& call);
void scatter_add(const RoutineCall& call);
void scatter_mul(const RoutineCall& call);
void scatter_min(const RoutineCall& call);
void scatter_max(const RoutineCall& call);

}  // namespace cotan::native
