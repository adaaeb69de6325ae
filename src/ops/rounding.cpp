// Rounding to integers; zero derivative.
#include <cmath>

#include "ops/elementwise.hpp"

namespace cotan::ops {

// Integers are whole already.
template <auto f>
inline constexpr auto on_floats = [](auto x) {
  if constexpr (std::is_floating_point_v<decltype(x)>)
    return f(x);
  else
    return x;
};

const Primitive floor_p =
    unary<on_floats<[](auto x) { return std::floor(x); }>, Accepts::numeric>("floor", nullptr);
const Primitive ceil_p =
    unary<on_floats<[](auto x) { return std::ceil(x); }>, Accepts::numeric>("ceil", nullptr);
const Primitive trunc_p =
    unary<on_floats<[](auto x) { return std::trunc(x); }>, Accepts::numeric>("trunc", nullptr);
/// Half to even, as NumPy rounds.
const Primitive round_p =
    unary<on_floats<[](auto x) { return std::nearbyint(x); }>, Accepts::numeric>("round", nullptr);

}  // namespace cotan::ops
