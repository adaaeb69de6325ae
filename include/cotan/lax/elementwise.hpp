// cotan::lax: elementwise operations that NumPy has no name for.
#pragma once
#include <cotan/array.hpp>

namespace cotan::lax {

/// @name Elementwise
/// Functions of floats make integers floats: f64 where they have 64 bits, else f32.
/// @{
Array rsqrt(const ArrayLike& a);                    ///< 1 / √a
Array integer_pow(const ArrayLike& a, int n);       ///< a to the power n by multiplication, in the dtype of a
Array logistic(const ArrayLike& a);                 ///< 1 / (1 + e⁻ᵃ), the sigmoid
Array erf(const ArrayLike& a);                      ///< the error function
Array erfc(const ArrayLike& a);                     ///< 1 - erf(a), exact where it is small
Array erf_inv(const ArrayLike& a);                  ///< the inverse of erf, on (-1, 1)
Array lgamma(const ArrayLike& a);                   ///< log |Γ(a)|
Array digamma(const ArrayLike& a);                  ///< the derivative of lgamma
Array polygamma(int n, const ArrayLike& a);         ///< the n-th derivative of digamma; the order is a C++ integer
Array div(const ArrayLike& a, const ArrayLike& b);  ///< a / b; of integers rounded towards 0, as in C
Array rem(const ArrayLike& a, const ArrayLike& b);  ///< the remainder of that, with the sign of a
/// min(max(a, lo), hi).
Array clamp(const ArrayLike& lo, const ArrayLike& a, const ArrayLike& hi);
/// Elements of `on_true` where the predicate is true, else of `on_false`. It must be bool, else TypeError; numpy::where
/// takes numbers too.
Array select(const ArrayLike& predicate, const ArrayLike& on_true, const ArrayLike& on_false);
Array shift_right_logical(const ArrayLike& a, const ArrayLike& b);  ///< the bits of a moved right by b, zeros come in
Array shift_right_arithmetic(const ArrayLike& a,
                             const ArrayLike& b);  ///< the bits of a moved right by b, the sign comes in
Array population_count(const ArrayLike& a);        ///< how many bits of an integer are 1, in the dtype of a
Array clz(const ArrayLike& a);                     ///< how many bits of an integer before the first 1 are 0
/// re + i im, of f32 or f64: c64 or c128.
Array complex(const ArrayLike& re, const ArrayLike& im);
Array real(const ArrayLike& a);  ///< the real part of a complex number
Array imag(const ArrayLike& a);  ///< the imaginary part of a complex number
Array conj(const ArrayLike& a);  ///< re - i im; a real number becomes complex
/// As a.astype(dtype).
Array convert_element_type(const ArrayLike& a, DType dtype);
/// The same bits as another dtype; a narrower one adds a trailing axis, a wider one takes it away.
Array bitcast_convert_type(const ArrayLike& a, DType dtype);
/// How a number in the middle between two integers is rounded.
enum class RoundingMethod { away_from_zero, to_nearest_even };
/// The nearest integer, of floats. (numpy::round takes the even one of two.)
Array round(const ArrayLike& a, RoundingMethod method = RoundingMethod::away_from_zero);
/// Rounded, half to even, as if there were only so many bits of exponent and mantissa; the dtype is kept. What is too
/// large becomes infinite, what is too small 0.
Array reduce_precision(const ArrayLike& a, int exponent_bits, int mantissa_bits);
/// The upper half of the bits of a product of integers.
Array mulhi(const ArrayLike& a, const ArrayLike& b);
/// Elements of cases[which], where `which` is bool of two cases, or an integer, clamped to those there are. It is a
/// scalar or has the shape of the cases, which have one shape and dtype.
Array select_n(const ArrayLike& which, const ArrayList& cases);
/// @}

}  // namespace cotan::lax
