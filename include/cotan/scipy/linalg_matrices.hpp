// cotan::scipy::linalg: matrices that a vector or a number describes.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <string_view>

namespace cotan::scipy::linalg {

/// @name Matrices from vectors
/// The last axis is a vector, axes before it a batch. Dtypes stay, and integers become floats only where something is
/// divided.
/// @{
/// [m, n] with first column c and first row r, constant along diagonals; r[0] is not used. Without r it is conj(c).
Array toeplitz(const ArrayLike& c, const std::optional<Array>& r = {});
/// [m, n] with first column c and last row r, constant along antidiagonals; r[0] is not used. Without r it is zeros.
Array hankel(const ArrayLike& c, const std::optional<Array>& r = {});
/// [n, n]: each column is the one before it, moved down by one.
Array circulant(const ArrayLike& c);
/// [n, n] with f as first row and s, one element shorter, below the diagonal.
Array leslie(const ArrayLike& f, const ArrayLike& s);
/// [n - 1, n - 1]: the matrix whose characteristic polynomial has these coefficients, the highest first.
Array companion(const ArrayLike& a);
/// [n, n]: |a[i] - a[j]|.
Array fiedler(const ArrayLike& a);
/// [n - 1, n - 1]: as companion, with five diagonals.
Array fiedler_companion(const ArrayLike& a);
/// The matrix that convolves a vector of n elements with `a` when it is multiplied with it: numpy::convolve with that
/// mode, "full", "same" or "valid".
Array convolution_matrix(const ArrayLike& a, std::int64_t n, std::string_view mode = "full");
/// The arrays, of at most two axes, one below the other along the diagonal, and zeros.
Array block_diag(const ArrayList& arrays);
/// @}

/// @name Matrices from a number
/// All [n, n] unless said otherwise. In JAX they have its default dtype; here it can be given.
/// @{
/// 1/(i + j + 1).
Array hilbert(std::int64_t n, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// The inverse of hilbert(n): integers, exact as far as the dtype can hold them.
Array invhilbert(std::int64_t n, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// Pascal's triangle: kind "symmetric", "lower" or "upper". Exact integers, where JAX's are rounded.
Array pascal(std::int64_t n, std::string_view kind = "symmetric", DType dtype = f32,
             const std::source_location& where = COTAN_HERE);
/// The inverse of pascal(n, kind).
Array invpascal(std::int64_t n, std::string_view kind = "symmetric", DType dtype = f32,
                const std::source_location& where = COTAN_HERE);
/// [n - 1, n]: rows that are orthonormal, and to ones too; `full`: with the row of equal elements, first.
Array helmert(std::int64_t n, bool full = false, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// Sylvester's matrix of 1 and -1 with orthogonal rows; n is a power of 2.
Array hadamard(std::int64_t n, DType dtype = i32, const std::source_location& where = COTAN_HERE);
/// The matrix of fft: exp(-2πi jk/n); scale "sqrtn" divides it by √n, "n" by n.
Array dft(std::int64_t n, const std::optional<std::string_view>& scale = {}, DType dtype = c64,
          const std::source_location& where = COTAN_HERE);
/// @}

}  // namespace cotan::scipy::linalg
