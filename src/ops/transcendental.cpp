// Exponentials, logarithms, trigonometric and hyperbolic functions.
#include <cmath>
#include <complex>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <numbers>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"
#include "ops/promote.hpp"
#include "ops/scalar_math.hpp"

namespace cotan::ops {

namespace np = numpy;
using std::numbers::ln10;
using std::numbers::ln2;

namespace {

// 1 + x² and 1 - x². Of complex numbers in factors, since poles are next to what they may be: the square would cancel.
Array one_plus_square(const Array& x) {
  const std::complex<double> i(0, 1);
  return is_complex(x.dtype()) ? (x - i) * (x + i) : 1.0 + np::square(x);
}
Array one_minus_square(const Array& x) { return is_complex(x.dtype()) ? (1.0 - x) * (1.0 + x) : 1.0 - np::square(x); }

}  // namespace

// Each row: the function and its derivative times the tangent p.t, in terms of the operand x and result y.
#define COTAN_UNARY(op, derivative)                                                                                  \
  const Primitive op##_p = complex_by(                                                                               \
      lowered(unary<[](auto v) { return scalar_math::op(v); }>(#op,                                                  \
                                                               [](const Partial& p) -> Array {                       \
                                                                 [[maybe_unused]] const Array &x = p.x[0], &y = p.y, \
                                                                                              &t = p.t;              \
                                                                 return derivative;                                  \
                                                               }),                                                   \
              [](std::span<const expr::Expr> x, const Params&) { return expr::math::op(x[0]); }),                    \
      unary_on_parts<parts::op>);                                                                                    \
  const Listed op##_listed { &op##_p }

COTAN_UNARY(exp, t* y);
COTAN_UNARY(exp2, t*(y* ln2));
COTAN_UNARY(expm1, t*(y + 1.0));
COTAN_UNARY(log, t / x);
COTAN_UNARY(log2, t / (x * ln2));
COTAN_UNARY(log10, t / (x * ln10));
COTAN_UNARY(log1p, t / (x + 1.0));
COTAN_UNARY(sin, t* np::cos(x));
COTAN_UNARY(cos, -(t* np::sin(x)));
COTAN_UNARY(tan, t * (1.0 + np::square(y)));
COTAN_UNARY(asin, t* bind1(rsqrt_p, {1.0 - np::square(x)}));
COTAN_UNARY(acos, -(t* bind1(rsqrt_p, {1.0 - np::square(x)})));
COTAN_UNARY(atan, t / one_plus_square(x));
COTAN_UNARY(sinh, t* np::cosh(x));
COTAN_UNARY(cosh, t* np::sinh(x));
COTAN_UNARY(tanh, t * (1.0 - np::square(y)));
COTAN_UNARY(asinh, t* bind1(rsqrt_p, {np::square(x) + 1.0}));
COTAN_UNARY(acosh, t*(bind1(rsqrt_p, {x - 1.0}) * bind1(rsqrt_p, {x + 1.0})));
COTAN_UNARY(atanh, t / one_minus_square(x));
COTAN_UNARY(logistic, t*(y * (1.0 - y)));

#undef COTAN_UNARY

// log(e^a + e^b) and log2(2^a + 2^b) are smooth where a and b are equal, but max(a, b) and |a - b|, from which they are
// computed, are not: so the derivative is given for the whole. The distance of equal infinities is zero.
namespace {

template <bool base_two>
constexpr auto sum_of_powers = [](auto a, auto b) {
  using T = decltype(a);
  const T larger = a > b || std::isnan(a) ? a : b, distance = a == b ? T(0) : std::abs(a - b);
  if constexpr (base_two)
    return static_cast<T>(larger + scalar_math::log1p(scalar_math::exp2(-distance)) * T(std::numbers::log2e));
  else
    return static_cast<T>(larger + scalar_math::log1p(scalar_math::exp(-distance)));
};
template <bool base_two>
expr::Expr sum_of_powers_scalar(std::span<const expr::Expr> x, const Params&) {
  const expr::Expr distance = select(eq(x[0], x[1]), like(x[0], 0), abs(x[0] - x[1]));
  const expr::Expr power = base_two ? expr::math::exp2(-distance) : expr::math::exp(-distance);
  const expr::Expr log = expr::math::log1p(power);
  return max(x[0], x[1]) + (base_two ? log * expr::constant(x[0]->dtype, std::numbers::log2e) : log);
}
/// The share of one of them in the sum: 1 / (1 + e^(b - a)). It is a half for equal infinities, and for others the
/// limit.
template <bool base_two, bool first>
Array share(const Partial& p) {
  const Array &mine = p.x[first ? 0 : 1], &other = p.x[first ? 1 : 0];
  const Array distance = np::where((mine == other) & np::isinf(mine), 0.0, mine - other);
  return p.t * bind1(logistic_p, {base_two ? distance * ln2 : distance});
}

}  // namespace

const Primitive logaddexp_p = lowered(
    binary<sum_of_powers<false>>("logaddexp", {share<false, true>, share<false, false>}), sum_of_powers_scalar<false>);
const Primitive logaddexp2_p = lowered(
    binary<sum_of_powers<true>>("logaddexp2", {share<true, true>, share<true, false>}), sum_of_powers_scalar<true>);
const Listed transcendental_listed{&logaddexp_p, &logaddexp2_p};

}  // namespace cotan::ops

namespace cotan::numpy {

Array exp(const ArrayLike& a) { return on_float(ops::exp_p, a); }
Array exp2(const ArrayLike& a) { return on_float(ops::exp2_p, a); }
Array expm1(const ArrayLike& a) { return on_float(ops::expm1_p, a); }
Array log(const ArrayLike& a) { return on_float(ops::log_p, a); }
Array log2(const ArrayLike& a) { return on_float(ops::log2_p, a); }
Array log10(const ArrayLike& a) { return on_float(ops::log10_p, a); }
Array log1p(const ArrayLike& a) { return on_float(ops::log1p_p, a); }
Array sin(const ArrayLike& a) { return on_float(ops::sin_p, a); }
Array cos(const ArrayLike& a) { return on_float(ops::cos_p, a); }
Array tan(const ArrayLike& a) { return on_float(ops::tan_p, a); }
Array arcsin(const ArrayLike& a) { return on_float(ops::asin_p, a); }
Array arccos(const ArrayLike& a) { return on_float(ops::acos_p, a); }
Array arctan(const ArrayLike& a) { return on_float(ops::atan_p, a); }
Array sinh(const ArrayLike& a) { return on_float(ops::sinh_p, a); }
Array cosh(const ArrayLike& a) { return on_float(ops::cosh_p, a); }
Array tanh(const ArrayLike& a) { return on_float(ops::tanh_p, a); }
Array arcsinh(const ArrayLike& a) { return on_float(ops::asinh_p, a); }
Array arccosh(const ArrayLike& a) { return on_float(ops::acosh_p, a); }
Array arctanh(const ArrayLike& a) { return on_float(ops::atanh_p, a); }

}  // namespace cotan::numpy

namespace cotan::lax {

Array logistic(const ArrayLike& a) { return numpy::on_float(ops::logistic_p, a); }

}  // namespace cotan::lax
