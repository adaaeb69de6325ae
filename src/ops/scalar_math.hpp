// Elementary and special functions on one float or double, at most 2 ulp (f64) and 1 ulp (f32) from
// the exact value. The reference back end evaluates with these and every other back end is compared
// with it, so accuracy comes before speed. tests/accuracy/ulp_test.cpp measures the bounds.
//
// Special values are those of C's <cmath>; where C has no such function, those of JAX.
// All functions are thread-safe. T is float or double.
#pragma once
#include <type_traits>

namespace cotan::scalar_math {

/// The type to compute a T result in, which is then rounded once.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// clang-format off
template <class T> T exp(T x);
template <class T> T exp2(T x);
template <class T> T expm1(T x);
template <class T> T log(T x);
template <class T> T log2(T x);
template <class T> T log10(T x);
template <class T> T log1p(T x);

template <class T> T sqrt(T x);
template <class T> T rsqrt(T x);  // 1/sqrt(x); -inf at -0
template <class T> T cbrt(T x);
template <class T> T pow(T x, T y);
template <class T> T hypot(T x, T y);

template <class T> T sin(T x);
template <class T> T cos(T x);
template <class T> T tan(T x);
template <class T> T asin(T x);
template <class T> T acos(T x);
template <class T> T atan(T x);
template <class T> T atan2(T y, T x);

template <class T> T sinh(T x);
template <class T> T cosh(T x);
template <class T> T tanh(T x);
template <class T> T asinh(T x);
template <class T> T acosh(T x);
template <class T> T atanh(T x);

template <class T> T logistic(T x);  // 1/(1+e^-x)
template <class T> T erf_inv(T x);  // ±inf at ±1, NaN outside [-1, 1]
template <class T> T lgamma(T x);  // log|Gamma(x)|; +inf at 0, -1, -2, … and ±inf
template <class T> T digamma(T x);  // d/dx log Gamma(x); NaN at 0, -1, -2, … and -inf
template <class T> T polygamma(T n, T x);  // the n-th derivative of digamma, n >= 1; NaN below -1e5

template <class T> T nextafter(T x, T y);
// clang-format on

}  // namespace cotan::scalar_math
