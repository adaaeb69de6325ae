// cotan::scipy::special: gamma, error, Bessel and other special functions, with derivatives.
#pragma once
#include <cotan/array.hpp>
#include <optional>
#include <utility>

/// `jax.scipy.special`. Operands broadcast and promote; integers become floats; halves are computed in f32. What a
/// comment here does not say is as there. Functions that take as many steps as their slowest element needs have no
/// reverse mode through the steps but rules of their own, so that all modes work.
///
///     namespace sp = cotan::scipy::special;
///     ct::Array p = sp::gammainc(2.5, x);
namespace cotan::scipy::special {

/// @name Gamma and beta functions
/// @{
Array gamma(const ArrayLike& x);     ///< Γ(x); NaN at negative integers
Array gammaln(const ArrayLike& x);   ///< log |Γ(x)|
Array loggamma(const ArrayLike& x);  ///< log Γ(x) of positive x, else NaN
Array gammasgn(const ArrayLike& x);  ///< the sign of Γ(x); NaN at negative integers
Array digamma(const ArrayLike& x);   ///< the derivative of gammaln
/// The n-th derivative of digamma; n is a C++ integer …
Array polygamma(int n, const ArrayLike& x);
/// … or an array of integers, else ValueError. It has no derivative by n.
Array polygamma(const Array& n, const ArrayLike& x);
/// Hurwitz's zeta function, the sum of 1/(k + q)^x, x >= 1.
Array zeta(const ArrayLike& x, const ArrayLike& q);
Array gammainc(const ArrayLike& a, const ArrayLike& x);   ///< the regularized lower incomplete gamma function
Array gammaincc(const ArrayLike& a, const ArrayLike& x);  ///< 1 - gammainc, exact where it is small
/// Γ(z + m)/Γ(z), Pochhammer's symbol.
Array poch(const ArrayLike& z, const ArrayLike& m);
/// The logarithm of the gamma function of symmetric matrices [d, d].
Array multigammaln(const ArrayLike& a, int d);
Array beta(const ArrayLike& a, const ArrayLike& b);    ///< Γ(a) Γ(b)/Γ(a + b)
Array betaln(const ArrayLike& a, const ArrayLike& b);  ///< its logarithm, also of large operands
/// The regularized incomplete beta function. As in JAX there is no derivative by a and b: TransformError.
Array betainc(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x);
Array factorial(const ArrayLike& n);  ///< Γ(n + 1); 0 of negative n
/// How many ways there are to choose k of N things, also of fractions; with `repetition` each any number of times.
Array comb(const ArrayLike& N, const ArrayLike& k, bool repetition = false);
/// Bernoulli's numbers B₀ to B_n, as a vector.
Array bernoulli(int n, DType dtype = f32, const std::source_location& where = COTAN_HERE);
/// @}

/// @name Error functions and the normal distribution
/// @{
Array erf(const ArrayLike& x);     ///< lax::erf
Array erfc(const ArrayLike& x);    ///< lax::erfc
Array erfinv(const ArrayLike& x);  ///< lax::erf_inv
Array erfcx(const ArrayLike& x);   ///< exp(x²) erfc(x)
Array dawsn(const ArrayLike& x);   ///< Dawson's integral, exp(-x²) ∫ exp(t²) dt from 0 to x
/// The distribution function of the standard normal distribution. Of f32 or f64, else TypeError; so are the next two.
Array ndtr(const ArrayLike& x);
Array ndtri(const ArrayLike& p);  ///< the inverse of ndtr; NaN outside [0, 1]
/// log(ndtr(x)). JAX's `series_order` is missing: this is exact to rounding everywhere.
Array log_ndtr(const ArrayLike& x);
/// Owen's T: ∫ exp(-h² (1 + t²)/2)/(1 + t²) dt/2π from 0 to a.
Array owens_t(const ArrayLike& h, const ArrayLike& a);
/// Faddeeva's function exp(-z²) erfc(-i z), complex; of real numbers too. JAX's is exact to 13 digits, this to 14; at
/// infinity in the upper half plane it is 0.
Array wofz(const ArrayLike& z);
/// @}

/// @name Bessel functions
/// @{
Array i0(const ArrayLike& x);   ///< the modified Bessel function of the first kind, of order 0
Array i0e(const ArrayLike& x);  ///< exp(-|x|) i0(x)
Array i1(const ArrayLike& x);   ///< the same of order 1
Array i1e(const ArrayLike& x);  ///< exp(-|x|) i1(x)
/// Bessel functions of the first kind of orders 0 to v along a new first axis, by `n_iter` steps of a recurrence
/// downwards: enough of them for x below about n_iter. NaN at 0, as in JAX.
Array bessel_jn(const ArrayLike& x, int v, int n_iter = 50);
/// @}

/// @name Integrals
/// @{
Array expi(const ArrayLike& x);                      ///< ∫ exp(t)/t dt from -∞ to x
Array exp1(const ArrayLike& x);                      ///< ∫ exp(-t)/t dt from x to ∞
Array expn(const ArrayLike& n, const ArrayLike& x);  ///< ∫ exp(-x t)/tⁿ dt from 1 to ∞; no derivative by n. expn(n, 0)
                                                     ///< is 1/(n - 1), where JAX has 1/n
/// The integrals of sin(t)/t from 0 and of cos(t)/t from -∞.
std::pair<Array, Array> sici(const ArrayLike& x);
/// The integrals of sin(π t²/2) and of cos(π t²/2) from 0.
std::pair<Array, Array> fresnel(const ArrayLike& x);
/// ∫ log(t)/(1 - t) dt from 1 to x. Of f32 or f64, else TypeError.
Array spence(const ArrayLike& x);
/// @}

/// @name Hypergeometric functions
/// @{
/// Kummer's ₁F₁(a; b; x). For |x| above 600 (80 in f32) derivatives by a and b are NaN.
Array hyp1f1(const ArrayLike& a, const ArrayLike& b, const ArrayLike& x);
/// Gauss's ₂F₁(a, b; c; x), x below 1 or at 1; NaN where c - a - b is a whole number and x above 0.9999. Derivatives by
/// the parameters are for |x| below that, NaN outside.
Array hyp2f1(const ArrayLike& a, const ArrayLike& b, const ArrayLike& c, const ArrayLike& x);
/// @}

/// @name Spherical harmonics
/// @{
/// Yₙᵐ(theta, phi) of degrees n >= 0 and orders m, integers, at the colatitude theta and the longitude phi; complex,
/// with operands of any shapes that broadcast. 0 where |m| > n or n < 0. `n_max` is the largest degree, to which n is
/// clipped; it must be given where n is traced.
Array sph_harm_y(const ArrayLike& n, const ArrayLike& m, const ArrayLike& theta, const ArrayLike& phi,
                 std::optional<std::int64_t> n_max = {});
/// @}

/// @name Logarithms, entropy, softmax
/// @{
Array xlogy(const ArrayLike& x, const ArrayLike& y);         ///< x log(y), 0 where x is
Array xlog1py(const ArrayLike& x, const ArrayLike& y);       ///< x log(1 + y), 0 where x is
Array entr(const ArrayLike& x);                              ///< -x log(x), 0 at 0; -inf of negative x
Array rel_entr(const ArrayLike& p, const ArrayLike& q);      ///< p log(p/q); infinite outside p >= 0, q >= 0
Array kl_div(const ArrayLike& p, const ArrayLike& q);        ///< rel_entr - p + q
Array logit(const ArrayLike& x);                             ///< log(x/(1 - x))
Array expit(const ArrayLike& x);                             ///< 1/(1 + e⁻ˣ), lax::logistic
Array boxcox(const ArrayLike& x, const ArrayLike& lmbda);    ///< (x^lmbda - 1)/lmbda, or log(x) where lmbda is 0
Array boxcox1p(const ArrayLike& x, const ArrayLike& lmbda);  ///< boxcox(1 + x, lmbda)
/// log(sum(eᵃ)) without overflow: numpy::logsumexp.
Array logsumexp(const ArrayLike& a, const Axes& axis = {}, bool keepdims = false);
Array softmax(const ArrayLike& x, const Axes& axis = {});      ///< eˣ over their sum along axes, by default all
Array log_softmax(const ArrayLike& x, const Axes& axis = {});  ///< its logarithm
/// @}

}  // namespace cotan::scipy::special
