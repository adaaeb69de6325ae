// The error function, its complement and its inverse.
#include <cmath>
#include <cotan/lax.hpp>
#include <cotan/numpy.hpp>
#include <numbers>

#include "expr/math.hpp"
#include "ops/elementwise.hpp"
#include "ops/promote.hpp"
#include "ops/scalar_math.hpp"

namespace cotan::ops {

namespace np = numpy;
using std::numbers::inv_sqrtpi;
using Xs = std::span<const expr::Expr>;

const Primitive erf_p =
    lowered(unary<[](auto v) { return static_cast<decltype(v)>(std::erf(scalar_math::Wider<decltype(v)>(v))); }>(
                "erf", [](const Partial& p) { return p.t * (2.0 * inv_sqrtpi * np::exp(-np::square(p.x[0]))); }),
            [](Xs x, const Params&) { return expr::math::erf(x[0]); });
const Primitive erfc_p =
    lowered(unary<[](auto v) { return static_cast<decltype(v)>(std::erfc(scalar_math::Wider<decltype(v)>(v))); }>(
                "erfc", [](const Partial& p) { return p.t * (-2.0 * inv_sqrtpi * np::exp(-np::square(p.x[0]))); }),
            [](Xs x, const Params&) { return expr::math::erfc(x[0]); });
const Primitive erf_inv_p =
    lowered(unary<[](auto v) { return scalar_math::erf_inv(v); }>(
                "erf_inv", [](const Partial& p) { return p.t * (0.5 / inv_sqrtpi * np::exp(np::square(p.y))); }),
            [](Xs x, const Params&) { return expr::math::erf_inv(x[0]); });
const Listed error_functions_listed{&erf_p, &erfc_p, &erf_inv_p};

}  // namespace cotan::ops

namespace cotan::lax {

Array erf(const ArrayLike& a) { return numpy::on_float(ops::erf_p, a); }
Array erfc(const ArrayLike& a) { return numpy::on_float(ops::erfc_p, a); }
Array erf_inv(const ArrayLike& a) { return numpy::on_float(ops::erf_inv_p, a); }

}  // namespace cotan::lax
