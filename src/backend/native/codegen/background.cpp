// Better code in the background: one thread that takes programs which are called again, or run for long, and compiles
// them in full.
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "backend/native/codegen/engine.hpp"
#include "backend/native/codegen/generate.hpp"
#include "core/recorder.hpp"

namespace cotan::native {

namespace {

class Background {
 public:
  static Background& instance() {
    static Background& background = *new Background;  // never destroyed: programs may be called to the very end
    return background;
  }

  void add(std::weak_ptr<const Code> code) {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(code));
    if (!thread_.joinable()) {
      // What was made last goes first when the process ends: the thread stops before LLVM's own data is gone only if
      // all of that is there before this line.
      Engine::instance().warm_up();
      std::atexit([] { instance().stop(); });
      thread_ = std::thread([this] { work(); });
    }
    changed_.notify_all();
  }

  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || (waiting_.empty() && !busy_); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      const auto code = waiting_.front().lock();
      waiting_.pop_front();
      if (code) {
        busy_ = true;
        lock.unlock();
        improve(*code);
        lock.lock();
        busy_ = false;
      }
      changed_.notify_all();
    }
  }
  static void improve(const Code& code) {
    const recorder::Span span("compile", "better code");
    try {
      code.replace(generate_in_full(code.source()));
    } catch (const std::exception&) {
      // The code that is there goes on working.
    }
  }
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::weak_ptr<const Code>> waiting_;
  std::thread thread_;
  bool busy_ = false, stopped_ = false;
};

}  // namespace

void Code::order() const {
  if (!ordered_.exchange(true)) Background::instance().add(weak_from_this());
}
void finish_background_compilation() { Background::instance().finish(); }

}  // namespace cotan::native
