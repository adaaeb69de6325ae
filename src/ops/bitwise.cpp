// Bit operations on integers, logical ones on bool.
#include <bit>

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

}  // namespace

const Primitive and_p = binary<on_bits<[](auto a, auto b) { return a & b; }>, Accepts::bits>("and", {});
const Primitive or_p = binary<on_bits<[](auto a, auto b) { return a | b; }>, Accepts::bits>("or", {});
const Primitive xor_p = binary<on_bits<[](auto a, auto b) { return a ^ b; }>, Accepts::bits>("xor", {});
const Primitive not_p = unary<on_bits<[](auto a) {
                                if constexpr (std::is_same_v<decltype(a), bool>)
                                  return !a;
                                else
                                  return ~a;
                              }>,
                              Accepts::bits>("not", nullptr);
const Primitive shift_left_p =
    binary<on_bits<[](auto a, auto b) {
             using T = decltype(a);
             return too_far(b) ? T(0)
                               : static_cast<T>(static_cast<std::uint64_t>(static_cast<Bits<T>>(a)) << b);
           }>,
           Accepts::integer>("shift_left", {});
const Primitive shift_right_logical_p =
    binary<on_bits<[](auto a, auto b) {
             using T = decltype(a);
             return too_far(b) ? T(0) : static_cast<T>(static_cast<Bits<T>>(a) >> b);
           }>,
           Accepts::integer>("shift_right_logical", {});
// The top bit is shifted in, of unsigned types too.
const Primitive shift_right_arithmetic_p =
    binary<on_bits<[](auto a, auto b) {
             using T = decltype(a);
             using Signed = std::make_signed_t<Bits<T>>;
             return static_cast<T>(static_cast<Signed>(a) >>
                                   (too_far(b) ? width<T> - 1 : static_cast<unsigned>(b)));
           }>,
           Accepts::integer>("shift_right_arithmetic", {});
const Primitive population_count_p =
    unary<on_bits<[](auto a) { return std::popcount(static_cast<Bits<decltype(a)>>(a)); }>, Accepts::integer>(
        "population_count", nullptr);
const Primitive clz_p =
    unary<on_bits<[](auto a) { return std::countl_zero(static_cast<Bits<decltype(a)>>(a)); }>,
          Accepts::integer>("clz", nullptr);

}  // namespace cotan::ops
