// Functions of two tensors or numbers.
#include <fmt/format.h>

#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/scipy/special.hpp>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

/// Whole numbers of integers as such: `alpha` of a sum.
Tensor times(const Operand& b, double alpha, DType t) {
  if (!is_floating(t) && std::floor(alpha) != alpha)
    throw_with_line<TypeError>(
        fmt::format("[add] alpha = {} is no whole number, and the result is {}; cast an operand.", alpha, name(t)));
  return is_inexact(t) ? mul(b, alpha) : mul(b, static_cast<std::int64_t>(alpha));
}

template <class F>
Tensor sum_with(const Operand& a, const Operand& b, double alpha, const F& f) {
  const DType t = result_type(a, b);
  if (alpha == 1) return f(a, b, t);
  if (b.is_number()) return f(a, Operand(b.number().real * alpha, std::source_location{}), t);
  return f(a, Operand(times(b, alpha, t), std::source_location{}), t);
}

DType as_it_is(DType t) { return t; }

Array floor_quotient(const Array& x, const Array& y) { return lax::stop_gradient(numpy::floor_divide(x, y)); }
Array truncated_quotient(const Array& x, const Array& y) {
  return is_floating(x.dtype()) ? lax::stop_gradient(numpy::trunc(x / y)) : lax::div(x, y);
}
using TwoArrays = Array (*)(const Array&, const Array&);
/// One of x and y, by element. The gradient goes to x where x_counts, to y where y_counts, and half to each where they
/// are equal.
Array chosen(const Array& x, const Array& y, TwoArrays value, TwoArrays x_counts, TwoArrays y_counts) {
  if (!is_inexact(x.dtype())) return value(x, y);
  const auto rule = [=](std::span<const Array> in) {
    const Array &a = in[0], &b = in[1];
    const Array by_x = numpy::where(x_counts(a, b), in[2], 0.0), by_y = numpy::where(y_counts(a, b), in[3], 0.0);
    return Arrays{value(a, b), numpy::where(a == b, (in[2] + in[3]) * 0.5, by_x + by_y)};
  };
  const Array args[] = {x, y};
  return flat::custom_jvp([=](std::span<const Array> in) { return Arrays{value(in[0], in[1])}; }, rule, args,
                          "chosen")[0];
}
/// NaN where one is: then both count.
template <bool larger>
Array extremum(const Array& x, const Array& y) {
  const auto counts = [](const Array& a, const Array& b) { return numpy::logical_not(larger ? a < b : a > b); };
  return chosen(
      x, y, [](const Array& a, const Array& b) { return larger ? numpy::maximum(a, b) : numpy::minimum(a, b); }, counts,
      [](const Array& a, const Array& b) { return numpy::logical_not(larger ? b < a : b > a); });
}
/// NaN only where both are.
template <bool larger>
Array number_first(const Array& x, const Array& y) {
  const auto takes_x = [](const Array& a, const Array& b) { return (larger ? a >= b : a <= b) | numpy::isnan(b); };
  return chosen(
      x, y, [](const Array& a, const Array& b) { return larger ? numpy::fmax(a, b) : numpy::fmin(a, b); }, takes_x,
      [](const Array& a, const Array& b) { return numpy::logical_not((larger ? a >= b : a <= b) | numpy::isnan(b)); });
}

}  // namespace

#define COTAN_BINARY(name, keeps, type, expression)                                                               \
  Tensor name(const Operand& a, const Operand& b) {                                                               \
    static const Binary<[](const Array& x, const Array& y) { return (expression); }> op(#name,                    \
                                                                                        {.saves = Saves::keeps}); \
    return op(a, b, type(result_type(a, b)));                                                                     \
  }
#define COTAN_ALIAS(name, of) \
  Tensor name(const Operand& a, const Operand& b) { return of(a, b); }

COTAN_BINARY(mul, others, as_it_is, x* y)
COTAN_BINARY(atan2, operands, floating_type, numpy::arctan2(x, y))
COTAN_BINARY(copysign, operands, floating_type, numpy::copysign(x, y))
COTAN_BINARY(floor_divide, none, as_it_is, floor_quotient(x, y))
COTAN_BINARY(fmax, operands, as_it_is, number_first<true>(x, y))
COTAN_BINARY(fmin, operands, as_it_is, number_first<false>(x, y))
COTAN_BINARY(fmod, second, as_it_is, x - truncated_quotient(x, y) * y)
COTAN_BINARY(gcd, none, as_it_is, numpy::gcd(x, y))
COTAN_BINARY(hypot, operands, floating_type, numpy::hypot(x, y))
COTAN_BINARY(lcm, none, as_it_is, numpy::lcm(x, y))
COTAN_BINARY(logaddexp, operands, floating_type, numpy::logaddexp(x, y))
COTAN_BINARY(logaddexp2, operands, floating_type, numpy::logaddexp2(x, y))
COTAN_BINARY(maximum, operands, as_it_is, extremum<true>(x, y))
COTAN_BINARY(minimum, operands, as_it_is, extremum<false>(x, y))
COTAN_BINARY(nextafter, none, floating_type, numpy::nextafter(x, y))
COTAN_BINARY(remainder, second, as_it_is, numpy::remainder(x, y))
COTAN_BINARY(xlogy, operands, floating_type, scipy::special::xlogy(x, y))
COTAN_ALIAS(arctan2, atan2)
COTAN_ALIAS(multiply, mul)
COTAN_ALIAS(true_divide, div)
COTAN_ALIAS(divide, div)
COTAN_ALIAS(operator+, add)
COTAN_ALIAS(operator-, sub)
COTAN_ALIAS(operator*, mul)
COTAN_ALIAS(operator/, div)
COTAN_ALIAS(operator%, remainder)

#undef COTAN_BINARY
#undef COTAN_ALIAS

Tensor add(const Operand& a, const Operand& b, double alpha) {
  static const Binary<[](const Array& x, const Array& y) { return x + y; }> op("add", {});
  return sum_with(a, b, alpha, op);
}
Tensor sub(const Operand& a, const Operand& b, double alpha) {
  static const Binary<[](const Array& x, const Array& y) { return x - y; }> op("sub", {});
  return sum_with(a, b, alpha, op);
}
Tensor subtract(const Operand& a, const Operand& b, double alpha) { return sub(a, b, alpha); }

Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode) {
  static const Binary<[](const Array& x, const Array& y) { return x / y; }> exact("div", {.saves = Saves::quotient});
  static const Binary<truncated_quotient> truncated("div", {});
  static const Binary<floor_quotient> floored("div", {});
  const DType t = result_type(a, b);
  if (rounding_mode.empty()) return exact(a, b, floating_type(t));
  if (rounding_mode == "trunc") return truncated(a, b, t);
  if (rounding_mode == "floor") return floored(a, b, t);
  throw_with_line<ValueError>(
      fmt::format("[div] rounding_mode is '{}'; it may be '', 'trunc' or 'floor'.", rounding_mode));
}

Tensor pow(const Operand& a, const Operand& b) {
  static const auto whole = define("pow", {.saves = Saves::first}, [](const Array& x, int n, DType t) {
    return n == 0 ? numpy::ones(x.shape(), t) : lax::integer_pow(x.astype(t), n);
  });
  static const Binary<[](const Array& x, const Array& y) { return numpy::power(x, y); }> op("pow",
                                                                                            {.saves = Saves::operands});
  const DType t = result_type(a, b);
  if (b.is_number() && !a.is_number()) {
    const double n = b.number().real;
    if (n < 0 && !is_inexact(t))
      throw_with_line<ValueError>(
          fmt::format("[pow] integers to the negative power {} are no integers; cast the tensor to floats.", n));
    // Small whole powers are products, which are exact and cheap; others are arguments of the program.
    if (std::floor(n) == n && std::abs(n) <= 8) return whole(a.tensor(), static_cast<int>(n), t);
  }
  return op(a, b, t);
}

}  // namespace cotan::torch
