// When dispatches ran, by the device's own clock: for profiles, and for the tables of explain.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/step_times.hpp"

namespace cotan::gpu {

/// The step in which times come where that is coarse, as browsers have it; nothing where it is not. `bits`: all that
/// were ever set in a time.
std::optional<std::uint64_t> coarse_step_ns(std::uint64_t bits);

/// A dispatch that is to be timed.
struct TimedDispatch {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> details;
  std::shared_ptr<ProgramTimes> times;
  std::size_t shader = 0;
};

/// Hands times of dispatches to the recorder.
class DispatchTimes {
 public:
  /// `lane`: under which name they are shown.
  explicit DispatchTimes(std::string lane) : lane_(std::move(lane)) {}
  /// The host's time at which the device's clock is 0.
  void set_zero(std::int64_t ns) { zero_ = ns; }
  /// `ticks`: nanoseconds of the device's clock, of each dispatch its beginning and its end.
  void record(const std::vector<TimedDispatch>& dispatches, const std::vector<std::uint64_t>& ticks);

 private:
  const std::string lane_;
  std::int64_t zero_ = 0;
  std::uint64_t bits_ = 0;  ///< all that were ever set in a time
};

}  // namespace cotan::gpu
