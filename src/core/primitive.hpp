// Primitive: one operation and everything that any part of cotan knows about it.
#pragma once
#include <cotan/flat.hpp>
#include <optional>
#include <span>

#include "core/params.hpp"

namespace cotan {

namespace expr {
class Expr;
class Operands;
struct Reduction;
struct WindowElement;
}  // namespace expr
namespace rows {
struct OnRows;
struct Question;
}  // namespace rows

class PartialEvalTrace;
class Rewriter;
struct Equation;
struct Primitive;
using Types = std::vector<AbstractValue>;
Types types_of(std::span<const Array> arrays);

/// A tangent or cotangent that is zero is an undefined Array: rules skip it, nothing is computed for it.
struct JvpResult {
  Arrays primals, tangents;
};

/// One operand of a linear equation that is being transposed.
struct LinearInput {
  bool linear = false;  ///< a cotangent is wanted; there is no value
  AbstractValue aval;
  Array value;  ///< the operand itself where it is not linear
};

inline constexpr int not_batched = -1;
struct BatchResult {
  Arrays values;
  std::vector<int> dims;  ///< batch axis of each value, or not_batched
};

/// What a partial derivative may look at: the tangent of one operand, the operands and the result.
struct Partial {
  const Array& t;
  std::span<const Array> x;
  const Array& y;
  const Params& params;
};
using PartialRule = Array (*)(const Partial&);

/// What is known of the operands of an equation before it runs.
struct OperandFacts {
  const Params& params;
  DType dtype;                                 ///< of the result
  std::vector<std::optional<double>> numbers;  ///< what all elements of an operand are, where that is known
  std::vector<std::size_t> first;              ///< which operand is the first that is the same value
};

/// What rewrites may make use of. Nothing here changes a bit of any result.
struct Rewrites {
  /// The operand that the result is, if its type is the result's too: x * 1, x | x.
  std::optional<std::size_t> (*same_as)(const OperandFacts&) = nullptr;
  /// The parameters of one operation that does what two of them do one after the other.
  Params (*compose)(const Params& first, const Params& second) = nullptr;
  bool undoes_itself = false;  ///< applied again, with the same parameters, it gives its operand
  bool is_cheap = false;       ///< costs next to nothing beside reading what it is applied to
  bool is_trivial = false;     ///< nobody would put its result into memory
  bool shares_memory = false;  ///< its evaluation moves nothing: the result is in the operand's memory
};

/// A value as real arrays: the parts of a complex one; of a real one itself, and `im` is undefined.
struct ComplexParts {
  Array re, im;
  bool complex() const { return im.defined(); }
};
using PartsList = std::vector<ComplexParts>;

/// How a back end treats the operation.
/// `call` applies a nested program once; `control` decides how often, and which.
enum class OpClass : std::uint8_t { elementwise, view, data, reduction, routine, call, control };

/// Windows of an array whose places are values.
struct IndexedWindows {
  Array starts;     ///< [windows, components]
  Ints axes, last;  ///< of each component the array's axis, and the last start that is inside
};

/// Rules get the primitive they belong to, so that one rule can serve a whole family.
struct Primitive {
  std::string_view name;
  OpClass op_class;
  /// Result types from operand types; raises on operands that do not fit.
  Types (*type)(const Primitive&, std::span<const AbstractValue>, const Params&);
  /// The reference evaluation on concrete arrays.
  Arrays (*eval)(const Primitive&, std::span<const Array>, const Params&);
  /// Forward mode, as one rule for the whole operation …
  JvpResult (*jvp)(const Primitive&, std::span<const Array> primals, std::span<const Array> tangents,
                   const Params&) = nullptr;
  /// … or, for one result, as a partial derivative per operand (nullptr: no derivative, zero tangent).
  std::vector<PartialRule> partials = {};
  /// Cotangents of the linear operands from those of the results.
  Arrays (*transpose)(const Primitive&, std::span<const Array> cotangents, std::span<const LinearInput>,
                      const Params&) = nullptr;
  BatchResult (*batch)(const Primitive&, std::span<const Array>, std::span<const int> dims, std::int64_t size,
                       const Params&) = nullptr;
  /// Splits an operation with known and unknown operands; nullptr records it whole.
  Arrays (*partial_eval)(const Primitive&, PartialEvalTrace&, std::span<const Array>, const Params&) = nullptr;
  /// Drops from an equation what only the results that are not `used` need: operands, results, parts of nested
  /// programs. nullptr: an equation is kept whole or not at all.
  void (*prune)(Equation&, const std::vector<bool>& used) = nullptr;
  /// Writes the equation, with these parameters, so that it takes, carries and computes less: invariants of a loop
  /// before it, equal operands once. nullptr: as it is.
  void (*simplify)(const Equation&, const Params&, Rewriter&) = nullptr;
  /// Which index among the operands is outside the array, in words; empty: none. For debug_bounds.
  std::string (*out_of_bounds)(std::span<const Array>, const Params&) = nullptr;
  /// Where the windows begin that it reads or writes by index, and may begin; nullopt: anywhere, by its parameters. For
  /// checks that are part of programs.
  std::optional<IndexedWindows> (*windows_by_index)(std::span<const Array>, const Params&) = nullptr;
  /// Of products: multiplications and additions, from the types of the operands and of the result.
  double (*product_flops)(std::span<const AbstractValue>, const AbstractValue& result, const Params&) = nullptr;
  /// Always a zero tangent (comparisons, rounding, integers): forward mode evaluates and stops there.
  bool not_differentiable = false;
  /// Gives the elements of its operand in the dtype `new_dtype`.
  bool casts = false;
  /// `eval` is written in other operations, so that it can be traced: it is the expansion too.
  bool is_composed = false;

  // How a compiler sees it (expr/lowering.hpp). An operation with none of these rules is a routine: it is
  // called with whole arrays.
  using Expr = expr::Expr;
  /// Elementwise: the result from one element of each operand. Halves come as f32 …
  Expr (*scalar)(std::span<const Expr>, const Params&) = nullptr;
  /// … but for operations that only move or reinterpret bits.
  bool keeps_halves = false;
  /// The same for several results.
  std::vector<Expr> (*scalars)(std::span<const Expr>, const Params&) = nullptr;
  /// The element of the result at an index, or of a reduction the term.
  Expr (*element)(const expr::Operands&, std::span<const Expr> index, const Params&) = nullptr;
  expr::Reduction (*reduction)(std::span<const AbstractValue>, const Params&) = nullptr;
  /// Of an operation that changes a window of its first operand, which a compiler may do in place: where the element
  /// at an index of the window goes, and what is there then. nullopt: not for these parameters.
  std::optional<expr::WindowElement> (*window)(const Primitive&, const expr::Operands&, std::span<const Expr> index,
                                               const Params&) = nullptr;
  std::size_t window_operand = 0;  ///< the one that has the window's shape

  Rewrites rewrites = {};
  /// How it is an operation on rows (core/rows.hpp). Elementwise operations need no rule.
  std::optional<rows::OnRows> (*on_rows)(const rows::Question&) = nullptr;
  /// By which operation it puts two elements together, as cumsum does by add; nullptr: it does not.
  const Primitive* combine = nullptr;

  /// What it is on complex operands, or with a complex result, in operations on their parts. nullptr: it takes none.
  PartsList (*on_parts)(const Primitive&, std::span<const ComplexParts>, const Params&) = nullptr;
};

/// `p` with a scalar rule: what the factories of elementwise primitives end with.
inline Primitive lowered(Primitive p, decltype(Primitive::scalar) scalar, bool keeps_halves = false) {
  p.scalar = scalar;
  p.keeps_halves = keeps_halves;
  return p;
}
inline Primitive lowered(Primitive p, decltype(Primitive::scalar) scalar, Rewrites rewrites) {
  p.scalar = scalar;
  p.rewrites = rewrites;
  return p;
}

/// `p` with a rule for complex operands.
inline Primitive complex_by(Primitive p, decltype(Primitive::on_parts) rule) {
  p.on_parts = rule;
  return p;
}

/// bind(p, args, params): applies `p` under the current trace. An object and not a function, so that
/// std::bind is never found beside it.
struct Bind {
  Arrays operator()(const Primitive& p, std::span<const Array> args, const Params& params = {}) const;
  Arrays operator()(const Primitive& p, std::initializer_list<Array> args, const Params& params = {}) const {
    return (*this)(p, std::span<const Array>(args.begin(), args.size()), params);
  }
};
inline constexpr Bind bind{};
/// bind for operations with one result.
inline Array bind1(const Primitive& p, std::initializer_list<Array> args, const Params& params = {}) {
  return bind(p, args, params)[0];
}
inline Array bind1(const Primitive& p, std::span<const Array> args, const Params& params = {}) {
  return bind(p, args, params)[0];
}

}  // namespace cotan
