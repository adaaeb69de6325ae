// cotan::lax: JAX's names for operations that cotan::numpy has. Unlike JAX's, operands promote and broadcast.
#pragma once
#include <cotan/numpy.hpp>

namespace cotan::lax {

/// @name Operations of cotan::numpy
/// @{
using numpy::abs;
using numpy::add;
using numpy::bitwise_and;
using numpy::bitwise_not;
using numpy::bitwise_or;
using numpy::bitwise_xor;
using numpy::cbrt;
using numpy::ceil;
using numpy::cos;
using numpy::cosh;
using numpy::empty;
using numpy::exp;
using numpy::exp2;
using numpy::expand_dims;
using numpy::expm1;
using numpy::floor;
using numpy::full;
using numpy::full_like;
using numpy::log;
using numpy::log1p;
using numpy::nextafter;
using numpy::reciprocal;
using numpy::reshape;
using numpy::sign;
using numpy::sin;
using numpy::sinh;
using numpy::sqrt;
using numpy::square;
using numpy::squeeze;
using numpy::stack;
using numpy::tan;
using numpy::tanh;
using numpy::tile;
using numpy::unstack;
/// @}

/// @name The same under other names
/// @{
inline Array acos(const ArrayLike& a) { return numpy::arccos(a); }    ///< numpy::arccos
inline Array acosh(const ArrayLike& a) { return numpy::arccosh(a); }  ///< numpy::arccosh
inline Array asin(const ArrayLike& a) { return numpy::arcsin(a); }    ///< numpy::arcsin
inline Array asinh(const ArrayLike& a) { return numpy::arcsinh(a); }  ///< numpy::arcsinh
inline Array atan(const ArrayLike& a) { return numpy::arctan(a); }    ///< numpy::arctan
inline Array atanh(const ArrayLike& a) { return numpy::arctanh(a); }  ///< numpy::arctanh
/// numpy::arctan2
inline Array atan2(const ArrayLike& a, const ArrayLike& b) { return numpy::arctan2(a, b); }
inline Array eq(const ArrayLike& a, const ArrayLike& b) { return numpy::equal(a, b); }          ///< a == b
inline Array ne(const ArrayLike& a, const ArrayLike& b) { return numpy::not_equal(a, b); }      ///< a != b
inline Array ge(const ArrayLike& a, const ArrayLike& b) { return numpy::greater_equal(a, b); }  ///< a >= b
inline Array gt(const ArrayLike& a, const ArrayLike& b) { return numpy::greater(a, b); }        ///< a > b
inline Array le(const ArrayLike& a, const ArrayLike& b) { return numpy::less_equal(a, b); }     ///< a <= b
inline Array lt(const ArrayLike& a, const ArrayLike& b) { return numpy::less(a, b); }           ///< a < b
inline Array is_finite(const ArrayLike& a) { return numpy::isfinite(a); }                       ///< numpy::isfinite
inline Array max(const ArrayLike& a, const ArrayLike& b) { return numpy::maximum(a, b); }       ///< numpy::maximum
inline Array min(const ArrayLike& a, const ArrayLike& b) { return numpy::minimum(a, b); }       ///< numpy::minimum
inline Array mul(const ArrayLike& a, const ArrayLike& b) { return numpy::multiply(a, b); }      ///< a * b
inline Array sub(const ArrayLike& a, const ArrayLike& b) { return numpy::subtract(a, b); }      ///< a - b
inline Array neg(const ArrayLike& a) { return numpy::negative(a); }                             ///< -a
inline Array pow(const ArrayLike& a, const ArrayLike& b) { return numpy::power(a, b); }         ///< numpy::power
/// numpy::left_shift
inline Array shift_left(const ArrayLike& a, const ArrayLike& b) { return numpy::left_shift(a, b); }
/// @}

}  // namespace cotan::lax
