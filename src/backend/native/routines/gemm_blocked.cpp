// The product of two matrices, tile by tile. The kernels read operands in place where their layout allows it;
// packing pays only for operands that they cannot read, or that are too large to stay in cache as they lie.
// A tile of C is computed by one thread from start to end, each element summed in the order of k, so that results
// depend neither on the tiles nor on the threads.
#include "backend/native/routines/gemm_blocked.hpp"

#include "backend/native/routines/gemm_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/runtime/thread_pool.hpp"

namespace cotan::native {
namespace {

/// What a chunk of work should be worth at least, in multiplications: several microseconds.
constexpr std::int64_t chunk_work = 300'000;
/// How long the part of k is that is summed at a time, in bytes of a row of A.
constexpr std::int64_t k_block_bytes = 2048;

/// Roughly how long a product takes, counting what is read and written as well.
template <class T>
std::int64_t work_of(const Product<T>& product) {
  return product.m * product.n * (product.k + 16);
}

/// Whether the kernels can read B where it is.
template <class T>
bool can_read_in_place(const Matrix<const T>& b, std::int64_t n, const Kernels<T>& kernels) {
  return b.column_stride == 1 && (kernels.reads_partial_vectors || (n & (kernels.lanes - 1)) == 0);
}

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

/// How many rows the next panel gets. The last two share evenly: very low ones would leave the pipelines
/// idle.
inline std::int64_t panel_height(std::int64_t remaining, std::int64_t tile_rows) {
  if (remaining <= tile_rows) return remaining;
  return remaining >= 2 * tile_rows ? tile_rows : (remaining + 1) / 2;
}

/// At most Kernels<T>::max_vectors wide. Changes `tile`.
template <class T>
void multiply_panel(const Kernels<T>& kernels, TileProduct<T>& tile, std::int64_t rows) {
  const std::int64_t lanes = kernels.lanes, rest = tile.columns & (lanes - 1);
  const auto narrow = rest != 0 && rest <= lanes / 2 ? kernels.multiply_narrow[rows - 1] : nullptr;
  if (narrow) tile.columns -= rest;
  if (tile.columns != 0) {
    const int vectors = 1 + (tile.columns > lanes) + (tile.columns > 2 * lanes);
    kernels.multiply[vectors - 1][rows - 1](tile);
  }
  if (narrow) {
    tile.b += tile.columns;
    tile.c += tile.columns;
    tile.columns = rest;
    narrow(tile);
  }
}

/// For sizes at which every instruction outside of the kernels counts.
template <class T>
void multiply_small(const Product<T>& product, const Kernels<T>& kernels) {
  const auto& [m, n, k, a, b, c, accumulate] = product;
  const std::int64_t panel_width = Kernels<T>::max_vectors * kernels.lanes;
  TileProduct<T> tile;
  tile.k = k;
  tile.a_row_stride = a.row_stride;
  tile.a_k_stride = a.column_stride;
  tile.b_k_stride = b.row_stride;
  tile.c_row_stride = c.row_stride;
  tile.accumulate = accumulate;
  for (std::int64_t row = 0, rows; row < m; row += rows) {
    rows = panel_height(m - row, kernels.tile_rows);
    tile.a = a.data + row * a.row_stride;
    for (std::int64_t column = 0; column < n; column += panel_width) {
      tile.b = b.data + column;
      tile.c = c.data + row * c.row_stride + column;
      tile.columns = std::min(panel_width, n - column);
      multiply_panel(kernels, tile, rows);
    }
  }
}

template <class T>
class BlockedProduct {
 public:
  BlockedProduct(const Product<T>& product, const Kernels<T>& kernels)
      : product_(product),
        kernels_(kernels),
        panel_width_(Kernels<T>::max_vectors * kernels_.lanes),
        k_blocks_(Partition::with_longest(product.k, k_block_bytes / static_cast<std::int64_t>(sizeof(T)))),
        packs_a_(should_pack_a()),
        packs_b_(should_pack_b()),
        packs_b_as_it_goes_(packs_b_ && !packs_a_ && product.m <= tile_height &&
                            product.n * product.k * sizeof(T) > (4 << 20)) {}

  void run() {
    rows_ = {0, product_.m};
    columns_ = {0, product_.n};
    blocks_ = {0, k_blocks_.parts};
    if (packs_b_as_it_goes_) return multiply_packing();
    if (!packs_a_ && !packs_b_) return multiply();
    // Large products go in groups, so that what is packed at a time is bounded.
    const std::int64_t row_groups = ceil_divide(product_.m, group_size),
                       column_groups = ceil_divide(product_.n, group_size);
    const std::int64_t longest = std::min(group_size, std::max(product_.m, product_.n));
    const Partition k_groups = Partition::with_longest(
        k_blocks_.parts, std::max<std::int64_t>(1, packed_elements / (longest * k_blocks_.longest())));
    for (std::int64_t i = 0; i < row_groups; ++i)
      for (std::int64_t j = 0; j < column_groups; ++j)
        for (std::int64_t group = 0; group < k_groups.parts; ++group) {
          rows_ = {i * group_size, std::min((i + 1) * group_size, product_.m)};
          columns_ = {j * group_size, std::min((j + 1) * group_size, product_.n)};
          blocks_ = {k_groups.begin(group), k_groups.begin(group + 1)};
          pack_and_multiply();
        }
  }

 private:
  /// Rows and bytes of columns of a tile: its part of B should fit in half of a second-level cache.
  static constexpr std::int64_t tile_height = 256, tile_width = 1024;
  /// A whole number of panels of any kernel.
  static constexpr std::int64_t group_size = 48 * 160;
  static constexpr std::int64_t packed_elements = (16 << 20) / sizeof(T);

  bool should_pack_a() const {
    // Where columns are contiguous and far apart, each step in k touches another page.
    return product_.a.column_stride != 1 && product_.n >= 4 * panel_width_ &&
           product_.m * product_.k * sizeof(T) > (1 << 20);
  }
  bool should_pack_b() const {
    if (!can_read_in_place(product_.b, product_.n, kernels_)) return true;
    return product_.m >= 512 && product_.n * product_.k * sizeof(T) > (2 << 20);
  }

  std::int64_t row_panels() const { return ceil_divide(rows_.size(), kernels_.tile_rows); }
  std::int64_t column_panels() const { return ceil_divide(columns_.size(), panel_width_); }
  std::int64_t padded_columns() const { return ceil_divide(columns_.size(), kernels_.lanes) * kernels_.lanes; }
  std::int64_t group_k() const { return k_blocks_.begin(blocks_.end) - k_blocks_.begin(blocks_.begin); }

  void pack_and_multiply() {
    const std::int64_t size_of_a = packs_a_ ? rows_.size() * group_k() : 0;
    const std::int64_t size_of_b = packs_b_ ? padded_columns() * group_k() : 0;
    const Scratch<T> packed(size_of_a + size_of_b);
    packed_b_ = packed.data();
    packed_a_ = packed.data() + size_of_b;
    pack();
    multiply();
  }

  /// Where the panel that starts at `row` or `column` is in the packed operand.
  T* packed_a(std::int64_t block, std::int64_t row) const {
    return packed_a_ + (k_blocks_.begin(block) - k_blocks_.begin(blocks_.begin)) * rows_.size() +
           (row - rows_.begin) * k_blocks_.length(block);
  }
  T* packed_b(std::int64_t block, std::int64_t column) const {
    return packed_b_ + (k_blocks_.begin(block) - k_blocks_.begin(blocks_.begin)) * padded_columns() +
           (column - columns_.begin) * k_blocks_.length(block);
  }
  std::int64_t packed_width(std::int64_t column) const {
    return std::min(panel_width_, padded_columns() - (column - columns_.begin));
  }

  void pack() {
    constexpr std::int64_t rows_per_chunk = 64;
    const std::int64_t b_per_block = packs_b_ ? column_panels() : 0;
    const std::int64_t a_per_block = packs_a_ ? ceil_divide(rows_.size(), rows_per_chunk) : 0;
    const auto pack_chunk = [&](std::int64_t chunk) {
      const std::int64_t block = blocks_.begin + chunk / (a_per_block + b_per_block);
      const std::int64_t panel = chunk % (a_per_block + b_per_block);
      if (panel < b_per_block) {
        const std::int64_t column = columns_.begin + panel * panel_width_;
        return pack_b_panel(block, column, packed_b(block, column));
      }
      const std::int64_t first_row = rows_.begin + (panel - b_per_block) * rows_per_chunk;
      const std::int64_t end_row = std::min(first_row + rows_per_chunk, rows_.end);
      for (std::int64_t row = first_row; row < end_row; row += kernels_.tile_rows) pack_a_panel(block, row);
    };
    const std::int64_t chunks = blocks_.size() * (a_per_block + b_per_block);
    if (chunks * k_blocks_.longest() > 8 * 128)
      parallel_for(chunks, pack_chunk);
    else
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) pack_chunk(chunk);
  }

  void pack_a_panel(std::int64_t block, std::int64_t row) const {
    const std::int64_t rows = std::min<std::int64_t>(kernels_.tile_rows, rows_.end - row);
    const Matrix<const T>& a = product_.a;
    const T* from = a.data + row * a.row_stride + k_blocks_.begin(block) * a.column_stride;
    kernels_.pack(k_blocks_.length(block), rows, from, a.column_stride, a.row_stride, packed_a(block, row), rows);
  }

  void pack_b_panel(std::int64_t block, std::int64_t column, T* packed) const {
    const std::int64_t columns = std::min(panel_width_, columns_.end - column);
    const Matrix<const T>& b = product_.b;
    const T* from = b.data + k_blocks_.begin(block) * b.row_stride + column * b.column_stride;
    kernels_.pack(k_blocks_.length(block), columns, from, b.row_stride, b.column_stride, packed, packed_width(column));
  }

  void multiply() {
    const std::int64_t work = work_of(product_);
    if (work < 2 * chunk_work) return multiply_tile(rows_, columns_);
    Partition rows{row_panels(), std::min(row_panels(), ceil_divide(rows_.size(), tile_height))};
    Partition columns{column_panels(), std::min(column_panels(), ceil_divide(columns_.size() * sizeof(T), tile_width))};
    // More and smaller tiles, as long as each is worth the trip to another thread.
    while (rows.parts * columns.parts < 16 && work / (2 * rows.parts * columns.parts) >= chunk_work) {
      Partition& longer = product_.m / rows.parts >= product_.n / columns.parts ? rows : columns;
      if (longer.parts * 2 > longer.size) break;
      longer.parts *= 2;
    }
    const auto range = [](const Partition& panels, std::int64_t part, std::int64_t panel_size, const Range& whole) {
      return Range{whole.begin + panels.begin(part) * panel_size,
                   std::min(whole.begin + panels.begin(part + 1) * panel_size, whole.end)};
    };
    parallel_for(rows.parts * columns.parts, [&](std::int64_t chunk) {
      multiply_tile(range(rows, chunk % rows.parts, kernels_.tile_rows, rows_),
                    range(columns, chunk / rows.parts, panel_width_, columns_));
    });
  }

  void multiply_tile(Range rows, Range columns) const {
    for (std::int64_t block = blocks_.begin; block < blocks_.end; ++block)
      for (std::int64_t row = rows.begin, height; row < rows.end; row += height) {
        const std::int64_t remaining = rows.end - row;
        height = packs_a_ ? std::min<std::int64_t>(kernels_.tile_rows, remaining)
                          : panel_height(remaining, kernels_.tile_rows);
        multiply_row_panel(block, row, height, columns);
      }
  }

  void multiply_packing() {
    constexpr std::int64_t panels_per_chunk = 4;
    parallel_for(ceil_divide(column_panels(), panels_per_chunk), [&](std::int64_t chunk) {
      const Scratch<T> packed(panel_width_ * k_blocks_.longest());
      const std::int64_t end = std::min((chunk + 1) * panels_per_chunk * panel_width_, product_.n);
      for (std::int64_t column = chunk * panels_per_chunk * panel_width_; column < end; column += panel_width_) {
        const Range columns{column, std::min(column + panel_width_, end)};
        for (std::int64_t block = 0; block < k_blocks_.parts; ++block) {
          pack_b_panel(block, column, packed.data());
          multiply_column_panel(block, columns, packed.data());
        }
      }
    });
  }

  /// All but B and the number of columns.
  TileProduct<T> start_tile(std::int64_t block, std::int64_t row, std::int64_t rows) const {
    const auto& [m, n, k, a, b, c, accumulate] = product_;
    TileProduct<T> tile;
    tile.k = k_blocks_.length(block);
    tile.a = packs_a_ ? packed_a(block, row) : a.data + row * a.row_stride + k_blocks_.begin(block) * a.column_stride;
    tile.a_row_stride = packs_a_ ? 1 : a.row_stride;
    tile.a_k_stride = packs_a_ ? rows : a.column_stride;
    tile.c = c.data + row * c.row_stride;
    tile.c_row_stride = c.row_stride;
    tile.accumulate = accumulate || block > 0;
    return tile;
  }

  void multiply_column_panel(std::int64_t block, Range columns, const T* packed) const {
    for (std::int64_t row = 0, rows; row < product_.m; row += rows) {
      rows = panel_height(product_.m - row, kernels_.tile_rows);
      TileProduct<T> tile = start_tile(block, row, rows);
      tile.b = packed;
      tile.b_k_stride = packed_width(columns.begin);
      tile.c += columns.begin;
      tile.columns = columns.size();
      multiply_panel(kernels_, tile, rows);
    }
  }

  void multiply_row_panel(std::int64_t block, std::int64_t row, std::int64_t rows, Range columns) const {
    const Matrix<const T>& b = product_.b;
    TileProduct<T> tile = start_tile(block, row, rows);
    T* const c_row = tile.c;
    for (std::int64_t column = columns.begin; column < columns.end; column += panel_width_) {
      tile.b = packs_b_ ? packed_b(block, column) : b.data + k_blocks_.begin(block) * b.row_stride + column;
      tile.b_k_stride = packs_b_ ? packed_width(column) : b.row_stride;
      tile.c = c_row + column;
      tile.columns = std::min(panel_width_, columns.end - column);
      multiply_panel(kernels_, tile, rows);
    }
  }

  const Product<T>& product_;
  const Kernels<T>& kernels_;
  const std::int64_t panel_width_;
  const Partition k_blocks_;
  const bool packs_a_, packs_b_;
  const bool packs_b_as_it_goes_;  ///< packs each panel right before its only use, instead of all of B beforehand

  // The group at hand.
  Range rows_{}, columns_{}, blocks_{};
  T* packed_a_ = nullptr;
  T* packed_b_ = nullptr;
};

}  // namespace

template <class T>
void multiply_blocked(const Product<T>& product, const Kernels<T>& all) {
  const bool one_block = product.k * static_cast<std::int64_t>(sizeof(T)) <= k_block_bytes;
  if (one_block && work_of(product) < 2 * chunk_work && can_read_in_place(product.b, product.n, all))
    multiply_small(product, all);
  else
    BlockedProduct<T>(product, all).run();
}

template <class T>
void multiply_blocked(const Product<T>& product) {
  multiply_blocked(product, kernels<T>());
}

template void multiply_blocked(const Product<float>&, const Kernels<float>&);
template void multiply_blocked(const Product<float>&);
template void multiply_blocked(const Product<double>&);
template void multiply_blocked(const Product<std::uint32_t>&);
template void multiply_blocked(const Product<std::uint64_t>&);

}  // namespace cotan::native
