// The largest elements of lines: candidates that are larger than what was found so far are collected, and
// thinned out when there are too many. In the total order of bits, and the first of equals first.
#include <algorithm>

#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/routines/radix_sort.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/native/routines/sort_order.hpp"
#include "backend/native/routines/temporary.hpp"
#include "backend/native/routines/vectorized.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "ops/ops.hpp"

namespace cotan::native {
namespace {

/// An element and where it is; the lesser one goes first. No two are equal.
template <class Key>
struct Candidate {
  Key key;
  std::int32_t position;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.key < b.key || (a.key == b.key && a.position < b.position);
  }
};

template <class T>
class TopK {
 public:
  TopK(const T* in, T* values, std::int32_t* positions, std::int64_t n, std::int64_t k)
      : in_(in), values_(values), positions_(positions), n_(n), k_(k) {}

  void run() const {
    if (k_ == 0) return;
    if (16 * k_ > n_) {
      sort_all();
      return;
    }
    // The best of parts, then the best of those. Parts are long, so that they drop most of their elements.
    const Partition parts{n_, std::clamp<std::int64_t>(n_ / std::max<std::int64_t>(16 * k_, 1 << 14), 1, 64)};
    const Temporary<Candidate<Key>> best(parts.parts * k_, "top_k");
    parallel_for(parts.parts,
                 [&](std::int64_t part) { select(parts.begin(part), parts.begin(part + 1), best.data() + part * k_); });
    Candidate<Key>* const first = best.data();
    std::partial_sort(first, first + k_, first + parts.parts * k_);
    for (std::int64_t i = 0; i < k_; ++i) put(i, first[i].position);
  }

 private:
  using Key = OrderOf<T>;
  static Key key(T x) { return static_cast<Key>(~total_order(x)); }
  void put(std::int64_t i, std::int32_t position) const {
    if (values_) values_[i] = in_[position];
    if (positions_) positions_[i] = position;
  }

  /// Writes the k best candidates of a part, in any order; it has at least as many elements.
  void select(std::int64_t begin, std::int64_t end, Candidate<Key>* best) const {
    constexpr std::int64_t block = 64;
    const std::int64_t room = 2 * k_ + block;
    const Temporary<Candidate<Key>> memory(room + block, "top_k");
    Candidate<Key>* const found = memory.data();
    std::int64_t count = 0;
    Key bound = static_cast<Key>(~Key(0));  // of the keys that can still be among the best
    const auto thin_out = [&] {
      std::nth_element(found, found + k_ - 1, found + count);
      count = k_;
      bound = found[k_ - 1].key;
    };
    for (std::int64_t i = begin; i < end; i += block) {
      const std::int64_t stop = std::min(end, i + block);
      if (count >= k_ && !any_within(i, stop, bound)) continue;
      for (std::int64_t j = i; j < stop; ++j) {
        found[count] = {key(in_[j]), static_cast<std::int32_t>(j)};
        count += found[count].key <= bound;
      }
      if (count >= room) thin_out();
    }
    if (count > k_) thin_out();
    std::copy_n(found, k_, best);
  }
  COTAN_VECTORIZED bool any_within(std::int64_t begin, std::int64_t end, Key bound) const {
    Key any = 0;
    for (std::int64_t j = begin; j < end; ++j) any |= key(in_[j]) <= bound;
    return any;
  }

  void sort_all() const {
    using Record = Keyed<Key, std::int32_t>;
    const Temporary<Record> memory(2 * n_, "top_k");
    for (std::int64_t i = 0; i < n_; ++i) memory.data()[i] = {key(in_[i]), static_cast<std::int32_t>(i)};
    Record* sorted = memory.data();
    if (n_ < 96)
      std::sort(sorted, sorted + n_, [](const Record& a, const Record& b) {
        return a.key < b.key || (a.key == b.key && a.payload < b.payload);
      });
    else
      sorted = radix_sort(sorted, sorted + n_, n_);
    for (std::int64_t i = 0; i < k_; ++i) put(i, sorted[i].payload);
  }

  const T* in_;
  T* values_;                ///< nullptr: not wanted
  std::int32_t* positions_;  ///< the same
  std::int64_t n_, k_;
};

void top_k(const RoutineCall& call) {
  const compiler::Operand& x = call.routine.operands[0];
  const std::int64_t k = call.routine.params.integer("k"), n = x.type.shape.back();
  if (n == 0 || k == 0 || x.type.size() == 0) return;
  const std::int64_t lines = x.type.size() / n;
  dispatch(x.type.dtype, [&]<class T>() {
    const T* const in = reinterpret_cast<const T*>(call.operand(0));
    T* const values = reinterpret_cast<T*>(wanted_result(call, 0));
    auto* const positions = reinterpret_cast<std::int32_t*>(wanted_result(call, 1));
    const std::int64_t per_task = std::max<std::int64_t>(1, (1 << 13) / n);
    parallel_for(ceil_divide(lines, per_task), [&](std::int64_t task) {
      for (std::int64_t l = task * per_task; l < std::min(lines, (task + 1) * per_task); ++l)
        TopK<T>(in + l * n, values ? values + l * k : nullptr, positions ? positions + l * k : nullptr, n, k).run();
    });
  });
}

}  // namespace

const RuleFor<NativeRoutine> runs_top_k{{&ops::top_k_p}, {top_k}};

}  // namespace cotan::native
