// The kernels of gemm, written once over vectors of any width. Each instruction set's file defines
// COTAN_SIMD_TARGET and a struct derived from VectorOf<T, bytes> (gemm_simd.hpp) with
//   tile_rows: how many rows times three vectors of sums fit in its registers,
//   multiply_add, and mask(n), load_first(p, mask), store_first(p, mask, v) for the first n lanes of a
//   vector, reads_partial_vectors: whether load_first is as cheap as load.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "backend/native/routines/gemm_kernels.hpp"

namespace cotan::native {
namespace {

/// The accumulators stay in registers: all loops but the one over k have constant bounds and are unrolled.
template <class Simd, int rows, int vectors>
COTAN_SIMD_TARGET void multiply_tile(const TileProduct<typename Simd::Element>& tile) {
  using Vector = typename Simd::Vector;
  constexpr int lanes = Simd::lanes, last = vectors - 1;
  const auto in_last = Simd::mask(tile.columns - last * lanes);
  const auto* a = tile.a;
  const std::int64_t a_row_stride = tile.a_row_stride, a_k_stride = tile.a_k_stride;
  const std::int64_t b_k_stride = tile.b_k_stride;

  if (tile.accumulate)
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
      for (int j = 0; j < vectors; ++j) __builtin_prefetch(tile.c + i * tile.c_row_stride + j * lanes, 1);

  Vector sum[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (int j = 0; j < vectors; ++j) sum[i][j] = Vector{};

  for (std::int64_t shift = 0; shift < tile.shifts; ++shift) {
    const auto* b = tile.b + tile.b_shifts[shift];
    for (std::int64_t p = tile.k; p > 0; --p) {
      Vector b_row[vectors];
#pragma GCC unroll 3
      for (int j = 0; j < last; ++j) b_row[j] = Simd::load(b + j * lanes);
      b_row[last] =
          Simd::reads_partial_vectors ? Simd::load_first(b + last * lanes, in_last) : Simd::load(b + last * lanes);
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        const Vector a_element = Simd::broadcast(a[i * a_row_stride]);
#pragma GCC unroll 3
        for (int j = 0; j < vectors; ++j) sum[i][j] = Simd::multiply_add(a_element, b_row[j], sum[i][j]);
      }
      a += a_k_stride;
      b += b_k_stride;
    }
  }

  auto* c = tile.c;
  const std::int64_t c_row_stride = tile.c_row_stride;
  if (tile.accumulate) {
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i, c += c_row_stride) {
#pragma GCC unroll 3
      for (int j = 0; j < last; ++j) Simd::store(c + j * lanes, sum[i][j] + Simd::load(c + j * lanes));
      Simd::store_first(c + last * lanes, in_last, sum[i][last] + Simd::load_first(c + last * lanes, in_last));
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i, c += c_row_stride) {
#pragma GCC unroll 3
      for (int j = 0; j < last; ++j) Simd::store(c + j * lanes, sum[i][j]);
      Simd::store_first(c + last * lanes, in_last, sum[i][last]);
    }
  }
}

/// Transposes lanes×lanes elements: each step interleaves the first half of the rows with the second.
template <class Simd>
COTAN_SIMD_TARGET [[gnu::always_inline]] inline void transpose(typename Simd::Vector (&rows)[Simd::lanes]) {
  constexpr int lanes = Simd::lanes;
#pragma GCC unroll 4
  for (int step = 1; step < lanes; step *= 2) {
    typename Simd::Vector next[lanes];
#pragma GCC unroll 8
    for (int i = 0; i < lanes / 2; ++i) {
      next[2 * i] = Simd::interleave_low(rows[i], rows[i + lanes / 2]);
      next[2 * i + 1] = Simd::interleave_high(rows[i], rows[i + lanes / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) rows[i] = next[i];
  }
}

template <class Simd, class T = typename Simd::Element>
COTAN_SIMD_TARGET void pack_contiguous_rows(std::int64_t k, std::int64_t columns, const T* from, std::int64_t k_stride,
                                            T* packed, std::int64_t width) {
  constexpr int lanes = Simd::lanes;
  const std::int64_t whole = columns - columns % lanes;
  const auto rest = Simd::mask(columns - whole), rest_of_width = Simd::mask(width - whole);
  for (std::int64_t p = 0; p < k; ++p, from += k_stride, packed += width) {
    for (std::int64_t j = 0; j < whole; j += lanes) Simd::store(packed + j, Simd::load(from + j));
    if (whole < width) Simd::store_first(packed + whole, rest_of_width, Simd::load_first(from + whole, rest));
  }
}

template <class Simd, class T = typename Simd::Element>
COTAN_SIMD_TARGET void pack_contiguous_columns(std::int64_t k, std::int64_t columns, const T* from,
                                               std::int64_t column_stride, T* packed, std::int64_t width) {
  using Vector = typename Simd::Vector;
  constexpr int lanes = Simd::lanes;
  for (std::int64_t p = 0; p < k; p += lanes) {
    const std::int64_t rows = std::min<std::int64_t>(lanes, k - p);
    for (std::int64_t j = 0; j < columns; j += lanes) {
      const T* const block_from = from + j * column_stride + p;
      T* const to = packed + p * width + j;
      Vector block[lanes];
      if (rows == lanes && columns - j >= lanes) {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) block[i] = Simd::load(block_from + i * column_stride);
        transpose<Simd>(block);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) Simd::store(to + i * width, block[i]);
      } else {
        const auto in_rows = Simd::mask(rows), in_width = Simd::mask(std::min<std::int64_t>(lanes, width - j));
        for (int i = 0; i < lanes; ++i)
          block[i] = j + i < columns ? Simd::load_first(block_from + i * column_stride, in_rows) : Vector{};
        transpose<Simd>(block);
        for (int i = 0; i < rows; ++i) Simd::store_first(to + i * width, in_width, block[i]);
      }
    }
  }
}

template <class Simd, class T = typename Simd::Element>
void pack(std::int64_t k, std::int64_t columns, const T* from, std::int64_t k_stride, std::int64_t column_stride,
          T* packed, std::int64_t width) {
  if (column_stride == 1) return pack_contiguous_rows<Simd>(k, columns, from, k_stride, packed, width);
  if (k_stride == 1) return pack_contiguous_columns<Simd>(k, columns, from, column_stride, packed, width);
  for (std::int64_t p = 0; p < k; ++p)
    for (std::int64_t j = 0; j < width; ++j)
      packed[p * width + j] = j < columns ? from[p * k_stride + j * column_stride] : T(0);
}

/// `rows` dot products at a time share the loads of x. Several sums run side by side to hide the latency of
/// the addition: those of the rows, or `chains` of one row.
template <class Simd, int rows, int chains, class T = typename Simd::Element>
COTAN_SIMD_TARGET [[gnu::always_inline]] inline void dot_products(std::int64_t k, const T* a, std::int64_t a_row_stride,
                                                                  const T* x, T* y, std::int64_t y_stride,
                                                                  bool accumulate) {
  using Vector = typename Simd::Vector;
  constexpr int lanes = Simd::lanes;
  Vector sum[rows][chains];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < chains; ++j) sum[i][j] = Vector{};
  std::int64_t p = 0;
  for (; p + chains * lanes <= k; p += chains * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < chains; ++j) {
      const Vector x_part = Simd::load(x + p + j * lanes);
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i)
        sum[i][j] = Simd::multiply_add(Simd::load(a + i * a_row_stride + p + j * lanes), x_part, sum[i][j]);
    }
  }
  for (; p < k; p += lanes) {
    const auto in_rest = Simd::mask(std::min<std::int64_t>(lanes, k - p));
    const Vector x_part = Simd::load_first(x + p, in_rest);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
      sum[i][0] = Simd::multiply_add(Simd::load_first(a + i * a_row_stride + p, in_rest), x_part, sum[i][0]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int j = 1; j < chains; ++j) sum[i][0] += sum[i][j];
    T parts[lanes];
    Simd::store(parts, sum[i][0]);
    for (int step = lanes / 2; step > 0; step /= 2)
      for (int j = 0; j < step; ++j) parts[j] += parts[j + step];
    y[i * y_stride] = accumulate ? y[i * y_stride] + parts[0] : parts[0];
  }
}

template <class Simd, class T = typename Simd::Element>
COTAN_SIMD_TARGET void multiply_rows(std::int64_t rows, std::int64_t k, const T* a, std::int64_t a_row_stride,
                                     const T* x, T* y, std::int64_t y_stride, bool accumulate) {
  std::int64_t i = 0;
  for (; i + 8 <= rows; i += 8)
    dot_products<Simd, 8, 1>(k, a + i * a_row_stride, a_row_stride, x, y + i * y_stride, y_stride, accumulate);
  for (; i < rows; ++i)
    dot_products<Simd, 1, 4>(k, a + i * a_row_stride, a_row_stride, x, y + i * y_stride, y_stride, accumulate);
}

/// Adds `rows` scaled rows of B to y in one pass.
template <class Simd, int rows, class T = typename Simd::Element>
COTAN_SIMD_TARGET [[gnu::always_inline]] inline void add_rows(std::int64_t columns, const T* b, std::int64_t b_k_stride,
                                                              const T* x, T* y, bool accumulate) {
  using Vector = typename Simd::Vector;
  constexpr int lanes = Simd::lanes;
  Vector factor[rows];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) factor[i] = Simd::broadcast(x[i]);
  std::int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    Vector sum = accumulate ? Simd::load(y + j) : Vector{};
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) sum = Simd::multiply_add(factor[i], Simd::load(b + i * b_k_stride + j), sum);
    Simd::store(y + j, sum);
  }
  if (j == columns) return;
  const auto in_rest = Simd::mask(columns - j);
  Vector sum = accumulate ? Simd::load_first(y + j, in_rest) : Vector{};
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
    sum = Simd::multiply_add(factor[i], Simd::load_first(b + i * b_k_stride + j, in_rest), sum);
  Simd::store_first(y + j, in_rest, sum);
}

template <class Simd, class T = typename Simd::Element>
COTAN_SIMD_TARGET void combine_rows(std::int64_t columns, std::int64_t k, const T* b, std::int64_t b_k_stride,
                                    const T* x, T* y, bool accumulate) {
  std::int64_t p = 0;
  for (; p + 8 <= k; p += 8) add_rows<Simd, 8>(columns, b + p * b_k_stride, b_k_stride, x + p, y, accumulate || p > 0);
  for (; p + 4 <= k; p += 4) add_rows<Simd, 4>(columns, b + p * b_k_stride, b_k_stride, x + p, y, accumulate || p > 0);
  for (; p < k; ++p) add_rows<Simd, 1>(columns, b + p * b_k_stride, b_k_stride, x + p, y, accumulate || p > 0);
}

template <class Simd, int vectors, std::size_t... row>
constexpr void list_multiply(typename Kernels<typename Simd::Element>::Multiply* by_rows, std::index_sequence<row...>) {
  ((by_rows[row] = multiply_tile<Simd, static_cast<int>(row) + 1, vectors>), ...);
}

/// `Narrow` has vectors of half the width, or is void.
template <class Simd, class Narrow = void>
constexpr Kernels<typename Simd::Element> make_kernels() {
  Kernels<typename Simd::Element> all{};
  all.lanes = Simd::lanes;
  all.tile_rows = Simd::tile_rows;
  all.reads_partial_vectors = Simd::reads_partial_vectors;
  constexpr auto rows = std::make_index_sequence<Simd::tile_rows>{};
  list_multiply<Simd, 1>(all.multiply[0], rows);
  list_multiply<Simd, 2>(all.multiply[1], rows);
  list_multiply<Simd, 3>(all.multiply[2], rows);
  if constexpr (!std::is_void_v<Narrow>) list_multiply<Narrow, 1>(all.multiply_narrow, rows);
  all.pack = pack<Simd>;
  all.multiply_rows = multiply_rows<Simd>;
  all.combine_rows = combine_rows<Simd>;
  return all;
}

}  // namespace
}  // namespace cotan::native
