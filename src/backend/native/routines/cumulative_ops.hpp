// What runs along a line: a state that takes in element after element. Where the states of two neighbouring
// parts of a line can be joined, long lines are cut into chunks.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace cotan::native {

/// Integers wrap, so they are computed unsigned; at least as wide as unsigned, since the product of two u16
/// would be a signed int. Other types are computed as they are.
template <class T>
struct WrappingType {
  using Type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct WrappingType<T> {
  using Type = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
};
template <class T>
using Wrapping = typename WrappingType<T>::Type;

/// Floats are summed in double, so that rounding errors do not pile up along a line.
template <class T>
struct RunningSum {
  using Element = T;
  using State = std::conditional_t<std::is_same_v<T, float>, double, Wrapping<T>>;
  static constexpr int inputs = 1;
  static constexpr int streams = 1;  ///< lines that run side by side, so that no result is waited for
  static constexpr bool joins = true;
  static State identity() { return 0; }
  static State first(T x) { return static_cast<State>(x) + identity(); }  // -0 becomes +0
  static State next(State s, T x) { return s + static_cast<State>(x); }
  static State join(State before, State after) { return before + after; }
  static T value(State s) { return static_cast<T>(s); }
};

template <class T>
struct RunningProduct {
  using Element = T;
  using State = Wrapping<T>;
  static constexpr int inputs = 1, streams = std::is_integral_v<T> ? 1 : 4;
  /// The product of a part can overflow where that of the whole line does not.
  static constexpr bool joins = std::is_integral_v<T>;
  static State identity() { return 1; }
  static State first(T x) { return static_cast<State>(x); }
  static State next(State s, T x) { return s * static_cast<State>(x); }
  static State join(State before, State after) { return before * after; }
  static T value(State s) { return static_cast<T>(s); }
};

/// NaN wins, and +0 is larger than -0, as in max and min. Floats are compared as integers that order as they
/// do: a comparison that no result of another kind waits for.
template <class T, bool larger>
struct RunningExtremum {
  using Element = T;
  using State = typename std::conditional_t<std::is_integral_v<T>, std::type_identity<T>,
                                            std::conditional<sizeof(T) == 4, std::int32_t, std::int64_t>>::type;
  static constexpr int inputs = 1, streams = 1;
  static constexpr bool joins = true;
  static State identity() { return larger ? Limits::min() : Limits::max(); }
  static State order(T x) {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      constexpr State infinity = std::bit_cast<State>(std::numeric_limits<T>::infinity());
      const State bits = std::bit_cast<State>(x);
      const bool is_nan = (bits & Limits::max()) > infinity;
      return is_nan ? (larger ? Limits::max() : Limits::min()) : turned(bits);
    }
  }
  static State first(T x) { return order(x); }
  static State next(State s, T x) { return join(s, order(x)); }
  static State join(State before, State after) { return (larger ? after > before : after < before) ? after : before; }
  static T value(State s) {
    if constexpr (std::is_integral_v<T>)
      return s;
    else
      return std::bit_cast<T>(turned(s));
  }

 private:
  using Limits = std::numeric_limits<State>;
  /// Sign and magnitude to two's complement and back.
  static State turned(State bits) { return bits ^ ((bits >> (8 * sizeof(State) - 1)) & Limits::max()); }
};
template <class T>
using RunningMax = RunningExtremum<T, true>;
template <class T>
using RunningMin = RunningExtremum<T, false>;

/// log(sum of exp): the largest element so far, and the sum of exp(x - largest), which is at least 1.
template <class T>
struct RunningLogSumExp {
  using Element = T;
  struct State {
    double largest, sum;
  };
  static constexpr int inputs = 1, streams = 1;
  static constexpr bool joins = true;
  static State identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static State first(T x) { return next(identity(), x); }
  static State next(State s, T element) {
    const auto x = static_cast<double>(element);
    if (x > s.largest) return {x, std::isinf(x) ? 1 : s.sum * std::exp(s.largest - x) + 1};
    if (!std::isfinite(s.largest)) return {x != x ? x : s.largest, s.sum};
    return {x != x ? x : s.largest, s.sum + std::exp(x - s.largest)};
  }
  static State join(State before, State after) {
    const double largest = before.largest != before.largest ? before.largest
                           : before.largest > after.largest ? before.largest
                                                            : after.largest;
    if (!std::isfinite(largest)) return {largest, 1};
    return {largest, before.sum * std::exp(before.largest - largest) + after.sum * std::exp(after.largest - largest)};
  }
  static T value(State s) { return static_cast<T>(std::isfinite(s.largest) ? s.largest + std::log(s.sum) : s.largest); }
};

/// y[i] = a[i] y[i-1] + b[i], from y[0] = b[0].
template <class T>
struct LinearRecurrence {
  using Element = T;
  using State = Wrapping<T>;
  static constexpr int inputs = 2, streams = 2;
  static constexpr bool joins = false;  // as for products
  static State first(T, T b) { return static_cast<State>(b); }
  static State next(State s, T a, T b) { return static_cast<State>(a) * s + static_cast<State>(b); }
  static T value(State s) { return static_cast<T>(s); }
};

}  // namespace cotan::native
