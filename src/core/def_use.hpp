// Where each value of a program comes from, and how often it is read.
#pragma once
#include <optional>

#include "core/jaxpr.hpp"

namespace cotan {

/// Looks at the program once; the program must outlive it and stay as it is.
class DefUse {
 public:
  explicit DefUse(const Jaxpr& jaxpr);
  /// The number of the equation that computes the value; nothing for inputs and literals.
  std::optional<std::size_t> home(const Atom& a) const;
  /// That equation, or nullptr.
  const Equation* definition(const Atom& a) const;
  /// The same for a value that is read once; nullptr for others.
  const Equation* only_for_its_reader(const Atom& a) const;
  /// How often operands and outputs of the program name the value.
  int reads(Var v) const { return reads_[static_cast<std::size_t>(v.id)]; }

 private:
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  const Jaxpr& jaxpr_;
  std::vector<std::size_t> homes_;
  std::vector<int> reads_;
};

}  // namespace cotan
