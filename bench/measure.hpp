// Timing with Google Benchmark: one sample at a time for the driver, or all rows by hand.
#pragma once
#include "workload.hpp"

namespace bench {

struct Sample {
  double seconds;  ///< per call
  std::int64_t calls;
};
/// Calls for about `seconds` and gives the mean; `expected` is the cost of one call, from an earlier sample.
Sample time_calls(const std::function<void()>& call, double seconds, double expected);
/// Compiles, warms up, and gives the cost of a warm call, for time_calls to choose its repetitions by.
double estimate_call(const std::function<void()>& call);

/// Registers every row that a peer of this program has, as benchmarks named peer/row.
void register_benchmarks(const nlohmann::json& table, bool quick);

}  // namespace bench
