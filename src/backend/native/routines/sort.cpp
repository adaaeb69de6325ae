// Keys are sorted as unsigned integers, digit by digit: alone where there is nothing else, with another
// operand of the same size, or else with positions that all operands are then gathered by.
#include <limits>

#include "backend/native/routines/radix_sort.hpp"
#include "backend/native/routines/routine_call.hpp"
#include "backend/native/routines/sort_order.hpp"
#include "backend/native/routines/temporary.hpp"
#include "backend/native/runtime/thread_pool.hpp"
#include "ops/ops.hpp"

namespace cotan::native {
namespace {

constexpr std::int64_t few = 48;               ///< records that comparisons sort faster
constexpr std::int64_t task_elements = 16384;  ///< what is worth a task of its own

/// Calls f(begin, end) for parts of [0, n), in parallel where that pays.
template <class F>
void in_parts(std::int64_t n, F&& f) {
  const Partition parts = Partition::with_longest(n, task_elements);
  parallel_for(parts.parts, [&](std::int64_t p) { f(parts.begin(p), parts.begin(p + 1)); });
}

/// Stable; the result is in one of the two arrays.
template <class Record>
Record* sort_records(Record* records, Record* scratch, std::int64_t n) {
  if (n > few) return radix_sort(records, scratch, n);
  const auto before = [](const Record& a, const Record& b) { return key_of(a) < key_of(b); };
  // Insertion, since std::stable_sort allocates.
  for (std::int64_t i = 1; i < n; ++i) {
    const Record record = records[i];
    std::int64_t at = i;
    for (; at > 0 && before(record, records[at - 1]); --at) records[at] = records[at - 1];
    records[at] = record;
  }
  return records;
}

/// Elements that are equal but differ in their bits (zeros, NaN) keep the order that they come in: their keys do
/// not tell them apart, so they are put in order once more.
template <class T>
void restore_equals(const T* in, T* out, std::int64_t n) {
  if constexpr (is_real<T>) {
    using Bits = RealBits<T>;
    const auto magnitude = [](T x) { return static_cast<OrderOf<T>>(std::bit_cast<OrderOf<T>>(x) & ~Bits::sign); };
    const auto order = [](T x, OrderOf<T> y) { return numeric_order(x) < y; };
    T *zero = std::lower_bound(out, out + n, Bits::sign, order),
      *nan = std::lower_bound(zero, out + n, static_cast<OrderOf<T>>(~OrderOf<T>(0)), order);
    const bool zeros = zero != out + n && magnitude(*zero) == 0, nans = nan != out + n;
    if (!zeros && !nans) return;
    for (std::int64_t i = 0; i < n; ++i) {
      if (magnitude(in[i]) == 0)
        *zero++ = in[i];
      else if (magnitude(in[i]) > Bits::infinity)
        *nan++ = in[i];
    }
  }
}

/// Where the elements of each operand and result are. Results that nobody wants are nullptr.
struct Memory {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
};

class Sort {
 public:
  explicit Sort(const RoutineCall& call) : num_keys_(call.routine.params.integer("num_keys")) {
    const Shape& shape = call.routine.operands[0].type.shape;
    const auto axis = static_cast<std::size_t>(call.routine.params.integer("dimension"));
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer_ : i > axis ? inner_ : n_) *= shape[i];
    if (outer_ * n_ * inner_ == 0) return;
    bool wide_keys = n_ > std::numeric_limits<std::uint32_t>::max();
    for (std::size_t k = 0; k < call.routine.operands.size(); ++k) {
      types_.push_back(call.routine.operands[k].type.dtype);
      if (static_cast<std::int64_t>(k) < num_keys_) wide_keys |= itemsize(types_[k]) > 4;
      memory_.in.push_back(call.operand(k));
      memory_.out.push_back(wanted_result(call, k));
    }
    method_ = types_.size() == 1 ? Method::alone
              : types_.size() == 2 && num_keys_ == 1 && itemsize(types_[0]) == 4 && itemsize(types_[1]) == 4
                  ? Method::pairs
              : wide_keys ? Method::wide_positions
                          : Method::positions;
  }

  void run() const {
    if (outer_ * n_ * inner_ == 0) return;
    if (inner_ == 1) {
      const std::int64_t per_task = std::max<std::int64_t>(1, task_elements / n_);
      parallel_for(ceil_divide(outer_, per_task), [&](std::int64_t task) {
        const Temporary<std::byte> records(record_bytes(), "sort");
        for (std::int64_t line = task * per_task; line < std::min(outer_, (task + 1) * per_task); ++line)
          sort_line(memory_, line * n_, records.data());
      });
    } else {
      // Neighbouring lines share cache lines.
      const Partition blocks = Partition::with_longest(inner_, 16);
      parallel_for(outer_ * blocks.parts, [&](std::int64_t block) {
        const std::int64_t part = block % blocks.parts;
        sort_strided(block / blocks.parts * n_ * inner_ + blocks.begin(part), blocks.length(part));
      });
    }
  }

 private:
  enum class Method : std::uint8_t { alone, pairs, positions, wide_positions };

  /// Of two sets of the records that one line is sorted as.
  std::int64_t record_bytes() const {
    const std::int64_t bytes = method_ == Method::alone            ? static_cast<std::int64_t>(itemsize(types_[0]))
                               : method_ == Method::wide_positions ? 16
                                                                   : 8;
    return 2 * n_ * bytes;
  }

  /// Lines from offset `at` whose elements are `inner` apart: copied, sorted and copied back.
  void sort_strided(std::int64_t at, std::int64_t lines) const {
    const auto copy_bytes = [&](DType t) {
      return ceil_divide(n_ * lines * static_cast<std::int64_t>(itemsize(t)), 64) * 64;
    };
    std::int64_t bytes = 0;
    for (DType t : types_) bytes += 2 * copy_bytes(t);
    const Temporary<std::byte> copies(bytes, "sort"), records(record_bytes(), "sort");
    Memory dense;
    std::byte* free = copies.data();
    for (std::size_t k = 0; k < types_.size(); ++k)
      dispatch_width(types_[k], [&]<class T>() {
        T* const to = reinterpret_cast<T*>(free);
        const T* const from = reinterpret_cast<const T*>(memory_.in[k]) + at;
        for (std::int64_t i = 0; i < n_; ++i)
          for (std::int64_t l = 0; l < lines; ++l) to[l * n_ + i] = from[i * inner_ + l];
        dense.in.push_back(free);
        dense.out.push_back(memory_.out[k] ? free + copy_bytes(types_[k]) : nullptr);
        free += 2 * copy_bytes(types_[k]);
      });
    for (std::int64_t l = 0; l < lines; ++l) sort_line(dense, l * n_, records.data());
    for (std::size_t k = 0; k < types_.size(); ++k)
      if (memory_.out[k])
        dispatch_width(types_[k], [&]<class T>() {
          const T* const from = reinterpret_cast<const T*>(dense.out[k]);
          T* const to = reinterpret_cast<T*>(memory_.out[k]) + at;
          for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t l = 0; l < lines; ++l) to[i * inner_ + l] = from[l * n_ + i];
        });
  }

  /// The n contiguous elements at offset `at`.
  void sort_line(const Memory& memory, std::int64_t at, std::byte* records) const {
    switch (method_) {
      case Method::alone:
        return sort_alone(memory, at, records);
      case Method::pairs:
        return sort_pairs(memory, at, records);
      case Method::positions:
        return sort_positions<std::uint32_t>(memory, at, records);
      case Method::wide_positions:
        return sort_positions<std::uint64_t>(memory, at, records);
    }
  }
  template <class T>
  static const T* elements(const std::byte* memory, std::int64_t at) {
    return reinterpret_cast<const T*>(memory) + at;
  }
  template <class T>
  static T* elements(std::byte* memory, std::int64_t at) {
    return memory ? reinterpret_cast<T*>(memory) + at : nullptr;
  }

  void sort_alone(const Memory& memory, std::int64_t at, std::byte* records) const {
    if (!memory.out[0]) return;
    dispatch(types_[0], [&]<class T>() {
      const T* const in = elements<T>(memory.in[0], at);
      T* const out = elements<T>(memory.out[0], at);
      OrderOf<T>* const keys = reinterpret_cast<OrderOf<T>*>(records);
      in_parts(n_, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) keys[i] = numeric_order(in[i]);
      });
      const OrderOf<T>* const sorted = sort_records(keys, keys + n_, n_);
      in_parts(n_, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = from_order<T>(sorted[i]);
      });
      restore_equals(in, out, n_);
    });
  }

  /// A key and another operand, both of 4 bytes: an argsort, above all.
  void sort_pairs(const Memory& memory, std::int64_t at, std::byte* records) const {
    using Pair = Keyed<std::uint32_t, std::uint32_t>;
    Pair* const pairs = reinterpret_cast<Pair*>(records);
    const auto* const payload = elements<std::uint32_t>(memory.in[1], at);
    auto* const out_payload = elements<std::uint32_t>(memory.out[1], at);
    const auto run = [&]<class T>(T) {
      const T* const in = elements<T>(memory.in[0], at);
      T* const out = elements<T>(memory.out[0], at);
      in_parts(n_, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) pairs[i] = {numeric_order(in[i]), payload[i]};
      });
      const Pair* const sorted = sort_records(pairs, pairs + n_, n_);
      in_parts(n_, [&](std::int64_t begin, std::int64_t end) {
        if (out)
          for (std::int64_t i = begin; i < end; ++i) out[i] = from_order<T>(sorted[i].key);
        if (out_payload)
          for (std::int64_t i = begin; i < end; ++i) out_payload[i] = sorted[i].payload;
      });
      if (out) restore_equals(in, out, n_);
    };
    if (types_[0] == DType::f32)
      run(float());
    else if (types_[0] == DType::i32)
      run(std::int32_t());
    else
      run(std::uint32_t());
  }

  /// Any operands and keys: by the last key first, since sorting by another one keeps the order of equals.
  template <class Unsigned>
  void sort_positions(const Memory& memory, std::int64_t at, std::byte* bytes) const {
    using Record = Keyed<Unsigned, Unsigned>;
    Record *records = reinterpret_cast<Record*>(bytes), *scratch = records + n_;
    for (std::int64_t i = 0; i < n_; ++i) records[i].payload = static_cast<Unsigned>(i);
    for (auto k = static_cast<std::size_t>(num_keys_); k-- > 0;) {
      dispatch(types_[k], [&]<class T>() {
        if constexpr (sizeof(T) <= sizeof(Unsigned)) {
          const T* const in = elements<T>(memory.in[k], at);
          in_parts(n_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) records[i].key = numeric_order(in[records[i].payload]);
          });
        }
      });
      if (sort_records(records, scratch, n_) != records) std::swap(records, scratch);
    }
    for (std::size_t k = 0; k < types_.size(); ++k)
      if (memory.out[k])
        dispatch_width(types_[k], [&]<class T>() {
          const T* const in = elements<T>(memory.in[k], at);
          T* const out = elements<T>(memory.out[k], at);
          in_parts(n_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) out[i] = in[records[i].payload];
          });
        });
  }

  std::int64_t num_keys_, outer_ = 1, n_ = 1, inner_ = 1;
  std::vector<DType> types_;
  Memory memory_;
  Method method_ = Method::alone;
};

void sort(const RoutineCall& call) { Sort(call).run(); }

}  // namespace

const RuleFor<NativeRoutine> runs_sort{{&ops::sort_p}, {sort}};

}  // namespace cotan::native
