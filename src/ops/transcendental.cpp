// Exponentials, logarithms, trigonometric and hyperbolic functions, error and gamma functions.
#include <cmath>
#include <cotan/numpy.hpp>
#include <numbers>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"
#include "ops/scalar_math.hpp"

namespace cotan::ops {

namespace np = numpy;
using std::numbers::inv_sqrtpi;
using std::numbers::ln10;
using std::numbers::ln2;

// Each row: the function and its derivative times the tangent p.t, in terms of the operand x and result y.
#define COTAN_UNARY(op, derivative)                                                         \
  const Primitive op##_p = lowered(                                                         \
      unary<[](auto v) { return scalar_math::op(v); }>(#op, [](const Partial& p) -> Array { \
        [[maybe_unused]] const Array &x = p.x[0], &y = p.y, &t = p.t;                       \
        return derivative;                                                                  \
      }),                                                                                   \
      [](std::span<const expr::Expr> x, const Params&) { return expr::math::op(x[0]); })

COTAN_UNARY(exp, t* y);
COTAN_UNARY(exp2, t*(y* ln2));
COTAN_UNARY(expm1, t*(y + 1.0));
COTAN_UNARY(log, t / x);
COTAN_UNARY(log2, t / (x * ln2));
COTAN_UNARY(log10, t / (x * ln10));
COTAN_UNARY(log1p, t / (x + 1.0));
COTAN_UNARY(sin, t* np::cos(x));
COTAN_UNARY(cos, -(t* np::sin(x)));
COTAN_UNARY(tan, t*(1.0 + np::square(y)));
COTAN_UNARY(asin, t* bind1(rsqrt_p, {1.0 - np::square(x)}));
COTAN_UNARY(acos, -(t* bind1(rsqrt_p, {1.0 - np::square(x)})));
COTAN_UNARY(atan, t / (1.0 + np::square(x)));
COTAN_UNARY(sinh, t* np::cosh(x));
COTAN_UNARY(cosh, t* np::sinh(x));
COTAN_UNARY(tanh, t*(1.0 - np::square(y)));
COTAN_UNARY(asinh, t* bind1(rsqrt_p, {np::square(x) + 1.0}));
COTAN_UNARY(acosh, t* bind1(rsqrt_p, {(x - 1.0) * (x + 1.0)}));
COTAN_UNARY(atanh, t / (1.0 - np::square(x)));
COTAN_UNARY(logistic, t*(y*(1.0 - y)));
COTAN_UNARY(erf, t*(2.0 * inv_sqrtpi * np::exp(-np::square(x))));
COTAN_UNARY(erfc, t*(-2.0 * inv_sqrtpi * np::exp(-np::square(x))));
COTAN_UNARY(erf_inv, t*(0.5 / inv_sqrtpi * np::exp(np::square(y))));
COTAN_UNARY(lgamma, t* bind1(digamma_p, {x}));

#undef COTAN_UNARY

const Primitive digamma_p = lowered(
    unary<[](auto v) { return scalar_math::digamma(v); }>("digamma", [](const Partial& p) {
      return p.t * bind1(polygamma_p, {p.x[0]}, {{"n", std::int64_t{1}}});
    }),
    [](std::span<const expr::Expr> x, const Params&) { return expr::math::digamma(x[0]); });

namespace {

Arrays polygamma_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, x[0].aval());
  dispatch_floating(x[0].dtype(), self.name, [&, &b = buffer, count = out.size()]<class T>() {
    const T* in = data<T>(x[0]);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < count; ++i)
      y[i] = convert<T>(scalar_math::polygamma(static_cast<double>(params.integer("n")),
                                               static_cast<double>(static_cast<Compute<T>>(in[i]))));
  });
  return {out};
}

}  // namespace

const Primitive polygamma_p{.name = "polygamma",
                            .op_class = OpClass::elementwise,
                            .type = elementwise_type<Accepts::floating>,
                            .eval = polygamma_eval,
                            .partials = {[](const Partial& p) {
                              return p.t * bind1(polygamma_p, {p.x[0]}, {{"n", p.params.integer("n") + 1}});
                            }},
                            .batch = elementwise_batch,
                            .scalar = [](std::span<const expr::Expr> x, const Params& params) {
                              return expr::math::polygamma(params.integer("n"), x[0]);
                            }};

}  // namespace cotan::ops
