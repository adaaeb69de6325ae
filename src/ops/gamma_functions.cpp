// The logarithm of the gamma function and its derivatives.
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"
#include "ops/promote.hpp"
#include "ops/scalar_math.hpp"

namespace cotan::ops {

const Primitive lgamma_p =
    lowered(unary<[](auto v) { return scalar_math::lgamma(v); }>(
                "lgamma", [](const Partial& p) { return p.t * bind1(digamma_p, {p.x[0]}); }),
            [](std::span<const expr::Expr> x, const Params&) { return expr::math::lgamma(x[0]); });
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
const Listed gamma_functions_listed{&lgamma_p, &digamma_p, &polygamma_p};

}  // namespace cotan::ops

namespace cotan::lax {

Array lgamma(const ArrayLike& a) { return numpy::on_float(ops::lgamma_p, a); }
Array digamma(const ArrayLike& a) { return numpy::on_float(ops::digamma_p, a); }
Array polygamma(int n, const ArrayLike& a) {
  if (n < 0) raise<ValueError>("[polygamma] the order {} is negative; it counts derivatives of digamma.", n);
  return n == 0 ? digamma(a) : numpy::on_float(ops::polygamma_p, a, {{"n", std::int64_t{n}}});
}

}  // namespace cotan::lax
