// ProgramCache: what a device has compiled. Each program once, however many threads ask; equal programs share one.
#pragma once
#include <deque>
#include <unordered_map>

#include "core/jaxpr.hpp"
#include "core/recorder.hpp"
#include "lowering/pipeline.hpp"

namespace cotan {

template <class Executable>
class ProgramCache {
 public:
  /// What `by` has compiled `jaxpr` to, which the program keeps. `compile(jaxpr)` gives a unique_ptr<Executable>.
  template <class Compile>
  const Executable& find(const JaxprPtr& jaxpr, const Backend& by, Compile&& compile) {
    if (const void* ready = jaxpr->compiled.get(by)) return *static_cast<const Entry*>(ready)->executable;
    const auto entry = find_or_add(lowering::without_calls(jaxpr));
    std::call_once(entry->once, [&] {
      recorder::Span span("compile", entry->jaxpr->name);
      span.detail("equations", static_cast<std::int64_t>(entry->jaxpr->equations.size()));
      entry->executable = compile(entry->jaxpr);
    });
    return *static_cast<const Entry*>(jaxpr->compiled.set(by, entry))->executable;
  }
  /// Equal programs that are compiled from now on do not share what was compiled before.
  void clear() {
    std::lock_guard lock(mutex_);
    entries_.clear();
    recent_.clear();
  }

 private:
  struct Entry {
    JaxprPtr jaxpr;  // without its own compiled form
    std::once_flag once;
    std::unique_ptr<Executable> executable;
  };

  std::shared_ptr<Entry> find_or_add(const JaxprPtr& jaxpr) {
    const std::size_t hash = structural_hash(*jaxpr);
    std::lock_guard lock(mutex_);
    auto [at, end] = entries_.equal_range(hash);
    while (at != end) {
      if (auto entry = at->second.lock()) {
        if (structurally_equal(*entry->jaxpr, *jaxpr)) {
          keep(entry);
          return entry;
        }
        ++at;
      } else {
        at = entries_.erase(at);
      }
    }
    auto entry = std::make_shared<Entry>();
    entry->jaxpr = std::make_shared<const Jaxpr>(*jaxpr);  // a copy: a cycle would never be freed
    entries_.emplace(hash, entry);
    keep(entry);
    return entry;
  }
  void keep(const std::shared_ptr<Entry>& entry) {
    constexpr std::size_t most = 64;
    std::erase(recent_, entry);
    recent_.push_front(entry);
    if (recent_.size() > most) recent_.pop_back();
  }

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<Entry>> entries_;
  /// Programs outlive the functions they were compiled for: those who make a function anew find the last ones again.
  std::deque<std::shared_ptr<Entry>> recent_;
};

}  // namespace cotan
