// Running sums, products, extrema, log-sum-exps and the linear recurrence along one axis.
#pragma once
#include "backend/native/routines/routine_call.hpp"

namespace cotan::native {

void cumulative_sum(const RoutineCall& call);
void cumulative_product(const RoutineCall& call);
void cumulative_max(const RoutineCall& call);
void cumulative_min(const RoutineCall& call);
void cumulative_logsumexp(const RoutineCall& call);
void linear_recurrence(const RoutineCall& call);

}  // namespace cotan::native
