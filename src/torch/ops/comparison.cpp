// Comparisons, and operations on bits and truth values.
#include <fmt/format.h>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

DType integral_type(const Operand& a, const Operand& b, std::string_view op) {
  const DType t = result_type(a, b);
  if (is_inexact(t)) throw_with_line<TypeError>(fmt::format("[{}] is for integers and bools, not {}.", op, name(t)));
  return t;
}

}  // namespace

#define COTAN_COMPARISON(name, expression)                                                                          \
  Tensor name(const Operand& a, const Operand& b) {                                                                 \
    static const Binary<[](const Array& x, const Array& y) { return (expression); }> op(#name,                      \
                                                                                        {.differentiable = false}); \
    return op(a, b, result_type(a, b));                                                                             \
  }
#define COTAN_BITS(name, expression)                                                                                \
  Tensor name(const Operand& a, const Operand& b) {                                                                 \
    static const Binary<[](const Array& x, const Array& y) { return (expression); }> op(#name,                      \
                                                                                        {.differentiable = false}); \
    return op(a, b, integral_type(a, b, #name));                                                                    \
  }
#define COTAN_ALIAS(name, of) \
  Tensor name(const Operand& a, const Operand& b) { return of(a, b); }

COTAN_COMPARISON(eq, x == y)
COTAN_COMPARISON(ne, x != y)
COTAN_COMPARISON(lt, x < y)
COTAN_COMPARISON(le, x <= y)
COTAN_COMPARISON(gt, x > y)
COTAN_COMPARISON(ge, x >= y)
COTAN_COMPARISON(logical_and, numpy::logical_and(x, y))
COTAN_COMPARISON(logical_or, numpy::logical_or(x, y))
COTAN_COMPARISON(logical_xor, numpy::logical_xor(x, y))
COTAN_BITS(bitwise_and, x& y)
COTAN_BITS(bitwise_or, x | y)
COTAN_BITS(bitwise_xor, x ^ y)
COTAN_BITS(bitwise_left_shift, x << y)
COTAN_BITS(bitwise_right_shift, x >> y)
COTAN_ALIAS(not_equal, ne)
COTAN_ALIAS(less, lt)
COTAN_ALIAS(less_equal, le)
COTAN_ALIAS(greater, gt)
COTAN_ALIAS(greater_equal, ge)
COTAN_ALIAS(operator==, eq)
COTAN_ALIAS(operator!=, ne)
COTAN_ALIAS(operator<, lt)
COTAN_ALIAS(operator<=, le)
COTAN_ALIAS(operator>, gt)
COTAN_ALIAS(operator>=, ge)
COTAN_ALIAS(operator&, bitwise_and)
COTAN_ALIAS(operator|, bitwise_or)
COTAN_ALIAS(operator^, bitwise_xor)
COTAN_ALIAS(operator<<, bitwise_left_shift)
COTAN_ALIAS(operator>>, bitwise_right_shift)

#undef COTAN_COMPARISON
#undef COTAN_BITS
#undef COTAN_ALIAS

Tensor isclose(const Input& a, const Input& b, double rtol, double atol, bool equal_nan) {
  static const auto op = define("isclose", {.differentiable = false},
                                [](const Array& x, const Array& y, double relative, double absolute, bool nan) {
                                  return numpy::isclose(x, y, relative, absolute, nan);
                                });
  return op(*a, *b, rtol, atol, equal_nan);
}

bool allclose(const Input& a, const Input& b, double rtol, double atol, bool equal_nan) {
  static const auto all = define("all", {.differentiable = false}, [](const Array& x) { return numpy::all(x); });
  return static_cast<bool>(all(isclose(a, b, rtol, atol, equal_nan)));
}

bool equal(const Input& a, const Input& b) {
  static const auto op =
      define("equal", {.differentiable = false}, [](const Array& x, const Array& y) { return numpy::all(x == y); });
  return a->sizes() == b->sizes() && static_cast<bool>(op(*a, *b));
}

}  // namespace cotan::torch
