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
COTAN_UNARY(acosh, t*(bind1(rsqrt_p, {x - 1.0}) * bind1(rsqrt_p, {x + 1.0})));
COTAN_UNARY(atanh, t / (1.0 - np::square(x)));
COTAN_UNARY(logistic, t*(y*(1.0 - y)));
COTAN_UNARY(erf, t*(2.0 * inv_sqrtpi * np::exp(-np::square(x))));
COTAN_UNARY(erfc, t*(-2.0 * inv_sqrtpi * np::exp(-np::square(x))));
COTAN_UNARY(erf_inv, t*(0.5 / inv_sqrtpi * np::exp(np::square(y))));
COTAN_UNARY(lgamma, t* bind1(digamma_p, {x}));

#undef COTAN_UNARY

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
/// The share of one of them in the sum: 1 / (1 + e^(b - a)). It is a half for equal infinities, and for others the limit.
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
    unary<[](auto v) { return scalar_math::digamma(v); }>("digamma", [](const Partial& p) {
      return p.t * bind1(polygamma_p, {p.x[0]}, {{"n", std::int64_t{1}}});
    }),
    [](std::span<const expr::Expr> x, const Params&) { return expr::math::digamma(x[0]); });

namespace {

/// The n-th derivative of digamma, n >= 1: shifted up to where the asymptotic series is exact to the last
/// bit.
long double polygamma(std::int64_t n, long double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0 ? 0.0L : std::numeric_limits<long double>::quiet_NaN();
  constexpr long double far_below = -1e5L;  // the recurrence would take too long, and lose too much
  if (x <= far_below) return std::numeric_limits<long double>::quiet_NaN();
  const long double sign = n % 2 ? 1.0L : -1.0L, order = static_cast<long double>(n);
  const long double factorial = std::tgamma(order + 1.0L);
  long double sum = 0;
  const long double threshold = 20.0L + order;
  for (; x < threshold; x += 1.0L) {
    if (x == 0.0L)
      return n % 2 ? std::numeric_limits<long double>::infinity()
                   : std::numeric_limits<long double>::quiet_NaN();
    sum += factorial / std::pow(x, order + 1.0L);
  }
  // (n-1)!/x^n + n!/(2 x^(n+1)) + sum of B_2k (2k+n-1)! / ((2k)! x^(2k+n))
  static constexpr long double bernoulli[] = {1.0L / 6,       -1.0L / 30,      1.0L / 42, -1.0L / 30,
                                              5.0L / 66,      -691.0L / 2730,  7.0L / 6,  -3617.0L / 510,
                                              43867.0L / 798, -174611.0L / 330};
  long double tail = factorial / order / std::pow(x, order) + factorial / (2.0L * std::pow(x, order + 1.0L));
  long double ratio = factorial;  // (2k+n-1)! / (2k)! / x^(2k+n), built up from k to k+1
  ratio = std::tgamma(order + 2.0L) / 2.0L / std::pow(x, order + 2.0L);
  for (int k = 1; k <= 10; ++k) {
    tail += bernoulli[k - 1] * ratio;
    const long double m = 2.0L * k;
    ratio *= (m + order) * (m + order + 1.0L) / ((m + 1.0L) * (m + 2.0L)) / (x * x);
  }
  return sign * (sum + tail);
}

Arrays polygamma_eval(const Primitive& self, std::span<const Array> x, const Params& params) {
  auto [out, buffer] = allocate_like(x, x[0].aval());
  dispatch_floating(x[0].dtype(), self.name, [&, &b = buffer, count = out.size()]<class T>() {
    const T* in = data<T>(x[0]);
    T* y = reinterpret_cast<T*>(b->data());
    for (std::int64_t i = 0; i < count; ++i)
      y[i] = convert<T>(static_cast<double>(polygamma(params.integer("n"), static_cast<Compute<T>>(in[i]))));
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
                            .batch = elementwise_batch};

}  // namespace cotan::ops
