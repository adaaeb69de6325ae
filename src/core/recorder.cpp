// The recorder, and Profile, which is somebody who listens to it.
#include "core/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "core/chrome_trace.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"

namespace cotan {

namespace recorder {

std::atomic<int> detail::listeners{0};

namespace {

/// Events of all profiles that are on; each knows where it began.
struct Log {
  std::mutex mutex;
  std::vector<ProfileEvent> events;
  std::vector<std::string> notes;
  std::vector<void (*)()> collectors;
  std::int64_t dropped = 0;
  std::atomic<std::uint64_t> sessions{0};
};
Log& log() {
  static Log& l = *new Log;
  return l;
}

std::string thread_name() {
  static std::atomic<int> count{0};
  thread_local const int number = ++count;
  return fmt::format("host thread {}", number);
}

}  // namespace

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
std::uint64_t session() { return log().sessions; }

void add(ProfileEvent event) {
  if (!on()) return;
  if (event.track.empty()) event.track = thread_name();
  constexpr std::size_t most = 1 << 20;
  Log& l = log();
  const std::scoped_lock lock(l.mutex);
  if (l.events.size() >= most)
    ++l.dropped;
  else
    l.events.push_back(std::move(event));
}

void note(const std::string& text) {
  Log& l = log();
  const std::scoped_lock lock(l.mutex);
  if (on() && std::find(l.notes.begin(), l.notes.end(), text) == l.notes.end()) l.notes.push_back(text);
}

void on_stop(void (*collect)()) {
  Log& l = log();
  const std::scoped_lock lock(l.mutex);
  if (std::find(l.collectors.begin(), l.collectors.end(), collect) == l.collectors.end())
    l.collectors.push_back(collect);
}

void Span::begin(const char* category, std::string_view name) {
  event_ = std::make_unique<ProfileEvent>();
  event_->name = name;
  event_->category = category;
  event_->start_ns = now();
}
void Span::end() {
  event_->duration_ns = now() - event_->start_ns;
  add(std::move(*event_));
}

}  // namespace recorder

struct Profile::State {
  std::string file;
  bool running = true;
  std::size_t first = 0;
  std::int64_t start = 0, dropped_before = 0;
  std::vector<ProfileEvent> events;
  std::vector<std::string> notes;
};

Profile::Profile(std::string file) : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
  recorder::Log& l = recorder::log();
  const std::scoped_lock lock(l.mutex);
  if (recorder::detail::listeners == 0) {
    l.events.clear();
    l.notes.clear();
    l.dropped = 0;
    ++l.sessions;
  }
  state_->first = l.events.size();
  state_->dropped_before = l.dropped;
  state_->start = recorder::now();
  ++recorder::detail::listeners;
}

Profile::~Profile() {
  try {
    stop();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

void Profile::stop() {
  State& s = *state_;
  if (!std::exchange(s.running, false)) return;
  recorder::Log& l = recorder::log();
  std::vector<void (*)()> collectors;
  {
    const std::scoped_lock lock(l.mutex);
    collectors = l.collectors;
  }
  for (const auto collect : collectors) collect();
  {
    const std::scoped_lock lock(l.mutex);
    // Events that ended before this profile began belong to an earlier one, even if they are collected only now.
    for (std::size_t k = s.first; k < l.events.size(); ++k)
      if (l.events[k].start_ns + l.events[k].duration_ns >= s.start) s.events.push_back(l.events[k]);
    s.notes = l.notes;
    if (const std::int64_t dropped = l.dropped - s.dropped_before)
      s.notes.push_back(fmt::format("{} later events were left out; profile a shorter part.", dropped));
    if (--recorder::detail::listeners == 0) {
      l.events = {};
      l.notes.clear();
    }
  }
  for (ProfileEvent& e : s.events) e.start_ns -= s.start;
  std::stable_sort(s.events.begin(), s.events.end(),
                   [](const ProfileEvent& a, const ProfileEvent& b) { return a.start_ns < b.start_ns; });
  if (!s.file.empty()) write_chrome_trace(s.file, s.events, s.notes);
}

const std::vector<ProfileEvent>& Profile::events() const { return state_->events; }
const std::vector<std::string>& Profile::notes() const { return state_->notes; }

std::string Profile::text() const {
  struct Total {
    const ProfileEvent* of;
    std::int64_t count = 0, time = 0;
  };
  std::vector<Total> totals;
  for (const ProfileEvent& e : events()) {
    auto at = std::find_if(totals.begin(), totals.end(), [&](const Total& t) {
      return t.of->name == e.name && t.of->category == e.category && t.of->track == e.track;
    });
    if (at == totals.end()) at = totals.insert(at, {&e});
    ++at->count;
    at->time += e.duration_ns;
  }
  std::stable_sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) { return a.time > b.time; });
  std::size_t width = 0;
  for (const Total& t : totals) width = std::max(width, t.of->track.size());
  std::string out = fmt::format("{:>12}{:>8}{:>12}  {:<{}}  {:<10}{}\n", "total ms", "count", "mean us", "track", width,
                                "category", "name");
  for (const Total& t : totals)
    out += fmt::format("{:12.3f}{:8}{:12.2f}  {:<{}}  {:<10}{}\n", static_cast<double>(t.time) * 1e-6, t.count,
                       static_cast<double>(t.time) * 1e-3 / static_cast<double>(t.count), t.of->track, width,
                       t.of->category, t.of->name);
  for (const std::string& n : notes()) out += "note: " + n + "\n";
  return out;
}

ProfileSpan::ProfileSpan(std::string_view name) {
  if (!recorder::on()) return;
  name_ = name;
  start_ = recorder::now();
}
ProfileSpan::~ProfileSpan() {
  if (start_ >= 0) recorder::add({name_, "user", {}, start_, recorder::now() - start_, {}});
}

// The whole process -----------------------------------------------------------------------------------

namespace {

std::atomic<Profile*> of_process{nullptr};

void finish() { delete of_process.exchange(nullptr); }

const bool started = [] {
  const auto file = environment::text("COTAN_TRACE");
  if (!file) return false;
  of_process = new Profile(*file);
  std::atexit(finish);
  return true;
}();

}  // namespace

void recorder::finish_before_exit() {
  static const bool registered = started && std::atexit(finish) == 0;
  (void)registered;
}

}  // namespace cotan
