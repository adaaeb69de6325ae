// Windows are applied in their order where they can meet, so that results are those of one thread. In parallel run
// parts of the operand that no window leaves, or else pieces of all windows. Only sums of very many elements have
// parts.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "backend/native/routines/cumulative_ops.hpp"
#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/half_runs.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/native/routines/scatter_windows.hpp"
#include "backend/native/routines/temporary.hpp"
#include "backend/native/routines/vectorized.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "core/typed.hpp"
#include "ops/ops.hpp"
#include "ops/scalar_ops.hpp"

namespace cotan::native {
namespace {

// Elements --------------------------------------------------------------------------------------------

template <auto combine, class T>
COTAN_VECTORIZED void combine_run(T* __restrict y, const T* __restrict x, std::int64_t n) {
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
  static void run(T* y, const T* x, std::int64_t n) { std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T)); }
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

/// Prefetches the memory that a window further on will change or read; the address may be any.
template <bool to_change = true>
void ask_for(const std::byte* address, std::int64_t bytes) {
  constexpr std::int64_t line = 64, most = 8 * line;
  for (std::int64_t k = 0; k < std::min(bytes, most); k += line)
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(k)),
        to_change);
}

/// Applies windows of these loops in their order.
template <class Combine>
void apply_windows(std::span<const Window> windows, std::span<const WindowLoop> loops, std::byte* to,
                   const std::byte* from) {
  using T = typename Combine::Element;
  T* const y = reinterpret_cast<T*>(to);
  const T* const x = reinterpret_cast<const T*>(from);
  const WindowLoop *first = loops.data(), *last = first + loops.size();
  if (loops.empty()) {
    for (const Window& w : windows) Combine::one(y[w.operand], x[w.update]);
    return;
  }
  // Windows lie anywhere: without prefetching, each would be waited for.
  constexpr std::size_t ahead = 24;
  const std::int64_t bytes = (last - 1)->operand == 1 ? (last - 1)->size * static_cast<std::int64_t>(sizeof(T)) : 1;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (i + ahead < windows.size()) {
      ask_for(to + windows[i + ahead].operand * static_cast<std::int64_t>(sizeof(T)), bytes);
      ask_for<false>(from + windows[i + ahead].update * static_cast<std::int64_t>(sizeof(T)), bytes);
    }
    apply_window<Combine>(first, last, y + windows[i].operand, x + windows[i].update);
  }
}

/// Elements of one place, one after the other, wait for each other in memory: they meet in a register instead.
template <class Combine, bool clip, class Index, class T = typename Combine::Element>
void apply_runs(const Index* indices, std::int64_t n, std::int64_t last, T* y, std::int64_t step, const T* x,
                std::int64_t update) {
  std::int64_t place = -1;
  T value{};
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t index = indices[i];
    if (clip) index = std::clamp<std::int64_t>(index, 0, last);
    if (static_cast<std::uint64_t>(index) > static_cast<std::uint64_t>(last)) continue;
    if (index != place) {
      if (place >= 0) y[place * step] = value;
      place = index;
      value = y[place * step];
    }
    Combine::one(value, x[i * update]);
  }
  if (place >= 0) y[place * step] = value;
}

template <class Index>
COTAN_VECTORIZED bool are_inside(const Index* indices, std::int64_t n, Index last) {
  using Unsigned = std::make_unsigned_t<Index>;
  Index signs = 0;  // of what is below 0, or beyond the last
  for (std::int64_t i = 0; i < n; ++i)
    signs |= indices[i] | static_cast<Index>(static_cast<Unsigned>(last) - static_cast<Unsigned>(indices[i]));
  return signs >= 0;
}

/// Most of them are other than the one before, as far as a sample shows. Where runs are short, to notice their ends
/// costs more than to wait.
template <class Index>
COTAN_VECTORIZED bool lie_apart(const Index* indices, std::int64_t n) {
  const std::int64_t pairs = std::min<std::int64_t>(n - 1, 64);
  Index again = 0;
  for (std::int64_t i = 0; i < pairs; ++i) again += static_cast<Index>(indices[i] == indices[i + 1]);
  return 4 * again <= 3 * pairs;
}

template <class Combine>
void apply_elements(const ElementWindows& windows, std::byte* to, const std::byte* from) {
  using T = typename Combine::Element;
  T* const y = reinterpret_cast<T*>(to);
  const T* x = reinterpret_cast<const T*>(from);
  // No prefetching: elements of different places do not wait for each other, so that many are under way at once.
  const auto run = [&, step = windows.operand, update = windows.update]<class Index>(Index) {
    const auto last = static_cast<Index>(std::min<std::int64_t>(windows.last, std::numeric_limits<Index>::max()));
    const Index* indices = reinterpret_cast<const Index*>(windows.indices);
    constexpr std::int64_t block = 1024;
    for (std::int64_t left = windows.count; left > 0; left -= block, indices += block, x += block * update) {
      const std::int64_t n = std::min(block, left);
      if (lie_apart(indices, n) && are_inside(indices, n, last))
        for (std::int64_t i = 0; i < n; ++i) Combine::one(y[indices[i] * step], x[i * update]);
      else if (windows.clip)
        apply_runs<Combine, true>(indices, n, last, y, step, x, update);
      else
        apply_runs<Combine, false>(indices, n, last, y, step, x, update);
    }
  };
  if (windows.index_type == DType::i32)
    run(std::int32_t());
  else
    run(std::int64_t());
}

/// What is added to without a change, zeros of both signs included.
template <class T>
void fill_neutral(std::byte* to, std::int64_t n) {
  std::fill_n(reinterpret_cast<T*>(to), n, static_cast<T>(std::is_integral_v<T> ? 0.0f : -0.0f));
}
template <class Combine, class T = typename Combine::Element>
void join(std::byte* to, const std::byte* from, std::int64_t n) {
  Combine::run(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), n);
}

/// What Scatter needs for one way to combine elements of one type.
struct Apply {
  void (*windows)(std::span<const Window>, std::span<const WindowLoop>, std::byte*, const std::byte*);
  void (*elements)(const ElementWindows&, std::byte*, const std::byte*);
  /// Sums may be taken apart: parts of one begin with these, and are joined. Else null.
  void (*fill)(std::byte* to, std::int64_t n) = nullptr;
  void (*join)(std::byte* to, const std::byte* from, std::int64_t n) = nullptr;
};
template <class Combine>
constexpr Apply apply_by = {apply_windows<Combine>, apply_elements<Combine>};
template <class Combine>
constexpr Apply add_by = {apply_windows<Combine>, apply_elements<Combine>, fill_neutral<typename Combine::Element>,
                          join<Combine>};

class Scatter {
 public:
  Scatter(const RoutineCall& call, const Apply& apply)
      : windows_(call),
        apply_(apply),
        elements_(call.routine.operands[0].type.size()),
        element_bytes_(static_cast<std::int64_t>(itemsize(call.routine.operands[0].type.dtype))),
        operand_(call.operand(0)),
        updates_(call.operand(2)),
        result_(call.result(0)) {}

  void run() const {
    copy_operand();
    constexpr std::int64_t little_work = 1 << 14;
    const std::int64_t size = windows_.size(), work = windows_.count() * size;
    const std::vector<WindowLoop>& loops = windows_.loops();
    if (const auto elements = windows_.as_elements()) {
      apply_elements(*elements);
    } else if (!loops.empty() && loops.back().update != 1 && loops.back().fixed) {
      // Elements that are neighbours belong to different windows: one element of all windows at a time.
      apply_pieces(size);
    } else if (work < little_work) {
      apply_in_order();
    } else if (windows_.keys() > 1) {
      // Each thread looks at all windows, which pays if windows are longer than that takes.
      apply_shares(std::clamp<std::int64_t>(size / 4, 1, num_threads()));
    } else {
      apply_pieces(ceil_divide(work, little_work));
    }
  }

 private:
  void copy_operand() const {
    if (operand_ == result_) return;
    const Partition parts = Partition::with_longest(elements_ * element_bytes_, 1 << 18);
    parallel_for(parts.parts, [&](std::int64_t p) {
      std::memcpy(result_ + parts.begin(p), operand_ + parts.begin(p), static_cast<std::size_t>(parts.length(p)));
    });
  }

  /// Where many are added to few, in parts: how many depends on the shapes alone, and with them the order of sums.
  void apply_elements(const ElementWindows& all) const {
    constexpr std::int64_t many = 1 << 17, per_place = 16;
    const Partition parts{all.count, apply_.join && all.count >= std::max(many, per_place * elements_) ? 4 : 1};
    const std::int64_t bytes = elements_ * element_bytes_;
    const Temporary<std::byte> others((parts.parts - 1) * bytes, "scatter");
    parallel_for(parts.parts, [&](std::int64_t p) {
      std::byte* const to = p == 0 ? result_ : others.data() + (p - 1) * bytes;
      if (p > 0) apply_.fill(to, elements_);
      ElementWindows part = all;
      part.indices += parts.begin(p) * static_cast<std::int64_t>(itemsize(all.index_type));
      part.count = parts.length(p);
      apply_.elements(part, to, updates_ + parts.begin(p) * all.update * element_bytes_);
    });
    for (std::int64_t p = 1; p < parts.parts; ++p) apply_.join(result_, others.data() + (p - 1) * bytes, elements_);
  }

  void apply_in_order() const {
    constexpr std::int64_t block = 1 << 10;
    Window found[block];
    for (std::int64_t begin = 0; begin < windows_.count(); begin += block) {
      const std::int64_t n = std::min(block, windows_.count() - begin);
      windows_.find(begin, begin + n, found);
      const Window* const end = std::remove_if(found, found + n, [](const Window& w) { return w.key < 0; });
      apply_.windows({found, end}, windows_.loops(), result_, updates_);
    }
  }

  /// All windows that are inside the operand, dealt out to shares. They are found in blocks; those of a share keep
  /// their order.
  class Dealt {
   public:
    template <class F>
    Dealt(const Windows& windows, std::int64_t shares, F&& share_of)
        : shares_(shares),
          blocks_(Partition::with_longest(windows.count(), most_in_block)),
          memory_(windows.count(), "scatter"),
          ends_(static_cast<std::size_t>(blocks_.parts * shares)) {
      parallel_for(blocks_.parts, [&](std::int64_t b) {
        Window found[most_in_block];
        windows.find(blocks_.begin(b), blocks_.begin(b + 1), found);
        deal({found, static_cast<std::size_t>(blocks_.length(b))}, b, share_of);
      });
    }
    /// f(windows) for those of a share, in their order.
    template <class F>
    void for_each(std::int64_t share, F&& f) const {
      for (std::int64_t b = 0; b < blocks_.parts; ++b) {
        const Window* const begin = share == 0 ? memory_.data() + blocks_.begin(b) : end_of(b, share - 1);
        f(std::span<const Window>(begin, end_of(b, share)));
      }
    }

   private:
    static constexpr std::int64_t most_in_block = 1 << 11;

    template <class F>
    void deal(std::span<const Window> found, std::int64_t block, F&& share_of) {
      std::int64_t* const ends = ends_.data() + block * shares_;
      for (const Window& w : found)
        if (w.key >= 0) ++ends[share_of(w)];
      std::int64_t before = 0;
      for (std::int64_t s = 0; s < shares_; ++s) before += std::exchange(ends[s], before);
      Window* const to = memory_.data() + blocks_.begin(block);
      for (const Window& w : found)
        if (w.key >= 0) to[ends[share_of(w)]++] = w;
    }
    const Window* end_of(std::int64_t block, std::int64_t share) const {
      return memory_.data() + blocks_.begin(block) + ends_[static_cast<std::size_t>(block * shares_ + share)];
    }

    std::int64_t shares_;
    Partition blocks_;
    Temporary<Window> memory_;
    std::vector<std::int64_t> ends_;  ///< in each block, of each share
  };

  /// Keys are dealt out to `shares` tasks: some neighbours at a time, which may share a cache line.
  void apply_shares(std::int64_t shares) const {
    if (shares == 1) return apply_in_order();
    const int together = windows_.keys() >= 256 * shares ? 4 : 0;
    const Dealt dealt(windows_, shares, [&](const Window& w) { return (w.key >> together) % shares; });
    parallel_for(shares, [&](std::int64_t share) {
      dealt.for_each(share, [&](std::span<const Window> windows) {
        apply_.windows(windows, windows_.loops(), result_, updates_);
      });
    });
  }

  /// Windows are cut into pieces, along the longest loop that no index moves: a piece of all of them is a
  /// task.
  void apply_pieces(std::int64_t wanted) const {
    const std::vector<WindowLoop>& loops = windows_.loops();
    std::size_t longest = loops.size();
    for (std::size_t k = 0; k < loops.size(); ++k)
      if (loops[k].fixed && (longest == loops.size() || loops[k].size > loops[longest].size)) longest = k;
    if (longest == loops.size()) return apply_in_order();
    const WindowLoop cut = loops[longest];
    const Partition pieces{cut.size, std::min(cut.size, wanted)};
    const Dealt all(windows_, 1, [](const Window&) { return 0; });
    parallel_for(pieces.parts, [&](std::int64_t p) {
      std::vector<WindowLoop> piece = loops;
      if (pieces.length(p) > 1)
        piece[longest].size = pieces.length(p);
      else
        piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(longest));
      all.for_each(0, [&](std::span<const Window> windows) {
        apply_.windows(windows, piece, result_ + pieces.begin(p) * cut.operand * element_bytes_,
                       updates_ + pieces.begin(p) * cut.update * element_bytes_);
      });
    });
  }

  Windows windows_;
  const Apply& apply_;
  std::int64_t elements_, element_bytes_;
  const std::byte *operand_, *updates_;
  std::byte* result_;
};

/// Copies the operand where there is nothing to write.
bool writes_something(const RoutineCall& call) {
  const AbstractValue &operand = call.routine.operands[0].type, &updates = call.routine.operands[2].type;
  if (operand.size() == 0) return false;
  if (updates.size() > 0) return true;
  std::memmove(call.result(0), call.operand(0), static_cast<std::size_t>(operand.size()) * itemsize(operand.dtype));
  return false;
}

template <auto combine>
void scatter_by(const RoutineCall& call) {
  if (!writes_something(call)) return;
  dispatch(call.routine.operands[0].type.dtype, [&]<class T>() { Scatter(call, apply_by<Combine<combine, T>>).run(); });
}

void scatter_add(const RoutineCall& call) {
  if (!writes_something(call)) return;
  dispatch(call.routine.operands[0].type.dtype,
           [&]<class T>() { Scatter(call, add_by<Combine<ops::scalar_ops::add, T>>).run(); });
}

void scatter(const RoutineCall& call) {
  if (!writes_something(call)) return;
  dispatch_width(call.routine.operands[0].type.dtype, [&]<class T>() { Scatter(call, apply_by<Replace<T>>).run(); });
}

}  // namespace

const RuleFor<NativeRoutine> runs_scatter{{&ops::scatter_p}, {scatter}};
const RuleFor<NativeRoutine> runs_scatter_add{{&ops::scatter_add_p}, {scatter_add}};
const RuleFor<NativeRoutine> runs_scatter_mul{{&ops::scatter_mul_p}, {scatter_by<ops::scalar_ops::mul>}};
const RuleFor<NativeRoutine> runs_scatter_min{{&ops::scatter_min_p}, {scatter_by<extremum<false>>}};
const RuleFor<NativeRoutine> runs_scatter_max{{&ops::scatter_max_p}, {scatter_by<extremum<true>>}};

}  // namespace cotan::native
