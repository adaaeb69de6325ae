// Exponentials, logarithms, trigonometric and hyperbolic functions, error and gamma functions.
#include <cmath>
#include <cotan/numpy.hpp>
#include <numbers>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"
#include "ops/scalar_math.hpp"
#include "ops/parts.hpp"

namespace cotan::ops {

namespace np = numpy;
using std::numbers::inv_sqrtpi;
using std::numbers::ln10;
using std::numbers::ln2;

// Each row: the function and its derivative times the tangent p.t, in terms of the operand x and result y. Those of
// COTAN_COMPLEX take complex numbers.
#define COTAN_COMPLEX(op, derivative) \
  const Primitive op##_p = complex_by(COTAN_FUNCTION(op, derivative), unary_on_parts<parts::op>)
#define COTAN_UNARY(op, derivative) const Primitive op##_p = COTAN_FUNCTION(op, derivative)
#define COTAN_FUNCTION(op, derivative) \
  lowered(                                                                                    \
      unary<[](auto v) { return scalar_math::op(v); }>(#op,                                                            \
                                                       [](const Partial& p) -> Array {                                 \
                                                         [[maybe_unused]] const Array &x = p.x[0], &y = p.y, &t = p.t; \
                                                         return derivative;                                            \
                                                       }),                                                             \
      [](std::span<const expr::Expr> x, const Params&) { return expr::math::op(x[0]); })

COTAN_COMPLEX(exp, t* y);
COTAN_COMPLEX(exp2, t*(y* ln2));
COTAN_COMPLEX(expm1, t*(y + 1.0));
COTAN_COMPLEX(log, t / x);
COTAN_COMPLEX(log2, t / (x * ln2));
COTAN_COMPLEX(log10, t / (x * ln10));
COTAN_COMPLEX(log1p, t / (x + 1.0));
COTAN_COMPLEX(sin, t* np::cos(x));
COTAN_COMPLEX(cos, -(t* np::sin(x)));
COTAN_COMPLEX(tan, t * (1.0 + np::square(y)));
COTAN_COMPLEX(asin, t* bind1(rsqrt_p, {1.0 - np::square(x)}));
COTAN_COMPLEX(acos, -(t* bind1(rsqrt_p, {1.0 - np::square(x)})));
COTAN_COMPLEX(atan, t / (1.0 + np::square(x)));
COTAN_COMPLEX(sinh, t* np::cosh(x));
COTAN_COMPLEX(cosh, t* np::sinh(x));
COTAN_COMPLEX(tanh, t * (1.0 - np::square(y)));
COTAN_COMPLEX(asinh, t* bind1(rsqrt_p, {np::square(x) + 1.0}));
COTAN_COMPLEX(acosh, t*(bind1(rsqrt_p, {x - 1.0}) * bind1(rsqrt_p, {x + 1.0})));
COTAN_COMPLEX(atanh, t / (1.0 - np::square(x)));
COTAN_COMPLEX(logistic, t*(y * (1.0 - y)));
COTAN_UNARY(erf, t * (2.0 * inv_sqrtpi * np::exp(-np::square(x))));
COTAN_UNARY(erfc, t * (-2.0 * inv_sqrtpi * np::exp(-np::square(x))));
COTAN_UNARY(erf_inv, t * (0.5 / inv_sqrtpi * np::exp(np::square(y))));
COTAN_UNARY(lgamma, t* bind1(digamma_p, {x}));

#undef COTAN_FUNCTION
#undef COTAN_UNARY
#undef COTAN_COMPLEX

// log(e^a + e^b) and log2(2^a + 2^b) are smooth where a and b are equal, though the larger one and the distance, which
// they are computed by, are not: derivatives are of the whole. Equal infinities are at distance zero.
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

const Primitive digamma_p = lowered(
    unary<[](auto v) { return scalar_math::digamma(v); }>(
        "digamma", [](const Partial& p) { return p.t * bind1(polygamma_p, {p.x[0]}, {{"n", std::int64_t{1}}}); }),
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
