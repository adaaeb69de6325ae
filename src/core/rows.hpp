// How operations are operations on rows, where a row is what an index of some axis stands for: what the rule `on_rows`
// of a primitive is asked, and says (lowering/rows.cpp).
#pragma once
#include <algorithm>

#include "core/jaxpr.hpp"

namespace cotan::rows {

inline constexpr std::int64_t least_rows = 64;
inline constexpr int whole = -1;  ///< in the place of an axis: the operand is the same for all rows

/// How an operation is one on rows: which axes of its operands and of its results have them, and what it is on a row.
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
/// Numbers of axes after one of them is gone.
inline Ints renumbered(Ints axes, int gone) {
  for (auto& a : axes) a -= a > gone;
  return axes;
}
inline bool has(const Ints& a, std::int64_t x) { return std::find(a.begin(), a.end(), x) != a.end(); }
inline int place_in(const Ints& a, std::int64_t x) {
  return static_cast<int>(std::find(a.begin(), a.end(), x) - a.begin());
}

/// The rule of all elementwise operations.
Answer elementwise(const Question& q);
/// For one that leaves its axes where they are, with a list of something for each of them.
Answer by_axis(const Question& q, std::initializer_list<const char*> lists);
/// For one whose result has all axes but these.
Answer reduced(const Question& q, const Ints& axes, const Params& params);
/// nullptr: it is none.
Rule rule_of(const Primitive& p);

}  // namespace cotan::rows
