// The calls of the user's that are in progress on this thread, and what errors say about them.
#include <algorithm>
#include <cotan/call_site.hpp>
#include <set>

#include "core/error.hpp"
#include "core/trace.hpp"

namespace cotan {

namespace {

thread_local detail::CallSite* innermost = nullptr;
thread_local detail::LeafScope* leaf = nullptr;
thread_local ArgumentScope* arguments = nullptr;
thread_local StepScope* step = nullptr;

/// Calls from inside the standard library's headers or ours (std::apply, std::function) have no line of the user's.
bool is_users(const std::source_location& where) {
  if (where.line() == 0) return false;
  const std::string_view file = where.file_name();
  return file.find("include/c++/") == file.npos && file.find("include/cotan/") == file.npos;
}
const detail::CallSite* innermost_of_user() {
  const detail::CallSite* site = innermost;
  while (site && !is_users(site->where())) site = site->outer();
  return site;
}
std::string text(const std::source_location& where) { return fmt::format("{}:{}", where.file_name(), where.line()); }
void add_once(std::vector<std::string>& lines, const std::string& line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

/// The calls of transformed functions around the line `here`, and where those functions were made.
std::string calls_around(const std::string& here) {
  constexpr std::size_t most = 3;
  std::vector<std::string> calls, made;
  for (const detail::CallSite* site = innermost; site; site = site->outer()) {
    if (!is_users(site->made())) continue;
    if (is_users(site->where()) && text(site->where()) != here && calls.size() < most)
      add_once(calls, text(site->where()));
    if (made.size() < most) add_once(made, text(site->made()));
  }
  std::erase_if(made, [&](const std::string& line) {
    return line == here || std::find(calls.begin(), calls.end(), line) != calls.end();
  });
  std::string out;
  if (!calls.empty()) out = fmt::format(", inside the call at {}", fmt::join(calls, ", inside that at "));
  if (made.empty()) return out;
  const std::string places = fmt::format("{}", fmt::join(made, " and "));
  return here.empty() && calls.empty() ? " In a call of the function transformed at " + places
                                       : out + " (transformed at " + places + ")";
}

}  // namespace

ArgumentScope::ArgumentScope(std::span<const Array> in, const flat::Paths& paths)
    : arguments_(in), paths_(paths), outer_(std::exchange(arguments, this)) {}
ArgumentScope::~ArgumentScope() { arguments = outer_; }
std::string ArgumentScope::path_of(const Array& a) {
  if (!a.defined()) return {};
  for (const ArgumentScope* scope = arguments; scope; scope = scope->outer_)
    for (std::size_t i = 0; i < scope->arguments_.size(); ++i)
      if (scope->arguments_[i].value() == a.value()) return scope->paths_(i);
  return {};
}

StepScope::StepScope(const std::int64_t& number) : number_(number), outer_(std::exchange(step, this)) {}
StepScope::~StepScope() { step = outer_; }
std::string StepScope::note() {
  std::string out;
  for (const StepScope* s = step; s; s = s->outer_)
    out += fmt::format("{} step {}", out.empty() ? "" : " inside", s->number_);
  return out.empty() ? out : " in" + out + " (counted from 0) of the loop";
}

std::source_location user_location() {
  const detail::CallSite* site = innermost_of_user();
  return site ? site->where() : std::source_location{};
}

namespace detail {

void CallSite::enter(const std::source_location& where, const Array* operand) {
  where_ = where;
  operand_ = operand;
  list_ = &innermost;
  outer_ = innermost;
  if (outer_) outer_->inner_ = this;
  innermost = this;
}
void CallSite::leave() {
  if (outer_) outer_->inner_ = inner_;
  (inner_ ? inner_->outer_ : *list_) = outer_;
}

LeafScope::LeafScope(const void* tree, Path path, const std::size_t& index)
    : tree_(tree), path_(path), leaf_(index), outer_(std::exchange(leaf, this)) {}
LeafScope::~LeafScope() { leaf = outer_; }

std::string call_note() {
  std::string out, line;
  if (const CallSite* site = innermost_of_user()) {
    const std::source_location& here = site->where();
    line = text(here);
    out = " At " + line;
    // The operands of a call on that line that are arguments of a traced function, and which of their leaves does not
    // fit. Sorted by name, since compilers evaluate operands in any order.
    std::set<std::string> names;
    for (const CallSite* s = site; s && s->where().line() == here.line(); s = s->outer())
      if (s->operand())
        if (const std::string path = ArgumentScope::path_of(*s->operand()); !path.empty())
          names.insert(fmt::format("{} ({})", path, s->operand()->aval()));
    if (!names.empty()) out += fmt::format(", which reads {}", fmt::join(names, " and "));
  }
  if (const std::string steps = StepScope::note(); !steps.empty() && !out.empty()) out += "," + steps;
  if (leaf) out += fmt::format("{} the leaf {}", out.empty() ? " In" : ", in", leaf->path());
  out += calls_around(line);
  return out.empty() ? out : out + ".";
}

}  // namespace detail
}  // namespace cotan
