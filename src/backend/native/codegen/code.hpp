// Code: the machine code of a program, which may be replaced by better code while it is in use.
#pragma once
#include <atomic>
#include <memory>
#include <string>

namespace cotan::native {

/// A compiled program: `io` holds the inputs, then the outputs; routines are called through `caller`. Returns 0,
/// or what a routine returned that was not 0; then the later steps did not run.
using Entry = int (*)(void* const* io, std::byte* arena, void* caller);

/// Machine code, and what keeps it in memory.
struct LinkedCode {
  Entry entry = nullptr;
  std::shared_ptr<const void> memory;
};

class Code : public std::enable_shared_from_this<Code> {
 public:
  /// `source`: of code that was made in a hurry, LLVM's bitcode, of which better code can be made; empty: this is it.
  Code(LinkedCode code, std::string source, bool from_disk)
      : entry_(code.entry), calls_(source.empty() ? enough_calls : 0), source_(std::move(source)), first_(std::move(code)),
        from_disk_(from_disk) {}

  /// What to call now. A program that is called again is worth better code than its first: that is made in the background,
  /// and computes the same bits.
  Entry entry() const {
    if (calls_.load(std::memory_order_relaxed) < enough_calls) count_call();
    return entry_.load(std::memory_order_acquire);
  }
  bool from_disk() const { return from_disk_; }
  /// Whether what runs is code that was made in a hurry.
  bool is_first() const { return !source_.empty() && entry_.load(std::memory_order_acquire) == first_.entry; }
  const std::string& source() const { return source_; }
  /// Both codes stay in memory: somebody may be running the first. Once, by the background.
  void replace(LinkedCode better) const {
    better_ = std::move(better);
    entry_.store(better_.entry, std::memory_order_release);
  }

 private:
  static constexpr int enough_calls = 2;
  void count_call() const;
  mutable std::atomic<Entry> entry_;
  mutable std::atomic<int> calls_;
  const std::string source_;
  const LinkedCode first_;
  mutable LinkedCode better_;
  const bool from_disk_;
};

/// Waits until no better code is being made: for measurements and tests.
void finish_background_compilation();

}  // namespace cotan::native
