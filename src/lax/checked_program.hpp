// A program run with checks: by equations, those of loops and branches too, which are traced again.
#pragma once
#include "core/jaxpr.hpp"
#include "transforms/checks.hpp"

namespace cotan {

/// Runs programs under the current trace, as a function with effects: each check is one.
class CheckedProgram {
 public:
  /// `errors`: the bits of an ErrorSet. `whole`: the program that the others are part of.
  CheckedProgram(const Jaxpr& whole, unsigned errors);
  Arrays run(const Jaxpr& jaxpr, std::span<const Array> args);
  /// The first state.
  Array no_error() const;

 private:
  Arrays equation(const Equation& e, const Arrays& x);
  Arrays scan(const Equation& e, const Arrays& x);
  Arrays while_loop(const Equation& e, const Arrays& x);
  Arrays branches(const Equation& e, const Arrays& x);
  /// A call that keeps its rules: checkpoint, custom derivatives.
  Arrays call(const Equation& e, const Arrays& x);
  void check_user(const Equation& e, const Arrays& x);
  void check_index(const Equation& e, const Arrays& x);
  void check_division(const Equation& e, const Arrays& x);
  void check_nan(const Equation& e, const Arrays& results);
  /// Where `bad`: this failure, unless there was one before.
  void fail_where(const Array& bad, const FailurePtr& failure, const Arrays& shown);
  bool wants(unsigned errors) const { return (errors_ & errors) != 0; }

  const unsigned errors_;
  std::int64_t words_ = 0;  ///< of values that messages show, at most
};

/// An index is outside of such an array; shown: the index, its axis, the size.
FailurePtr index_failure(const AbstractValue& array);
/// The message of a state that has an error.
std::string failure_text(std::span<const std::int32_t> state, bool with_line);

}  // namespace cotan
