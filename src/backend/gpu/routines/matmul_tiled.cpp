// Large products. A group of threads copies a slice of both operands to shared memory, as vectors of four
// along rows and columns; each thread multiplies some rows by some columns of it, with its sums in registers.
#include <set>

#include "backend/gpu/routines/matmul_parts.hpp"

namespace cotan::gpu {

namespace {

constexpr const char* parts_of_vectors[] = {".x", ".y", ".z", ".w"};

/// How the threads of a group copy a slice of one operand: `width` x `depth` elements.
struct Loader {
  const MatmulSide& side;
  std::string name;
  int width, depth, threads;
  std::int64_t extent;  ///< of the whole operand along the width
  std::string first;    ///< where the slice begins there
  bool checks_depth;    ///< the last slice is not full
  bool quads;           ///< a thread reads vectors of four neighbours

  /// Neighbouring threads read neighbouring elements. Where those are along the depth, a thread reads four of the
  /// width, which it can store as a vector; and as vectors of the depth, four of them, which it turns round.
  bool along_depth() const { return side.along_depth(); }
  int per_load() const { return quads ? lanes : 1; }
  int loads() const { return width * depth / threads / per_load(); }
  /// Vectors from one term to the next. One more than needed keeps those who store along the depth out of
  /// each other's banks.
  int pitch() const { return width / lanes + (along_depth() ? 1 : 0); }
  int buffer_vectors() const { return pitch() * depth; }
  std::string shared() const { return name + "_shared"; }
  std::string place(int more) const { return fmt::format("{}_at{}", name, more); }
  std::string loaded(int e) const { return fmt::format("{}_r{}", name, e); }

  // Load `e` of a thread is at width() + width_more(e), depth() + depth_more(e) of the slice.
  int across() const { return width / per_load(); }   ///< loads of a term of a slice, along the width
  int columns() const { return depth / per_load(); }  ///< loads of a row of a slice, along the depth
  /// Eight neighbours store vectors in different banks: four rows of vectors, two columns.
  static constexpr int rows_side_by_side = 4;
  std::string width_of_thread() const {
    if (along_depth() && quads)
      return fmt::format("i32(thread % {}u + thread / {}u * {}u) * {}", rows_side_by_side,
                         rows_side_by_side * columns(), rows_side_by_side, lanes);
    if (along_depth()) return fmt::format("i32(thread / {}u) * {}", depth, lanes);
    const std::string number = threads < across() ? "i32(thread)" : fmt::format("i32(thread % {}u)", across());
    return quads ? fmt::format("{} * {}", number, lanes) : number;
  }
  std::string depth_of_thread() const {
    if (along_depth() && quads) return fmt::format("i32(thread / {}u % {}u) * {}", rows_side_by_side, columns(), lanes);
    if (along_depth()) return fmt::format("i32(thread % {}u)", depth);
    return threads < across() ? "0" : fmt::format("i32(thread / {}u)", across());
  }
  int width_more(int e) const {
    if (along_depth()) return e / lanes * (threads / columns()) * lanes + e % lanes;
    return threads < across() ? e % (across() / threads) * threads * per_load() : 0;
  }
  int depth_more(int e) const {
    if (along_depth()) return 0;
    return threads < across() ? e / (across() / threads) : e * (threads / across());
  }
};

Loader loader_of(const MatmulProblem& problem, const MatmulTile& tile, bool left, const char* name) {
  const MatmulSide& side = left ? problem.left : problem.right;
  const int width = left ? tile.rows : tile.columns, threads = tile.threads(), loads = width * tile.depth / lanes;
  // Whole blocks of four vectors for each thread, where they have to be turned round.
  const bool shares =
      side.along_depth() ? loads % (lanes * threads) == 0 && threads % tile.depth == 0 : loads % threads == 0;
  return {.side = side,
          .name = name,
          .width = width,
          .depth = tile.depth,
          .threads = threads,
          .extent = left ? problem.rows : problem.columns,
          .first = left ? "first_row" : "first_column",
          .checks_depth = problem.depth % tile.depth != 0,
          .quads = lies_in_quads(side) && shares};
}

class TiledWriter : MatmulWriter {
 public:
  /// Two in one shader have shared memory of different names.
  TiledWriter(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch,
              bool is_second)
      : MatmulWriter(shader, problem, tile, scratch),
        left_(loader_of(problem, tile, true, is_second ? "p" : "a")),
        right_(loader_of(problem, tile, false, is_second ? "q" : "b")) {}

  void write() {
    const std::int64_t tile_rows = (problem_.rows + tile_.rows - 1) / tile_.rows,
                       tile_columns = (problem_.columns + tile_.columns - 1) / tile_.columns;
    enter(tile_rows * tile_columns);
    find_tile(tile_rows, tile_columns);
    find_thread();
    for (const Loader* l : {&left_, &right_}) prepare(*l);
    for (int i = 0; i < tile_.thread_rows; ++i)
      for (int j = 0; j < tile_.thread_columns / lanes; ++j)
        w_.variable(sum(i, j), w_.dialect().make_vector(type_, zero()));
    tile_.prefetch ? add_overlapped() : add_in_turn();
    store_sums();
  }

 private:
  std::string type_of_loads(const Loader& l) const { return l.quads ? w_.dialect().vector(type_) : type_; }
  static std::string sum(int row, int vector) { return fmt::format("c{}_{}", row, vector); }

  /// Tiles are walked in bands of some rows: groups that run at the same time then read the same few slices.
  void find_tile(std::int64_t tile_rows, std::int64_t tile_columns) {
    const std::int64_t band = std::min<std::int64_t>(tile_.band, tile_rows), tiles = band * tile_columns;
    w_.let("band", fmt::format("tile / {}", tiles));
    const std::string high =
        tile_rows % band ? fmt::format("min({}, {} - band * {})", band, tile_rows, band) : fmt::format("{}", band);
    w_.let("band_rows", high);
    w_.let("first_row", fmt::format("(band * {} + tile % {} % band_rows) * {}", band, tiles, tile_.rows));
    w_.let("first_column", fmt::format("tile % {} / band_rows * {}", tiles, tile_.columns));
  }

  /// Threads that run in step are a block of 4 x 8 of the tile: what they read of shared memory is few
  /// vectors.
  void find_thread() {
    const int across = tile_.columns / tile_.thread_columns / 8;
    w_.let("thread_row", fmt::format("i32(thread / 32u / {}u * 4u + thread % 32u / 8u)", across));
    w_.let("thread_column", fmt::format("i32(thread / 32u % {}u * 8u + thread % 8u)", across));
  }

  void prepare(const Loader& l) {
    const int buffers = tile_.two_buffers ? 2 : 1;
    s_.declare_shared(l.shared(), w_.dialect().vector(type_), buffers * l.buffer_vectors());
    declare_base(l.side, l.name + "_base");
    w_.let(fmt::format("{}_width", l.name), l.width_of_thread());
    w_.let(fmt::format("{}_depth", l.name), l.depth_of_thread());
    for (int more : distinct(l, &Loader::width_more)) {
      std::string at = fmt::format("{} + {}_width + {}", l.first, l.name, more);
      // What is past the end is not stored in the end: any element will do.
      if (l.extent % l.width)
        at = fmt::format("min({}, {})", at, l.quads && !l.along_depth() ? whole_quads(l.extent) - lanes : l.extent - 1);
      const std::string number = fmt::format("{}_number{}", l.name, more);
      w_.let(number, at);
      w_.let(l.place(more), fmt::format("{}_base + {}", l.name, offset_of(l.side.width, number)));
    }
    // Where a thread writes in shared memory.
    w_.let(fmt::format("{}_to", l.name),
           fmt::format("{}_depth * {} + {}_width / {}", l.name, l.pitch(), l.name, lanes));
  }

  static std::set<int> distinct(const Loader& l, int (Loader::*number)(int) const) {
    std::set<int> out;
    for (int e = 0; e < l.loads(); ++e) out.insert((l.*number)(e));
    return out;
  }

  /// Reads the thread's elements of the slice that begins with term `first`; assigns to variables, or
  /// declares them.
  void load(const Loader& l, const std::string& first, bool declares) {
    const auto term = [&](int more) { return fmt::format("{}_term{}", l.name, more); };
    for (int more : distinct(l, &Loader::depth_more)) {
      w_.let(term(more), fmt::format("{} + {}_depth + {}", first, l.name, more));
      const bool in_quads = l.along_depth() && l.quads;
      const std::int64_t last = in_quads ? whole_quads(problem_.depth) - lanes : problem_.depth - 1;
      const std::string inside = l.checks_depth ? fmt::format("min({}, {})", term(more), last) : term(more);
      w_.let(fmt::format("{}_at", term(more)), offset_of(l.side.depth, inside));
    }
    for (int e = 0; e < l.loads(); ++e) {
      const std::string k = term(l.depth_more(e)), at = fmt::format("{} + {}_at", l.place(l.width_more(e)), k);
      std::string x = l.quads ? loaded_quad(l.side, at) : loaded(l.side, at), none = zero();
      if (l.quads) none = w_.dialect().make_vector(type_, none);
      std::string exists = fmt::format("{} < {}", k, problem_.depth);
      if (l.along_depth() && l.quads && problem_.depth % lanes != 0)
        exists = w_.dialect().make_vector(
            "bool", fmt::format("{0} < {1}, {0} + 1 < {1}, {0} + 2 < {1}, {0} + 3 < {1}", k, problem_.depth));
      if (l.checks_depth) x = fmt::format("select({}, {}, {})", none, x, exists);
      w_.line(declares ? w_.dialect().let(l.loaded(e), x) : fmt::format("{} = {};", l.loaded(e), x));
    }
  }
  std::string loaded_quad(const MatmulSide& side, const std::string& at) {
    const Dialect& d = w_.dialect();
    if (const auto quad = s_.quad_at(side.buffer, fmt::format("({}) >> 2u", at)))
      return d.bitcast(d.vector(type_), *quad);
    std::string elements;  // of a buffer that begins anywhere
    for (int k = 0; k < lanes; ++k) elements += (k ? ", " : "") + loaded(side, fmt::format("{} + {}", at, k));
    return d.make_vector(type_, elements);
  }
  /// Hands them to the group; `buffer` is what is added to places.
  void share(const Loader& l, const std::string& buffer) {
    const std::string to = fmt::format("{}_to{}", l.name, buffer);
    for (int e = 0; e < l.loads(); e += l.along_depth() ? lanes : 1) {
      const int vector = l.depth_more(e) * l.pitch() + l.width_more(e) / lanes;
      const auto of_four = [&](const char* part) {
        return w_.dialect().make_vector(type_, fmt::format("{1}{0}, {2}{0}, {3}{0}, {4}{0}", part, l.loaded(e),
                                                           l.loaded(e + 1), l.loaded(e + 2), l.loaded(e + 3)));
      };
      const auto place = [&](int more) { return fmt::format("{}[{} + {}]", l.shared(), to, vector + more); };
      if (l.along_depth() && l.quads)
        for (int k = 0; k < lanes; ++k)
          w_.line(fmt::format("{} = {};", place(k * l.pitch()), of_four(parts_of_vectors[k])));
      else if (l.along_depth())
        w_.line(fmt::format("{} = {};", place(0), of_four("")));
      else if (l.quads)
        w_.line(fmt::format("{} = {};", place(0), l.loaded(e)));
      else
        w_.line(fmt::format("{}[{}_width % {}] = {};", place(0), l.name, lanes, l.loaded(e)));
    }
  }
  std::string buffer_offset(const Loader& l, const std::string& which) const {
    return tile_.two_buffers ? fmt::format(" + {} * {}", which, l.buffer_vectors()) : "";
  }

  /// One slice after the other: everybody loads, everybody computes.
  void add_in_turn() {
    w_.open_loop("slice", "first_term", "end_term", tile_.depth);
    for (const Loader* l : {&left_, &right_}) load(*l, "slice", true);
    for (const Loader* l : {&left_, &right_}) share(*l, "");
    w_.barrier();
    multiply("0");
    w_.barrier();
    w_.close();
  }

  /// The next slice is on its way to registers while the current one is multiplied.
  void add_overlapped() {
    for (const Loader* l : {&left_, &right_})
      for (int e = 0; e < l->loads(); ++e) w_.variable_of(type_of_loads(*l), l->loaded(e));
    for (const Loader* l : {&left_, &right_}) load(*l, "first_term", false);
    for (const Loader* l : {&left_, &right_}) share(*l, "");
    w_.barrier();
    if (tile_.two_buffers) w_.variable("current", "0");
    w_.open_loop("slice", "first_term", "end_term", tile_.depth);
    w_.let("next", fmt::format("slice + {}", tile_.depth));
    w_.open("if (next < end_term)");
    for (const Loader* l : {&left_, &right_}) load(*l, "next", false);
    w_.close();
    multiply("current");
    if (!tile_.two_buffers) w_.barrier();
    w_.open("if (next < end_term)");
    for (const Loader* l : {&left_, &right_}) share(*l, buffer_offset(*l, "(1 - current)"));
    w_.close();
    w_.barrier();
    if (tile_.two_buffers) w_.line("current = 1 - current;");
    w_.close();
  }

  /// Adds the products of a slice to the thread's sums. A thread's rows and columns are vectors that are as
  /// far apart as there are threads: neighbours read neighbouring vectors.
  void multiply(const std::string& current) {
    w_.open_loop("k", "0", tile_.depth, tile_.unroll);
    const auto begin = [&](const Loader& l, const char* thread) {
      w_.let(fmt::format("{}_from", l.name),
             fmt::format("k * {} + {}{}", l.pitch(), thread, buffer_offset(l, current)));
    };
    begin(left_, "thread_row");
    begin(right_, "thread_column");
    for (int u = 0; u < tile_.unroll; ++u) multiply_term(u);
    w_.close();
  }
  void multiply_term(int u) {
    const auto read = [&](const Loader& l, int vector, int threads) {
      const std::string name = fmt::format("{}{}_{}", l.name, u, vector);
      w_.let(name, fmt::format("{}[{}_from + {}]", l.shared(), l.name, u * l.pitch() + vector * threads));
      return name;
    };
    std::vector<std::string> x, y;
    for (int i = 0; i < tile_.thread_rows / lanes; ++i) x.push_back(read(left_, i, tile_.rows / tile_.thread_rows));
    for (int j = 0; j < tile_.thread_columns / lanes; ++j)
      y.push_back(read(right_, j, tile_.columns / tile_.thread_columns));
    for (int i = 0; i < tile_.thread_rows; ++i) {
      const std::string row = w_.dialect().make_vector(
          type_, fmt::format("{}.{}", x[static_cast<std::size_t>(i / lanes)], "xyzw"[i % lanes]));
      for (std::size_t j = 0; j < y.size(); ++j) {
        const std::string c = sum(i, static_cast<int>(j));
        w_.line(fmt::format("{} = {};", c, multiply_add(row, y[j], c)));
      }
    }
  }

  void store_sums() {
    const bool checks_rows = problem_.rows % tile_.rows, checks_columns = problem_.columns % tile_.columns;
    const int row_groups = tile_.rows / (tile_.thread_rows / lanes),
              column_groups = tile_.columns / (tile_.thread_columns / lanes);
    for (int i = 0; i < tile_.thread_rows; ++i) {
      const std::string row = fmt::format("row{}", i);
      w_.let(row, fmt::format("first_row + thread_row * {} + {}", lanes, i / lanes * row_groups + i % lanes));
      if (checks_rows) w_.open(fmt::format("if ({} < {})", row, problem_.rows));
      for (int j = 0; j < tile_.thread_columns; ++j) {
        const std::string column =
            fmt::format("first_column + thread_column * {} + {}", lanes, j / lanes * column_groups + j % lanes);
        if (stores_quads() && j % lanes) continue;
        if (checks_columns) w_.open(fmt::format("if ({} < {})", column, problem_.columns));
        if (stores_quads())
          store_quad(row, column, sum(i, j / lanes));
        else
          store(row, column, fmt::format("{}.{}", sum(i, j / lanes), "xyzw"[j % lanes]));
        if (checks_columns) w_.close();
      }
      if (checks_rows) w_.close();
    }
  }

  const Loader left_, right_;
};

}  // namespace

void write_tiled(ShaderBuilder& shader, const MatmulProblem& problem, const MatmulTile& tile, BufferId scratch,
                 bool is_second) {
  TiledWriter(shader, problem, tile, scratch, is_second).write();
}

bool reads_quads(const MatmulProblem& problem, const MatmulTile& tile) {
  return loader_of(problem, tile, true, "").quads || loader_of(problem, tile, false, "").quads;
}

}  // namespace cotan::gpu
