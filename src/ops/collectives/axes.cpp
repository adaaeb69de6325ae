#include "ops/collectives/axes.hpp"

#include "core/jaxpr.hpp"
#include "core/rules.hpp"

namespace cotan::axes {

namespace {

thread_local const Binding* innermost = nullptr;
thread_local const std::string* rule_axis = nullptr;

std::string bound_names() {
  std::string out;
  for (const Binding* b = innermost; b; b = b->outer)
    out += fmt::format("{}'{}' (of size {})", out.empty() ? "" : ", ", b->name, b->size);
  return out;
}

}  // namespace

Binding::Binding(std::string_view name, std::int64_t size) : name(name), size(size), outer(innermost) {
  if (!name.empty()) innermost = this;
}
Binding::~Binding() { innermost = outer; }

std::int64_t size_of(std::string_view name, std::string_view op) {
  for (const Binding* b = innermost; b; b = b->outer)
    if (b->name == name) return b->size;
  const std::string bound = bound_names();
  raise<ValueError>(
      "[{}] no mapped axis is named '{}' here; bound: {}. Call it inside of vmap(f, {{.axis_name = \"{}\"}}).", op,
      name, bound.empty() ? "none" : bound, name);
}

std::string environment() {
  std::string out;
  for (const Binding* b = innermost; b; b = b->outer) out += fmt::format("{}:{}={},", b->name.size(), b->name, b->size);
  return out;
}

OfRule::OfRule(const std::string& name) : outer_(rule_axis) { rule_axis = &name; }
OfRule::~OfRule() { rule_axis = outer_; }
const std::string& of_rule() {
  static const std::string none;
  return rule_axis ? *rule_axis : none;
}

bool names_axis(const Primitive& p, const Params& params, std::string_view name) {
  return !name.empty() && RuleFor<AcrossAxis>::find(p) && params.text("axis_name") == name;
}

namespace {
bool program_names_axis(const Jaxpr& program, std::string_view name) {
  for (const Equation& e : program.equations)
    if (names_axis(*e.primitive, e.params, name) || nested_names_axis(e.params, name)) return true;
  return false;
}
}  // namespace

bool nested_names_axis(const Params& params, std::string_view name) {
  if (name.empty()) return false;
  for (const auto& [key, value] : params.items()) {
    if (const auto* program = std::get_if<JaxprPtr>(&value))
      if (program_names_axis(**program, name)) return true;
    if (const auto* programs = std::get_if<std::vector<JaxprPtr>>(&value))
      for (const JaxprPtr& program : *programs)
        if (program_names_axis(*program, name)) return true;
  }
  return false;
}

}  // namespace cotan::axes
