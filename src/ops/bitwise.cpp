// Bit operations on integers, logical ones on bool.
#include <bit>

#include "expr/expr.hpp"
#include "ops/elementwise.hpp"

namespace cotan::ops {

namespace {

// The lambdas are instantiated for every dtype; the type rule lets only integers and bool through.
template <auto f>
inline constexpr auto on_bits = [](auto first, auto... more) {
  using T = decltype(first);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(f(first, more...));
  else
    return first;
};
template <class T>
using Bits = std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>;
template <class T>
constexpr unsigned width = 8 * sizeof(T);

// Shifts by the width or more give what shifting one by one would; negative counts are huge unsigned ones.
template <class T>
bool too_far(T count) {
  return static_cast<std::uint64_t>(static_cast<Bits<T>>(count)) >= width<T>;
}

// The same as expressions.
using expr::Expr;
using Xs = std::span<const Expr>;

/// shift(a, b) for counts below the width, else `far`.
template <Expr (*shift)(Expr, Expr)>
Expr shifted_unless_far(Expr a, Expr b, Expr far) {
  const Expr bits = like(b, static_cast<double>(8 * itemsize(b->dtype)));
  const Expr near = is_signed_integer(b->dtype) ? ge(b, like(b, 0)) & lt(b, bits) : lt(b, bits);
  return select(near, shift(a, select(near, b, like(b, 0))), far);
}
template <Expr (*shift)(Expr, Expr)>
Expr logical_shift(Xs x, const Params&) {
  return shifted_unless_far<shift>(x[0], x[1], like(x[0], 0));
}
Expr arithmetic_shift(Xs x, const Params&) {
  const int top = static_cast<int>(8 * itemsize(x[0]->dtype)) - 1;
  return shifted_unless_far<expr::shift_right_sign>(x[0], x[1], shift_right_sign(x[0], top));
}

}  // namespace

const Primitive and_p = lowered(
    binary<on_bits<[](auto a, auto b) { return a & b; }>, Accepts::bits>("and", {}),
    [](Xs x, const Params&) { return x[0] & x[1]; }, Rewrites{.same_as = same_as_equal});
const Primitive or_p = lowered(
    binary<on_bits<[](auto a, auto b) { return a | b; }>, Accepts::bits>("or", {}),
    [](Xs x, const Params&) { return x[0] | x[1]; }, Rewrites{.same_as = same_as_equal});
const Primitive xor_p = lowered(binary<on_bits<[](auto a, auto b) { return a ^ b; }>, Accepts::bits>("xor", {}),
                                [](Xs x, const Params&) { return x[0] ^ x[1]; });
const Primitive not_p = lowered(
    unary<on_bits<[](auto a) {
            if constexpr (std::is_same_v<decltype(a), bool>)
              return !a;
            else
              return ~a;
          }>,
          Accepts::bits>("not", nullptr),
    [](Xs x, const Params&) { return ~x[0]; }, Rewrites{.undoes_itself = true});
const Primitive shift_left_p = lowered(
    binary<on_bits<[](auto a, auto b) {
             using T = decltype(a);
             return too_far(b) ? T(0) : static_cast<T>(static_cast<std::uint64_t>(static_cast<Bits<T>>(a)) << b);
           }>,
           Accepts::integer>("shift_left", {}),
    logical_shift<expr::shift_left>);
const Primitive shift_right_logical_p =
    lowered(binary<on_bits<[](auto a, auto b) {
                     using T = decltype(a);
                     return too_far(b) ? T(0) : static_cast<T>(static_cast<Bits<T>>(a) >> b);
                   }>,
                   Accepts::integer>("shift_right_logical", {}),
            logical_shift<expr::shift_right>);
// The top bit is shifted in, of unsigned types too.
const Primitive shift_right_arithmetic_p = lowered(
    binary<on_bits<[](auto a, auto b) {
             using T = decltype(a);
             using Signed = std::make_signed_t<Bits<T>>;
             return static_cast<T>(static_cast<Signed>(a) >> (too_far(b) ? width<T> - 1 : static_cast<unsigned>(b)));
           }>,
           Accepts::integer>("shift_right_arithmetic", {}),
    arithmetic_shift);
const Primitive population_count_p =
    lowered(unary<on_bits<[](auto a) { return std::popcount(static_cast<Bits<decltype(a)>>(a)); }>, Accepts::integer>(
                "population_count", nullptr),
            [](Xs x, const Params&) { return population_count(x[0]); });
const Primitive clz_p = lowered(
    unary<on_bits<[](auto a) { return std::countl_zero(static_cast<Bits<decltype(a)>>(a)); }>, Accepts::integer>(
        "clz", nullptr),
    [](Xs x, const Params&) { return leading_zeros(x[0]); });
const Listed bitwise_listed{&and_p,
                            &or_p,
                            &xor_p,
                            &not_p,
                            &shift_left_p,
                            &shift_right_logical_p,
                            &shift_right_arithmetic_p,
                            &population_count_p,
                            &clz_p};

}  // namespace cotan::ops
