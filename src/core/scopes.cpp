// Named scopes: what users call parts of their programs.
#include <algorithm>
#include <cotan/transforms/named.hpp>
#include <mutex>
#include <set>

#include "core/jaxpr.hpp"

namespace cotan {

namespace {

thread_local const std::string* scope_here = nullptr;

const std::string* interned(std::string text) {
  static std::mutex mutex;
  static auto& all = *new std::set<std::string>;  // equations of cached programs refer to them to the end
  const std::scoped_lock lock(mutex);
  return &*all.insert(std::move(text)).first;
}

}  // namespace

const std::string* current_scope() { return scope_here; }
ScopeOf::ScopeOf(const std::string* scope) : outer_(std::exchange(scope_here, scope)) {}
ScopeOf::~ScopeOf() { scope_here = outer_; }

named_scope::named_scope(std::string_view name) : outer_(scope_here), span_(name) {
  if (name.empty()) raise<ValueError>("[named_scope] the name is empty; give one that programs can show.");
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    raise<ValueError>("[named_scope] the name has a line break or another control character; give one of a line.");
  scope_here = interned(outer_ ? fmt::format("{}/{}", *outer_, name) : std::string(name));
}
named_scope::~named_scope() { scope_here = outer_; }

}  // namespace cotan
