// The recorder behind Profile. What is not recorded costs one relaxed load.
#pragma once
#include <atomic>
#include <cotan/profile.hpp>

namespace cotan::recorder {

namespace detail {
extern std::atomic<int> listeners;
}
/// Whether some profile is on.
inline bool on() { return detail::listeners.load(std::memory_order_relaxed) > 0; }

/// Nanoseconds, on the clock of all events.
std::int64_t now();
/// How often recording began: what was measured for an earlier one may not hold any more.
std::uint64_t session();
/// Records an event; `start_ns` comes from now(). Does nothing where no profile is on. An empty track: the calling
/// thread.
void add(ProfileEvent event);
/// Recorded once per profile, however often it is called.
void note(const std::string& text);

/// For devices whose events come late: called when a profile stops, before its events are taken.
void on_stop(void (*collect)());
/// Ends the recording of COTAN_TRACE at the end of the process, before libraries that were loaded later are unloaded.
void finish_before_exit();

/// An event of this thread from here to the end of the scope.
class Span {
 public:
  Span(const char* category, std::string_view name) {
    if (on()) begin(category, name);
  }
  ~Span() {
    if (event_) end();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  void detail(const char* name, std::int64_t value) {
    if (event_) event_->details.emplace_back(name, value);
  }

 private:
  void begin(const char* category, std::string_view name);
  void end();
  std::unique_ptr<ProfileEvent> event_;
};

}  // namespace cotan::recorder
