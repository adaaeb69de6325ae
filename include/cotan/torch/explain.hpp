// What the programs were that ran: how large, how often compiled and why, and which tensors made them give results.
#pragma once
#include <cotan/debug.hpp>
#include <cotan/torch/tensor.hpp>

namespace cotan::torch {

/// A program that ran.
struct RunReport {
  std::uint64_t number = 0;    ///< of the run, from 1 on
  std::string device;          ///< as PyTorch calls it
  std::size_t operations = 0;  ///< that were recorded
  std::size_t arguments = 0;   ///< values that were known
  std::size_t results = 0;     ///< values that can be read
  bool compiled = false;       ///< it was not known
  /// Of one that was compiled: in what it differs from the program that is nearest to it, by operations and lines.
  std::string reason;
  /// What it gives as results, with the lines that made them, because a tensor is alive or was asked for. Lines are
  /// those of the run that was compiled.
  std::vector<std::string> kept;
  std::string text() const;  ///< all of that
};
/// Its text().
std::ostream& operator<<(std::ostream& out, const RunReport& report);

/// The last program that ran, on any thread.
RunReport last_run();
/// What the device makes of it: kernels, dispatches, bytes at the peak, bytes given up.
Explanation explain();
/// Receives a report after each run. An empty function switches it off.
void log_runs(std::function<void(const RunReport&)> sink);

}  // namespace cotan::torch
