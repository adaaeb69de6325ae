// One loop at a time owns the pool; its chunks are claimed with an atomic counter. Workers that have nothing
// to do spin for a few microseconds, since loops tend to follow each other, and then sleep in the kernel.
#include "backend/native/runtime/thread_pool.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan {
namespace {

int available_cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int initial_num_threads() {
  const auto setting = environment::number("COTAN_NUM_THREADS");
  return setting ? static_cast<int>(std::min<std::int64_t>(*setting, std::numeric_limits<int>::max()))
                 : available_cores();
}

/// What set_num_threads asked for; the pool follows when the next loop starts.
std::atomic<int>& wanted_threads() {
  static std::atomic<int> wanted = initial_num_threads();
  return wanted;
}

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits a little for `ready`, without giving up the core; returns whether it came true.
template <class Ready>
bool spin_until(Ready ready) {
  // As long as it takes to wake a thread that sleeps: 20 to 50 µs on a virtual machine.
  constexpr std::chrono::microseconds limit{50};
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      pause_core();
    }
  } while (std::chrono::steady_clock::now() - start < limit);
  return ready();
}

// A thread that is woken often ends up on the core of the one that woke it, where the two only take turns,
// and the scheduler can take very long to notice that another core is idle. So workers look where they are.
int current_core() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}
void leave_core([[maybe_unused]] int core) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
#endif
}

class ThreadPool {
 public:
  /// Never destroyed: a worker may still be asleep in it when the process exits.
  static ThreadPool& instance() {
    static ThreadPool* const pool = new ThreadPool;
    return *pool;
  }

  /// Ownership, for the length of one loop.
  bool try_acquire() { return !owned_.load(std::memory_order_relaxed) && !owned_.exchange(true); }
  void release() { owned_.store(false, std::memory_order_release); }

  /// For the owner only. Fewer threads than asked for is no error: the loop is only slower.
  void resize(int threads) {
    const auto wanted = static_cast<std::size_t>(threads - 1);
    if (wanted == workers_.size()) return;
    if (wanted < workers_.size()) retire_workers();
    try {
      shares_ = std::vector<Share>(threads);
      while (workers_.size() < wanted) workers_.emplace_back([this, share = workers_.size() + 1] { work(share); });
    } catch (const std::exception&) {
      int expected = threads;
      wanted_threads().compare_exchange_strong(expected, static_cast<int>(workers_.size()) + 1);
    }
  }

  /// For the owner only.
  void run(std::int64_t chunks, void (*f)(void*, std::int64_t), void* context) {
    f_ = f, context_ = context;
    chunks_ = chunks;
    for (std::size_t i = 0; i < shares_.size(); ++i)
      shares_[i].next.store(static_cast<std::int64_t>(i), std::memory_order_relaxed);
    owner_core_ = current_core();
    failed_.store(false, std::memory_order_relaxed);
    error_ = nullptr;
    gate_.store(gate_open, std::memory_order_release);
    announce(chunks - 1);
    run_chunks(0);
    close_gate();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  // The gate lets workers into a loop. The lowest bit says that it is open, the rest counts who is inside.
  // The owner closes it when no chunk is left, so that it never waits for a worker that is still waking up.
  static constexpr int gate_open = 1, gate_visitor = 2;

  bool enter() {
    int gate = gate_.load(std::memory_order_relaxed);
    while (gate & gate_open)
      if (gate_.compare_exchange_weak(gate, gate + gate_visitor, std::memory_order_acquire)) return true;
    return false;
  }
  void leave() {
    if (gate_.fetch_sub(gate_visitor, std::memory_order_acq_rel) == gate_visitor) gate_.notify_one();
  }
  void close_gate() {
    gate_.fetch_and(~gate_open, std::memory_order_acq_rel);
    const auto empty = [this] { return gate_.load(std::memory_order_acquire) == 0; };
    if (spin_until(empty)) return;
    for (int gate; (gate = gate_.load(std::memory_order_acquire)) != 0;) gate_.wait(gate);
  }

  /// Tells the workers about a new loop, and wakes as many as can be of use.
  void announce(std::int64_t useful_workers) {
    epoch_.fetch_add(1);
    if (sleepers_.load() == 0) return;
    if (useful_workers >= static_cast<std::int64_t>(workers_.size()))
      epoch_.notify_all();
    else
      for (std::int64_t i = 0; i < useful_workers; ++i) epoch_.notify_one();
  }

  void run_chunks(std::size_t own_share) {
    const auto step = static_cast<std::int64_t>(shares_.size());
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      Share& share = shares_[(own_share + i) % shares_.size()];
      for (std::int64_t chunk; (chunk = share.next.fetch_add(step, std::memory_order_relaxed)) < chunks_;)
        run_chunk(chunk);
    }
  }
  void run_chunk(std::int64_t chunk) {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      f_(context_, chunk);
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
  }

  void work(std::size_t share) {
    for (int seen = 0;;) {  // a new worker looks for a loop first: there is one, or there was
      const auto news = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
      if (!spin_until(news)) {
        sleepers_.fetch_add(1);
        epoch_.wait(seen);
        sleepers_.fetch_sub(1);
      }
      seen = epoch_.load(std::memory_order_acquire);
      if (stopping_.load(std::memory_order_relaxed)) return;
      if (enter()) {
        if (owner_core_ == current_core()) leave_core(owner_core_);
        run_chunks(share);
        leave();
      }
    }
  }

  void retire_workers() {
    stopping_.store(true, std::memory_order_relaxed);
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_.store(false, std::memory_order_relaxed);
  }

  /// Every n-th chunk for n threads (neighbours are often alike in cost), claimed one by one. On a cache line
  /// of its own.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
  };

  std::atomic<bool> owned_{false};
  std::vector<std::thread> workers_;
  std::vector<Share> shares_ = std::vector<Share>(1);  ///< the first is the owner's

  // The loop that is running.
  void (*f_)(void*, std::int64_t) = nullptr;
  void* context_ = nullptr;
  std::int64_t chunks_ = 0;
  int owner_core_ = -1;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};

  // Apart from each other: workers spin on the epoch while others pass the gate.
  alignas(64) std::atomic<int> gate_{0};
  alignas(64) std::atomic<int> epoch_{0};  ///< how many loops there have been
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace

int num_threads() { return wanted_threads().load(std::memory_order_relaxed); }

void set_num_threads(int n) {
  if (n < 1) raise<ValueError>("[set_num_threads] needs at least 1 thread, got {}; pass 1 to run serially.", n);
  wanted_threads().store(n, std::memory_order_relaxed);
}

namespace native {

void parallel_for(std::int64_t chunks, void (*f)(void* context, std::int64_t chunk), void* context) {
  const int threads = chunks > 1 ? num_threads() : 1;
  if (threads > 1) {
    ThreadPool& pool = ThreadPool::instance();
    if (pool.try_acquire()) {
      struct Release {
        ThreadPool& pool;
        ~Release() { pool.release(); }
      } release{pool};
      pool.resize(threads);
      pool.run(chunks, f, context);
      return;
    }
  }
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) f(context, chunk);
}

}  // namespace native
}  // namespace cotan
