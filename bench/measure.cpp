// Timing with Google Benchmark: one sample at a time for the driver, or all rows by hand.
#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace bench {

namespace {

/// Keeps what a run measured instead of printing it.
class Recorder : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      sample_ = {run.real_accumulated_time / static_cast<double>(run.iterations), run.iterations};
  }
  Sample sample() const { return sample_; }

 private:
  Sample sample_{};
};

}  // namespace

Sample time_calls(const std::function<void()>& call, double seconds, double expected) {
  const auto calls = static_cast<benchmark::IterationCount>(std::clamp(seconds / expected, 1.0, 1e8));
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("sample",
                               [&](benchmark::State& state) {
                                 for (auto _ : state) call();
                               })
      ->Iterations(calls)
      ->UseRealTime();
  Recorder recorder;
  benchmark::RunSpecifiedBenchmarks(&recorder, "all");
  return recorder.sample();
}

double estimate_call(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto cost_of = [&](std::int64_t calls) {
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) call();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  // Where even the first call is slow, what it compiled does not matter for an estimate.
  if (const double first = cost_of(1); first > 1) return first;
  for (std::int64_t calls = 1;; calls *= 4)
    if (const double seconds = cost_of(calls); seconds > 1e-3) return seconds / static_cast<double>(calls);
}

void register_benchmarks(const nlohmann::json& table, bool quick) {
  for (nlohmann::json row : table.at("workloads")) {
    if (quick && row.contains("quick")) {
      if (row["quick"].is_null()) continue;
      row.merge_patch(row["quick"]);
    }
    const Parameters parameters(row);
    for (const std::string& peer : peers()) {
      // The copy probe needs the driver's byte counts.
      const Maker* make = peer == "copy" ? nullptr : find_maker(peer, parameters.kind());
      if (!make) continue;
      const std::string name = peer + "/" + parameters.name();
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        try {
          const Case made = (*make)(parameters);
          made.call();
          for (auto _ : state) made.call();
        } catch (const std::exception& e) {
          state.SkipWithError(e.what());
        }
      })->UseRealTime();
    }
  }
}

}  // namespace bench
