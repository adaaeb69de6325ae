// Square roots of covariances: lower triangular matrices, and what QR makes of them.
#pragma once
#include "dlm/steps.hpp"

namespace cotan::dlm {

/// Lower triangular L with L Lᵀ = A Aᵀ; A is at least as wide as it is high.
Array triangle(const Array& A);
/// A square root of a positive semidefinite matrix; rows without variance stay zero.
Array root_of(const Array& C);
inline Array square(const Array& root) { return numpy::matmul(root, transposed(root)); }

inline Array beside(const std::vector<Array>& blocks) { return numpy::concatenate(blocks, -1); }
/// [[a, b], [c, 0]] for matrices with the same leading axes.
Array corner(const Array& a, const Array& b, const Array& c);
/// L⁻¹ b and b L⁻¹ for lower triangular L.
Array solve_left(const Array& L, const Array& b);
Array solve_right(const Array& L, const Array& b);

/// [[a, 0], [b, c]]
struct Blocks {
  Array a, b, c;
};
/// The triangle of a matrix, cut after `k` rows.
Blocks triangle_blocks(const Array& A, std::int64_t k);

}  // namespace cotan::dlm
