// Rounding to integers; zero derivative.
#include <cmath>
#include <cotan/numpy.hpp>

#include "expr/expr.hpp"
#include "ops/elementwise.hpp"
#include "ops/parts.hpp"
#include "ops/promote.hpp"

namespace cotan::ops {

// Integers are whole already.
template <auto f>
inline constexpr auto on_floats = [](auto x) {
  if constexpr (std::is_floating_point_v<decltype(x)>)
    return f(x);
  else
    return x;
};

template <expr::Expr (*f)(expr::Expr)>
expr::Expr floats_rounded(std::span<const expr::Expr> x, const Params&) {
  return is_floating(x[0]->dtype) ? f(x[0]) : x[0];
}

const Primitive floor_p =
    lowered(unary<on_floats<[](auto x) { return std::floor(x); }>, Accepts::numeric>("floor", nullptr),
            floats_rounded<expr::floor>);
const Primitive ceil_p =
    lowered(unary<on_floats<[](auto x) { return std::ceil(x); }>, Accepts::numeric>("ceil", nullptr),
            floats_rounded<expr::ceil>);
const Primitive trunc_p =
    lowered(unary<on_floats<[](auto x) { return std::trunc(x); }>, Accepts::numeric>("trunc", nullptr),
            floats_rounded<expr::trunc>);
/// Half to even, as NumPy rounds.
const Primitive round_p =
    complex_by(lowered(unary<on_floats<[](auto x) { return std::nearbyint(x); }>, Accepts::numeric>("round", nullptr),
                       floats_rounded<expr::round>),
               on_each_part);
const Listed rounding_listed{&floor_p, &ceil_p, &trunc_p, &round_p};

}  // namespace cotan::ops

namespace cotan::numpy {

Array rint(const ArrayLike& a) { return on_float(ops::round_p, a); }

}  // namespace cotan::numpy
