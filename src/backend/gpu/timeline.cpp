#include "backend/gpu/timeline.hpp"

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "core/recorder.hpp"

namespace cotan::gpu {

std::optional<std::uint64_t> coarse_step_ns(std::uint64_t bits) {
  constexpr int fine = 10;  // bits: a microsecond
  const int zeros = bits ? std::countr_zero(bits) : 0;
  return zeros > fine ? std::optional(std::uint64_t{1} << zeros) : std::nullopt;
}

void DispatchTimes::record(const std::vector<TimedDispatch>& dispatches, const std::vector<std::uint64_t>& ticks) {
  for (std::size_t k = 0; k < dispatches.size(); ++k) {
    const TimedDispatch& d = dispatches[k];
    const std::uint64_t begin = ticks[2 * k], end = std::max(begin, ticks[2 * k + 1]);  // clocks may jump back
    const auto ns = static_cast<std::int64_t>(end - begin);
    bits_ |= begin | end;
    if (d.times) {
      const std::scoped_lock lock(d.times->mutex);
      d.times->steps[d.shader].add(ns);
    }
    recorder::add({d.name, "kernel", lane_, zero_ + static_cast<std::int64_t>(begin), ns, d.details});
  }
  if (const auto step = coarse_step_ns(bits_))
    recorder::note(fmt::format("the device's times are rounded to {:.1f} us.", static_cast<double>(*step) * 1e-3));
}

}  // namespace cotan::gpu
