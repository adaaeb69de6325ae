// Whether a primitive is the matrix product: for those who lay out its operands, or run several of them together.
#pragma once
#include "ops/ops.hpp"

namespace cotan {

inline bool is_matrix_product(const Primitive& p) { return &p == &ops::dot_general_p; }

}  // namespace cotan
