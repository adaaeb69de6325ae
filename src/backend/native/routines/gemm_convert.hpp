// Products of element types that have no kernels of their own: they are computed in a wider type, into which
// blocks of A and B are converted as they are needed.
#pragma once
#include "backend/native/routines/gemm_blocked.hpp"

namespace cotan::native {

/// For float16 and bfloat16 (in float, rounded once at the end), integers of 8 and 16 bits, and bool (where a
/// product is "and" and a sum is "or").
template <class T>
void multiply_converted(const Product<T>& product);

}  // namespace cotan::native
