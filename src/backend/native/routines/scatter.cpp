// Windows are applied in their order where they can meet, so that results are those of one thread. In
// parallel run parts of the operand that no window leaves, or else pieces of all windows.
#include "backend/native/routines/scatter.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "backend/native/routines/cumulative_ops.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/half_runs.hpp"
#include "backend/native/routines/radix_sort.hpp"
#include "backend/native/routines/scatter_windows.hpp"
#include "backend/native/routines/temporary.hpp"
#include "backend/native/thread_pool.hpp"
#include "core/typed.hpp"
#include "ops/scalar_ops.hpp"

namespace cotan::native {
namespace {

// Elements --------------------------------------------------------------------------------------------

template <auto combine, class T>
[[gnu::optimize("O3")]] void combine_run(T* __restrict y, const T* __restrict x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(combine(y[i], x[i]));
}
template <auto combine, class Half>
void combine_halves(Half* y, const Half* x, std::int64_t n) {
  constexpr std::int64_t block = 256;
  float wide_y[block], wide_x[block];
  for (std::int64_t i = 0; i < n; i += block) {
    const std::int64_t length = std::min(block, n - i);
    widen(y + i, wide_y, length);
    widen(x + i, wide_x, length);
    combine_run<combine>(wide_y, wide_x, length);
    narrow(wide_y, y + i, length);
  }
}

/// As scalar_ops::maximum and minimum, without branches.
template <bool larger>
constexpr auto extremum = [](auto a, auto b) {
  using Op = RunningExtremum<decltype(a), larger>;
  return Op::value(Op::join(Op::order(a), Op::order(b)));
};

/// How elements of type T are combined.
template <auto combine, class T>
struct Combine {
  using Element = T;
  static void one(T& y, const T& x) {
    using C = Compute<T>;
    y = static_cast<T>(combine(static_cast<C>(y), static_cast<C>(x)));
  }
  static void run(T* y, const T* x, std::int64_t n) {
    if constexpr (is_half<T>)
      combine_halves<combine>(y, x, n);
    else
      combine_run<combine>(y, x, n);
  }
};
/// T only needs to have the size of the elements.
template <class T>
struct Replace {
  using Element = T;
  static void one(T& y, const T& x) { y = x; }
  static void run(T* y, const T* x, std::int64_t n) {
    std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
  }
};

// Windows ---------------------------------------------------------------------------------------------

template <class Combine, class T = typename Combine::Element>
void apply_window(const WindowLoop* loop, const WindowLoop* end, T* y, const T* x) {
  if (loop == end) {
    Combine::one(*y, *x);
  } else if (loop + 1 == end && loop->operand == 1 && loop->update == 1) {
    Combine::run(y, x, loop->size);
  } else if (loop + 1 == end) {
    for (std::int64_t i = 0; i < loop->size; ++i) Combine::one(y[i * loop->operand], x[i * loop->update]);
  } else {
    for (std::int64_t i = 0; i < loop->size; ++i)
      apply_window<Combine>(loop + 1, end, y + i * loop->operand, x + i * loop->update);
  }
}

/// Windows in their order, each of these loops, into an operand at `to` from updates at `from`.
using ApplyWindows = void (*)(const Window* windows, const Window* end, std::span<const WindowLoop> loops,
                              std::byte* to, const std::byte* from);
template <class Combine>
void apply_windows(const Window* w, const Window* end, std::span<const WindowLoop> loops, std::byte* to,
                   const std::byte* from) {
  using T = typename Combine::Element;
  T* const y = reinterpret_cast<T*>(to);
  const T* const x = reinterpret_cast<const T*>(from);
  if (loops.empty()) {
    for (; w != end; ++w)
      if (w->key >= 0) Combine::one(y[w->operand], x[w->update]);
  } else {
    const WindowLoop *first = loops.data(), *last = first + loops.size();
    for (; w != end; ++w)
      if (w->key >= 0) apply_window<Combine>(first, last, y + w->operand, x + w->update);
  }
}

/// Windows are sorted by part of the operand, of which there are fewer than this.
constexpr std::int64_t outside = 255;

class Scatter {
 public:
  Scatter(const RoutineCall& call, ApplyWindows apply)
      : windows_(call),
        apply_(apply),
        elements_(call.routine.operands[0].type.size()),
        element_bytes_(static_cast<std::int64_t>(itemsize(call.routine.operands[0].type.dtype))),
        operand_(call.operand(0)),
        updates_(call.operand(2)),
        result_(call.result(0)) {}

  void run() const {
    constexpr std::int64_t little_work = 1 << 14, small_window = 8;
    const std::vector<WindowLoop>& loops = windows_.loops();
    const std::int64_t work = windows_.count() * windows_.size();
    if (work < little_work || windows_.size() < small_window) {
      // Sorting small windows by where they lie costs more than it saves.
      copy_operand();
      apply_in_order();
    } else if (loops.back().update != 1 && loops.back().fixed) {
      // Elements that are neighbours belong to different windows: one element of all windows at a time.
      copy_operand();
      apply_pieces(windows_.size());
    } else if (windows_.keys() > 1) {
      apply_parts();
    } else {
      copy_operand();
      apply_pieces(ceil_divide(work, little_work));
    }
  }

 private:
  void copy(std::int64_t begin, std::int64_t end) const {
    if (operand_ != result_)
      std::memcpy(result_ + begin * element_bytes_, operand_ + begin * element_bytes_,
                  static_cast<std::size_t>((end - begin) * element_bytes_));
  }
  void copy_operand() const {
    const Partition parts = Partition::with_longest(elements_, 1 << 16);
    parallel_for(parts.parts, [&](std::int64_t p) { copy(parts.begin(p), parts.begin(p + 1)); });
  }

  void apply_in_order() const {
    constexpr std::int64_t block = 256;
    Window found[block];
    for (std::int64_t begin = 0; begin < windows_.count(); begin += block) {
      const std::int64_t n = std::min(block, windows_.count() - begin);
      windows_.find(begin, begin + n, found);
      apply_(found, found + n, windows_.loops(), result_, updates_);
    }
  }

  /// All windows, in their order.
  void find_all(Window* out) const {
    const Partition blocks = Partition::with_longest(windows_.count(), 1 << 12);
    parallel_for(blocks.parts, [&](std::int64_t b) {
      windows_.find(blocks.begin(b), blocks.begin(b + 1), out + blocks.begin(b));
    });
  }

  /// By each task a piece of every window: along the longest loop that no index moves.
  void apply_pieces(std::int64_t wanted) const {
    std::vector<WindowLoop> loops = windows_.loops();
    std::size_t longest = loops.size();
    for (std::size_t k = 0; k < loops.size(); ++k)
      if (loops[k].fixed && (longest == loops.size() || loops[k].size > loops[longest].size)) longest = k;
    if (longest == loops.size()) return apply_in_order();
    const WindowLoop cut = loops[longest];
    const Temporary<Window> found(windows_.count(), "scatter");
    find_all(found.data());
    const Partition pieces{cut.size, std::min(cut.size, wanted)};
    parallel_for(pieces.parts, [&](std::int64_t p) {
      std::vector<WindowLoop> piece = loops;
      if (pieces.length(p) > 1)
        piece[longest].size = pieces.length(p);
      else
        piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(longest));
      apply_(found.data(), found.data() + windows_.count(), piece,
             result_ + pieces.begin(p) * cut.operand * element_bytes_,
             updates_ + pieces.begin(p) * cut.update * element_bytes_);
    });
  }

  /// The operand in parts that fit into the cache, with the windows in each of them.
  void apply_parts() const {
    const std::int64_t count = windows_.count(), keys = windows_.keys(),
                       per_key = windows_.elements_per_key();
    const std::int64_t most_parts =
        std::clamp<std::int64_t>(elements_ * element_bytes_ >> 16, 4 * num_threads(), outside);
    int shift = 0;  // from keys to parts
    while (((keys - 1) >> shift) >= most_parts) ++shift;
    const Temporary<Window> found(2 * count, "scatter");
    find_all(found.data());
    for (Window* w = found.data(); w != found.data() + count; ++w)
      w->key = w->key < 0 ? outside : w->key >> shift;
    const Window* const sorted = radix_sort(found.data(), found.data() + count, count);
    if (per_key == 0) copy_operand();
    parallel_for(((keys - 1) >> shift) + 1, [&](std::int64_t part) {
      if (per_key > 0) copy((part << shift) * per_key, std::min(keys, (part + 1) << shift) * per_key);
      const auto first = [&](std::int64_t p) {
        return std::lower_bound(sorted, sorted + count, p,
                                [](const Window& w, std::int64_t q) { return w.key < q; });
      };
      apply_(first(part), first(part + 1), windows_.loops(), result_, updates_);
    });
  }

  Windows windows_;
  ApplyWindows apply_;
  std::int64_t elements_, element_bytes_;
  const std::byte *operand_, *updates_;
  std::byte* result_;
};

/// Copies the operand where there is nothing to write.
bool writes_something(const RoutineCall& call) {
  const AbstractValue &operand = call.routine.operands[0].type, &updates = call.routine.operands[2].type;
  if (operand.size() == 0) return false;
  if (updates.size() > 0) return true;
  std::memmove(call.result(0), call.operand(0),
               static_cast<std::size_t>(operand.size()) * itemsize(operand.dtype));
  return false;
}

template <auto combine>
void scatter_by(const RoutineCall& call) {
  if (!writes_something(call)) return;
  dispatch(call.routine.operands[0].type.dtype,
           [&]<class T>() { Scatter(call, apply_windows<Combine<combine, T>>).run(); });
}

}  // namespace

void scatter(const RoutineCall& call) {
  if (!writes_something(call)) return;
  dispatch_width(call.routine.operands[0].type.dtype,
                 [&]<class T>() { Scatter(call, apply_windows<Replace<T>>).run(); });
}
void scatter_add(const RoutineCall& call) { scatter_by<ops::scalar_ops::add>(call); }
void scatter_mul(const RoutineCall& call) { scatter_by<ops::scalar_ops::mul>(call); }
void scatter_min(const RoutineCall& call) { scatter_by<extremum<false>>(call); }
void scatter_max(const RoutineCall& call) { scatter_by<extremum<true>>(call); }

}  // namespace cotan::native
