// Many lines run in parallel. Few long lines are cut into chunks of fixed length: a thread that takes a chunk
// first sums it up, waits for the sum of all before it, and then runs along it while it is still in the
// cache. How lines are cut depends on sizes alone, so that results do not depend on the number of threads.
#include <atomic>
#include <thread>

#include "backend/native/routines/cumulative_lines.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/half_runs.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"

namespace cotan::native {
namespace {

/// Numbers that threads take one by one, and a gate that they pass in the same order.
class Turns {
 public:
  std::int64_t take() { return taken_.fetch_add(1, std::memory_order_relaxed); }
  /// Whoever holds a lower number is running already and will arrive soon. Yielding the core, which can take long to
  /// come back, is worth it only if that thread seems to have lost its own.
  void wait_for(std::int64_t turn) const {
    constexpr int patience = 20000;
    for (int i = 0; turn_.load(std::memory_order_acquire) != turn; ++i) {
      if (i > patience) std::this_thread::yield();
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }
  void pass(std::int64_t turn) { turn_.store(turn + 1, std::memory_order_release); }

 private:
  std::atomic<std::int64_t> taken_{0};
  alignas(64) std::atomic<std::int64_t> turn_{0};
};

/// An array as [outer, n, inner], scanned along n: by Op, which computes in another type than is Stored where
/// that is a half.
template <class Op, class Stored>
class Scan {
 public:
  explicit Scan(const RoutineCall& call) : reverse_(call.routine.params.flag("reverse")) {
    const Shape& shape = call.routine.operands[0].type.shape;
    const auto axis = static_cast<std::size_t>(call.routine.params.integer("axis"));
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer_ : i > axis ? inner_ : n_) *= shape[i];
    if (outer_ * n_ * inner_ == 0) return;
    for (std::size_t k = 0; k < Op::inputs; ++k) in_[k] = reinterpret_cast<const Stored*>(call.operand(k));
    out_ = reinterpret_cast<Stored*>(call.result(0));
  }

  void run() const {
    if (outer_ * n_ * inner_ == 0) return;
    if (inner_ == 1) {
      if constexpr (Op::joins)
        if (outer_ < few && n_ >= 2 * chunk_size) return run_lines_in_chunks();
      run_lines_in_parallel();
    } else {
      // Wide blocks of columns are read fastest; narrower ones only where nothing else runs in parallel.
      if constexpr (Op::joins) {
        const Partition columns = Partition::with_longest(inner_, widest);
        if (outer_ * columns.parts < few && n_ * inner_ >= 8 * chunk_size) return run_rows_in_chunks(columns);
      }
      const std::int64_t wanted = outer_ < few ? ceil_divide(few, outer_) : 1;
      run_columns_in_parallel(
          Partition::with_longest(inner_, std::clamp<std::int64_t>(ceil_divide(inner_, wanted * 16) * 16, 64, widest)));
    }
  }

 private:
  using Element = typename Op::Element;
  using State = typename Op::State;
  static constexpr bool converts = !std::is_same_v<Element, Stored>;
  static constexpr int side_by_side = converts ? 1 : Op::streams;
  static constexpr std::int64_t chunk_size = 16384;  ///< elements: what stays in the cache between two passes
  static constexpr std::int64_t widest = 2048;       ///< columns of a row that run together
  static constexpr std::int64_t short_line = 16;     ///< elements
  static constexpr std::int64_t few = 8;             ///< lines, or blocks of columns

  /// f(inputs, output), as Elements, for n of them at offset `at`; halves are converted, n <= widest.
  template <class F>
  void with_run(std::int64_t at, std::int64_t n, F&& f) const {
    if constexpr (converts) {
      Element elements[Op::inputs + 1][widest];
      Inputs<Element, Op::inputs> in;
      for (std::size_t k = 0; k < Op::inputs; ++k) {
        widen(in_[k] + at, elements[k], n);
        in[k] = elements[k];
      }
      f(in, elements[Op::inputs]);
      narrow(elements[Op::inputs], out_ + at, n);
    } else {
      f(advanced(in_, at), out_ + at);
    }
  }
  /// f(elements) for one input.
  template <class F>
  void with_elements_of(std::int64_t at, std::int64_t n, F&& f) const {
    if constexpr (converts) {
      Element elements[widest];
      widen(in_[0] + at, elements, n);
      f(static_cast<const Element*>(elements));
    } else {
      f(in_[0] + at);
    }
  }
  /// Calls f(offset, length, is the first) for the pieces of n elements at offset `at` that can be converted
  /// at once, in running order.
  template <class F>
  void for_each_piece(std::int64_t at, std::int64_t n, F&& f) const {
    if constexpr (converts)
      for (std::int64_t done = 0; done < n; done += widest) {
        const std::int64_t length = std::min(widest, n - done);
        f(reverse_ ? at + n - done - length : at + done, length, done == 0);
      }
    else
      f(at, n, true);
  }

  // Lines: the axis is the last one -------------------------------------------------------------------

  void run_lines_in_parallel() const {
    constexpr std::int64_t together = side_by_side;
    const std::int64_t per_task = ceil_divide(std::max<std::int64_t>(1, chunk_size / n_), together) * together;
    parallel_for(ceil_divide(outer_, per_task), [&](std::int64_t task) {
      std::int64_t line = task * per_task;
      const std::int64_t end = std::min(outer_, line + per_task);
      if (n_ <= short_line) {
        for (const std::int64_t step = widest / n_; line < end; line += step) {
          const std::int64_t lines = std::min(step, end - line);
          with_run(line * n_, lines * n_,
                   [&](const auto& in, Element* out) { run_short_lines<Op>(in, out, lines, n_, reverse_); });
        }
        return;
      }
      State state[side_by_side];
      if constexpr (together > 1)
        for (; line + together <= end; line += together)
          run_whole_lines<Op, side_by_side>(advanced(in_, line * n_), out_ + line * n_, n_, n_, reverse_, state);
      for (; line < end; ++line)
        for_each_piece(line * n_, n_, [&](std::int64_t at, std::int64_t n, bool first) {
          with_run(at, n, [&](const auto& in, Element* out) {
            if (first)
              run_whole_lines<Op, 1>(in, out, 0, n, reverse_, state);
            else
              run_lines<Op, 1>(in, out, 0, n, reverse_, state);
          });
        });
    });
  }

  State state_after_run(std::int64_t at, std::int64_t n) const {
    State s = Op::identity();
    for_each_piece(at, n, [&](std::int64_t piece, std::int64_t length, bool first) {
      with_elements_of(piece, length, [&](const Element* x) {
        const State more = state_after<Op>(x, length);
        s = first ? more : Op::join(s, more);
      });
    });
    return s;
  }

  void run_lines_in_chunks() const {
    const std::int64_t per_line = ceil_divide(n_, chunk_size), chunks = outer_ * per_line;
    State before{};  // of the line so far; belongs to the thread whose turn it is
    Turns turns;
    parallel_for(std::min<std::int64_t>(num_threads(), chunks), [&](std::int64_t) {
      for (std::int64_t chunk; (chunk = turns.take()) < chunks;) {
        const std::int64_t begin = chunk % per_line * chunk_size, n = std::min(chunk_size, n_ - begin);
        const std::int64_t at = chunk / per_line * n_ + (reverse_ ? n_ - begin - n : begin);
        // The parts of a chunk that run side by side, in the order that they have in memory.
        const int parts = n % side_by_side == 0 ? side_by_side : 1;
        const std::int64_t length = n / parts;
        State start[side_by_side], whole[side_by_side];
        for (int k = 0; k < parts; ++k) whole[k] = state_after_run(at + k * length, length);
        turns.wait_for(chunk);
        if (begin == 0) before = Op::identity();
        for (int i = 0; i < parts; ++i) {
          const int k = reverse_ ? parts - 1 - i : i;
          start[k] = before;
          before = Op::join(before, whole[k]);
        }
        turns.pass(chunk);
        if constexpr (side_by_side > 1)
          if (parts > 1) {
            run_lines<Op, side_by_side>(advanced(in_, at), out_ + at, length, length, reverse_, start);
            continue;
          }
        for_each_piece(at, n, [&](std::int64_t piece, std::int64_t m, bool) {
          with_run(piece, m, [&](const auto& in, Element* out) { run_lines<Op, 1>(in, out, 0, m, reverse_, start); });
        });
      }
    });
  }

  // Rows: all other axes ------------------------------------------------------------------------------

  /// Rows `begin` to `end` in running order of a block of columns, from `state` on; from the first of all if
  /// `begin` is 0 and they start a line.
  void run_block(std::int64_t outer, std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t width,
                 State* state, bool fresh) const {
    const std::int64_t step = reverse_ ? -inner_ : inner_;
    std::int64_t at = row(outer, begin, column);
    if (fresh) {
      with_run(at, width, [&](const auto& in, Element* out) { run_first_row<Op>(in, out, width, state); });
      at += step, ++begin;
    }
    if constexpr (converts) {
      for (; begin < end; ++begin, at += step)
        with_run(at, width, [&](const auto& in, Element* out) { run_rows<Op>(in, out, 0, 1, width, state); });
    } else {
      const auto in = advanced(in_, at);
      if (width == 2)
        run_narrow_rows<Op, 2>(in, out_ + at, step, end - begin, state);
      else if (width == 3)
        run_narrow_rows<Op, 3>(in, out_ + at, step, end - begin, state);
      else if (width == 4)
        run_narrow_rows<Op, 4>(in, out_ + at, step, end - begin, state);
      else
        run_rows<Op>(in, out_ + at, step, end - begin, width, state);
    }
  }
  void take_block(std::int64_t outer, std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t width,
                  State* state) const {
    const std::int64_t step = reverse_ ? -inner_ : inner_, at = row(outer, begin, column);
    if constexpr (converts)
      for (std::int64_t i = 0; i < end - begin; ++i)
        with_elements_of(at + i * step, width, [&](const Element* x) { take_rows<Op>(x, 0, 1, width, state); });
    else
      take_rows<Op>(in_[0] + at, step, end - begin, width, state);
  }
  /// Where row `i` in running order of a block of columns starts.
  std::int64_t row(std::int64_t outer, std::int64_t i, std::int64_t column) const {
    return (outer * n_ + (reverse_ ? n_ - 1 - i : i)) * inner_ + column;
  }

  void run_columns_in_parallel(const Partition& columns) const {
    const std::int64_t blocks = outer_ * columns.parts;
    const std::int64_t per_task = std::max<std::int64_t>(1, chunk_size / (n_ * columns.longest()));
    parallel_for(ceil_divide(blocks, per_task), [&](std::int64_t task) {
      State state[widest];
      for (std::int64_t block = task * per_task; block < std::min(blocks, (task + 1) * per_task); ++block) {
        const std::int64_t part = block % columns.parts;
        run_block(block / columns.parts, 0, n_, columns.begin(part), columns.length(part), state, true);
      }
    });
  }

  void run_rows_in_chunks(const Partition& columns) const {
    // More than in a chunk of a line, since the states are joined for each chunk.
    const std::int64_t rows = std::max<std::int64_t>(1, 4 * chunk_size / columns.longest());
    const std::int64_t per_block = ceil_divide(n_, rows), chunks = outer_ * columns.parts * per_block;
    State before[widest];
    Turns turns;
    parallel_for(std::min<std::int64_t>(num_threads(), chunks), [&](std::int64_t) {
      State start[widest], whole[widest];
      for (std::int64_t chunk; (chunk = turns.take()) < chunks;) {
        const std::int64_t block = chunk / per_block, begin = chunk % per_block * rows,
                           end = std::min(n_, begin + rows);
        const std::int64_t outer = block / columns.parts, part = block % columns.parts;
        const std::int64_t column = columns.begin(part), width = columns.length(part);
        std::fill_n(whole, width, Op::identity());
        take_block(outer, begin, end, column, width, whole);
        turns.wait_for(chunk);
        if (begin == 0) std::fill_n(before, width, Op::identity());
        for (std::int64_t j = 0; j < width; ++j) {
          start[j] = before[j];
          before[j] = Op::join(before[j], whole[j]);
        }
        turns.pass(chunk);
        run_block(outer, begin, end, column, width, start, false);
      }
    });
  }

  std::int64_t outer_ = 1, n_ = 1, inner_ = 1;
  bool reverse_;
  Inputs<Stored, Op::inputs> in_{};
  Stored* out_ = nullptr;
};

template <template <class> class Op>
void scan(const RoutineCall& call) {
  dispatch(call.routine.operands[0].type.dtype, [&]<class T>() {
    // The type rules let no bool pass.
    if constexpr (!std::is_same_v<T, bool>) Scan<Op<Compute<T>>, T>(call).run();
  });
}

void cumulative_logsumexp(const RoutineCall& call) {
  dispatch_floating(call.routine.operands[0].type.dtype, call.routine.primitive->name,
                    [&]<class T>() { Scan<RunningLogSumExp<Compute<T>>, T>(call).run(); });
}

}  // namespace

const RuleFor<NativeRoutine> runs_cumsum{{&ops::cumsum_p}, {scan<RunningSum>}};
const RuleFor<NativeRoutine> runs_cumprod{{&ops::cumprod_p}, {scan<RunningProduct>}};
const RuleFor<NativeRoutine> runs_cummax{{&ops::cummax_p}, {scan<RunningMax>}};
const RuleFor<NativeRoutine> runs_cummin{{&ops::cummin_p}, {scan<RunningMin>}};
const RuleFor<NativeRoutine> runs_cumlogsumexp{{&ops::cumlogsumexp_p}, {cumulative_logsumexp}};
const RuleFor<NativeRoutine> runs_linear_recurrence{{&ops::linear_recurrence_p}, {scan<LinearRecurrence>}};

}  // namespace cotan::native
