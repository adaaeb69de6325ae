// Fourier transforms of whole arrays, as real and imaginary parts side by side. Transforms along an axis that is not
// the last run side by side in the lanes of vectors. Those along the last one are taken apart, n = rows * columns: the
// transforms of the columns are side by side, and after a transposition those of the rows are (Bailey's four steps).
#include "ops/fft.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "backend/native/routines/fft_kernels.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/gemm_scratch.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/native/routines/temporary.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "ops/strided.hpp"

namespace cotan::native {
namespace {

// Plans -----------------------------------------------------------------------------------------------

/// As few passes as can be, but two; none: there is another prime factor.
std::vector<int> fft_passes_of(std::int64_t n) {
  std::vector<int> out;
  std::int64_t rest = n;
  for (const int radix : fft_radices)
    while (rest % radix == 0 && rest > 1) {
      const bool would_be_all = out.empty() && rest == radix;
      if (would_be_all && radix % 2 == 1) return {};
      if (would_be_all && radix % 2 == 0 && radix > 2) break;
      out.push_back(radix);
      rest /= radix;
    }
  if (rest > 1 || out.size() < 2) return {};
  return out;
}

template <class T>
FftPasses<T> make_passes(std::int64_t n) {
  FftPasses<T> out;
  std::int64_t done = 1;
  const auto add = [](std::vector<T>& to, std::int64_t k, std::int64_t order) {
    const std::complex<double> w = ops::root_of_unity(k, order);
    to.push_back(static_cast<T>(w.real()));
    to.push_back(static_cast<T>(w.imag()));
  };
  for (const int radix : fft_passes_of(n)) {
    FftPass<T> pass{radix, done, n / (done * radix), {}, {}};
    for (std::int64_t k = 0; k < done; ++k)
      for (int j = 0; j < radix; ++j) add(pass.twiddles, j * k, radix * done);
    for (int k = 0; k < radix; ++k) add(pass.roots, k, radix);
    out.push_back(std::move(pass));
    done *= radix;
  }
  return out;
}

/// The number of rows that a transform along the last axis is taken apart into; 0: it cannot be.
std::int64_t rows_of(std::int64_t n, std::int64_t lanes) {
  std::int64_t best = 0;
  for (std::int64_t rows = lanes; rows * rows <= n; rows += lanes)
    if (n % (rows * lanes) == 0 && !fft_passes_of(rows).empty() && !fft_passes_of(n / rows).empty()) best = rows;
  return best;
}

/// What transforms of a length need, made once.
template <class T>
struct FftTables {
  std::int64_t rows = 0, columns = 0;  ///< of a transform along the last axis
  FftPasses<T> along_rows, along_columns;
  /// The factors between, exp(-2 pi i row * column / n). Of long transforms they are products: `fine` is for the
  /// columns of one vector, `coarse` [rows, columns / lanes] for the first of each.
  std::vector<T> fine, coarse;
};

template <class T>
std::shared_ptr<const FftTables<T>> make_tables(std::int64_t n, bool last) {
  auto out = std::make_shared<FftTables<T>>();
  if (!last) {
    out->along_columns = make_passes<T>(n);
    return out;
  }
  constexpr std::int64_t longest = 1 << 13;
  const std::int64_t lanes = fft_kernels<T>().lanes;
  out->rows = rows_of(n, lanes);
  out->columns = n / out->rows;
  out->along_columns = make_passes<T>(out->rows);
  out->along_rows = make_passes<T>(out->columns);
  const std::int64_t wide = n <= longest ? out->columns : lanes;
  for (std::int64_t row = 0; row < out->rows; ++row) {
    for (std::int64_t first = 0; first < wide; first += lanes)
      for (const bool imaginary : {false, true})
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const std::complex<double> w = ops::root_of_unity(row * (first + lane), n);
          out->fine.push_back(static_cast<T>(imaginary ? w.imag() : w.real()));
        }
    for (std::int64_t first = 0; n > longest && first < out->columns; first += lanes) {
      const std::complex<double> w = ops::root_of_unity(row * first, n);
      out->coarse.push_back(static_cast<T>(w.real()));
      out->coarse.push_back(static_cast<T>(w.imag()));
    }
  }
  return out;
}

/// Those of a few lengths are kept.
template <class T>
std::shared_ptr<const FftTables<T>> tables_of(std::int64_t n, bool last) {
  static std::mutex mutex;
  static std::map<std::pair<std::int64_t, bool>, std::shared_ptr<const FftTables<T>>> kept;
  constexpr std::size_t most = 32;
  const std::lock_guard lock(mutex);
  auto& tables = kept[{n, last}];
  if (tables) return tables;
  const auto made = tables = make_tables<T>(n, last);
  if (kept.size() > most)
    kept.erase(kept.begin()->first == std::pair(n, last) ? std::next(kept.begin()) : kept.begin());
  return made;
}

// Transforms --------------------------------------------------------------------------------------------

constexpr std::int64_t little_work = 1 << 14;  ///< elements that are not worth a second thread

template <class T>
FftMemory<T> moved(FftMemory<T> m, std::int64_t by) {
  m.re += by, m.im += by;
  return m;
}

/// From an element to its neighbour.
template <class T>
std::int64_t step_of(const FftMemory<T>& m) {
  return m.side_by_side ? 2 : 1;
}

/// What the next line will read and write is asked for piece by piece: the steps within a line are too far apart for
/// the processor to see what comes.
template <class T>
struct FftAhead {
  const T* from = nullptr;
  T* to = nullptr;
  std::int64_t from_size = 0, to_size = 0;

  void ask(std::int64_t piece, std::int64_t pieces) const {
    constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
    const auto part = [&](std::int64_t size, std::int64_t k) { return size / line * k / pieces * line; };
    for (std::int64_t i = part(from_size, piece); i < part(from_size, piece + 1); i += line)
      __builtin_prefetch(from + i);
    for (std::int64_t i = part(to_size, piece); i < part(to_size, piece + 1); i += line) __builtin_prefetch(to + i, 1);
  }
};

/// One along the last axis: elements are neighbours.
template <class T>
struct FftLine {
  const FftTables<T>& tables;
  FftMemory<T> from, to;
  T* state;  ///< twice as long as the line
  const FftKernels<T>& kernels = fft_kernels<T>();
  std::int64_t lanes = kernels.lanes, blocks = tables.columns / lanes, row_blocks = tables.rows / lanes;

  /// `tiles`: as many elements.
  std::int64_t scratch() const { return 4 * lanes * std::max(tables.rows, tables.columns); }
  /// A vector of columns, which are left as vectors of rows.
  void transform_columns(std::int64_t b, T* tiles) const {
    FftMemory<T> part = moved(from, b * lanes * step_of(from));
    part.stride = tables.columns * step_of(from);
    const T* const tile = kernels.columns_to_tile(tables.along_columns, part, tiles);
    T* const turned = state + 2 * lanes * lanes * b;
    const bool whole = tables.coarse.empty();
    kernels.turn(tables.rows, tile, tables.fine.data() + (whole ? 2 * lanes * b : 0),
                 2 * (whole ? tables.columns : lanes), whole ? nullptr : tables.coarse.data() + 2 * b, 2 * blocks,
                 turned, 2 * lanes * tables.columns);
  }
  /// A vector of rows.
  void transform_rows(std::int64_t b, T* tiles) const {
    FftMemory<T> part = moved(to, lanes * step_of(to) * b);
    part.stride = tables.rows * step_of(to);
    kernels.columns_of_tile(tables.along_rows, state + 2 * lanes * tables.columns * b, part, tiles);
  }

  void run(T* tiles, const FftAhead<T>& ahead) const {
    for (std::int64_t b = 0; b < blocks; ++b) {
      ahead.ask(b, blocks + row_blocks);
      transform_columns(b, tiles);
    }
    for (std::int64_t b = 0; b < row_blocks; ++b) {
      ahead.ask(blocks + b, blocks + row_blocks);
      transform_rows(b, tiles);
    }
  }
  void run_in_parallel() const {
    const auto for_blocks = [&](std::int64_t count, auto&& f) {
      const Partition pieces{count, std::clamp<std::int64_t>(tables.rows * tables.columns / little_work, 1, count)};
      parallel_for(pieces.parts, [&](std::int64_t piece) {
        const Scratch<T> tiles(scratch());
        for (std::int64_t b = pieces.begin(piece); b < pieces.begin(piece + 1); ++b) f(b, tiles.data());
      });
    };
    for_blocks(blocks, [&](std::int64_t b, T* tiles) { transform_columns(b, tiles); });
    for_blocks(row_blocks, [&](std::int64_t b, T* tiles) { transform_rows(b, tiles); });
  }
};

template <class T>
void transform_lines(std::int64_t count, std::int64_t n, const FftMemory<T>& from, std::int64_t from_step,
                     const FftMemory<T>& to) {
  const auto tables = tables_of<T>(n, true);
  const std::int64_t to_step = n * step_of(to);
  constexpr std::int64_t few = 8, longest_ahead = 4096;
  const auto line = [&](std::int64_t k, T* state) {
    return FftLine<T>{*tables, moved(from, k * from_step), moved(to, k * to_step), state};
  };
  if (count < few) {
    const Temporary<T> state(2 * n, "fft");
    for (std::int64_t k = 0; k < count; ++k) line(k, state.data()).run_in_parallel();
    return;
  }
  const Partition pieces{count, std::clamp<std::int64_t>(count * n / little_work, 1, count)};
  const std::int64_t far = std::max<std::int64_t>(1, longest_ahead / (2 * n));
  parallel_for(pieces.parts, [&](std::int64_t piece) {
    const std::int64_t end = pieces.begin(piece + 1);
    const Scratch<T> memory(2 * n + line(0, nullptr).scratch());
    for (std::int64_t k = pieces.begin(piece); k < end; ++k) {
      FftAhead<T> ahead;
      if (k + far < end && n <= longest_ahead && from.side_by_side)
        ahead = {std::min(from.re, from.im) + (k + far) * from_step, std::min(to.re, to.im) + (k + far) * to_step,
                 2 * n, to.side_by_side ? 2 * n : 0};
      line(k, memory.data()).run(memory.data() + 2 * n, ahead);
    }
  });
}

/// Along an axis that `after` elements are behind.
template <class T>
void transform_columns(std::int64_t count, std::int64_t n, std::int64_t after, const FftMemory<T>& from,
                       std::int64_t from_step, const FftMemory<T>& to) {
  const FftKernels<T>& kernels = fft_kernels<T>();
  const auto tables = tables_of<T>(n, false);
  const std::int64_t lanes = kernels.lanes, blocks = after / lanes, step = step_of(from), to_step = step_of(to);
  const Partition pieces{count * blocks, std::clamp<std::int64_t>(count * n * after / little_work, 1, count * blocks)};
  parallel_for(pieces.parts, [&](std::int64_t piece) {
    const Scratch<T> tiles(4 * lanes * n);
    for (std::int64_t b = pieces.begin(piece); b < pieces.begin(piece + 1); ++b) {
      const std::int64_t line = b / blocks, first = b % blocks * lanes;
      kernels.columns(tables->along_columns, moved(from, line * from_step + first * step),
                      moved(to, to_step * (line * n * after + first)), tiles.data());
    }
  });
}

// The routine ---------------------------------------------------------------------------------------------

struct FftExtents {
  std::int64_t before = 1, length = 1, after = 1;
  FftExtents(const Shape& shape, std::int64_t axis) {
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(shape.size()); ++k)
      (k < axis ? before : k == axis ? length : after) *= shape[static_cast<std::size_t>(k)];
  }
};

/// Where the operands are, if their elements are one step apart and so is what follows them; else they are copied.
template <class T>
struct FftSource {
  FftMemory<T> memory;
  std::int64_t line;  ///< from the elements before the axis to the next
  std::unique_ptr<Temporary<T>> copy;
};
template <class T>
FftSource<T> source_of(const RoutineCall& call, const FftExtents& e) {
  const auto& operands = call.routine.operands;
  T *re = reinterpret_cast<T*>(call.operand(0)), *im = reinterpret_cast<T*>(call.operand(1));
  const Shape& shape = operands[0].type.shape;
  const auto steps_by = [&](const compiler::Operand& o, std::int64_t step) {
    const Ints dense = ops::strides_of(shape);
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (shape[k] != 1 && o.strides[k] != dense[k] * step) return false;
    return true;
  };
  const std::int64_t line = e.length * e.after;
  if (steps_by(operands[0], 2) && steps_by(operands[1], 2) && (im == re + 1 || re == im + 1))
    return {{re, im, 2 * e.after, true}, 2 * line, nullptr};
  if (steps_by(operands[0], 1) && steps_by(operands[1], 1)) return {{re, im, e.after, false}, line, nullptr};
  const std::int64_t size = e.before * line;
  auto copy = std::make_unique<Temporary<T>>(2 * size, "fft");
  T* to = copy->data();
  for (std::size_t k = 0; k < 2; ++k) {
    const T* const from = k == 0 ? re : im;
    ops::for_each_offset(shape, operands[k].strides, operands[k].strides,
                         [&](std::int64_t at, std::int64_t) { *to++ = from[at]; });
  }
  return {{copy->data(), copy->data() + size, e.after, false}, line, std::move(copy)};
}

template <class T>
void transform_array(const RoutineCall& call, const FftMemory<T>& to) {
  const FftExtents e(call.routine.operands[0].type.shape, call.routine.params.integer("axis"));
  const FftSource<T> source = source_of<T>(call, e);
  if (e.after == 1)
    transform_lines(e.before, e.length, source.memory, source.line, to);
  else
    transform_columns(e.before, e.length, e.after, source.memory, source.line, to);
}
std::int64_t elements_behind(const RoutineCall& call) {
  return FftExtents(call.routine.operands[0].type.shape, call.routine.params.integer("axis")).after;
}

void fft(const RoutineCall& call) {
  dispatch_floating(call.routine.operands[0].type.dtype, "fft", [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      // A part that nobody reads is written all the same.
      const bool both = call.result(0) && call.result(1);
      const Temporary<T> unread(both ? 0 : call.routine.operands[0].type.size(), "fft");
      T* const parts[] = {reinterpret_cast<T*>(call.result(0)), reinterpret_cast<T*>(call.result(1))};
      transform_array<T>(call, {parts[0] ? parts[0] : unread.data(), parts[1] ? parts[1] : unread.data(),
                                elements_behind(call), false});
    }
  });
}
void fft_pairs(const RoutineCall& call) {
  dispatch_floating(call.routine.operands[0].type.dtype, "fft", [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      T* const out = reinterpret_cast<T*>(call.result(0));
      const bool swapped = call.routine.params.flag("swapped");
      transform_array<T>(call, {out + (swapped ? 1 : 0), out + (swapped ? 0 : 1), 2 * elements_behind(call), true});
    }
  });
}

bool has_routine(std::span<const AbstractValue> types, const Params& params) {
  return has_fft_routine(types[0], params.integer("axis"));
}

}  // namespace

bool has_fft_routine(const AbstractValue& type, std::int64_t axis) {
  constexpr std::int64_t shortest = 256;
  if ((type.dtype != DType::f32 && type.dtype != DType::f64) || type.size() == 0) return false;
  const FftExtents e(type.shape, axis);
  const std::int64_t lanes = type.dtype == DType::f64 ? fft_kernels<double>().lanes : fft_kernels<float>().lanes;
  if (e.length < shortest) return false;
  return e.after == 1 ? rows_of(e.length, lanes) > 0 : e.after % lanes == 0 && !fft_passes_of(e.length).empty();
}

const RuleFor<NativeRoutine> runs_fft{{&ops::fft_p}, {.run = fft, .takes_strides = true, .takes = has_routine}};
const RuleFor<NativeRoutine> runs_fft_pairs{{&ops::fft_pairs_p}, {.run = fft_pairs, .takes_strides = true}};

}  // namespace cotan::native
