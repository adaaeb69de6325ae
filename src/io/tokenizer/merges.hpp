// The merges of a byte pair encoding: which two tokens become which one, and when.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cotan::io {

struct Merge {
  std::uint32_t rank, id;
};

/// From pairs of ids: a hash table in one array, since nearly all the time of an encoding goes to looking up pairs.
class Merges {
 public:
  explicit Merges(std::size_t count) {
    std::size_t size = 16;
    while (size < 2 * count) size *= 2;
    slots_.resize(size);
  }
  /// A pair that is there already gets the new values.
  void add(std::uint32_t left, std::uint32_t right, Merge merge) {
    Slot& s = slots_[place(key_of(left, right))];
    s = {key_of(left, right), merge};
  }
  /// Null where the two do not merge.
  const Merge* find(std::uint32_t left, std::uint32_t right) const {
    const Slot& s = slots_[place(key_of(left, right))];
    return s.key == none ? nullptr : &s.merge;
  }

 private:
  static constexpr std::uint64_t none = UINT64_MAX;
  struct Slot {
    std::uint64_t key = none;
    Merge merge{};
  };
  static std::uint64_t key_of(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }
  std::size_t place(std::uint64_t key) const {
    std::size_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (slots_.size() - 1);
    while (slots_[at].key != none && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<Slot> slots_;
};

}  // namespace cotan::io
