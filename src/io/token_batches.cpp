// Batches of tokens in an order that seed and step determine, prepared on a thread.
#include <condition_variable>
#include <cotan/io/datasets.hpp>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.hpp"

namespace cotan {

namespace {

/// Random numbers that are the same everywhere: splitmix64.
struct OrderBits {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// Below n, each equally likely but for a part in 2^32.
  std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>((__uint128_t{next()} * n) >> 64); }
};

}  // namespace

struct TokenBatches::Loader {
  struct HostBatch {
    std::vector<std::int32_t> tokens, targets;
  };
  Loader(TokenFile given, const TokenBatchOptions& o) : file(std::move(given)), options(o), next_step(o.first_step) {
    if (o.batch < 1 || o.length < 1)
      raise<ValueError>("[TokenBatches] batches of shape ({}, {}) have no tokens; give sizes from 1 on.", o.batch,
                        o.length);
    rows = file.size() == 0 ? 0 : (file.size() - 1) / static_cast<std::uint64_t>(o.length);
    steps = rows / static_cast<std::uint64_t>(o.batch);
    if (steps == 0)
      raise<ValueError>("[TokenBatches] '{}' has {} tokens, and one batch of shape ({}, {}) takes {}; make it smaller.",
                        file.path(), file.size(), o.batch, o.length, o.batch * o.length + 1);
    if (o.prefetch > 0) thread = std::thread([this] { work(); });
  }
  ~Loader() {
    {
      const std::lock_guard lock(mutex);
      ends = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
  }

  /// Which rows an epoch has, in order: a shuffle of all.
  void arrange(std::uint64_t epoch) {
    if (!order.empty() && epoch == order_epoch) return;
    order.resize(rows);
    for (std::uint64_t i = 0; i < rows; ++i) order[i] = i;
    order_epoch = epoch;
    if (!options.shuffle) return;
    OrderBits bits{options.seed};
    bits.state = bits.next() + epoch;
    for (std::uint64_t i = rows - 1; i > 0; --i) std::swap(order[i], order[bits.below(i + 1)]);
  }

  HostBatch prepare(std::uint64_t step) {
    const auto batch = static_cast<std::size_t>(options.batch), length = static_cast<std::size_t>(options.length);
    arrange(step / steps);
    HostBatch out;
    out.tokens.resize(batch * length);
    out.targets.resize(batch * length);
    std::vector<std::int32_t> row(length + 1);
    for (std::size_t b = 0; b < batch; ++b) {
      const std::uint64_t begin = order[(step % steps) * batch + b] * length;
      file.copy(begin, row);
      check(row, begin);
      std::copy(row.begin(), row.end() - 1, out.tokens.begin() + static_cast<std::ptrdiff_t>(b * length));
      std::copy(row.begin() + 1, row.end(), out.targets.begin() + static_cast<std::ptrdiff_t>(b * length));
    }
    return out;
  }
  void check(const std::vector<std::int32_t>& row, std::uint64_t begin) const {
    if (options.vocab_size == 0) return;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] < 0 || static_cast<std::size_t>(row[i]) >= options.vocab_size)
        raise<IndexError>(
            "[TokenBatches] token {} of '{}' is {}, and the vocabulary has {}; encode the text with its "
            "tokenizer.",
            begin + i, file.path(), row[i], options.vocab_size);
  }

  void work() {
    for (std::uint64_t step = options.first_step;; ++step) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ends || ready.size() < options.prefetch; });
        if (ends) return;
      }
      try {
        HostBatch batch = prepare(step);
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(batch));
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      changed.notify_all();
      if (failure) return;
    }
  }
  HostBatch take() {
    if (!thread.joinable()) return prepare(next_step);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !ready.empty() || failure; });
    if (ready.empty()) std::rethrow_exception(failure);
    HostBatch out = std::move(ready.front());
    ready.pop_front();
    lock.unlock();
    changed.notify_all();
    return out;
  }

  TokenFile file;
  TokenBatchOptions options;
  std::uint64_t rows = 0, steps = 0, next_step;
  std::vector<std::uint64_t> order;  ///< of the thread, where there is one
  std::uint64_t order_epoch = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<HostBatch> ready;
  std::exception_ptr failure;
  bool ends = false;
  std::thread thread;
};

TokenBatches::TokenBatches(TokenFile file, const TokenBatchOptions& options, const std::source_location& where) {
  const detail::CallSite site(where);
  loader_ = std::make_unique<Loader>(std::move(file), options);
}
TokenBatches::~TokenBatches() = default;
TokenBatches::TokenBatches(TokenBatches&&) noexcept = default;
TokenBatches& TokenBatches::operator=(TokenBatches&&) noexcept = default;
std::uint64_t TokenBatches::step() const { return loader_->next_step; }
std::uint64_t TokenBatches::steps_per_epoch() const { return loader_->steps; }

TokenBatch TokenBatches::next(const std::source_location& where) {
  const detail::CallSite site(where);
  const Loader::HostBatch batch = loader_->take();
  const Shape shape{loader_->options.batch, loader_->options.length};
  const std::uint64_t step = loader_->next_step++;
  return {Array::from_host(batch.tokens, shape), Array::from_host(batch.targets, shape), step, step / loader_->steps};
}

}  // namespace cotan
