// Timeline: when dispatches ran, by the device's own clock. Only for profiles: every dispatch becomes a pass of its
// own, with a query at its beginning and one at its end, and the answers are read back when somebody wants them.
#pragma once
#include <deque>

#include "backend/gpu/timeline.hpp"
#include "backend/webgpu/readback.hpp"

namespace cotan::webgpu {

using gpu::TimedDispatch;

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

  struct Batch {
    std::vector<TimedDispatch> dispatches;
    BufferHandle answers;
    std::unique_ptr<Readback> ticks;
  };
  Device& device_;
  std::deque<Batch> batches_;
  std::vector<QuerySetHandle> spare_sets_;
  gpu::DispatchTimes times_;
  std::uint64_t session_ = 0;  ///< of the recorder, that the clocks were compared for
};

}  // namespace cotan::webgpu
