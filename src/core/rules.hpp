// Rules about primitives that are written in folders below them: expansions, routines of devices. Each registers itself
// in the file that it is in, so that nothing else names it.
#pragma once
#include <unordered_map>

#include "core/primitive.hpp"

namespace cotan {

/// `const RuleFor<Rule> registered{{&a_p, &b_p}, rule};` in a source file: from the start of the program on `rule` is
/// what `find` gives for these primitives.
template <class Rule>
class RuleFor {
 public:
  RuleFor(std::initializer_list<const Primitive*> primitives, Rule rule) {
    for (const Primitive* p : primitives) table().insert_or_assign(p, rule);
  }
  /// nullptr: there is none.
  static const Rule* find(const Primitive& p) {
    const auto at = table().find(&p);
    return at == table().end() ? nullptr : &at->second;
  }

 private:
  // Made by who asks first, since files begin in any order, and never destroyed, since threads may outlive them.
  static std::unordered_map<const Primitive*, Rule>& table() {
    static auto& rules = *new std::unordered_map<const Primitive*, Rule>;
    return rules;
  }
};

}  // namespace cotan
