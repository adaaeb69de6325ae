// The two ways in which gemm computes a product, for the types that have kernels: float, double, and unsigned
// integers of 32 and 64 bits.
#pragma once
#include "backend/native/routines/gemm.hpp"
#include "backend/native/routines/gemm_kernels.hpp"

namespace cotan::native {

template <class T>
struct Product {
  std::int64_t m, n, k;  ///< none is 0
  Matrix<const T> a, b;
  Matrix<T> c;
  bool accumulate;

  /// Cᵀ = Bᵀ·Aᵀ.
  Product transposed() const {
    const auto flip = [](auto matrix) {
      return decltype(matrix){matrix.data, matrix.column_stride, matrix.row_stride};
    };
    return {n, m, k, flip(b), flip(a), flip(c), accumulate};
  }
};

/// Any sizes; C's rows are contiguous. With the kernels of this machine for T, or with others.
template <class T>
void multiply_blocked(const Product<T>& product);
template <class T>
void multiply_blocked(const Product<T>& product, const Kernels<T>& kernels);

/// n = 1, and A's rows or columns are contiguous.
template <class T>
void multiply_vector(const Product<T>& product);

/// m is small, and the rows of A and the columns of B are contiguous: the sums run along both.
template <class T>
void multiply_few_rows(const Product<T>& product);

}  // namespace cotan::native
