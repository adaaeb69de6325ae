// Products with vectors and with matrices of few columns or rows: all there is to do is to read the other
// operand once. Threads share a sum, each with every so many-th term, and add up what they have in a tree.
#include "backend/gpu/routines/matmul_parts.hpp"

namespace cotan::gpu {

namespace {

class NarrowWriter : MatmulWriter {
 public:
  NarrowWriter(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch)
      : MatmulWriter(shader, problem, tile, scratch),
        left_is_wide_(problem.rows >= problem.columns),
        wide_(left_is_wide_ ? problem.left : problem.right),
        narrow_(left_is_wide_ ? problem.right : problem.left),
        wide_extent_(left_is_wide_ ? problem.rows : problem.columns),
        narrow_extent_(left_is_wide_ ? problem.columns : problem.rows) {}

  void write() {
    const std::int64_t row_tiles = (wide_extent_ + tile_.rows - 1) / tile_.rows,
                       column_tiles = (narrow_extent_ + tile_.columns - 1) / tile_.columns;
    enter(row_tiles * column_tiles);
    find_thread();
    declare_base(wide_, "a_base");
    declare_base(narrow_, "b_base");
    // Groups that run one after the other read the same rows: the columns change fastest.
    for (int i = 0; i < tile_.thread_rows; ++i)
      declare_place("a", i, wide_,
                    fmt::format("tile / {} * {} + thread_row + {}", column_tiles, tile_.rows, i * threads_across()),
                    wide_extent_, tile_.rows);
    for (int j = 0; j < tile_.columns; ++j)
      declare_place("b", j, narrow_, fmt::format("tile % {} * {} + {}", column_tiles, tile_.columns, j), narrow_extent_,
                    tile_.columns);
    for (int c = 0; c < sums(); ++c) w_.variable(sum(c), zero());
    add_terms();
    add_up();
    store_sums();
  }

 private:
  int threads_across() const { return tile_.rows / tile_.thread_rows; }
  int sums() const { return tile_.thread_rows * tile_.columns; }
  static std::string sum(int c) { return fmt::format("c{}", c); }
  /// Neighbouring threads read neighbours in memory.
  int depth_stride() const { return wide_.along_depth() ? 1 : threads_across(); }

  void find_thread() {
    if (wide_.along_depth()) {
      w_.let("thread_depth", fmt::format("i32(thread % {}u)", tile_.depth));
      w_.let("thread_row", fmt::format("i32(thread / {}u)", tile_.depth));
    } else {
      w_.let("thread_depth", fmt::format("i32(thread / {}u)", threads_across()));
      w_.let("thread_row", fmt::format("i32(thread % {}u)", threads_across()));
    }
  }

  /// The number of a row or column, and where it begins; past the end any one will do.
  void declare_place(const char* name, int e, const MatmulSide& side, const std::string& number, std::int64_t extent,
                     int step) {
    w_.let(fmt::format("{}_w{}", name, e), number);
    const std::string inside =
        extent % step ? fmt::format("min({}_w{}, {})", name, e, extent - 1) : fmt::format("{}_w{}", name, e);
    w_.let(fmt::format("{}_at{}", name, e), fmt::format("{}_base + {}", name, offset_of(side.width, inside)));
  }

  void add_terms() {
    w_.variable("k", "first_term + thread_depth");
    if (tile_.unroll > 1) {  // several loads on their way at a time
      const int ahead = tile_.depth * (tile_.unroll - 1);
      w_.open(fmt::format("for (; k + {} < end_term; k += {})", ahead, tile_.depth * tile_.unroll));
      add_terms_at(tile_.unroll);
      w_.close();
    }
    w_.open(fmt::format("for (; k < end_term; k += {})", tile_.depth));
    add_terms_at(1);
    w_.close();
  }
  void add_terms_at(int count) {
    const auto load = [&](const char* name, int e, int u, const MatmulSide& side) {
      const std::string x = fmt::format("{}{}_{}", name, u, e);
      w_.let(x, loaded(side, fmt::format("{}_at{} + {}", name, e, offset_of(side.depth, fmt::format("k{}", u)))));
      return x;
    };
    for (int u = 0; u < count; ++u) {
      w_.let(fmt::format("k{}", u), fmt::format("k + {}", u * tile_.depth));
      for (int i = 0; i < tile_.thread_rows; ++i) load("a", i, u, wide_);
      for (int j = 0; j < tile_.columns; ++j) load("b", j, u, narrow_);
    }
    for (int u = 0; u < count; ++u)
      for (int i = 0; i < tile_.thread_rows; ++i)
        for (int j = 0; j < tile_.columns; ++j) {
          const std::string c = sum(i * tile_.columns + j);
          w_.line(
              fmt::format("{} = {};", c, multiply_add(fmt::format("a{}_{}", u, i), fmt::format("b{}_{}", u, j), c)));
        }
  }

  void add_up() {
    if (tile_.depth == 1) return;
    s_.declare_shared("sums", type_, sums() * tile_.threads());
    const auto place = [&](int c, const std::string& more) {
      return fmt::format("sums[i32(thread) + {}{}]", c * tile_.threads(), more);
    };
    for (int c = 0; c < sums(); ++c) w_.line(fmt::format("{} = {};", place(c, ""), sum(c)));
    w_.barrier();
    w_.open(
        fmt::format("for ({}; half > 0; half /= 2)", w_.dialect().variable("half", std::to_string(tile_.depth / 2))));
    w_.open("if (thread_depth < half)");
    for (int c = 0; c < sums(); ++c)
      w_.line(fmt::format("{} += {};", place(c, ""), place(c, fmt::format(" + half * {}", depth_stride()))));
    w_.close();
    w_.barrier();
    w_.close();
    for (int c = 0; c < sums(); ++c) w_.line(fmt::format("{} = {};", sum(c), place(c, "")));
  }

  void store_sums() {
    w_.open("if (thread_depth == 0)");
    for (int i = 0; i < tile_.thread_rows; ++i)
      for (int j = 0; j < tile_.columns; ++j) {
        const std::string row = fmt::format("a_w{}", i), column = fmt::format("b_w{}", j);
        w_.open(fmt::format("if ({} < {} && {} < {})", row, wide_extent_, column, narrow_extent_));
        store(left_is_wide_ ? row : column, left_is_wide_ ? column : row, sum(i * tile_.columns + j));
        w_.close();
      }
    w_.close();
  }

  const bool left_is_wide_;
  const MatmulSide &wide_, &narrow_;
  const std::int64_t wide_extent_, narrow_extent_;
};

}  // namespace

void write_narrow(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch) {
  NarrowWriter(shader, problem, tile, scratch).write();
}

}  // namespace cotan::gpu
