// Chooses how to compute a matrix product from its element type, its shape and its strides.
#include "backend/native/routines/gemm.hpp"

#include <algorithm>
#include <type_traits>

#include "backend/native/routines/gemm_blocked.hpp"
#include "backend/native/routines/gemm_convert.hpp"
#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/error.hpp"

namespace cotan::native {
namespace {

/// Sums over nothing are 0.
template <class T>
void clear(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  if (!accumulate)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c.data[i * c.row_stride + j * c.column_stride] = T(0);
}

/// For a C in which neither rows nor columns are contiguous: by blocks that are, then copied to their places.
template <class T>
void multiply_scattered(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  const Partition rows = Partition::with_longest(m, 512), columns = Partition::with_longest(n, 512);
  const Scratch<T> scratch(rows.longest() * columns.longest());
  for (std::int64_t i = 0; i < rows.parts; ++i)
    for (std::int64_t j = 0; j < columns.parts; ++j) {
      const std::int64_t height = rows.length(i), width = columns.length(j);
      gemm<T>(height, width, k, {a.data + rows.begin(i) * a.row_stride, a.row_stride, a.column_stride},
              {b.data + columns.begin(j) * b.column_stride, b.row_stride, b.column_stride}, {scratch.data(), width, 1});
      for (std::int64_t row = 0; row < height; ++row)
        for (std::int64_t column = 0; column < width; ++column) {
          T& to = c.data[(rows.begin(i) + row) * c.row_stride + (columns.begin(j) + column) * c.column_stride];
          const T sum = scratch.data()[row * width + column];
          to = accumulate ? to + sum : sum;
        }
    }
}

/// For few columns, where many lanes of the vectors would be idle: the rows of Cᵀ are long.
template <class T>
void multiply_by_transposing(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  const Scratch<T> transposed(m * n);
  Product<T> flipped = product.transposed();
  flipped.c = {transposed.data(), m, 1};
  flipped.accumulate = false;
  multiply_blocked(flipped);
  const Partition rows = Partition::with_longest(m, 2048);
  parallel_for(rows.parts, [&](std::int64_t part) {
    const std::int64_t row = rows.begin(part), count = rows.length(part);
    T* const to = c.data + row * c.row_stride;
    if (!accumulate && c.row_stride == n)
      kernels<T>().pack(count, n, transposed.data() + row, 1, m, to, n);
    else
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const T sum = transposed.data()[j * m + row + i];
          to[i * c.row_stride + j] = accumulate ? to[i * c.row_stride + j] + sum : sum;
        }
  });
}

template <class T>
void multiply(const Product<T>& product) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  const bool a_is_dense = a.column_stride == 1 || a.row_stride == 1;
  const bool b_is_dense = b.column_stride == 1 || b.row_stride == 1;
  if (n == 1 && a_is_dense) return multiply_vector(product);
  if (m == 1 && b_is_dense) return multiply_vector(product.transposed());
  if (m <= 8 && k >= 256 && n >= 8 && b.column_stride != 1 && b.row_stride == 1 && a.column_stride == 1)
    return multiply_few_rows(product);
  if (c.column_stride == 1) {
    const std::int64_t lanes = kernels<T>().lanes;
    if (n < 2 * lanes && n % lanes != 0 && m >= 4 * lanes && k >= 32 && a.row_stride == 1 && a.column_stride != 1)
      return multiply_by_transposing(product);
    return multiply_blocked(product);
  }
  if (c.row_stride == 1) return multiply_blocked(product.transposed());
  multiply_scattered(product);
}

template <class T>
constexpr bool has_kernels = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                             std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>;

/// Signed integers wrap like unsigned ones.
template <class T>
Product<std::make_unsigned_t<T>> as_unsigned(const Product<T>& product) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto& [m, n, k, a, b, c, accumulate] = product;
  return {m,
          n,
          k,
          {reinterpret_cast<const Unsigned*>(a.data), a.row_stride, a.column_stride},
          {reinterpret_cast<const Unsigned*>(b.data), b.row_stride, b.column_stride},
          {reinterpret_cast<Unsigned*>(c.data), c.row_stride, c.column_stride},
          accumulate};
}

}  // namespace

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> c,
          bool accumulate) {
  if (m <= 0 || n <= 0) return;
  const Product<T> product{m, n, k, a, b, c, accumulate};
  if (k <= 0)
    clear(product);
  else if constexpr (has_kernels<T>)
    multiply(product);
  else if constexpr (std::is_integral_v<T> && sizeof(T) >= 4)
    multiply(as_unsigned(product));
  else
    multiply_converted(product);
}

template <class T>
void batched_gemm(std::int64_t batch, BatchStrides strides, std::int64_t m, std::int64_t n, std::int64_t k,
                  Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate) {
  const auto multiply_one = [&](std::int64_t i) {
    gemm<T>(m, n, k, {a.data + i * strides.a, a.row_stride, a.column_stride},
            {b.data + i * strides.b, b.row_stride, b.column_stride},
            {c.data + i * strides.c, c.row_stride, c.column_stride}, accumulate);
  };
  // Large products use the threads themselves; of small ones, each chunk gets several.
  const std::int64_t work = m * n * (k + 16);
  constexpr std::int64_t large = 16 << 20, worth_a_chunk = 256 << 10;
  if (batch == 1 || (work >= large && batch < 16)) {
    for (std::int64_t i = 0; i < batch; ++i) multiply_one(i);
    return;
  }
  const std::int64_t per_chunk = std::max<std::int64_t>(1, worth_a_chunk / std::max<std::int64_t>(1, work));
  const Partition chunks = Partition::with_longest(std::max<std::int64_t>(0, batch), per_chunk);
  parallel_for(chunks.parts, [&](std::int64_t chunk) {
    for (std::int64_t i = chunks.begin(chunk); i < chunks.begin(chunk + 1); ++i) multiply_one(i);
  });
}

#define COTAN_INSTANTIATE_GEMM(T)                                                                                   \
  template void gemm(std::int64_t, std::int64_t, std::int64_t, Matrix<const T>, Matrix<const T>, Matrix<T>, bool);  \
  template void batched_gemm(std::int64_t, BatchStrides, std::int64_t, std::int64_t, std::int64_t, Matrix<const T>, \
                             Matrix<const T>, Matrix<T>, bool);
COTAN_INSTANTIATE_GEMM(float)
COTAN_INSTANTIATE_GEMM(double)
COTAN_INSTANTIATE_GEMM(float16)
COTAN_INSTANTIATE_GEMM(bfloat16)
COTAN_INSTANTIATE_GEMM(bool)
COTAN_INSTANTIATE_GEMM(std::int8_t)
COTAN_INSTANTIATE_GEMM(std::int16_t)
COTAN_INSTANTIATE_GEMM(std::int32_t)
COTAN_INSTANTIATE_GEMM(std::int64_t)
COTAN_INSTANTIATE_GEMM(std::uint8_t)
COTAN_INSTANTIATE_GEMM(std::uint16_t)
COTAN_INSTANTIATE_GEMM(std::uint32_t)
COTAN_INSTANTIATE_GEMM(std::uint64_t)
#undef COTAN_INSTANTIATE_GEMM

}  // namespace cotan::native
