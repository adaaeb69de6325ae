// Profile: what happened when, on the host's threads and on devices, as a table or as a trace for Chrome and Perfetto.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cotan {

/// Something that took time, or happened.
struct ProfileEvent {
  std::string name;  ///< of the function, the operation or the kernel
  /// On the host "trace", "compile", "call", "operation", "upload", "readback", "wait", "start" and "allocate" (of a
  /// device), "user"; on a device "kernel".
  std::string category;
  std::string track;  ///< "host thread 1", or the device
  std::int64_t start_ns = 0, duration_ns = 0;
  std::vector<std::pair<std::string, std::int64_t>> details;  ///< "bytes", "groups", "threads", …
};

/// Records from its construction to stop(), or to its end:
///
///     { ct::Profile profile("step.json"); step(x); }    // open step.json in https://ui.perfetto.dev
///
/// Kernels of a GPU have times by the device's own clock, and explain() of a program that was called while a profile
/// was on shows them. Dispatches do not overlap while they are timed. COTAN_TRACE=FILE records the whole process.
class Profile {
 public:
  /// `file`: where stop() writes the trace; empty: nowhere.
  explicit Profile(std::string file = {});
  /// Stops. A file that cannot be written is a line on stderr.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  /// Waits for devices, and writes the file; raises IoError where it cannot be written.
  void stop();
  /// What was recorded, times counted from the start of the profile; nothing before stop().
  const std::vector<ProfileEvent>& events() const;
  /// What to know about the times: that a device has none, that they are rounded, that events were left out.
  const std::vector<std::string>& notes() const;
  /// Totals by name, the longest first.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A span of the caller's own in the profiles that are on: { ct::ProfileSpan span("epoch"); … }
class ProfileSpan {
 public:
  /// Starts the span.
  explicit ProfileSpan(std::string_view name);
  /// Ends it.
  ~ProfileSpan();
  ProfileSpan(const ProfileSpan&) = delete;
  ProfileSpan& operator=(const ProfileSpan&) = delete;

 private:
  std::string name_;
  std::int64_t start_ = -1;
};

}  // namespace cotan
