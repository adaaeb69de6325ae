// Stable sort of records by an unsigned integer key, digit by digit from the lowest. Large arrays are cut into parts
// that run in parallel; the result is the same, since there is only one stable order.
#pragma once
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/native/routines/gemm_partition.hpp"
#include "backend/native/runtime/thread_pool.hpp"

namespace cotan::native {

/// What is sorted: a key alone, or with what goes along.
template <class Key>
Key key_of(Key record)
  requires std::is_unsigned_v<Key>
{
  return record;
}
template <class Key, class Payload>
struct Keyed {
  Key key;
  Payload payload;
};
template <class Key, class Payload>
Key key_of(const Keyed<Key, Payload>& record) {
  return record.key;
}

namespace radix {

template <int bits, class Record>
class Sorter {
 public:
  Sorter(Record* records, Record* scratch, std::int64_t n)
      : from_(records),
        to_(scratch),
        parts_{n, std::clamp<std::int64_t>(n / least_part, 1, most_parts())},
        counts_(static_cast<std::size_t>(parts_.parts)) {}

  /// There is at least one record.
  Record* run() {
    for (int digit = 0; digit < digits; ++digit) {
      count(digit);
      if (all_have(digit_of(from_[0], digit))) continue;
      distribute(digit);
      std::swap(from_, to_);
    }
    return from_;
  }

 private:
  using Key = decltype(key_of(Record()));
  static constexpr int digits = (8 * sizeof(Key) + bits - 1) / bits;
  static constexpr std::size_t values = std::size_t{1} << bits;
  static constexpr std::int64_t least_part = 1 << 14;
  using Counts = std::array<std::int64_t, values>;

  /// More parts than threads, so that one slow thread does not hold up all.
  static std::int64_t most_parts() { return num_threads() == 1 ? 1 : 4 * num_threads(); }
  static std::size_t digit_of(const Record& record, int digit) {
    return static_cast<std::size_t>(key_of(record) >> (digit * bits)) & (values - 1);
  }

  void count(int digit) {
    parallel_for(parts_.parts, [&](std::int64_t part) {
      Counts& counts = counts_[static_cast<std::size_t>(part)];
      counts.fill(0);
      const Record* const end = from_ + parts_.begin(part + 1);
      for (const Record* r = from_ + parts_.begin(part); r != end; ++r) ++counts[digit_of(*r, digit)];
    });
  }
  bool all_have(std::size_t value) const {
    std::int64_t sum = 0;
    for (const Counts& counts : counts_) sum += counts[value];
    return sum == parts_.size;
  }

  void distribute(int digit) {
    // From counts to where each part puts its first record of each value.
    std::int64_t at = 0;
    if (parts_.parts == 1)
      for (std::int64_t& c : counts_[0]) at += std::exchange(c, at);
    else
      for (std::size_t v = 0; v < values; ++v)
        for (Counts& counts : counts_) at += std::exchange(counts[v], at);
    parallel_for(parts_.parts, [&](std::int64_t part) {
      Counts& next = counts_[static_cast<std::size_t>(part)];
      const Record* const end = from_ + parts_.begin(part + 1);
      Record* const to = to_;
      for (const Record* r = from_ + parts_.begin(part); r != end; ++r) to[next[digit_of(*r, digit)]++] = *r;
    });
  }

  Record *from_, *to_;
  Partition parts_;
  std::vector<Counts> counts_;  ///< by part
};

}  // namespace radix

/// Sorts n > 0 records, with room for as many; returns which of the two arrays holds the result.
template <class Record>
Record* radix_sort(Record* records, Record* scratch, std::int64_t n) {
  // Digits of 11 bits make fewer passes, but clearing and adding up their counts takes a while too.
  constexpr std::int64_t few = 2048;
  if (sizeof(key_of(Record())) == 1 || n < few) return radix::Sorter<8, Record>(records, scratch, n).run();
  return radix::Sorter<11, Record>(records, scratch, n).run();
}

}  // namespace cotan::native
