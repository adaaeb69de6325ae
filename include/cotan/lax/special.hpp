// cotan::lax: special functions of the gamma, beta, Bessel and zeta families. scipy/special.hpp has more of them.
#pragma once
#include <cotan/array.hpp>

namespace cotan::lax {

/// @name Special functions
/// Of floats; integers become floats.
/// @{
/// The m-th derivative of digamma, of an array of whole numbers m as floats, by which there is no derivative.
Array polygamma(const Array& m, const ArrayLike& a);
Array zeta(const ArrayLike& x, const ArrayLike& q);           ///< Hurwitz's zeta function, the sum of 1/(k + q)^x
Array igamma(const ArrayLike& a, const ArrayLike& x);         ///< the regularized lower incomplete gamma function
Array igammac(const ArrayLike& a, const ArrayLike& x);        ///< 1 - igamma, exact where it is small
Array igamma_grad_a(const ArrayLike& a, const ArrayLike& x);  ///< the derivative of igamma by a
/// The derivative by a of samples x of the gamma distribution, so that igamma(a, x) stays.
Array random_gamma_grad(const ArrayLike& a, const ArrayLike& x);
/// The regularized incomplete beta function. As in JAX it has no derivative by a and b: TransformError.
Array betainc(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x);
Array bessel_i0e(const ArrayLike& x);  ///< e^-|x| times the modified Bessel function of order 0
Array bessel_i1e(const ArrayLike& x);  ///< the same of order 1
/// @}

}  // namespace cotan::lax
