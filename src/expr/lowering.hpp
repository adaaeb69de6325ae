// What primitives tell the compiler about themselves: elements of results as expressions of operand elements.
#pragma once
#include <cotan/array.hpp>

#include "expr/expr.hpp"

namespace cotan::expr {

/// The operands of an equation that is being lowered.
class Operands {
 public:
  virtual ~Operands() = default;
  /// The element of operand `k` at `index`; read only where the predicate, if any, holds.
  virtual Expr at(std::size_t k, std::span<const Expr> index, Expr predicate = {}) const = 0;
  virtual const AbstractValue& type(std::size_t k) const = 0;
  virtual std::size_t size() const = 0;
};

enum class ReduceOp : std::uint8_t { sum, product, max, min, bit_and, bit_or, bit_xor };
std::string_view name(ReduceOp op);

/// A result that combines terms: `shape` holds the axes of the result in order and, anywhere between them, the
/// reduced ones. The primitive's element rule gives the term at an index of that shape.
struct Reduction {
  ReduceOp op;
  Shape shape;
  std::vector<bool> reduced;
  /// Of max and min along one axis: the result is where the extremum is, the first of several.
  bool gives_position = false;
};

/// One element of a window that an operation writes into its first operand.
struct WindowElement {
  std::vector<Expr> index;
  Expr value;
};

}  // namespace cotan::expr
