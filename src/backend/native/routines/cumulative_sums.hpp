// Running sums of one contiguous line, several elements at a time.
#pragma once
#include <cstdint>

namespace cotan::native {

/// y[i] = sum + x[0] + … + x[i], summed in double; from the end if `reverse`. Returns the sum of all. The
/// order of additions depends on n alone. x and y may be the same.
double running_sum(const float* x, float* y, std::int64_t n, double sum, bool reverse);
double running_sum(const double* x, double* y, std::int64_t n, double sum, bool reverse);
/// The sum of all elements.
double total(const float* x, std::int64_t n);
double total(const double* x, std::int64_t n);

}  // namespace cotan::native
