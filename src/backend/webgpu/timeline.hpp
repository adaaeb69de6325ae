// Timeline: when dispatches ran, by the device's own clock. Only for profiles: every dispatch becomes a pass of its
// own, with a query at its beginning and one at its end, and the answers are read back when somebody wants them.
#pragma once
#include <deque>
#include <optional>

#include "backend/step_times.hpp"
#include "backend/webgpu/readback.hpp"

namespace cotan::webgpu {

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

class Timeline {
 public:
  explicit Timeline(Device& device);

  /// Whether the device can tell; says so in the profile where it cannot.
  bool is_there() const;

  /// Passes of one submission: begin_pass() for each dispatch, resolve() after the last, submitted() when it is handed
  /// in.
  class Passes {
   public:
    explicit Passes(Timeline& timeline);
    PassHandle begin_pass(WGPUCommandEncoder encoder, TimedDispatch dispatch);
    void resolve(WGPUCommandEncoder encoder);
    void submitted();

   private:
    Timeline& timeline_;
    std::vector<QuerySetHandle> sets_;
    std::vector<TimedDispatch> dispatches_;
    BufferHandle answers_;
  };

  /// Hands what is there to the recorder; `wait`: and what is still to come.
  void collect(bool wait);

 private:
  QuerySetHandle new_query_set() const;
  /// The host's time at which the device's clock is 0.
  void compare_clocks();
  void record(const std::vector<TimedDispatch>& dispatches, const std::vector<std::uint64_t>& ticks);

  struct Batch {
    std::vector<TimedDispatch> dispatches;
    BufferHandle answers;
    std::unique_ptr<Readback> ticks;
  };
  Device& device_;
  std::deque<Batch> batches_;
  std::vector<QuerySetHandle> spare_sets_;
  std::int64_t zero_ = 0;
  std::uint64_t session_ = 0;  ///< of the recorder, that `zero_` was found for
  std::uint64_t bits_ = 0;     ///< all that were ever set in a time
};

}  // namespace cotan::webgpu
