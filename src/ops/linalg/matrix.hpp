// What the decompositions share: checks of their operands, matrix algebra for their derivative rules, and
// loops over batches of matrices in LAPACK's column-major layout.
#pragma once
#include <algorithm>
#include <complex>

#include "core/typed.hpp"
#include "ops/elementwise.hpp"
#include "ops/linalg/blas_threads.hpp"

namespace cotan::ops {

// Reductions of matrices (reductions.cpp, schur.cpp); the decompositions are in ops.hpp.
extern const Primitive schur_p, geqrf_p, hessenberg_p, tridiagonal_p, column_pivots_p;

/// Whether eigh_p has only the values as its result: by its parameter compute_vectors, true unless it is there.
bool eigh_gives_values_alone(const Params& params);

// Type rules ------------------------------------------------------------------------------------

/// Raises unless `x` is a batch of f32, f64 or complex matrices whose sizes LAPACK can count.
void check_matrix(const Primitive& self, const AbstractValue& x);
void check_square_matrix(const Primitive& self, const AbstractValue& x);
inline std::int64_t rows_of(const Shape& shape) { return shape[shape.size() - 2]; }
inline std::int64_t columns_of(const Shape& shape) { return shape.back(); }
/// The batch axes of `shape` followed by `core`.
Shape with_core(const Shape& shape, const Shape& core);

// Matrix algebra on the last two axes; linear in each operand, so that derivative rules transpose
// -------------

/// a @ b for equal batch axes.
Array matrix_product(const Array& a, const Array& b);
Array matrix_transpose(const Array& a);
/// Elements on and below (lower) or above (upper) the k-th diagonal, zero elsewhere.
Array lower_triangle(const Array& a, int k = 0);
Array upper_triangle(const Array& a, int k = 0);
/// [n, n], or [m, n] with ones on the main diagonal.
Array identity_matrix(DType dtype, std::int64_t m, std::int64_t n);
inline Array identity_matrix(DType dtype, std::int64_t n) { return identity_matrix(dtype, n, n); }
/// The conjugate of the transpose.
Array adjoint(const Array& a);
/// [..., n, n] -> [..., n]
Array diagonal_of(const Array& a);
/// [..., n] -> [..., n, 1] and [..., 1, n]
Array as_column(const Array& v);
Array as_row(const Array& v);
/// Rows (or columns) start..limit of each matrix.
Array matrix_rows(const Array& a, std::int64_t start, std::int64_t limit);
Array matrix_columns(const Array& a, std::int64_t start, std::int64_t limit);
/// Row i of the result is row permutation[..., i] of `a`; both have the same batch axes.
Array permute_rows(const Array& a, const Array& permutation);

struct Triangular {
  bool left_side = true, lower = false, transpose_a = false, unit_diagonal = false;
};
Array triangular_solve(const Array& a, const Array& b, Triangular options);
/// Solves a x = b (or aᵀ x = b) from lu_p's results for a.
Array lu_solve(const Array& lu, const Array& permutation, const Array& b, bool transposed = false);

// Rules -----------------------------------------------------------------------------------------

/// Batching of an operation on one batch of matrices: the batch axis becomes the first.
BatchResult matrix_batch(const Primitive& self, std::span<const Array> x, std::span<const int> dims, std::int64_t size,
                         const Params& params);

// Evaluation --------------------------------------------------------------------------------------

/// Result arrays with their buffers, of the types that the type rule gives.
struct Results {
  Results(const Primitive& self, std::span<const Array> x, const Params& params);
  template <class T>
  T* as(std::size_t i) {
    return reinterpret_cast<T*>(buffers[i]->data());
  }
  Arrays arrays;
  std::vector<BufferPtr> buffers;
};

/// f(T, number of matrices) for the dtype of the operands `x`, which a type rule has checked.
template <class F>
void dispatch_matrix(std::span<const Array> x, F&& f) {
  const std::int64_t count = product(with_core(x[0].shape(), {}));
  std::int64_t largest = 0;
  for (const Array& operand : x) largest = std::max(largest, operand.size() / std::max<std::int64_t>(count, 1));
  const lapack::BlasThreads threads(largest);
  dispatch_any(x[0].dtype(), [&]<class T>() {
    if constexpr (HostComplex<T> || std::is_floating_point_v<T>) f(T{}, count);
  });
}

/// A row-major matrix to column-major, or back with rows and columns exchanged.
template <class T>
void transpose_copy(const T* in, std::int64_t rows, std::int64_t columns, T* out) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
}

/// LAPACK's kernels skip zeros, so that NaN may get lost on the way: evaluations look for it themselves.
template <class T>
bool any_nan(const T* a, std::int64_t n) {
  return std::any_of(a, a + n, [](T v) { return v != v; });
}
template <class T>
bool all_finite(const T* a, std::int64_t n) {
  return std::all_of(a, a + n, [](T v) { return v - v == T(0); });
}
template <class T>
inline constexpr T quiet_nan = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr std::complex<T> quiet_nan<std::complex<T>>{quiet_nan<T>, quiet_nan<T>};

}  // namespace cotan::ops
