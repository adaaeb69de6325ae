// Convolutions that slide by one step along images whose rows are contiguous: for each tap, the matrix that the kernel
// is multiplied with is the image itself, shifted. Images are copied once, with their padding, where unfolding would
// copy them once per tap.
#pragma once
#include "backend/native/routines/conv_loops.hpp"

namespace cotan::native {

/// Computes the convolution and returns true, or returns false if it is of another kind, or too small to gain.
template <class T>
bool conv_shifted(const ConvLoops& loops, const T* lhs, const T* rhs, T* out);

}  // namespace cotan::native
