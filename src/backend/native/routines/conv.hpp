// Convolutions on the host, for any strides: layouts, turned kernels and the transposes of both gradients are
// strides, so that forward and backward passes are this one routine and need no copies.
// Results depend on the problem and the instruction set alone, never on the number of threads.
#pragma once
#include <cstdint>
#include <vector>

namespace cotan::native {

/// An axis along which a convolution does not slide: how long it is, and how far apart its elements are in
/// each operand, in elements; 0 where an operand has no such axis.
struct ConvAxis {
  std::int64_t size = 1, lhs = 0, rhs = 0, out = 0;
};

/// A spatial axis. Window place p and tap k meet the element (p * stride + k * rhs_dilation - padding_low) /
/// lhs_dilation of lhs, or zero if there is no such element. The strides may be negative.
struct ConvSpatialAxis {
  std::int64_t lhs_size, window, out_size;
  std::int64_t stride = 1, padding_low = 0, lhs_dilation = 1, rhs_dilation = 1;
  std::int64_t lhs, rhs, out;
};

/// Sizes of `batch` and features are those of one group; in every operand a group is as far from the next as
/// `groups` says, whatever axis the groups divide.
struct Convolution {
  ConvAxis groups, batch, in_features, out_features;
  std::vector<ConvSpatialAxis> spatial;
};

/// For every element type: halves are computed in float and rounded once, integers wrap, and of bools the
/// product is "and" and the sum "or". `out` overlaps neither operand.
template <class T>
void conv(const Convolution& problem, const T* lhs, const T* rhs, T* out);

}  // namespace cotan::native
