// Matrix products of whole arrays, by the GEMM of this folder.
#pragma once
#include "backend/native/routines/routine_call.hpp"

namespace cotan::native {

void dot_general(const RoutineCall& call);

}  // namespace cotan::native
