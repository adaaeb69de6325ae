// The calls of the user's that are in progress on this thread, and what errors say about them.
#include <cotan/call_site.hpp>
#include <set>

#include "core/error.hpp"
#include "core/trace.hpp"

namespace cotan {

namespace {

thread_local detail::CallSite* innermost = nullptr;
thread_local detail::LeafScope* leaf = nullptr;
thread_local ArgumentScope* arguments = nullptr;

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

std::source_location user_location() { return innermost ? innermost->where() : std::source_location{}; }

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
  std::string out;
  if (innermost) {
    const std::source_location& here = innermost->where();
    out = fmt::format(" At {}:{}", here.file_name(), here.line());
    // Operands of the calls on that line that are arguments of a traced function: which leaf does not fit. In order of
    // their names, since compilers evaluate operands in any.
    std::set<std::string> names;
    for (const CallSite* s = innermost; s && s->where().line() == here.line(); s = s->outer())
      if (s->operand())
        if (const std::string path = ArgumentScope::path_of(*s->operand()); !path.empty())
          names.insert(fmt::format("{} ({})", path, s->operand()->aval()));
    if (!names.empty()) out += fmt::format(", which reads {}", fmt::join(names, " and "));
  }
  if (leaf) out += fmt::format("{} the leaf {}", out.empty() ? " In" : ", in", leaf->path());
  return out.empty() ? out : out + ".";
}

}  // namespace detail
}  // namespace cotan
