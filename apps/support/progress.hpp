// A progress bar on a terminal; a few plain lines where output is piped.
#pragma once
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace apps {

class Progress {
 public:
  Progress(std::string title, int total) : title_(std::move(title)), total_(total), terminal_(isatty(STDERR_FILENO)) {}
  /// Call after each unit of work; redraws at most ten times a second.
  void update(int done, const std::string& note) {
    const auto now = std::chrono::steady_clock::now();
    if (terminal_) {
      if (done < total_ && now - drawn_ < std::chrono::milliseconds(100)) return;
      constexpr int width = 30;
      const int filled = total_ ? width * done / total_ : width;
      std::string bar(static_cast<std::size_t>(filled), '#');
      bar.resize(width, '.');
      std::fprintf(stderr, "\r%s [%s] %d/%d  %s\033[K", title_.c_str(), bar.c_str(), done, total_, note.c_str());
      if (done >= total_) std::fputc('\n', stderr);
    } else {
      const int tenth = total_ ? 10 * done / total_ : 10;
      if (tenth == last_tenth_) return;
      last_tenth_ = tenth;
      std::fprintf(stderr, "%s %3d%%  %s\n", title_.c_str(), 10 * tenth, note.c_str());
    }
    drawn_ = now;
  }

 private:
  std::string title_;
  int total_;
  bool terminal_;
  int last_tenth_ = -1;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace apps
