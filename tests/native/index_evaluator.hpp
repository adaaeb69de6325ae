// Evaluates integer expressions node by node, by the letter of expr.hpp.
#pragma once
#include <iosfwd>

#include "expr/expr.hpp"

namespace cotan::expr {
void PrintTo(const Expr& e, std::ostream* out);  ///< how gtest shows one
}  // namespace cotan::expr

namespace expr_test {

using cotan::expr::Expr;

/// Values of variables, by node.
using Environment = std::unordered_map<const cotan::expr::Node*, std::int64_t>;

/// Rounded down.
std::int64_t floored(std::int64_t a, std::int64_t b);
/// a + b * c modulo 2^64.
std::int64_t wrapped(std::int64_t a, std::int64_t b, std::int64_t c);

/// Fails the test where a node's value is not in the range that the node names.
class Evaluator {
 public:
  explicit Evaluator(const Environment& variables) : values_(variables) {}
  std::int64_t operator()(Expr e);

 private:
  Environment values_;
};

}  // namespace expr_test
