// A progress bar of a search whose length nobody knows: it fills ever more slowly, and is full at the end.
#pragma once
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace apps {

class EstimateProgress {
 public:
  EstimateProgress(int starts, bool wanted)
      : usual_(40.0 * starts), shown_(wanted && isatty(STDERR_FILENO)) {}
  ~EstimateProgress() { clear(); }
  bool shown() const { return shown_; }
  void update(std::int64_t evaluations, double value) {
    const auto now = std::chrono::steady_clock::now();
    if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    draw(1 - std::exp(-static_cast<double>(evaluations) / usual_), evaluations, value);
  }
  /// The bar goes; the summary says the rest.
  void finish() { clear(); }

 private:
  void draw(double share, std::int64_t evaluations, double value) {
    constexpr int width = 30;
    std::string bar(static_cast<std::size_t>(width * share), '#');
    bar.resize(width, '.');
    std::fprintf(stderr, "\restimating [%s] %lld evaluations, -2 log L %.6g\033[K", bar.c_str(),
                 static_cast<long long>(evaluations), value);
    std::fflush(stderr);
    drawn_ = true;
  }
  void clear() {
    if (drawn_) std::fprintf(stderr, "\r\033[K");
    drawn_ = false;
  }

  double usual_;
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace apps
