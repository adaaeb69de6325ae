// Looking inside: memory counters, NaN checks, compile log.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace cotan {

struct MemoryStats {
  std::int64_t live_buffers;  ///< buffers that some Array still holds
  std::int64_t live_bytes;
  std::int64_t peak_bytes;  ///< most bytes live at once since the start or reset_peak_bytes()
  std::uint64_t allocations;
};
MemoryStats memory_stats();
void reset_peak_bytes();

/// While on, every primitive's result is checked, and NanError names the first that made a NaN.
/// Also switched on by COTAN_DEBUG_NANS=1.
void debug_nans(bool on);
bool debug_nans();

/// Receives a line for each trace of a jitted function, with the reason of the cache miss.
/// An empty function switches it off; COTAN_LOG_COMPILES=1 logs to stderr from the start.
void log_compiles(std::function<void(const std::string& line)> sink);

}  // namespace cotan
