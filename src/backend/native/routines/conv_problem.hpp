// From the parameters of conv_general_dilated to the native routine's problem.
#pragma once
#include "backend/native/routines/conv.hpp"
#include "ops/conv.hpp"

namespace cotan::native {

/// An operand's shape, and how far apart the elements of each axis are.
struct StridedOperand {
  Shape shape;
  Ints strides;
};

Convolution conv_problem(const ops::ConvParams& params, const StridedOperand& lhs, const StridedOperand& rhs,
                         const StridedOperand& out);

}  // namespace cotan::native
