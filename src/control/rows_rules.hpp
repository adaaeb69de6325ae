// How operations act on rows, where a row is one index of some axis (lowering/rows.cpp).
#pragma once
#include "control/control.hpp"

namespace cotan::rows {

inline constexpr std::int64_t least_rows = 64;
inline constexpr int whole = -1;  ///< in the place of an axis: the operand is the same for all rows

/// How an operation acts on rows: which axes of its operands and results are the rows, and what it computes for one
/// row.
struct OnRows {
  std::vector<int> in;
  int out;
  Params params;
};
/// `axes`: of rows, as far as operands have them.
struct Question {
  const Equation& e;
  std::span<const AbstractValue> in;
  std::span<const int> axes;
  const AbstractValue& out;

  const Ints& ints(std::string_view key) const { return e.params.ints(key); }
};
using Answer = std::optional<OnRows>;
using Rule = Answer (*)(const Question&);
inline Ints without(Ints list, int at) {
  list.erase(list.begin() + at);
  return list;
}
/// nullptr: it does not act on rows.
Rule rule_of(const Primitive& p);

}  // namespace cotan::rows
