// Cuts C into blocks that are computed in the wider type, each over all of k, and then converted once.
#include "backend/native/routines/gemm_convert.hpp"

#include <type_traits>

#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/thread_pool.hpp"

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
Matrix<const Wide<T>> widen(const Matrix<const T>& from, std::int64_t row, std::int64_t column,
                            std::int64_t rows, std::int64_t columns, Wide<T>* to) {
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

}  // namespace

template <class T>
void multiply_converted(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate, epilogue] = product;
  const Partition rows = Partition::with_longest(m, 128), columns = Partition::with_longest(n, 256);
  const Partition k_blocks = Partition::with_longest(k, 512);
  const std::int64_t height = rows.longest(), width = columns.longest(), depth = k_blocks.longest();
  const auto multiply_block = [&](std::int64_t chunk) {
    const std::int64_t row = rows.begin(chunk % rows.parts), row_count = rows.length(chunk % rows.parts);
    const std::int64_t column = columns.begin(chunk / rows.parts),
                       column_count = columns.length(chunk / rows.parts);
    const Scratch<Wide<T>> scratch(height * width + height * depth + depth * width);
    Wide<T>* const sum = scratch.data();
    Wide<T>* const wide_a = sum + height * width;
    Wide<T>* const wide_b = wide_a + height * depth;
    for (std::int64_t block = 0; block < k_blocks.parts; ++block) {
      const std::int64_t k0 = k_blocks.begin(block), k_count = k_blocks.length(block);
      multiply_blocked(Product<Wide<T>>{row_count,
                                        column_count,
                                        k_count,
                                        widen(a, row, k0, row_count, k_count, wide_a),
                                        widen(b, k0, column, k_count, column_count, wide_b),
                                        {sum, column_count, 1},
                                        block > 0,
                                        {}});
    }
    for (std::int64_t i = 0; i < row_count; ++i) {
      Wide<T>* const sum_row = sum + i * column_count;
      T* const to = c.data + (row + i) * c.row_stride + column * c.column_stride;
      if (accumulate)
        for (std::int64_t j = 0; j < column_count; ++j)
          sum_row[j] += static_cast<Wide<T>>(to[j * c.column_stride]);
      if (c.column_stride == 1)
        narrow_run(sum_row, to, column_count);
      else
        for (std::int64_t j = 0; j < column_count; ++j) narrow_run(sum_row + j, to + j * c.column_stride, 1);
    }
  };
  parallel_for(rows.parts * columns.parts, multiply_block);
}

template void multiply_converted(const Product<float16>&);
template void multiply_converted(const Product<bfloat16>&);
template void multiply_converted(const Product<bool>&);
template void multiply_converted(const Product<std::int8_t>&);
template void multiply_converted(const Product<std::int16_t>&);
template void multiply_converted(const Product<std::uint8_t>&);
template void multiply_converted(const Product<std::uint16_t>&);

}  // namespace cotan::native
