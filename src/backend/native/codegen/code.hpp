// Code: the machine code of a program, which may be replaced by better code while it is in use.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace cotan::native {

/// A compiled program: `io` holds the inputs, then the outputs; routines are called through `caller`. Returns 0,
/// or what a routine returned that was not 0; then the later steps did not run.
using Entry = int (*)(void* const* io, std::byte* arena, void* caller);

/// Machine code, and what keeps it in memory.
struct LinkedCode {
  Entry entry = nullptr;
  std::vector<const void*> steps;  ///< of loops that look up the code of each step
  std::shared_ptr<const void> memory;
};

class Code : public std::enable_shared_from_this<Code> {
 public:
  /// `source`: of code that was made in a hurry, its LLVM bitcode, from which better code can be made; empty: this is
  /// the best code.
  /// `full_ns`: about how long making the better code would take.
  Code(LinkedCode code, std::string source, bool from_disk, std::int64_t full_ns)
      : first_(std::move(code)),
        current_(&first_),
        source_(std::move(source)),
        ordered_(source_.empty()),
        full_ns_(full_ns),
        from_disk_(from_disk) {}

  /// What to call now. Better code is made in the background, and computes the same bits.
  const LinkedCode& now() const { return *current_.load(std::memory_order_acquire); }
  bool from_disk() const { return from_disk_; }
  /// Whether what runs is code that was made in a hurry.
  bool is_first() const { return !source_.empty() && &now() == &first_; }
  const std::string& source() const { return source_; }

  /// Called when a call begins. A program that is called again is worth better code, unless making that takes long.
  void begin_call() const {
    constexpr std::int64_t short_ns = 250'000'000;
    if (waits() && calls_.fetch_add(1, std::memory_order_relaxed) > 0 && full_ns_ <= short_ns) order();
  }
  /// Called when a call has worked for so long, up to now or altogether. Once code has run for as long as better code
  /// takes to make, better code is made: nobody knows how much longer it will run, and the loss is bounded.
  void has_run(std::int64_t ns, bool ended) const {
    if (!waits()) return;
    const std::int64_t before = spent_ns_.fetch_add(ended ? ns : 0, std::memory_order_relaxed);
    if (before + ns > full_ns_) order();
  }
  /// Sets the better code; called once, by the background thread. Both codes stay in memory, since somebody may be
  /// running the first.
  void replace(LinkedCode better) const {
    better_ = std::move(better);
    current_.store(&better_, std::memory_order_release);
  }

 private:
  bool waits() const { return !ordered_.load(std::memory_order_relaxed); }
  void order() const;
  const LinkedCode first_;
  mutable LinkedCode better_;
  mutable std::atomic<const LinkedCode*> current_;
  const std::string source_;
  mutable std::atomic<bool> ordered_;
  mutable std::atomic<int> calls_{0};
  mutable std::atomic<std::int64_t> spent_ns_{0};
  const std::int64_t full_ns_;
  const bool from_disk_;
};

/// Waits until no better code is being made: for measurements and tests.
void finish_background_compilation();

}  // namespace cotan::native
