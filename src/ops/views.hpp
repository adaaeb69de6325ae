// What operations share that move elements and compute nothing: all linear, all views to a compiler. In element rules,
// indices of the result become indices of the operand: views cost arithmetic, no copies.
#pragma once
#include "core/rows.hpp"
#include "expr/lowering.hpp"
#include "ops/strided.hpp"

namespace cotan::ops {

using Is = std::span<const expr::Expr>;

inline Array apply_to_tangent(const Primitive& p, const Partial& d) { return bind1(p, {d.t}, d.params); }

/// `list` for one axis more, at the front.
inline Ints inserted_front(Ints list, std::int64_t shift, std::int64_t front) {
  for (auto& i : list) i += shift;
  list.insert(list.begin(), front);
  return list;
}

inline bool all_are(const Ints& list, std::int64_t value) {
  return std::all_of(list.begin(), list.end(), [&](auto i) { return i == value; });
}

/// For operations that are nothing where they do not change the type.
inline std::optional<std::size_t> same_as_operand(const OperandFacts&) { return 0; }

}  // namespace cotan::ops
