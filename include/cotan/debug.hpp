// Looking inside: memory counters, checks of NaNs and of indices, compile log.
#pragma once
#include <cotan/flat.hpp>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace cotan {

/// Counters of the memory of arrays on all devices.
struct MemoryStats {
  std::int64_t live_buffers;  ///< buffers that some Array still holds
  std::int64_t live_bytes;    ///< bytes of those
  std::int64_t peak_bytes;    ///< most bytes live at once since the start or reset_peak_bytes()
  std::uint64_t allocations;  ///< since the start
};
/// The counters now.
MemoryStats memory_stats();
/// Starts peak_bytes again from what is live now.
void reset_peak_bytes();

/// While on, programs run one operation at a time, loops too, and NanError names the first operation that made a NaN,
/// your line and the step of the loop. Also switched on by COTAN_DEBUG_NANS=1.
void debug_nans(bool on);
/// Whether it is on.
bool debug_nans();

/// While on, programs run one operation at a time, loops too, and IndexError names the first index that is outside its
/// array, the operation and your line. Else such indices read NaN or the nearest element, and writes are dropped, as in
/// JAX. Reads and writes that ask for it (modes "clip" and "wrap", reads with a fill value) may be outside. Also
/// switched on by COTAN_DEBUG_BOUNDS=1.
void debug_bounds(bool on);
/// Whether it is on.
bool debug_bounds();

/// What one of the passes did that a program went through (src/lowering/pipeline.cpp lists them).
struct PassRow {
  std::string name, purpose;
  int equations_before = 0, equations_after = 0;  ///< nested ones too; the last passes make steps of them
  std::string difference;                         ///< "-2 transpose +1 dot_general": what there is less and more of
  double microseconds = 0;
  bool changed = false;
};

/// What a device makes of a program: std::cout << ct::explain(ct::jit(f), x).
struct Explanation {
  std::string device;
  int kernels = 0;              ///< fused loop nests
  int routines = 0;             ///< operations on whole arrays: large matrix products, decompositions, sorts
  int dispatches = 0;           ///< steps that run one after another, per call
  int loops = 0;                ///< loops and branches that are part of the program
  int submissions = 1;          ///< of work to the device, per call
  int bindings = 0;             ///< blocks of memory that a shader names at most; of devices that have shaders
  std::int64_t peak_bytes = 0;  ///< arguments, results and temporaries together, at most
  std::int64_t argument_bytes = 0, result_bytes = 0, temporary_bytes = 0;
  std::int64_t donated_bytes = 0;  ///< of results that take the memory of donated arguments
  /// Of devices that compile programs: operations on floats, an element each; elements of exp, sin and their like,
  /// which are not among those; bytes that the steps read and write. Loops count as often as they run, while loops
  /// once. What decompositions, sorts and Fourier transforms compute inside is not counted, as in XLA.
  double flops = 0, transcendentals = 0, bytes_accessed = 0;
  /// Every pass that ran, in order, some of them more than once.
  std::vector<PassRow> pipeline;
  /// The program as it was "traced", and after each pass that changed it, by the pass's name: what it was before is in
  /// the entry before.
  std::vector<std::pair<std::string, std::string>> passes;
  std::string steps;    ///< every step, and how it runs
  std::string llvm_ir;  ///< of the native device
  std::string assembly;
  std::string wgsl;  ///< of the webgpu device: every shader
  /// What each kernel took, where the program was called while a Profile was on (profile.hpp).
  std::string times;
  /// Summary, steps, times and the passes that changed something; what each of them left and the generated code are in
  /// the fields above.
  std::string text() const;
};
/// Its text().
std::ostream& operator<<(std::ostream& out, const Explanation& e);
namespace flat {
/// On the default device, or on `device`; `donated`: which flat arguments are given up.
Explanation explain(const Program& program, std::string_view device = {}, const std::vector<bool>& donated = {});
}  // namespace flat

/// Forgets compiled programs that were kept to be shared, so that the next call of an equal one compiles again.
/// Jitted functions keep what they have.
void clear_caches();

/// Receives a line for each trace of a jitted function, with the reason of the cache miss.
/// An empty function switches it off; COTAN_LOG_COMPILES=1 logs to stderr from the start.
void log_compiles(std::function<void(const std::string& line)> sink);

}  // namespace cotan
