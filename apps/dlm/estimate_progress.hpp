// A progress bar of a search whose length nobody knows: it fills ever more slowly, and is full at the end. A thread
// draws it, so that the seconds go on while a program is compiled or a long series is gone through.
#pragma once
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace apps {

class EstimateProgress {
 public:
  EstimateProgress(int starts, bool wanted)
      : usual_(40.0 * starts), shown_(wanted && isatty(STDERR_FILENO)), began_(std::chrono::steady_clock::now()) {
    if (shown_) thread_ = std::thread([this] { draw_on(); });
  }
  ~EstimateProgress() { finish(); }
  EstimateProgress(const EstimateProgress&) = delete;
  bool shown() const { return shown_; }
  void update(std::int64_t evaluations, double value) {
    const std::lock_guard lock(mutex_);
    evaluations_ = evaluations;
    value_ = value;
  }
  /// What comes after the search, in words.
  void say(const char* what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    evaluations_ = 0;
  }
  /// The bar goes; the summary says the rest.
  void finish() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  void draw_on() {
    std::unique_lock lock(mutex_);
    bool drawn = false;
    // Nothing of what ends at once.
    for (auto wait = std::chrono::milliseconds(300); !wake_.wait_for(lock, wait, [&] { return over_; });
         wait = std::chrono::milliseconds(200), drawn = true)
      draw();
    if (drawn) std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  void draw() const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    if (evaluations_ == 0) {
      std::fprintf(stderr, "\r%s, %.0f s\033[K", what_, seconds);
    } else {
      constexpr int width = 30;
      const double share = 1 - std::exp(-static_cast<double>(evaluations_) / usual_);
      std::string bar(static_cast<std::size_t>(width * share), '#');
      bar.resize(width, '.');
      std::fprintf(stderr, "\restimating [%s] %lld evaluations, -2 log L %.6g, %.0f s\033[K", bar.c_str(),
                   static_cast<long long>(evaluations_), value_, seconds);
    }
    std::fflush(stderr);
  }

  double usual_;
  bool shown_, over_ = false;
  const char* what_ = "preparing the search";
  std::int64_t evaluations_ = 0;
  double value_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace apps
