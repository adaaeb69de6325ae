// Matrix products C = A·B on the host, for every element type and any strides.
// Results depend on the shapes, strides and instruction set alone, never on the number of threads.
#pragma once
#include <cstdint>

namespace cotan::native {

/// A view of a matrix: element (i, j) is data[i * row_stride + j * column_stride]. A transposed operand is
/// the same data with the strides exchanged, a broadcast one has a stride of 0.
template <class T>
struct Matrix {
  T* data;
  std::int64_t row_stride, column_stride;
};

/// C = A·B, or C += A·B; A is m×k, B is k×n, C is m×n and overlaps neither. Floats accumulate in their own
/// type, halves in float with one rounding at the end, integers wrap. Processors that multiply pairs of bfloat16 take
/// subnormal ones for 0.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> c,
          bool accumulate = false);

/// How far apart the matrices of a batch are, in elements; 0 for an operand that all products share.
struct BatchStrides {
  std::int64_t a, b, c;
};

/// `batch` independent products.
template <class T>
void batched_gemm(std::int64_t batch, BatchStrides strides, std::int64_t m, std::int64_t n, std::int64_t k,
                  Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate = false);

}  // namespace cotan::native
