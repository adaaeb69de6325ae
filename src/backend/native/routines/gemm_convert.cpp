// Cuts C into blocks that are computed in the wider type, each over all of k, and then converted once.
#include "backend/native/routines/gemm_convert.hpp"

#include <cstring>
#include <type_traits>

#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/runtime/thread_pool.hpp"

namespace cotan::native {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, std::uint32_t, float>;

template <class T>
void widen_run(const T* from, Wide<T>* to, std::int64_t count) {
  if constexpr (std::is_same_v<T, float16>)
    half_conversions().widen_f16(from, to, count);
  else if constexpr (std::is_same_v<T, bfloat16>)
    half_conversions().widen_bf16(from, to, count);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Wide<T>>(from[i]);
}

template <class T>
void narrow_run(const Wide<T>* from, T* to, std::int64_t count) {
  if constexpr (std::is_same_v<T, float16>)
    half_conversions().narrow_f16(from, to, count);
  else if constexpr (std::is_same_v<T, bfloat16>)
    half_conversions().narrow_bf16(from, to, count);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
}

/// Converts a block of a matrix to dense rows, or to dense columns if that is how the matrix lies in memory.
template <class T>
Matrix<const Wide<T>> widen(const Matrix<const T>& from, std::int64_t row, std::int64_t column, std::int64_t rows,
                            std::int64_t columns, Wide<T>* to) {
  const T* const data = from.data + row * from.row_stride + column * from.column_stride;
  if (from.column_stride == 1) {
    for (std::int64_t i = 0; i < rows; ++i) widen_run(data + i * from.row_stride, to + i * columns, columns);
    return {to, columns, 1};
  }
  if (from.row_stride == 1) {
    for (std::int64_t j = 0; j < columns; ++j) widen_run(data + j * from.column_stride, to + j * rows, rows);
    return {to, 1, rows};
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      widen_run(data + i * from.row_stride + j * from.column_stride, to + i * columns + j, 1);
  return {to, columns, 1};
}

/// A block of a matrix as pairs of elements that neighbour in a row, the last one with a zero where their number is
/// odd. By rows or by columns of pairs, as the matrix lies in memory.
Matrix<const float> pair_up(const Matrix<const bfloat16>& from, std::int64_t row, std::int64_t column,
                            std::int64_t rows, std::int64_t columns, float* to) {
  const auto* const data =
      reinterpret_cast<const std::uint16_t*>(from.data + row * from.row_stride + column * from.column_stride);
  auto* const pairs = reinterpret_cast<std::uint32_t*>(to);
  const std::int64_t count = (columns + 1) / 2;
  if (from.row_stride == 1 && from.column_stride != 1) {
    for (std::int64_t p = 0; p < count; ++p)
      pair_kernels()->interleave(data + 2 * p * from.column_stride,
                                 2 * p + 1 < columns ? data + (2 * p + 1) * from.column_stride : nullptr,
                                 pairs + p * rows, rows);
    return {to, 1, rows};
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    auto* const out = reinterpret_cast<std::uint16_t*>(pairs + i * count);
    const std::uint16_t* const in = data + i * from.row_stride;
    if (from.column_stride == 1)
      std::memcpy(out, in, static_cast<std::size_t>(columns) * sizeof *out);
    else
      for (std::int64_t j = 0; j < columns; ++j) out[j] = in[j * from.column_stride];
    if (columns % 2) out[columns] = 0;
  }
  return {to, count, 1};
}

template <class M>
M transposed(const M& m) {
  return {m.data, m.column_stride, m.row_stride};
}

/// One block of the sums: both operands in the wider type, or as pairs where the machine multiplies those.
template <class T>
void multiply_block(const Matrix<const T>& a, const Matrix<const T>& b, std::int64_t row, std::int64_t column,
                    std::int64_t k0, std::int64_t rows, std::int64_t columns, std::int64_t k, Wide<T>* wide_a,
                    Wide<T>* wide_b, Matrix<Wide<T>> sum, bool accumulate) {
  constexpr std::int64_t worth_pairing = 16;  // short sums are as exact as f32 has them, subnormals included
  if constexpr (std::is_same_v<T, bfloat16>)
    if (const PairKernels* pairs = k >= worth_pairing ? pair_kernels() : nullptr)
      return multiply_blocked(
          Product<float>{rows, columns, (k + 1) / 2, pair_up(a, row, k0, rows, k, wide_a),
                         transposed(pair_up(transposed(b), column, k0, columns, k, wide_b)), sum, accumulate},
          pairs->kernels);
  multiply_blocked(Product<Wide<T>>{rows, columns, k, widen(a, row, k0, rows, k, wide_a),
                                    widen(b, k0, column, k, columns, wide_b), sum, accumulate});
}

}  // namespace

template <class T>
void multiply_converted(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  // The more of C at a time, the less often operands are converted.
  const Partition rows = Partition::with_longest(m, 256), columns = Partition::with_longest(n, 512);
  const Partition k_blocks = Partition::with_longest(k, 512);
  const std::int64_t height = rows.longest(), width = columns.longest(), depth = k_blocks.longest();
  const auto multiply_part = [&](std::int64_t chunk) {
    const std::int64_t row = rows.begin(chunk % rows.parts), row_count = rows.length(chunk % rows.parts);
    const std::int64_t column = columns.begin(chunk / rows.parts), column_count = columns.length(chunk / rows.parts);
    const Scratch<Wide<T>> scratch(height * width + height * depth + depth * width);
    Wide<T>* const sum = scratch.data();
    Wide<T>* const wide_a = sum + height * width;
    Wide<T>* const wide_b = wide_a + height * depth;
    for (std::int64_t block = 0; block < k_blocks.parts; ++block) {
      const std::int64_t k0 = k_blocks.begin(block), k_count = k_blocks.length(block);
      multiply_block(a, b, row, column, k0, row_count, column_count, k_count, wide_a, wide_b, {sum, column_count, 1},
                     block > 0);
    }
    for (std::int64_t i = 0; i < row_count; ++i) {
      Wide<T>* const sum_row = sum + i * column_count;
      T* const to = c.data + (row + i) * c.row_stride + column * c.column_stride;
      if (accumulate)
        for (std::int64_t j = 0; j < column_count; ++j) sum_row[j] += static_cast<Wide<T>>(to[j * c.column_stride]);
      if (c.column_stride == 1)
        narrow_run(sum_row, to, column_count);
      else
        for (std::int64_t j = 0; j < column_count; ++j) narrow_run(sum_row + j, to + j * c.column_stride, 1);
    }
  };
  parallel_for(rows.parts * columns.parts, multiply_part);
}

template void multiply_converted(const Product<float16>&);
template void multiply_converted(const Product<bfloat16>&);
template void multiply_converted(const Product<bool>&);
template void multiply_converted(const Product<std::int8_t>&);
template void multiply_converted(const Product<std::int16_t>&);
template void multiply_converted(const Product<std::uint8_t>&);
template void multiply_converted(const Product<std::uint16_t>&);

}  // namespace cotan::native
