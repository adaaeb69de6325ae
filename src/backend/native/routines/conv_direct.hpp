// Convolutions with so few output features in a group (depthwise ones have one) that unfolding lhs for a
// matrix product would cost more than the product: sums of products along one loop, without copies.
#pragma once
#include "backend/native/routines/conv_loops.hpp"

namespace cotan::native {

/// Computes the convolution and returns true, or returns false if it has many output features, or no loop
/// that runs contiguously through memory.
template <class T>
bool conv_direct(const ConvLoops& loops, const T* lhs, const T* rhs, T* out);

}  // namespace cotan::native
