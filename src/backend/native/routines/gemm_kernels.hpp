// What the drivers of gemm need from an instruction set. One file per set provides it (gemm_avx512.cpp, …),
// and the best one is chosen at run time.
#pragma once
#include <cotan/dtype.hpp>
#include <cstdint>

namespace cotan::native {

/// A small tile of C: rows × (columns of a few vectors), over one range of k.
template <class T>
struct TileProduct {
  std::int64_t k;
  const T* a;  ///< element (i, p) at a[i * a_row_stride + p * a_k_stride]
  std::int64_t a_row_stride, a_k_stride;
  const T* b;  ///< row p starts at b[p * b_k_stride]; its elements are contiguous
  std::int64_t b_k_stride;
  T* c;  ///< row i starts at c[i * c_row_stride]
  std::int64_t c_row_stride;
  std::int64_t columns;  ///< the last of the vectors may be partly outside of C
  bool accumulate;
  /// Convolutions sum over several matrices B, each k rows high and at an offset from `b`, while A continues from one
  /// to the next.
  std::int64_t shifts = 1;
  const std::int64_t* b_shifts = &no_shift;
  static constexpr std::int64_t no_shift = 0;
};

/// Every kernel sums over k in order, with the same operations on each element, so that results do not depend on how C
/// is cut into tiles.
template <class T>
struct Kernels {
  using Multiply = void (*)(const TileProduct<T>&);
  static constexpr int max_rows = 8, max_vectors = 3;

  int lanes;      ///< elements per vector
  int tile_rows;  ///< how many rows a tile can have, at most max_rows
  /// Whether `multiply` stays inside rows of B whose length is not a whole number of vectors. Where it does
  /// not, B must be packed.
  bool reads_partial_vectors;
  /// By number of vectors and rows, each less one.
  Multiply multiply[max_vectors][max_rows];
  /// For half a vector of columns or less, where that is cheaper than a vector; else null.
  Multiply multiply_narrow[max_rows];

  /// Writes k rows of `width` elements: the columns of `from` and, if there are fewer, zeros.
  void (*pack)(std::int64_t k, std::int64_t columns, const T* from, std::int64_t k_stride, std::int64_t column_stride,
               T* packed, std::int64_t width);
  /// y[i] = Σ_p a[i, p] · x[p], where the rows of A are contiguous.
  void (*multiply_rows)(std::int64_t rows, std::int64_t k, const T* a, std::int64_t a_row_stride, const T* x, T* y,
                        std::int64_t y_stride, bool accumulate);
  /// y[j] = Σ_p x[p] · b[p, j], where the rows of B are contiguous.
  void (*combine_rows)(std::int64_t columns, std::int64_t k, const T* b, std::int64_t b_k_stride, const T* x, T* y,
                       bool accumulate);
};

/// Between runs of halves and of floats.
struct HalfConversions {
  void (*widen_f16)(const float16* from, float* to, std::int64_t count);
  void (*widen_bf16)(const bfloat16* from, float* to, std::int64_t count);
  void (*narrow_f16)(const float* from, float16* to, std::int64_t count);
  void (*narrow_bf16)(const float* from, bfloat16* to, std::int64_t count);
};

/// For processors that multiply pairs of bfloat16: A and B hold pairs, by their bits, where C holds floats.
struct PairKernels {
  Kernels<float> kernels;
  /// to[i] = the pair of first[i] and second[i]; `second` may be null: zeros.
  void (*interleave)(const std::uint16_t* first, const std::uint16_t* second, std::uint32_t* to, std::int64_t count);
};
/// Null where this machine has none.
const PairKernels* pair_kernels();

/// The kernels for this machine; T is float, double, std::uint32_t or std::uint64_t.
template <class T>
const Kernels<T>& kernels();
const HalfConversions& half_conversions();

}  // namespace cotan::native
