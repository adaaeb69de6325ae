// What the kernels of a program took while profiles were on: collected by devices, shown by explain.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cotan {

/// Times of one kernel over the calls that were profiled.
struct StepTimes {
  std::int64_t count = 0, total_ns = 0, least_ns = 0;
  void add(std::int64_t ns);
};
/// Of a program's kernels by their number; shared with answers of a device that are still on their way.
struct ProgramTimes {
  std::mutex mutex;
  std::vector<StepTimes> steps;
  std::int64_t calls = 0;
};

struct StepDescription {
  std::string name;
  std::int64_t bytes = 0;  ///< of the arrays that it reads and writes
};
/// A line for each kernel that ran, in the order of the program; empty where no call was profiled.
std::string table_of(ProgramTimes& times, const std::vector<StepDescription>& steps, std::string_view clock);

}  // namespace cotan
