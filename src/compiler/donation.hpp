// Donation: which arguments that a caller gives up become which results.
#pragma once
#include <list>
#include <mutex>
#include <unordered_map>

#include "compiler/program.hpp"

namespace cotan::compiler {

/// For every output, the arguments whose memory it may take over: their last read comes before the first write, or at
/// the same time element by element. `units` says which piece of code each step of the program is in, for devices that
/// run several steps as one piece, whose threads may be at different steps; empty: every step is a piece of its own.
/// `side_by_side`: pieces whose steps are independent of each other.
std::vector<std::vector<int>> reusable_arguments(const Program& program, std::span<const int> units = {},
                                                 const std::vector<bool>& side_by_side = {});

/// Which results take over which arguments, decided once for each set of arguments that are given up.
class Donations {
 public:
  /// `same_dtype`: the device's memory is typed, so that only equal dtypes can share it.
  explicit Donations(const Program& program, std::span<const int> units = {},
                     const std::vector<bool>& side_by_side = {}, bool same_dtype = false);
  /// By output the argument whose memory it takes, or -1. Every argument is taken once at most.
  const std::vector<int>& when(const std::vector<bool>& given_up) const;
  /// Bytes that need no memory of their own.
  std::int64_t bytes_saved(const std::vector<bool>& given_up) const;

 private:
  std::vector<std::vector<int>> reusable_;
  std::vector<std::int64_t> output_bytes_;
  struct Decided {
    std::vector<bool> given_up;
    std::vector<int> taken;
  };
  mutable std::mutex mutex_;
  mutable std::list<Decided> decided_;  // one or two: a jitted function mostly gives up the same arguments
};

/// Per argument of one call: whether no other array and no other argument uses its memory.
class SoleOwners {
 public:
  explicit SoleOwners(std::span<const Array> args);
  bool contain(std::size_t k) const;

 private:
  std::span<const Array> args_;
  std::unordered_map<const void*, int> seen_;
};

}  // namespace cotan::compiler
