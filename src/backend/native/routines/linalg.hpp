// Decompositions of batches of matrices: small ones by loops of their own, larger ones by LAPACK.
#pragma once
#include "backend/native/routines/routine_call.hpp"

namespace cotan::native {

void cholesky(const RoutineCall& call);
void triangular_solve(const RoutineCall& call);
void lu(const RoutineCall& call);
/// Any operation on batches of matrices by its evaluation rule, matrices in parallel.
void evaluate_matrices(const RoutineCall& call);

}  // namespace cotan::native
