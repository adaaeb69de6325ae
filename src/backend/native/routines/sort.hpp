// Sorting along an axis, and the largest elements of lines.
#pragma once
#include "backend/native/routines/routine_call.hpp"

namespace cotan::native {

void sort(const RoutineCall& call);
void top_k(const RoutineCall& call);

}  // namespace cotan::native
