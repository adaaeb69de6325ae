// What a training run says while it goes on: a bar with loss, tokens per second, memory and the time that is left.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gpt {

class Meter {
 public:
  Meter(std::int64_t first_step, std::int64_t steps, std::int64_t tokens_per_step, bool quiet);
  /// After each step; `loss` may be the one of a step before.
  void update(std::int64_t step, double loss);
  /// A line of its own.
  void say(const std::string& line);
  void finish();

 private:
  void draw(std::int64_t step, double loss);
  const std::int64_t first_, steps_, tokens_;
  const bool quiet_, terminal_;
  double smooth_ = 0;
  bool any_ = false;
  std::chrono::steady_clock::time_point began_, drawn_;
  std::vector<std::pair<std::chrono::steady_clock::time_point, std::int64_t>> recent_;
};

/// "1 h 05 min", "3 min 20 s", "12 s".
std::string duration(double seconds);
/// "1.2 GB".
std::string bytes(double count);

}  // namespace gpt
