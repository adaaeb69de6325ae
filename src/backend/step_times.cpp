#include "backend/step_times.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cotan {

void StepTimes::add(std::int64_t ns) {
  least_ns = count == 0 ? ns : std::min(least_ns, ns);
  total_ns += ns;
  ++count;
}

std::string table_of(ProgramTimes& times, const std::vector<StepDescription>& steps, std::string_view clock) {
  const std::scoped_lock lock(times.mutex);
  if (times.calls == 0) return {};
  double all = 0;
  for (const StepTimes& t : times.steps) all += static_cast<double>(t.total_ns);
  std::string out = fmt::format("times by {}, {} profiled call{}, {:.3f} ms each:\n", clock, times.calls,
                                times.calls == 1 ? "" : "s", all * 1e-6 / static_cast<double>(times.calls));
  out +=
      fmt::format("{:>7}{:>11}{:>11}{:>12}{:>9}  {}\n", "share", "mean us", "least us", "dispatches", "GB/s", "kernel");
  for (std::size_t k = 0; k < times.steps.size(); ++k) {
    const StepTimes& t = times.steps[k];
    if (t.count == 0) continue;
    const auto mean = static_cast<double>(t.total_ns) / static_cast<double>(t.count);
    const auto bytes = static_cast<double>(steps[k].bytes);
    out += fmt::format("{:6.1f}%{:11.2f}{:11.2f}{:12}{:9.1f}  {}\n",
                       all > 0 ? 100 * static_cast<double>(t.total_ns) / all : 0, mean * 1e-3,
                       static_cast<double>(t.least_ns) * 1e-3, t.count, mean > 0 ? bytes / mean : 0, steps[k].name);
  }
  return out;
}

}  // namespace cotan
