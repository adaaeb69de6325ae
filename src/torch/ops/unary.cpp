// Elementary functions of one tensor.
#include <fmt/format.h>

#include <cotan/lax.hpp>
#include <cotan/nn.hpp>
#include <limits>
#include <numbers>

#include "torch/ops/families.hpp"

namespace cotan::torch {

using namespace detail;

namespace {

Array as_floats(const Array& a) { return a.astype(floating_type(a.dtype())); }

/// f(x) with the derivative 0, as of functions with steps.
template <class F>
Array flat_steps(const Array& x, F f) {
  return is_floating(x.dtype()) ? lax::stop_gradient(f(x)) : f(x);
}

}  // namespace

// Functions with values in between, of floats x, and functions in x's own dtype.
#define COTAN_FLOATING_CAST(name, keeps, casts, expression)                                    \
  Tensor name(const Input& input) {                                                            \
    static const auto op = define(#name, {.saves = Saves::keeps, .cast = casts}, [](Array a) { \
      const Array x = as_floats(a);                                                            \
      return expression;                                                                       \
    });                                                                                        \
    return op(*input);                                                                         \
  }
#define COTAN_FLOATING(name, keeps, expression) COTAN_FLOATING_CAST(name, keeps, Cast::none, expression)
/// Which autocast computes in f32.
#define COTAN_EXACT(name, keeps, expression) COTAN_FLOATING_CAST(name, keeps, Cast::f32, expression)
#define COTAN_SAME_DTYPE(name, keeps, expression)                                                      \
  Tensor name(const Input& input) {                                                                    \
    static const auto op = define(#name, {.saves = Saves::keeps}, [](Array x) { return expression; }); \
    return op(*input);                                                                                 \
  }
#define COTAN_QUESTION(name, expression)                                                                 \
  Tensor name(const Input& input) {                                                                      \
    static const auto op = define(#name, {.differentiable = false}, [](Array x) { return expression; }); \
    return op(*input);                                                                                   \
  }
#define COTAN_ALIAS(name, of) \
  Tensor name(const Input& input) { return of(input); }

COTAN_EXACT(acos, operands, numpy::arccos(x))
COTAN_FLOATING(acosh, operands, numpy::arccosh(x))
COTAN_EXACT(asin, operands, numpy::arcsin(x))
COTAN_FLOATING(asinh, operands, numpy::arcsinh(x))
COTAN_FLOATING(atan, operands, numpy::arctan(x))
COTAN_FLOATING(atanh, operands, numpy::arctanh(x))
COTAN_FLOATING(cos, operands, numpy::cos(x))
COTAN_EXACT(cosh, operands, numpy::cosh(x))
COTAN_FLOATING(deg2rad, none, x*(std::numbers::pi / 180))
COTAN_FLOATING(digamma, operands, lax::digamma(x))
COTAN_FLOATING(erf, operands, lax::erf(x))
COTAN_FLOATING(erfc, operands, lax::erfc(x))
COTAN_EXACT(erfinv, result, lax::erf_inv(x))
COTAN_EXACT(exp, result, numpy::exp(x))
COTAN_FLOATING(exp2, result, numpy::exp2(x))
COTAN_EXACT(expm1, result, numpy::expm1(x))
COTAN_FLOATING(i0, operands, numpy::i0(x))
COTAN_FLOATING(lgamma, operands, lax::lgamma(x))
COTAN_EXACT(log, operands, numpy::log(x))
COTAN_EXACT(log10, operands, numpy::log10(x))
COTAN_EXACT(log1p, operands, numpy::log1p(x))
COTAN_EXACT(log2, operands, numpy::log2(x))
COTAN_FLOATING(rad2deg, none, x * (180 / std::numbers::pi))
COTAN_EXACT(reciprocal, result, numpy::reciprocal(x))
COTAN_EXACT(rsqrt, result, lax::rsqrt(x))
COTAN_FLOATING(sigmoid, result, lax::logistic(x))
COTAN_FLOATING(sin, operands, numpy::sin(x))
COTAN_FLOATING(sinc, operands, numpy::sinc(x))
COTAN_EXACT(sinh, operands, numpy::sinh(x))
COTAN_FLOATING(sqrt, result, numpy::sqrt(x))
COTAN_EXACT(tan, result, numpy::tan(x))
COTAN_FLOATING(tanh, result, numpy::tanh(x))

COTAN_SAME_DTYPE(abs, operands, numpy::abs(x))
COTAN_SAME_DTYPE(bitwise_not, none, numpy::bitwise_not(x))
COTAN_SAME_DTYPE(ceil, none, flat_steps(x, [](const Array& a) { return numpy::ceil(a); }))
COTAN_SAME_DTYPE(floor, none, flat_steps(x, [](const Array& a) { return numpy::floor(a); }))
COTAN_SAME_DTYPE(frac, none, x - flat_steps(x, [](const Array& a) { return numpy::trunc(a); }))
COTAN_SAME_DTYPE(neg, none, -x)
COTAN_SAME_DTYPE(positive, none, x)
COTAN_SAME_DTYPE(relu, result, nn::relu(x))
COTAN_SAME_DTYPE(sign, none, flat_steps(x, [](const Array& a) { return numpy::sign(a); }))
COTAN_SAME_DTYPE(square, operands, x* x)
COTAN_SAME_DTYPE(trunc, none, flat_steps(x, [](const Array& a) { return numpy::trunc(a); }))

COTAN_QUESTION(isfinite, numpy::isfinite(x))
COTAN_QUESTION(isinf, numpy::isinf(x))
COTAN_QUESTION(isnan, numpy::isnan(x))
COTAN_QUESTION(isneginf, numpy::isneginf(x))
COTAN_QUESTION(isposinf, numpy::isposinf(x))
COTAN_QUESTION(logical_not, numpy::logical_not(x))
COTAN_QUESTION(signbit, is_floating(x.dtype()) ? numpy::signbit(x) : x < 0)

COTAN_ALIAS(absolute, abs)
COTAN_ALIAS(arccos, acos)
COTAN_ALIAS(arccosh, acosh)
COTAN_ALIAS(arcsin, asin)
COTAN_ALIAS(arcsinh, asinh)
COTAN_ALIAS(arctan, atan)
COTAN_ALIAS(arctanh, atanh)
COTAN_ALIAS(fix, trunc)
COTAN_ALIAS(negative, neg)
COTAN_ALIAS(sgn, sign)
COTAN_ALIAS(operator-, neg)
COTAN_ALIAS(operator~, bitwise_not)

#undef COTAN_FLOATING_CAST
#undef COTAN_FLOATING
#undef COTAN_EXACT
#undef COTAN_SAME_DTYPE
#undef COTAN_QUESTION
#undef COTAN_ALIAS

Tensor round(const Input& x, int decimals) {
  static const auto op = define("round", {}, [](const Array& a, int digits) {
    return flat_steps(a, [&](const Array& v) { return numpy::round(v, digits); });
  });
  return op(*x, decimals);
}

Tensor logit(const Input& x, std::optional<double> eps) {
  static const auto op = define("logit", {.saves = Saves::operands}, [](const Array& a, std::optional<double> edge) {
    Array p = as_floats(a);
    // The gradient of what is outside of the edges is 0, that at the edges is not.
    if (edge) {
      const Array low = numpy::full({}, *edge, p.dtype()), high = numpy::full({}, 1 - *edge, p.dtype());
      p = numpy::where(p < low, low, numpy::where(p > high, high, p));
    }
    return numpy::log(p / (1 - p));
  });
  return op(*x, eps);
}

Tensor polygamma(int n, const Input& x) {
  static const auto op = define("polygamma", {.saves = Saves::operands}, [](int order, const Array& a) {
    return order == 0 ? lax::digamma(as_floats(a)) : lax::polygamma(order, as_floats(a));
  });
  return op(n, *x);
}

Tensor nan_to_num(const Input& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  using Maybe = std::optional<double>;
  static const auto op =
      define("nan_to_num", {.saves = Saves::operands}, [](const Array& a, double n, Maybe p, Maybe m) {
        if (!is_floating(a.dtype())) return a;
        const double most = numpy::finfo(a.dtype()).max;
        const auto number = [&](double value) { return numpy::full(a.shape(), value, a.dtype()); };
        const Array finite = numpy::where(numpy::isposinf(a), number(p.value_or(most)),
                                          numpy::where(numpy::isneginf(a), number(m.value_or(-most)), a));
        return numpy::where(numpy::isnan(a), number(n), finite);
      });
  return op(*x, nan, posinf, neginf);
}

}  // namespace cotan::torch
