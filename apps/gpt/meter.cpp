#include "meter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cotan/debug.hpp>
#include <cstdio>

namespace gpt {

std::string duration(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}
std::string bytes(double count) {
  for (const auto& [size, unit] : {std::pair{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}})
    if (count >= size) return fmt::format("{:.{}f} {}", count / size, count / size < 10 ? 1 : 0, unit);
  return fmt::format("{:.0f} B", count);
}

Meter::Meter(std::int64_t first_step, std::int64_t steps, std::int64_t tokens_per_step, bool quiet)
    : first_(first_step),
      steps_(steps),
      tokens_(tokens_per_step),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO)),
      began_(std::chrono::steady_clock::now()) {}

void Meter::update(std::int64_t step, double loss) {
  const auto now = std::chrono::steady_clock::now();
  smooth_ = any_ ? 0.9 * smooth_ + 0.1 * loss : loss;
  any_ = true;
  recent_.emplace_back(now, step);
  if (recent_.size() > 64) recent_.erase(recent_.begin());
  if (quiet_) return;
  const auto wait = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (step + 1 < steps_ && step > first_ && now - drawn_ < wait) return;
  drawn_ = now;
  draw(step, loss);
}

void Meter::draw(std::int64_t step, double loss) {
  // The first step compiles; the rate is that of those after it.
  std::string rate, left;
  if (recent_.size() > 1) {
    const double seconds = std::chrono::duration<double>(recent_.back().first - recent_.front().first).count();
    const double per_step = seconds / static_cast<double>(recent_.back().second - recent_.front().second);
    rate = fmt::format("  {:.0f} tokens/s", static_cast<double>(tokens_) / per_step);
    left = fmt::format("  {} left", duration(per_step * static_cast<double>(steps_ - step - 1)));
  } else
    rate = "  (compiled)";
  const std::string text = fmt::format("loss {:.4f} (mean {:.4f}){}  {}{}", loss, smooth_, rate,
                                       bytes(static_cast<double>(cotan::memory_stats().live_bytes)), left);
  if (terminal_) {
    constexpr std::int64_t width = 24;
    std::string bar(static_cast<std::size_t>(width * (step + 1) / std::max<std::int64_t>(steps_, 1)), '#');
    bar.resize(width, '.');
    std::fprintf(stderr, "\r[%s] %lld/%lld  %s\033[K", bar.c_str(), static_cast<long long>(step + 1),
                 static_cast<long long>(steps_), text.c_str());
  } else
    std::fprintf(stderr, "step %lld/%lld  %s\n", static_cast<long long>(step + 1), static_cast<long long>(steps_),
                 text.c_str());
  std::fflush(stderr);
}

void Meter::say(const std::string& line) {
  if (quiet_) return;
  std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\033[K" : "", line.c_str());
}
void Meter::finish() {
  if (!quiet_ && terminal_ && any_) std::fputc('\n', stderr);
}

}  // namespace gpt
