#include "backend/webgpu/timeline.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "core/recorder.hpp"

namespace cotan::webgpu {

namespace {

constexpr std::uint32_t queries_per_set = 4096;  // what every WebGPU allows
constexpr std::uint32_t passes_per_set = queries_per_set / 2;
constexpr std::uint64_t tick_bytes = 8;

/// Of the device in use, if there is one: asking for it would start one.
void collect_at_stop() {
  if (const auto d = current_device()) d->timeline().collect(true);
}

}  // namespace

Timeline::Timeline(Device& device) : device_(device), times_("webgpu: " + device.capabilities().name) {
  recorder::on_stop(collect_at_stop);
  recorder::finish_before_exit();
}

bool Timeline::is_there() const {
  if (device_.capabilities().timestamps) return true;
  recorder::note(
      fmt::format("the device '{}' has no timestamp queries: kernels have no times, and the host's events are "
                  "all there is.",
                  device_.capabilities().name));
  return false;
}

QuerySetHandle Timeline::new_query_set() const {
  WGPUQuerySetDescriptor descriptor{};
  descriptor.label = view("cotan times");
  descriptor.type = WGPUQueryType_Timestamp;
  descriptor.count = queries_per_set;
  return QuerySetHandle(api().DeviceCreateQuerySet(device_.raw(), &descriptor));
}

// One submission ---------------------------------------------------------------------------------------

Timeline::Passes::Passes(Timeline& timeline) : timeline_(timeline) {
  if (timeline_.session_ != recorder::session()) {
    timeline_.session_ = recorder::session();  // first: comparing clocks comes here too
    timeline_.compare_clocks();
  }
}

PassHandle Timeline::Passes::begin_pass(WGPUCommandEncoder encoder, TimedDispatch dispatch) {
  const auto number = static_cast<std::uint32_t>(dispatches_.size() % passes_per_set);
  if (number == 0) {
    auto& spare = timeline_.spare_sets_;
    if (spare.empty()) spare.push_back(timeline_.new_query_set());
    sets_.push_back(std::move(spare.back()));
    spare.pop_back();
  }
  dispatches_.push_back(std::move(dispatch));
  WGPUPassTimestampWrites times{};
  times.querySet = sets_.back().get();
  times.beginningOfPassWriteIndex = 2 * number;
  times.endOfPassWriteIndex = 2 * number + 1;
  WGPUComputePassDescriptor pass{};
  pass.timestampWrites = &times;
  return PassHandle(api().CommandEncoderBeginComputePass(encoder, &pass));
}

void Timeline::Passes::resolve(WGPUCommandEncoder encoder) {
  answers_ = timeline_.device_.new_buffer(sets_.size() * queries_per_set * tick_bytes,
                                          WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc, "cotan times");
  for (std::size_t k = 0; k < sets_.size(); ++k) {
    const std::size_t passes = std::min<std::size_t>(dispatches_.size() - k * passes_per_set, passes_per_set);
    api().CommandEncoderResolveQuerySet(encoder, sets_[k].get(), 0, static_cast<std::uint32_t>(2 * passes),
                                        answers_.get(), k * queries_per_set * tick_bytes);
  }
}

void Timeline::Passes::submitted() {
  auto ticks = std::make_unique<Readback>(timeline_.device_, answers_.get(), 0, 2 * dispatches_.size() * tick_bytes);
  timeline_.batches_.push_back({std::move(dispatches_), std::move(answers_), std::move(ticks)});
  for (QuerySetHandle& set : sets_) timeline_.spare_sets_.push_back(std::move(set));  // the queue runs in order
  constexpr std::size_t many = 64;
  if (timeline_.batches_.size() > many) timeline_.collect(false);
}

// Answers ----------------------------------------------------------------------------------------------

void Timeline::collect(bool wait) {
  const std::scoped_lock lock(device_.mutex());
  try {
    while (!batches_.empty() && (wait || batches_.front().ticks->is_done())) {
      const Batch batch = std::move(batches_.front());
      batches_.pop_front();
      std::vector<std::uint64_t> ticks(2 * batch.dispatches.size());
      batch.ticks->take(ticks.data());
      times_.record(batch.dispatches, ticks);
    }
  } catch (const DeviceError& e) {  // a profile of what happened before the device was lost is still of use
    batches_.clear();
    recorder::note(fmt::format("times of kernels are missing: {}", e.what()));
  }
}

void Timeline::compare_clocks() {
  // An empty pass there and back: its time is somewhere between the two of the host. The quickest of a few is taken.
  constexpr int tries = 4;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int k = 0; k < tries; ++k) {
    Passes passes(*this);
    EncoderHandle encoder(api().DeviceCreateCommandEncoder(device_.raw(), nullptr));
    api().ComputePassEncoderEnd(passes.begin_pass(encoder.get(), {}).get());
    passes.resolve(encoder.get());
    const std::int64_t before = recorder::now();
    device_.submit(std::move(encoder), 0);
    passes.submitted();
    const Batch batch = std::move(batches_.back());
    batches_.pop_back();
    std::uint64_t ticks[2];
    batch.ticks->take(ticks);
    const std::int64_t after = recorder::now();
    if (after - before >= best) continue;
    best = after - before;
    times_.set_zero(before + (after - before) / 2 - static_cast<std::int64_t>(ticks[0]));
  }
}

}  // namespace cotan::webgpu
