// The product of a matrix and a vector, y = A·x, or of a matrix and a few. Each element of the matrix is used
// once or a few times, so all that counts is to read it as it lies in memory: along its rows (dot products)
// or along its columns (sums of scaled columns).
#include <algorithm>

#include "backend/native/routines/gemm_blocked.hpp"
#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/runtime/thread_pool.hpp"

namespace cotan::native {
namespace {

// What one chunk should read at least, in elements.
constexpr std::int64_t chunk_size = 64 * 1024;
// Sums begin and end where the kernels like it.
constexpr std::int64_t k_step = 16;

/// How y and the sums over k are cut. The sums over parts of k are added one after the other at the end.
struct VectorBlocking {
  static constexpr std::int64_t most_parts = 16, longest_y = 8192;
  Partition rows;
  Partition parts;  ///< of k, in units of k_step

  VectorBlocking(std::int64_t m, std::int64_t k, bool along_rows) : rows{m, 1}, parts{ceil_divide(k, k_step), 1} {
    const std::int64_t chunks = m * k / chunk_size;
    if (chunks < 2) return;
    const auto limit = [](std::int64_t wanted, std::int64_t most) {
      return std::max<std::int64_t>(1, std::min(wanted, most));
    };
    if (along_rows) {
      rows.parts = limit(chunks, m);
      if (rows.parts < most_parts) parts.parts = limit(chunks / rows.parts, std::min(most_parts, parts.size));
    } else {
      // Whole columns of A as far as their part of y stays in cache; so it is read in long runs.
      rows.parts = ceil_divide(m, longest_y);
      if (rows.parts < most_parts) parts.parts = limit(chunks / rows.parts, std::min(most_parts, parts.size));
    }
  }
};

/// y over a range of rows and of k.
template <class T>
void multiply_part(const Product<T>& product, std::int64_t row, std::int64_t rows, std::int64_t k0, std::int64_t k,
                   const T* x, T* y, std::int64_t y_stride, bool accumulate) {
  const Matrix<const T>& a = product.a;
  const T* const from = a.data + row * a.row_stride + k0 * a.column_stride;
  if (a.column_stride == 1)
    kernels<T>().multiply_rows(rows, k, from, a.row_stride, x + k0, y, y_stride, accumulate);
  else
    kernels<T>().combine_rows(rows, k, from, a.column_stride, x + k0, y, accumulate);
}

}  // namespace

template <class T>
void multiply_vector(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  const bool along_rows = a.column_stride == 1;
  const std::int64_t y_stride = c.row_stride;
  const bool y_in_place = along_rows || y_stride == 1, x_in_place = b.row_stride == 1;

  const auto [rows, parts] = VectorBlocking(m, k, along_rows);
  const bool y_direct = y_in_place && parts.parts == 1;
  const Scratch<T> scratch((x_in_place ? 0 : k) + (y_direct ? 0 : m * parts.parts));
  const T* x = b.data;
  if (!x_in_place) {
    for (std::int64_t p = 0; p < k; ++p) scratch.data()[p] = b.data[p * b.row_stride];
    x = scratch.data();
  }
  T* const partial = scratch.data() + (x_in_place ? 0 : k);
  parallel_for(rows.parts * parts.parts, [&](std::int64_t chunk) {
    const std::int64_t part = chunk / rows.parts, row = rows.begin(chunk % rows.parts);
    const std::int64_t count = rows.length(chunk % rows.parts);
    if (y_direct) {
      multiply_part(product, row, count, 0, k, x, c.data + row * y_stride, y_stride, accumulate);
    } else {
      const std::int64_t first = parts.begin(part) * k_step, end = std::min(parts.begin(part + 1) * k_step, k);
      multiply_part(product, row, count, first, end - first, x, partial + part * m + row, 1, false);
    }
  });
  if (y_direct) return;
  T ones[VectorBlocking::most_parts];
  std::fill_n(ones, parts.parts, T(1));
  T* const sum = y_stride == 1 ? c.data : partial;
  kernels<T>().combine_rows(m, parts.parts, partial, m, ones, sum, accumulate && sum == c.data);
  if (sum != c.data)
    for (std::int64_t i = 0; i < m; ++i) c.data[i * y_stride] = accumulate ? c.data[i * y_stride] + sum[i] : sum[i];
}

template <class T>
void multiply_few_rows(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  // A few columns of B at a time, which stay in cache for all rows of A.
  constexpr std::int64_t group = 8;
  const std::int64_t groups = ceil_divide(n, group);
  const Partition chunks{groups, std::max<std::int64_t>(1, std::min(groups, n * k / chunk_size))};
  parallel_for(chunks.parts, [&](std::int64_t chunk) {
    const std::int64_t first = chunks.begin(chunk) * group, end = std::min(chunks.begin(chunk + 1) * group, n);
    for (std::int64_t column = first; column < end; column += group)
      for (std::int64_t row = 0; row < m; ++row)
        kernels<T>().multiply_rows(std::min(group, end - column), k, b.data + column * b.column_stride, b.column_stride,
                                   a.data + row * a.row_stride, c.data + row * c.row_stride + column * c.column_stride,
                                   c.column_stride, accumulate);
  });
}

template void multiply_vector(const Product<float>&);
template void multiply_vector(const Product<double>&);
template void multiply_vector(const Product<std::uint32_t>&);
template void multiply_vector(const Product<std::uint64_t>&);
template void multiply_few_rows(const Product<float>&);
template void multiply_few_rows(const Product<double>&);
template void multiply_few_rows(const Product<std::uint32_t>&);
template void multiply_few_rows(const Product<std::uint64_t>&);

}  // namespace cotan::native
